"""Check whether the process that began something still runs. Zombie processes count as dead."""

import os
import threading
from multiprocessing import parent_process

import psutil

SLACK_S = 1.0  # the clock may have been set since the process began


def this_process() -> tuple[int, float]:
    """Return the number and start (unix seconds) of this process, by which other processes can check it."""
    process = psutil.Process()
    return process.pid, process.create_time()


def start_of(pid: int) -> float | None:
    """Return when the process of that number began, in unix seconds; None where there is none."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def process_of(pid: int | None, started: float | None) -> psutil.Process | None:
    """Return the process of that number that began at *started* (unix seconds); None if it does not run.

    The number alone is not enough: the system reuses numbers, and in a container every app has the same one.
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
    """Return whether that process runs; see `process_of`."""
    return process_of(pid, started) is not None


def is_in_use(pid: int) -> bool:
    """Return whether any process has that number: enough where a wrong answer only leaves a file in its place."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # a process of another user
        return True


def end_with_parent() -> None:
    """End this worker of a pool when its parent is killed.

    The worker holds both ends of its queue, so it would wait forever.
    """
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
