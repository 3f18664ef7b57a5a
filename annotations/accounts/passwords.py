"""Passwords, stored as Argon2id hashes only; secrets of cookies and links, stored as keyed hashes only."""

import hashlib
import hmac
from threading import Lock

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, Refused

SHORTEST, LONGEST = 12, 512  # characters
# The least that OWASP recommends for Argon2id (2024): 19 MiB, two passes.
_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_one_at_a_time = Lock()  # a hundred attempts at once would take 2 GB
_NOBODY = _hasher.hash("nobody has this password")


def keyed(store: Store, secret: str) -> bytes:
    """What is stored of a random secret that a cookie or a link holds.

    Keyed with the secret of the database, which a restore renews: no cookie and no link of before holds after it.
    """
    return hmac.new(store.secret, secret.encode("utf-8", "replace"), hashlib.sha256).digest()


def hashed(password: str) -> str:
    """The hash of a new password. Raises Refused if it is shorter than 12 or longer than 512 characters."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise Refused(N_("A password needs {least} to {most} characters of any kind."), least=SHORTEST, most=LONGEST)
    with _one_at_a_time:
        return _hasher.hash(password)


def matches(stored: str | None, password: str) -> bool:
    """Whether *password* is the one of the hash; takes as long where there is no hash (None)."""
    try:
        with _one_at_a_time:
            return _hasher.verify(stored or _NOBODY, password[: LONGEST + 1]) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


def is_outdated(stored: str) -> bool:
    """Whether the hash was made with weaker settings than today's."""
    return _hasher.check_needs_rehash(stored)
