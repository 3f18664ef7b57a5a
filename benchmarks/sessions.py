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

import psutil
from websockets.asyncio.client import ClientConnection

from tests.support.browser import Server
from tests.support.desk_driver import make_project
from tests.support.sessions import open_session

PAGES = ("projects", "browse", "progress", "review", "agreement", "")
GONE_S = 150.0  # Streamlit keeps the state of a session that has gone for two minutes


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
            f" ({100 * (after - before) / before:+.0f}% of before)",
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
