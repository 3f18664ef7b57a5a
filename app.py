"""The server's door: the pages, and the desk's routes in the same process. `streamlit run app.py`."""

import asyncio
import ctypes
import gc
import logging
import mmap
import os
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from streamlit import logger as streamlit_logger
from streamlit import net_util, runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from evenhand.annotations.accounts.links import first_link_to_print
from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store, database_path
from evenhand.annotations.demo.sentences import ensure_demo
from evenhand.annotations.desk.routes import routes
from evenhand.annotations.items.batch import discard_unpublished
from evenhand.annotations.jobs.jobs import mark_interrupted
from evenhand.annotations.projects.projects import finish_changes
from evenhand.annotations.study.people import sweep_all
from evenhand.annotations.study.watched import watched
from evenhand.annotations.study.withdrawal import finish_withdrawals
from evenhand.core.errors import EvenhandError
from evenhand.core.files.bounded import read_in_children
from evenhand.core.worker import client as worker
from evenhand.pages.ui.visitor import visit_of
from evenhand.web import forms, logs, oidc_routes, own_log, status, study_pages
from evenhand.web.connections import limit_connections
from evenhand.web.gate import LOOPBACK, Gate, hosts
from evenhand.web.visits import remember_file, sessions_that_made
from evenhand.web.watch import Watch

logger = logging.getLogger("evenhand")

FIRST_MODELS = ("demo-en", "demo-zh", "random-zh")  # what the page Try asks of its own accord
LOOK_S = 30.0  # between two looks for sessions that have gone
IN_MEMORY = 1 << 20  # bytes of a file that a page offers, or of an upload
SWEEP_S = 60.0  # between two looks for people who are away from a study

# A page's address is the word of its capability. These were its address before, and go on answering.
OLD_ADDRESSES = {
    "adjudicate": "adjudication",
    "check": "published",
    "generate": "generation",
    "inference": "nli",
    "mine": "mining",
    "models": "model-bias",
    "professions": "association",
    "score": "scoring",
    "statistics": "describe",
    "try": "sentence-bias",
}


def redirects(base: str) -> list[Route]:
    """A route for each old address, in the folder *base* that the app is served in; the query goes along."""
    folder = f"/{base.strip('/')}".rstrip("/")

    def redirect(request: Request) -> RedirectResponse:
        old = request.url.path.rstrip("/").rpartition("/")[2]
        return RedirectResponse(f"{folder}/{OLD_ADDRESSES[old]}?{request.url.query}".rstrip("?"))

    return [Route(f"{folder}/{old}{slash}", redirect) for old in OLD_ADDRESSES for slash in ("", "/")]


def stay_inside() -> None:
    """Let Streamlit ask nobody for the outside address of this machine.

    It does so, over the network and in the event loop, to print the address as it starts, and again when a socket comes
    from another origin: a server behind a firewall then stands still for seconds. The gate has compared the origin with
    the name in the address by then.
    """
    net_util.get_external_ip = lambda: None
    net_util.get_internal_ip = lambda: None


def limit_logs() -> None:
    """Limit the log, also of the loggers that Streamlit makes later."""
    set_up = streamlit_logger.setup_formatter

    def limited(logger: logging.Logger) -> None:
        set_up(logger)
        logs.limit(logger)

    streamlit_logger.setup_formatter = limited
    logs.set_up()


def worker_state() -> str:
    """What the inference worker does."""
    started = worker.shared.cache_info().currsize > 0
    return "running" if started and worker.shared().pid is not None else "not started"


def load_beside() -> None:
    """Start the inference worker with the models of the page Try, whose first visitor then does not wait for them.

    EVENHAND_WORKER=later leaves that to the first question, which saves its memory where nobody asks models.
    """
    if os.environ.get("EVENHAND_WORKER") == "later":
        return
    try:
        for model in FIRST_MODELS:
            worker.shared().describe(model)
    except EvenhandError as error:
        logger.warning(str(error))  # the first question says it to who asks


def finish_beside() -> None:
    """Finish what a change of settings or a withdrawal had not reached when a process was killed; the server need not
    wait for it."""
    try:
        with Store.open() as store:
            finish_changes(store)
            finish_withdrawals(store)
    except (EvenhandError, sqlite3.Error) as error:
        logger.warning(str(error))  # the next change, import, export or release goes on with it


async def sweep_studies() -> None:
    """End the part in studies of who is away, and watch the clock meanwhile."""
    while True:
        await asyncio.sleep(SWEEP_S)
        await asyncio.to_thread(sweep_once)


def sweep_once() -> None:
    """One look at all studies."""
    try:
        with stores.borrow() as store:
            sweep_all(store, seen=watched.seconds())
    except (EvenhandError, sqlite3.Error) as error:
        logger.warning(str(error))


