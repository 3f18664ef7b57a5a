"""Limits of attempts to sign in: an address is refused, a name is only slowed down, so that nobody can lock it out."""

import time
from threading import Lock

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

A_NAME = RateLimitItemPerMinute(5, 15)  # five in fifteen minutes
AN_ADDRESS = RateLimitItemPerMinute(30, 15)
TO_STUDIES = RateLimitItemPerMinute(120, 15)  # people who agree, from one address: a class sits behind one
SLOW_S = 4.0  # for each further attempt with a name

_window = MovingWindowRateLimiter(MemoryStorage())
_waiting: set[str] = set()
_lock = Lock()


def admit_address(address: str) -> bool:
    """Whether an address may try again: 30 times in 15 minutes."""
    return _window.hit(AN_ADDRESS, "address", address)


def admit_to_study(address: str) -> bool:
    """Whether one more person from an address may take part in a study."""
    return _window.hit(TO_STUDIES, "study", address)


def admit(name: str, address: str) -> float | None:
    """How long an attempt has to wait, in seconds; None: refuse it.

    Refused are the 31st of an address in 15 minutes, and a second one for a name while a first one waits. Whoever gets
    a number calls `leave` afterwards.
    """
    key = name.strip().casefold()[:200]
    if not admit_address(address):
        return None
    with _lock:
        if key in _waiting:
            return None
        if _window.hit(A_NAME, "name", key):
            return 0.0
        _waiting.add(key)
    return SLOW_S


def leave(name: str) -> None:
    """An attempt has been answered."""
    with _lock:
        _waiting.discard(name.strip().casefold()[:200])


def minutes_until_free(address: str) -> int:
    """After how many minutes an address may try again, at least 1."""
    reset = _window.get_window_stats(AN_ADDRESS, "address", address).reset_time
    return max(1, round((reset - time.time()) / 60))
