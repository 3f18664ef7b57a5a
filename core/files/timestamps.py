"""When something was done, as a file says it: brought into the one form that the database has moments in."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

YEARS = range(1970, 2100)  # of a label, a decision or a version; others are slips of a pen or of a program


_dated: ContextVar[float | None] = ContextVar("dated", default=None)


@contextmanager
def dated(moment: float) -> Iterator[None]:
    """Let `timestamp` give *moment* (unix seconds) instead of now, for made-up data with a past."""
    token = _dated.set(moment)
    try:
        yield
    finally:
        _dated.reset(token)


def timestamp(moment: float | None = None) -> str:
    """Return a time in unix seconds, or now, as UTC in ISO 8601 with milliseconds."""
    seconds = _dated.get() if moment is None else moment
    when = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(written: Any) -> str | None:
    """Return *written* in UTC, ISO 8601 with milliseconds; None unless it is a timestamp of the years 1970 to 2099.

    A timestamp without a zone is read as UTC: the same file means the same on every computer.
    """
    if not isinstance(written, str):
        return None
    try:
        time = datetime.fromisoformat(written.strip())
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return timestamp(time.timestamp()) if time.year in YEARS else None
