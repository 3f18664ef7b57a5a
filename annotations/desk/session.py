"""The session of a desk: which annotator is at work on which project, by a signed, expiring token.

A token is `<payload>.<signature>`, both base64url without padding; the payload is JSON, the signature HMAC-SHA-256 with
the secret of the database. So a token is valid for one database only, and for none after a restore. Replies renew it
for a day at most: then the page is opened again. It bears the version of its annotator's account, and ends with it.
"""

import base64
import binascii
import hmac
import json
import time
from dataclasses import dataclass

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects import projects
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_, NotAllowed

LIFETIME = 12 * 3600.0  # seconds
LONGEST_S = 24 * 3600.0  # even if it is renewed often
LONGEST = 2048  # characters; a token of ours has about 300
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token allows: one annotator at work on one project of one database (public ids)."""

    database: str
    project: str
    annotator: str
    expires: float  # unix seconds
    began: float  # when the first of its line was issued
    version: int  # of the account of the annotator; 0: there is none


def issue(
    secret: bytes,
    *,
    database: str,
    project: str,
    annotator: str,
    version: int = 0,
    began: float | None = None,
    now: float | None = None,
    lifetime: float = LIFETIME,
) -> str:
    """Return a token for these public ids, valid for *lifetime* seconds from *now* (unix seconds).

    *version*: of the annotator's account. *began*: of the token that this one renews; a day after that time,
    no renewed token is valid.
    """
    moment = time.time() if now is None else now
    start = moment if began is None else began
    expires = min(moment + lifetime, start + LONGEST_S)
    fields = {"d": database, "p": project, "a": annotator, "e": round(expires, 3), "b": round(start, 3), "v": version}
    payload = _encode(fields)
    return f"{_pack(payload.encode())}.{_pack(_sign(secret, payload.encode()))}"


def verify(secret: bytes, token: str, *, now: float | None = None) -> Grant:
    """Return the rights that *token* grants. Raises NotAllowed if it is foreign, changed or expired."""
    payload, _, signature = token.partition(".")
    try:
        if len(token) > LONGEST:
            raise ValueError("too long")
        body = _unpack(payload)
        genuine = hmac.compare_digest(_sign(secret, body), _unpack(signature))
        read = json.loads(body) if genuine else {}
        grant = Grant(
            str(read["d"]), str(read["p"]), str(read["a"]), float(read["e"]), float(read["b"]), int(read["v"])
        )
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise NotAllowed(N_("This sign-in is not valid here. Sign in again; nothing is lost.")) from error
    if grant.expires <= (time.time() if now is None else now):
        raise NotAllowed(N_("Your sign-in has expired. Sign in again; nothing is lost."))
    return grant


def _sign(secret: bytes, body: bytes) -> bytes:
    return hmac.digest(secret, body, "sha256")


def _pack(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unpack(text: str) -> bytes:
    data = text.encode("ascii")
    return base64.b64decode(data + b"=" * (-len(data) % 4), altchars=b"-_", validate=True)


@dataclass(frozen=True, slots=True)
class DeskSession:
    """One annotator at work on one project."""

    project: Project
    annotator: Annotator


@dataclass(frozen=True, slots=True)
class InvitedDesk:
    """What a browser may do that came by the link of a study: label so many items of one project.

    `cover`: each text is covered until it is opened.
    """

    project: str
    items: int
    cover: bool


def open_session(store: Store, grant: Grant, database: str) -> DeskSession:
    """Return the session that a token grants in a *database* (public id).

    Raises NotAllowed if database, project or membership no longer exist.
    """
    result = projects.member(store, grant.project, grant.annotator) if grant.database == database else None
    if result is None:
        raise NotAllowed(N_("This desk no longer exists. Open the Review page again."))
    return DeskSession(*result)
