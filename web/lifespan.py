"""The lifespan of the server: what it does at start, in the background, and at the end."""

import asyncio
import ctypes
import gc
import logging
import os
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from threading import Thread
from typing import Any

from streamlit import runtime

from evenhand.annotations.accounts.links import first_link_to_print
from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.sentences import ensure_demo
from evenhand.annotations.items.batch import discard_incomplete
from evenhand.annotations.jobs.jobs import mark_interrupted
from evenhand.annotations.projects.projects import finish_changes
from evenhand.annotations.study.people import finish_withdrawals, sweep_all, watched
from evenhand.core.errors import EvenhandError
from evenhand.core.worker import client as worker
from evenhand.web.gate import LOOPBACK, hosts
from evenhand.web.streamlit_patches import drop_expired_sessions

logger = logging.getLogger("evenhand")

FIRST_MODELS = ("demo-en", "demo-zh", "random-zh")  # what the page Try asks when it opens
LOOK_S = 30.0  # between two looks for expired sessions
SWEEP_S = 60.0  # between two looks for participants who have left a study


def worker_state() -> str:
    """Return the state of the inference worker, for /healthz."""
    started = worker.shared.cache_info().currsize > 0
    return "running" if started and worker.shared().pid is not None else "not started"


def preload_models() -> None:
    """Start the inference worker with the models of the page Try, so that its first visitor does not wait.

    With EVENHAND_WORKER=later the worker starts at the first request, which saves memory on servers that only label.
    """
    if os.environ.get("EVENHAND_WORKER") == "later":
        return
    try:
        for model in FIRST_MODELS:
            worker.shared().describe(model)
    except EvenhandError as error:
        logger.warning(str(error))  # the first request reports it to its user


def finish_interrupted_changes() -> None:
    """Finish changes of settings and withdrawals that a killed process left incomplete."""
    try:
        with Store.open() as store:
            finish_changes(store)
            finish_withdrawals(store)
    except (EvenhandError, sqlite3.Error) as error:
        logger.warning(str(error))  # the next change, import, export or release tries again


async def sweep_studies() -> None:
    """End the participation of people who have left a study, once a minute."""
    while True:
        await asyncio.sleep(SWEEP_S)
        await asyncio.to_thread(sweep_once)


def sweep_once() -> None:
    """End expired participations in all studies."""
    try:
        with stores.borrow() as store:
            sweep_all(store, seen=watched.seconds())
    except (EvenhandError, sqlite3.Error) as error:
        logger.warning(str(error))


async def release_sessions() -> None:
    """Drop the sessions of closed pages, and return their memory to the system.

    Freed memory otherwise stays with the process.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    while True:
        await asyncio.sleep(LOOK_S)
        if runtime.exists() and drop_expired_sessions(runtime.get_instance()._session_mgr):
            gc.collect()  # sessions are reference cycles
            if trim is not None:
                trim(0)


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Create the demo project if the database is missing; clean up after killed processes; run the background tasks."""
    with ExitStack() as resources:
        try:
            ensure_demo()
            # Kept open: when the last connection closes, SQLite checkpoints its log, which takes up to 9 ms.
            store = resources.enter_context(Store.open())
            resources.callback(stores.close)
            store.refuse_read_only()  # a read-only connection would block all writers once the disk has recovered
            discard_incomplete(store)
            mark_interrupted(store)
            if others := sorted(hosts() - LOOPBACK):
                address = os.environ.get("EVENHAND_URL") or f"https://{others[0]}"
                print(first_link_to_print(store, address) or "", file=sys.stderr)
            for work in (finish_interrupted_changes, preload_models):
                Thread(target=work, daemon=True).start()
        except (EvenhandError, sqlite3.Error) as error:
            resources.close()
            # The server keeps running: every page shows this sentence in the visitor's language.
            logger.error(str(error))
        # Exclude what is loaded now from later collections, which would pause all sessions.
        gc.collect()
        gc.freeze()
        background = [asyncio.create_task(loop()) for loop in (release_sessions, sweep_studies)]
        yield
        for task in background:
            task.cancel()
