"""`/healthz` and `/metrics`: whether the server can work, and what it does. Neither names a person or a project."""

import hmac
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, get_args

import anyio
import anyio.to_thread
import psutil
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from evenhand.annotations.database.connections import connect, is_readable, note_damage, refuse_damaged
from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store, database_path
from evenhand.annotations.jobs.jobs import State, counts_of
from evenhand.core.errors import EvenhandError
from evenhand.core.version import VERSION
from evenhand.web.connections import connections
from evenhand.web.gate import LOOPBACK, host_name, is_forwarded
from evenhand.web.request_log import STARTED, Sample, metric, requests

FEW_BYTES = 100_000_000  # free on the disk of the database: below, labels may not be stored
KEPT_S = 2.0  # an answer is reused for so long, so frequent requests cost nothing
WAIT_MS = 1500  # for the write lock: a database that another process writes can be written

WorkerState = Callable[[], str]


def routes(worker: WorkerState = lambda: "not started") -> list[Route]:
    """Return both routes; *worker* says what the inference worker does."""
    return [
        Route("/healthz", partial(health_page, worker=worker)),
        Route("/metrics", partial(metrics_page, worker=worker)),
    ]


_kept: dict[Path, tuple[float, dict[str, Any]]] = {}
_limiter: list[anyio.CapacityLimiter] = []  # created inside the event loop


async def health_page(request: Request, *, worker: WorkerState) -> Response:
    """Return status 200 if labels can be stored, else 503, with one word for the state of each part."""
    if not _limiter:
        _limiter.append(anyio.CapacityLimiter(1))
    result = await anyio.to_thread.run_sync(health, worker, limiter=_limiter[0])
    return JSONResponse(result, 200 if result["ok"] else 503, {"Cache-Control": "no-store"})


def health(worker: WorkerState) -> dict[str, Any]:
    """Return the state of the database, the disk and the worker; an answer is reused for 2 seconds."""
    path = database_path().absolute()
    kept = _kept.get(path)
    if kept is not None and time.monotonic() - kept[0] < KEPT_S:
        return kept[1]
    database = database_state(path)
    if database == "unreadable" and path.is_file():
        note_damage(path)
    try:
        room = shutil.disk_usage(path.parent).free >= FEW_BYTES
    except OSError:
        room = False
    result = {
        "ok": database == "ok" and room,
        "database": database,
        "disk": "ok" if room else "full",
        "worker": worker(),
        "version": VERSION,
    }
    _kept.clear()
    _kept[path] = time.monotonic(), result
    return result


def database_state(path: Path) -> str:
    """Return the state of the database that EVENHAND_DB names: `ok`, `read-only`, `missing` or `unreadable`.

    A database that was found damaged is `unreadable` until it has been examined completely.
    """
    if not path.is_file():
        return "missing"
    try:
        refuse_damaged(path.resolve())
        with stores.borrow() as store:  # also compares the files with those that this process has open
            store.db.execute("PRAGMA schema_version").fetchone()
            if store.frozen:
                return "read-only"
        if not is_readable(path):  # by a new connection: those of the pool keep what they have read
            return "unreadable"
        with closing(connect(path)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {WAIT_MS}")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        primary = (error.sqlite_errorcode or 0) & 0xFF
        if primary == sqlite3.SQLITE_BUSY:
            return "ok"
        return "read-only" if primary == sqlite3.SQLITE_READONLY else "unreadable"
    except (EvenhandError, OSError, sqlite3.Error):
        return "unreadable"
    return "ok"


async def metrics_page(request: Request, *, worker: WorkerState) -> Response:
    """Return the measures in the text format of Prometheus to holders of the token and to this machine, else 404."""
    if not may_read(request):
        return PlainTextResponse("Nothing was found at this address.", 404)
    lines = await anyio.to_thread.run_sync(measures, worker)
    kind = "text/plain; version=0.0.4; charset=utf-8"
    return PlainTextResponse("\n".join(lines) + "\n", 200, {"Cache-Control": "no-store"}, kind)


def metrics_token() -> str:
    """Return the token of the measures: EVENHAND_METRICS_TOKEN or the content of EVENHAND_METRICS_TOKEN_FILE."""
    file = os.environ.get("EVENHAND_METRICS_TOKEN_FILE", "")
    try:
        return os.environ.get("EVENHAND_METRICS_TOKEN", "") or (file and Path(file).read_text("utf-8").strip())
    except (OSError, UnicodeDecodeError):
        return ""


def may_read(request: Request) -> bool:
    """Return whether the caller may read the measures: has the token, or asks from this machine, not by a proxy."""
    sent, token = request.headers.get("authorization", "").removeprefix("Bearer ").strip(), metrics_token()
    if token and hmac.compare_digest(sent.encode(), token.encode()):
        return True
    here = request.client is not None and request.client.host in LOOPBACK
    return here and not is_forwarded(request.headers) and host_name(request.headers.get("host", "")) in LOOPBACK


def measures(worker: WorkerState) -> list[str]:
    """Return the lines of Prometheus. What the database cannot say now is left out, and `evenhand_up` is 0."""
    path, process = database_path().absolute(), psutil.Process()
    with process.oneshot():
        memory, descriptors = process.memory_info().rss, process.num_fds()
    refused, running = connections.refused, int(worker() == "running")
    lines = [
        *requests.text(),
        *metric("evenhand_connections_refused_total", "counter", "Connections over the limit.", [({}, refused)]),
        *gauge("evenhand_memory_bytes", "Resident memory of the app.", memory),
        *gauge("evenhand_descriptors_open", "Open file descriptors of the app.", descriptors),
        *gauge("evenhand_connections_open", "Open connections.", len(connections)),
        *gauge("evenhand_started_seconds", "Unix time of the start.", round(STARTED, 3)),
        *gauge("evenhand_worker_running", "Whether the inference worker runs.", running),
    ]
    try:
        free = shutil.disk_usage(path.parent).free
        lines += gauge("evenhand_disk_free_bytes", "Free on the disk of the database.", free)
        with stores.borrow() as store:
            lines += _of_database(store, path)
        up = 1
    except (EvenhandError, OSError, sqlite3.Error):
        up = 0
    return lines + gauge("evenhand_up", "Whether the database answers.", up)


def gauge(name: str, text: str, value: float) -> list[str]:
    """Return the lines of a value without labels."""
    return metric(name, "gauge", text, [({}, value)])


def _of_database(store: Store, path: Path) -> list[str]:
    files: list[Sample] = [
        ({"file": name}, file.stat().st_size if file.exists() else 0)
        for name, file in (("database", path), ("log", path.with_name(f"{path.name}-wal")))
    ]
    counts = counts_of(store)
    jobs: list[Sample] = [({"state": state}, counts.jobs.get(state, 0)) for state in get_args(State)]
    return [
        *gauge("evenhand_labels", "Labels that are stored, all revisions.", counts.labels),
        *gauge("evenhand_desks_open", "Annotators whose leases hold.", counts.desks),
        *metric("evenhand_jobs", "gauge", "Jobs by state.", jobs),
        *metric("evenhand_database_bytes", "gauge", "Size of the files of the database.", files),
    ]
