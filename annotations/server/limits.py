"""Limits of attempts to sign in: an address is refused, a name is only slowed down, so that nobody can lock it out."""

import time
from ipaddress import IPv6Address, ip_address, ip_network
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
    return _window.hit(AN_ADDRESS, "address", network_of(address))


def admit_to_study(address: str) -> bool:
    """Whether one more person from an address may take part in a study: 120 in 15 minutes, a large lecture."""
    return _window.hit(TO_STUDIES, "study", network_of(address))


def network_of(address: str) -> str:
    """What counts as one address: of IPv6 the first 64 bits, since each household has all of the others."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    inside = found.ipv4_mapped
    return str(inside) if inside else str(ip_network((found, 64), strict=False))


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


def minutes_until_free(address: str, *, study: bool = False) -> int:
    """After how many minutes an address may try again, or more people from it may take part in a study; at least 1."""
    limit, name = (TO_STUDIES, "study") if study else (AN_ADDRESS, "address")
    reset = _window.get_window_stats(limit, name, network_of(address)).reset_time
    return max(1, round((reset - time.time()) / 60))
