"""The process of a job that `annotations.jobs.jobs.start` started."""

import json
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from evenhand.annotations.database.store import Store, long_lock_timeout, update_rows
from evenhand.annotations.jobs.jobs import Job, drop_uploads, find, mark_interrupted
from evenhand.core.errors import N_, Busy, EvenhandError
from evenhand.core.files.timestamps import timestamp
from evenhand.core.processes import this_process
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject

AT_ONCE = 2  # jobs that run at once; the others wait in the order of their start
# Not SCHED_IDLE: who holds the write lock and gets no processor time would hold up labels. The disk follows nice.
NICE = 19
OOM = 500  # of 1000; a child that reads an upload has 1000, the server 0
LISTED = 500  # longest list in a result
HEARTBEAT_S = 2.0
PATIENCE_S = 600.0  # how long a job waits for a busy database
_TICK_S = 0.25


class _Ended(BaseException):
    """SIGTERM arrived: unwind, so that unfinished work is deleted."""


class Progress:
    """The progress of this process: call it with (done, total).

    It only stores the numbers. A thread with its own connection writes the row, so that a command may report inside a
    transaction.
    """

    def __init__(self) -> None:
        self.done = 0
        self.total: int | None = None
        self.message = ""

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        """Report `done` units of `total`; `message`: the present step in words."""
        self.done = done
        self.total = total if total is not None else self.total
        self.message = message or self.message


def perform(store: Store, uid: str, work: Callable[[Job, Progress], object]) -> None:
    """Run a job in this process: wait for a place, do its *work*, store the report that it returns."""
    _stand_back()
    signal.signal(signal.SIGTERM, _end_now)
    with long_lock_timeout(PATIENCE_S), suppress(_Ended):  # cancelled: the row says so already
        with store.write() as db:
            update_rows(db, "job", dict(zip(("pid", "started_process"), this_process(), strict=True)), uid=uid)
        _wait_for_place(store, uid)
        job, progress = find(store, uid), Progress()
        with _written(store.path, uid, progress):
            state, result, message = _run(work, job, progress)
        _write_end(store, uid, state, result, message, progress)
        if state == "done":
            drop_uploads(store, job)


def _stand_back() -> None:
    """Give this process only the processor time that others leave over.

    Linux groups processes by session where nothing else groups them (autogroup), shares out time between the groups,
    and lets nice count within a group only: a job in a session of its own would have as much as the whole server
    (measured next to a busy loop: 50% with nice 19 alone, 4% with both).
    """
    os.nice(NICE)
    with suppress(OSError):  # where memory runs out, the system ends a job before the server
        Path("/proc/self/oom_score_adj").write_text(str(OOM), encoding="ascii")
    if os.getsid(0) != os.getpid():  # a session that others are in too
        return
    with suppress(OSError):  # another system, or one without such groups
        Path("/proc/self/autogroup").write_text(str(NICE), encoding="ascii")


def _end_now(number: int, frame: FrameType | None) -> None:
    raise _Ended


def _wait_for_place(store: Store, uid: str) -> None:
    while True:
        mark_interrupted(store)
        if _place_free(store, uid):
            with store.write() as db:
                if _place_free(store, uid):  # the write lock keeps others from taking it now
                    begun = {"state": "running", "started": timestamp(), "heartbeat": time.time()}
                    if update_rows(db, "job", begun, uid=uid, state="waiting") != 1:
                        raise _Ended  # cancelled while it waited
                    return
        time.sleep(_TICK_S)


def _place_free(store: Store, uid: str) -> bool:
    before = """job AS other, job AS this WHERE this.uid = ? AND (other.state = 'running'
        OR other.state = 'waiting' AND (other.created, other.id) < (this.created, this.id))"""
    return store.count(before, (uid,)) < AT_ONCE


def _run(work: Callable[[Job, Progress], object], job: Job, progress: Progress) -> tuple[str, JsonObject, str]:
    try:
        return "done", _shortened(to_json(work(job, progress))), ""
    except EvenhandError as error:
        values = {key: value if isinstance(value, int | float) else str(value) for key, value in error.values.items()}
        return "failed", {"error": error.message, "values": values}, str(error)
    except _Ended:
        raise
    except BaseException as error:  # the row must record any end
        traceback.print_exc()
        message = N_("The command ended unexpectedly ({why}); see the log.")
        why = f"{type(error).__name__}: {error}"[:300]
        return "failed", {"error": message, "values": {"why": why}}, message.format(why=why)


def _shortened(answer: JsonObject) -> JsonObject:
    # The row is read for every list of jobs, so it must stay small.
    return {key: value[:LISTED] if isinstance(value, list) else value for key, value in answer.items()}


@contextmanager
def _written(path: Path, uid: str, progress: Progress) -> Iterator[None]:
    over = threading.Event()
    thread = threading.Thread(target=_write_rows, args=(path, uid, progress, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _write_rows(path: Path, uid: str, progress: Progress, over: threading.Event) -> None:
    written: tuple[int, int | None, str] | None = None
    beat = 0.0
    with Store.open(path) as store:
        while not over.wait(_TICK_S):
            seen = (progress.done, progress.total, progress.message)
            if seen == written and time.time() - beat < HEARTBEAT_S:
                continue
            beat = time.time()
            try:
                alive = _write_row(store, uid, seen, beat)
            except EvenhandError:  # the database is busy; the next beat writes the same
                continue
            written = seen
            if not alive:  # cancelled by a user who may not signal this process
                os.kill(os.getpid(), signal.SIGTERM)
                return


def _write_row(store: Store, uid: str, seen: tuple[int, int | None, str], beat: float) -> bool:
    """Store the progress of the job; False if it is not running any more."""
    with store.unsynced(), store.write() as db:
        values = {"done": seen[0], "total": seen[1], "message": _storable(seen[2]), "heartbeat": beat}
        return update_rows(db, "job", values, uid=uid, state="running") > 0


def _storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _write_end(store: Store, uid: str, state: str, result: JsonObject | None, message: str, progress: Progress) -> None:
    # The database holds no half a character (a lone surrogate): it stays the escape that it was in the file.
    text = _storable(json.dumps(result, ensure_ascii=False)) if result is not None else None
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            with store.write() as db:
                ended = {
                    "state": state, "result": text, "message": _storable(message), "done": progress.done,
                    "total": progress.total, "finished": timestamp(), "heartbeat": time.time(),
                }  # fmt: skip
                update_rows(db, "job", ended, uid=uid, state="running")
            return
        except Busy:  # hours of work must not count as interrupted because of a slow disk
            if time.monotonic() > until:
                raise
        time.sleep(_TICK_S)
