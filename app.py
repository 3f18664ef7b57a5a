"""The server's door: the pages, and the desk's routes in the same process. `streamlit run app.py`."""

import gc
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import streamlit as st

from annotations.api import routes
from annotations.demo import ensure_demo
from annotations.items import discard_unpublished
from annotations.jobs import mark_interrupted
from annotations.store import Store
from core.errors import EvenhandError


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Make the demo project where there is no database; clear up what a killed process left behind."""
    with ExitStack() as open_till_the_end:
        try:
            ensure_demo()
            # It stays open, unused: each time the last connection closes, SQLite writes its log back (up to 9 ms).
            store = open_till_the_end.enter_context(Store.open())
            discard_unpublished(store)
            mark_interrupted(store)
        except EvenhandError as error:
            # The server lives on: every page says the same sentence in the visitor's language.
            print(error, file=sys.stderr)
        # What is loaded by now stays for good: leave it out of every later collection, which would hold all sessions.
        gc.collect()
        gc.freeze()
        yield


app = st.App("pages/main.py", routes=routes(st.get_option("server.baseUrlPath") or ""), lifespan=lifespan)
