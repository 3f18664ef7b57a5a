"""The desk's HTTP routes: labels in, answers and items out, in the same process as the pages.

Every request is a POST with JSON and a signed token; every error is JSON with one sentence. An answer is sent after the
commit, which requests that arrive together share; each of the others runs in a thread with its own Store.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from evenhand.annotations.database.pool import Pool, stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import requests
from evenhand.annotations.desk.requests import DeskRequest, Reply
from evenhand.annotations.desk.session import InvitedDesk, issue, open_session, verify
from evenhand.annotations.desk.shared_commit import SharedCommit
from evenhand.annotations.permissions import OPEN, Action, Person, allowed, require
from evenhand.annotations.projects.annotators import sign_in_of
from evenhand.core.errors import N_, BadFile, Busy, EvenhandError, NotAllowed, Refused
from evenhand.core.language import LANGUAGES, Language, explain, translate

PATH = "/api/desk"
MOST_BYTES = 1_000_000  # of a request
THREADS = 8  # per route; SQLite lets one writer in at a time

SIGNED_OUT = N_("You are signed out or may no longer label here. Sign in again; nothing is lost.")
logger = logging.getLogger(__name__)
SHARED = ("sync", "heartbeat")  # quick, and they write: they share commits
# Each request can be undone alone, so half of the commits would write a file of pages as they were before, of 300 kB.
shared = SharedCommit(Pool(in_memory=True))


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller, as identified by the gate of the server: a person and the desks of this browser.

    `invited`: desks by links of studies, by public id of the annotator. `refused`: status and sentence of the gate, or
    None.
    """

    person: Person | None
    invited: Mapping[str, InvitedDesk]
    refused: tuple[int, str] | None = None


def routes() -> list[Route]:
    """Return the routes of the desk."""
    return [Route(f"{PATH}/{name}", DeskRoute(name), methods=["POST"]) for name in ROUTES]


class DeskRoute:
    """One route of the desk, an ASGI app without layers between it and the gate: thousands of desks call it."""

    def __init__(self, name: str) -> None:
        self.work, self.action = ROUTES[name]
        self.shares = name in SHARED
        self.limiter: anyio.CapacityLimiter | None = None  # created inside the event loop

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        data = await _read(receive)
        headers = dict(scope["headers"])
        token = headers.get(b"authorization", b"").decode("latin-1").removeprefix("Bearer ").strip()
        # The gate says how to find out who asks; routes that run without a gate are in the open mode.
        asks = (scope.get("state") or {}).get("asks", _open_mode)
        status, reply = await self._answer(token, asks, data)
        text = _json(reply)
        kept = [(b"cache-control", b"no-store"), (b"content-type", b"application/json; charset=utf-8")]
        length = (b"content-length", str(len(text)).encode())
        await send({"type": "http.response.start", "status": status, "headers": [length, *kept]})
        await send({"type": "http.response.body", "body": text})

    async def _answer(self, token: str, asks: Callable[[Store], Caller], data: bytes | None) -> tuple[int, Reply]:
        """Return status and reply of one request; never raises."""
        language: Language = "en"
        try:
            if data is None:
                return 413, {"message": translate(N_("This request is too large."), language)}
            body = _object(data)
            asked = body.get("language")
            language = asked if asked in LANGUAGES else "en"

            def answer(store: Store, who: Caller) -> tuple[int, Reply]:
                return _authorized(self.work, self.action, store, token, who, body, language)

            if self.shares:
                result: tuple[int, Reply] = await shared.run(asks, answer)
                return result
            if self.limiter is None:
                self.limiter = anyio.CapacityLimiter(THREADS)
            return await anyio.to_thread.run_sync(_alone, asks, answer, limiter=self.limiter)
        except (Busy, BadFile) as error:  # the desk keeps its outbox and retries
            return 503, {"message": explain(error, language)}
        except Refused as error:
            return 400, {"message": explain(error, language)}
        except NotAllowed as error:
            return 403, {"message": explain(error, language)}
        except EvenhandError as error:
            return 404, {"message": explain(error, language)}
        except Exception:
            logger.exception("A request of the desk failed")
            message = N_("The server could not process this request. Nothing is lost; it is retried automatically.")
            return 503, {"message": translate(message, language)}


def _open_mode(_: Store) -> Caller:
    return Caller(OPEN, {})


def _alone(asks: Callable[[Store], Caller], answer: Callable[[Store, Caller], tuple[int, Reply]]) -> tuple[int, Reply]:
    with stores.borrow() as store:
        return answer(store, asks(store))


async def _read(receive: Any) -> bytes | None:
    """Return the body, or None if it is too long; never more than MOST_BYTES are in memory."""
    data = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        data += message.get("body", b"")
        if len(data) > MOST_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(data)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _json(reply: Reply) -> bytes:
    # A lone surrogate is sent back as a JSON escape.
    return _encode(reply).encode("utf-8", "backslashreplace")


def _authorized(
    work: Callable[[DeskRequest], Reply],
    action: Action,
    store: Store,
    token: str,
    who: Caller,
    body: Reply,
    language: Language,
) -> tuple[int, Reply]:
    if who.refused is not None:
        return who.refused[0], {"message": translate(who.refused[1], language)}
    secret, database = store.key
    try:
        grant = verify(secret, token)
        # A token ends with the sign-in of its person, and with the role in the project; that of a person who came by a
        # link is valid in that person's browser only, as long as the part in the study lasts.
        invited = who.invited.get(grant.annotator)
        comes = sign_in_of(store, grant.annotator)
        if invited is not None or comes.by_link:
            may = invited is not None and invited.project == grant.project
        else:
            place = {"project": grant.project, "annotator": grant.annotator}
            may = who.person is not None and allowed(who.person, action, **place)
        if not may:
            raise NotAllowed(SIGNED_OUT)
        if grant.version != comes.version:
            raise NotAllowed(SIGNED_OUT)
    except NotAllowed as error:
        return 401, {"message": explain(error, language)}
    at = open_session(store, grant, database)
    # The holder of a token is that annotator and no more, on any machine.
    holder = Person(None, grant.annotator, {grant.project: "annotator"})
    require(holder, action, project=grant.project, annotator=at.annotator.uid)
    reply = work(DeskRequest(store, at, database, body, language, invited))
    renewed = issue(
        secret,
        database=database,
        project=grant.project,
        annotator=grant.annotator,
        version=grant.version,
        began=grant.began,
    )
    return 200, {**reply, "token": renewed}


def _object(data: bytes) -> dict[str, Any]:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Refused(N_("This request is not JSON.")) from error
    if not isinstance(body, dict):
        raise Refused(N_("This request is not a JSON object."))
    return body


# Every route with the permission that it needs.
ROUTES: dict[str, tuple[Callable[[DeskRequest], Reply], Action]] = {
    "sync": (requests.sync, "label"),
    "heartbeat": (requests.heartbeat, "label"),
    "history": (requests.history, "see_own_labels"),
    "item": (requests.item, "see_own_labels"),
    "opinion": (requests.opinion, "see_own_labels"),
    "told": (requests.read_changes, "label"),
}
