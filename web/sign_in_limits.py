"""Limits of attempts to sign in: an address is refused; a name is only slowed down, so no attacker can lock it out."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from evenhand.annotations.accounts.accounts import name_key

FROM_A_NETWORK = RateLimitItemPerMinute(5, 15)  # five in fifteen minutes, for a name
FROM_ALL_NETWORKS = RateLimitItemPerMinute(60, 15)  # for a name
AN_ADDRESS = RateLimitItemPerMinute(30, 15)
TO_STUDIES = RateLimitItemPerMinute(120, 15)  # people who agree, from one address: a class sits behind one
SLOW_S = 4.0  # for each further attempt with a name
MOST_IN_TURN = 5  # attempts from one network that wait for each other; further ones wait as long as the last of these

_window = MovingWindowRateLimiter(MemoryStorage())
_waiting: Counter[tuple[str, str]] = Counter()  # attempts by name and network
_lock = Lock()


def admit_address(address: str) -> bool:
    """Count an attempt of an address; return whether it is admitted: 30 in 15 minutes."""
    return _window.hit(AN_ADDRESS, "address", network_of(address))


def admit_to_study(address: str) -> bool:
    """Count a new participant from an address; return whether they are admitted: 120 in 15 minutes, a large lecture."""
    return _window.hit(TO_STUDIES, "study", network_of(address))


def network_of(address: str, prefix: int = 32) -> str:
    """Return the network that counts as one address: of IPv6 the first 64 bits, since a household owns the rest.

    *prefix*: how many bits of an IPv4 address count.
    """
    try:
        result = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    inside = result.ipv4_mapped if isinstance(result, IPv6Address) else result
    if inside is None:
        return str(ip_network((result, 64), strict=False))
    return str(inside) if prefix == 32 else str(ip_network((inside, prefix), strict=False))


@contextmanager
def attempt(name: str, address: str) -> Iterator[float | None]:
    """Yield how many seconds an attempt has to wait before its password is looked at; None: refuse it.

    Refused is the 31st attempt of an address in 15 minutes. A name is slowed down for the networks that tried it often,
    where attempts wait for each other, and, after many attempts from many networks, by one delay for all: so the owner
    of a name always gets in from elsewhere.
    """
    if not admit_address(address):
        yield None
        return
    lane = name_key(name[:200]), network_of(address, 24)  # attempts wait for each other by name and network
    is_rare = _window.hit(FROM_ALL_NETWORKS, "name", lane[0])
    if _window.hit(FROM_A_NETWORK, "name", *lane):
        yield 0.0 if is_rare else SLOW_S
        return
    with _lock:
        _waiting[lane] += 1
        wait = SLOW_S * min(_waiting[lane], MOST_IN_TURN)
    try:
        yield wait
    finally:
        with _lock:
            _waiting[lane] -= 1
            if not _waiting[lane]:
                del _waiting[lane]


def minutes_until_free(address: str, *, study: bool = False) -> int:
    """Return the minutes until an address may try again, or until a study takes more people from it; at least 1."""
    limit, name = (TO_STUDIES, "study") if study else (AN_ADDRESS, "address")
    reset = _window.get_window_stats(limit, name, network_of(address)).reset_time
    return max(1, round((reset - time.time()) / 60))
