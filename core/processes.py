"""Whether the process that began something is still there."""

import psutil


def is_alive(pid: int | None, started: float | None) -> bool:
    """Whether the process of that number that began at *started* (unix seconds) still runs.

    The number alone is not enough: it is given again, and in a container every app has the same one.
    """
    if pid is None or started is None:
        return False
    try:
        return bool(abs(psutil.Process(pid).create_time() - started) < 1)
    except psutil.Error:
        return False
