"""Signed, expiring tokens that name a desk's annotator, renewed with every reply.

A token is `<payload>.<signature>`, both base64url without padding; the payload is JSON, the signature HMAC-SHA-256 with
the secret of the database. So a token is valid for one database only.
"""

import base64
import binascii
import hashlib
import hmac
import json
import time
from dataclasses import dataclass

from core.errors import N_, NotAllowed

LIFETIME = 12 * 3600.0  # seconds
LONGEST = 2048  # characters; a token of ours has about 300


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token allows: one annotator at work on one project of one database (public ids)."""

    database: str
    project: str
    annotator: str
    expires: float  # unix seconds


def issue(
    secret: bytes, *, database: str, project: str, annotator: str, now: float | None = None, lifetime: float = LIFETIME
) -> str:
    """A token for these public ids, good for *lifetime* seconds from *now* (unix seconds)."""
    expires = (time.time() if now is None else now) + lifetime
    payload = json.dumps({"d": database, "p": project, "a": annotator, "e": round(expires, 3)}, separators=(",", ":"))
    return f"{_pack(payload.encode())}.{_pack(_sign(secret, payload.encode()))}"


def verify(secret: bytes, token: str, *, now: float | None = None) -> Grant:
    """What *token* allows. Raises NotAllowed if it is foreign, changed or expired."""
    payload, _, signature = token.partition(".")
    try:
        if len(token) > LONGEST:
            raise ValueError("too long")
        body = _unpack(payload)
        genuine = hmac.compare_digest(_sign(secret, body), _unpack(signature))
        read = json.loads(body) if genuine else {}
        grant = Grant(str(read["d"]), str(read["p"]), str(read["a"]), float(read["e"]))
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise NotAllowed(N_("This sign-in is not valid here. Sign in again; nothing is lost.")) from error
    if grant.expires <= (time.time() if now is None else now):
        raise NotAllowed(N_("Your sign-in has expired. Sign in again; nothing is lost."))
    return grant


def _sign(secret: bytes, body: bytes) -> bytes:
    return hmac.new(secret, body, hashlib.sha256).digest()


def _pack(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unpack(text: str) -> bytes:
    data = text.encode("ascii")
    return base64.b64decode(data + b"=" * (-len(data) % 4), altchars=b"-_", validate=True)
