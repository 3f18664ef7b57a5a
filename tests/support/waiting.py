"""Waiting for something that another process or thread does: for the event, never for a time."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(happened: Callable[[], Found], seconds: float = 300.0, told: Callable[[], object] = str) -> Found:
    """Return the result of *happened* once it is true; fail with the result of *told* after *seconds*."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := happened():
            return result
        time.sleep(0.02)
    raise AssertionError(f"never came {told()}")
