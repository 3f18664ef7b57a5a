"""Whether the process that began something is still there. One that was killed and is not collected yet is not."""

import os
import threading
from multiprocessing import parent_process

import psutil

SLACK_S = 1.0  # the clock may have been set since the process began


def this_process() -> tuple[int, float]:
    """Number and start (unix seconds) of this process, for others to ask about it."""
    process = psutil.Process()
    return process.pid, process.create_time()


def start_of(pid: int) -> float | None:
    """When the process of that number began, in unix seconds; None where there is none."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def process_of(pid: int | None, started: float | None) -> psutil.Process | None:
    """The process of that number that began at *started* (unix seconds), while it runs.

    The number alone is not enough: it is given again, and in a container every app has the same one.
    """
    if pid is None or started is None:
        return None
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - started) < SLACK_S
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.Error:
        return None


def is_alive(pid: int | None, started: float | None) -> bool:
    """Whether that process runs; see `process_of`."""
    return process_of(pid, started) is not None


def is_in_use(pid: int) -> bool:
    """Whether any process has that number: enough where being wrong only leaves a file in its place."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # somebody else's
        return True


def end_with_parent() -> None:
    """Let this worker of a pool end where its parent is killed.

    It holds both ends of its queue, so it would wait for ever.
    """
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
