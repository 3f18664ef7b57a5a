"""Waiting for something that another process or thread does: for the event, never for a time."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(happened: Callable[[], Found], seconds: float = 300.0, told: Callable[[], object] = str) -> Found:
    """What *happened* returns once it is true; fails with what *told* says when that never comes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := happened():
            return found
        time.sleep(0.02)
    raise AssertionError(f"never came {told()}")