async def let_sessions_go() -> None:
    """Drop the sessions of pages that were left, and give their memory back to the system.

    Streamlit keeps such a session for two minutes, but looks only when the next one goes; and what is freed stays with
    the process.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    while True:
        await asyncio.sleep(LOOK_S)
        if runtime.exists() and forget_sessions(runtime.get_instance()._session_mgr):
            gc.collect()  # a session holds itself
            if trim is not None:
                trim(0)


def forget_sessions(sessions: Any) -> int:
    """Drop the sessions that have gone for two minutes; returns how many."""
    kept = sessions._session_storage._cache
    before = len(kept._data)  # len() would drop them too
    kept.expire()
    return before - len(kept._data)


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Make the demo project where there is no database; clear up what a killed process left behind."""
    with ExitStack() as open_till_the_end:
        try:
            ensure_demo()
            # It stays open, unused: each time the last connection closes, SQLite writes its log back (up to 9 ms).
            store = open_till_the_end.enter_context(Store.open())
            open_till_the_end.callback(stores.close)
            store.refuse_read_only()  # there it would keep all others from writing when the disk is well again
            discard_unpublished(store)
            mark_interrupted(store)
            if others := sorted(hosts() - LOOPBACK):
                address = os.environ.get("EVENHAND_URL") or f"https://{others[0]}"
                print(first_link_to_print(store, address) or "", file=sys.stderr)
            for task in (finish_beside, load_beside):
                Thread(target=task, daemon=True).start()
        except (EvenhandError, sqlite3.Error) as error:
            open_till_the_end.close()
            # The server lives on: every page says the same sentence in the visitor's language.
            logger.error(str(error))
        # What is loaded by now stays for good: leave it out of every later collection, which would hold all sessions.
        gc.collect()
        gc.freeze()
        looking = [asyncio.create_task(work()) for work in (let_sessions_go, sweep_studies)]
        yield
        for one in looking:
            one.cancel()


def sessions_of(file: str) -> list[str]:
    """The ids of the sessions whose pages offer a file (its name without ending), or have made it at a click."""
    offered = runtime.get_instance().media_file_mgr._files_by_session_and_coord if runtime.exists() else {}
    return [*sessions_that_made(file), *(one for one, files in list(offered.items()) if file in list(files.values()))]


def note_who_makes_files() -> None:
    """Note which session a file was made for that is made at a click: Streamlit keeps that of the other files only.

    Such a file is made outside of any run, so for whom is said here: parts of pages ask that.
    """
    execute_deferred = MediaFileManager.execute_deferred

    def noted(self: MediaFileManager, file_id: str) -> str:
        made_for = self._deferred_callables.get(file_id)
        with visit_of(made_for["session_id"] if made_for is not None else ""):
            address = execute_deferred(self, file_id)
        if made_for is not None:
            remember_file(address.rpartition("/")[2].partition(".")[0], made_for["session_id"])
        return address

    MediaFileManager.execute_deferred = noted  # type: ignore[method-assign]


def on_disk(data: bytes) -> memoryview:
    """The same, from a file without a name beside the database. Raises OSError where that has no room."""
    with TemporaryFile(dir=database_path().absolute().parent) as out:
        out.write(data)
        out.flush()
        return memoryview(mmap.mmap(out.fileno(), 0, access=mmap.ACCESS_READ))


def keep_large_files_on_disk() -> None:
    """Let large files that a page offers, and large uploads, lie on the disk instead of in memory.

    Streamlit holds the first until pages have run again, the second until two minutes after a page was left, whether
    it has a place for them or not.
    """
    load, add = MemoryMediaFileStorage.load_and_get_id, MemoryUploadedFileManager.add_file

    def loaded(self: MemoryMediaFileStorage, *args: Any, **named: Any) -> str:
        file = load(self, *args, **named)
        held = self._files_by_id[file]
        if isinstance(held.content, bytes) and len(held.content) > IN_MEMORY:
            with suppress(OSError):  # else it stays
                self._files_by_id[file] = held._replace(content=on_disk(held.content))  # type: ignore[arg-type]  # read like bytes
        return file

    def moved(self: MemoryUploadedFileManager, session: str, file: UploadedFileRec) -> None:
        with suppress(OSError):
            mapped = file._replace(data=on_disk(file.data))  # type: ignore[arg-type]
            with self._lock:
                held = self.file_storage.get(session, {})
                if held.get(file.file_id) is file:
                    held[file.file_id] = mapped

    def added(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        add(self, session_id, file)
        if len(file.data) > IN_MEMORY:  # beside the event loop, which adds it
            Thread(target=moved, args=(self, session_id, file), daemon=True).start()

    MemoryMediaFileStorage.load_and_get_id = loaded  # type: ignore[method-assign]
    MemoryUploadedFileManager.add_file = added  # type: ignore[method-assign]


read_in_children()
keep_large_files_on_disk()
stay_inside()
limit_logs()
limit_connections()
note_who_makes_files()
base = st.get_option("server.baseUrlPath") or ""
index = Path(st.__file__).parent / "static" / "index.html"
app = st.App(
    "pages/main.py",
    routes=[
        *routes(base),
        *forms.routes(base),
        *oidc_routes.routes(base),
        *own_log.routes(base),
        *study_pages.routes(base),
        *status.routes(base, worker_state),
        *redirects(base),
    ],
    middleware=[
        Middleware(Watch, base=base),
        Middleware(Gate, page=index, base=base, sessions_of=sessions_of),
    ],
    lifespan=lifespan,
)
