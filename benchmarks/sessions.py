"""Memory of Streamlit sessions: before, with many of them open, and after they have gone.

    python -m benchmarks.sessions [--sessions 200] [--rounds 2]

A session is a socket that opens a page and stays, as a tab of a browser does. What a server has loaded once stays, so
the first sessions are opened and closed before anything is measured, and the rounds after that are compared.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tests.support.browser import Server
from tests.support.desk_driver import make_project

PAGES = ("projects", "browse", "progress", "review", "agreement", "")
PATIENCE_S = 120.0
GONE_S = 150.0  # Streamlit keeps the state of a session that has gone for two minutes


async def open_session(server: Server, page: str, **query: str) -> ClientConnection:
    """A session whose page has been drawn."""
    socket = await connect(
        f"ws://127.0.0.1:{server.port}/_stcore/stream", subprotocols=["streamlit"], max_size=None, proxy=None,
        open_timeout=PATIENCE_S,
    )  # fmt: skip
    asked = BackMsg()
    asked.rerun_script.page_name = page
    asked.rerun_script.query_string = urlencode(query)
    await socket.send(asked.SerializeToString())

    async def drawn() -> None:
        while True:
            message = ForwardMsg()
            message.ParseFromString(bytes(await socket.recv()))  # type: ignore[arg-type]
            if message.WhichOneof("type") == "script_finished":
                return

    await asyncio.wait_for(drawn(), PATIENCE_S)
    return socket


async def open_sessions(server: Server, count: int, project: str) -> list[ClientConnection]:
    """So many sessions, one after the other, on different pages."""
    return [
        await open_session(server, PAGES[number % len(PAGES)], project=project, annotator="Ada", lang="en")
        for number in range(count)
    ]


async def close_sessions(sockets: list[ClientConnection]) -> None:
    """Leave all pages."""
    await asyncio.gather(*(socket.close() for socket in sockets))


def resident(server: Server) -> float:
    """Memory of the server, MB."""
    return float(psutil.Process(server.process.pid if server.process else None).memory_info().rss / 2**20)


async def measure(server: Server, project: str, count: int, rounds: int) -> None:
    """Open, close, wait; print the memory at each step."""
    print(f"started: {resident(server):.0f} MB")
    await close_sessions(await open_sessions(server, 2 * len(PAGES), project))
    await asyncio.sleep(GONE_S)
    before = resident(server)
    print(f"each page opened twice and left: {before:.0f} MB")
    for number in range(1, rounds + 1):
        begun = time.monotonic()
        sockets = await open_sessions(server, count, project)
        during, took = resident(server), time.monotonic() - begun
        await close_sessions(sockets)
        await asyncio.sleep(GONE_S)
        after = resident(server)
        print(
            f"round {number}: {count} sessions open {during:.0f} MB ({(during - before) / count * 1024:.0f} kB each,"
            f" opened in {took:.0f} s); {GONE_S:.0f} s after they left {after:.0f} MB"
            f" ({100 * (after - before) / before:+.0f} % of before)",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "a.db").start()
        try:
            asyncio.run(measure(server, make_project(server, 300), asked.sessions, asked.rounds))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
