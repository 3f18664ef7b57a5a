"""A session of a page without a browser: what Streamlit's JavaScript would send over its socket."""

import asyncio
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tests.support.browser import Server

PATIENCE_S = 120.0


async def open_session(server: Server, page: str, **query: str) -> ClientConnection:
    """Return a session whose page has been drawn."""
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
