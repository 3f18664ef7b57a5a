"""The desk's HTTP routes: labels in, answers and items out, in the same process as the pages.

Every request is a POST with JSON and a signed token; every error is JSON with one sentence. An answer is sent after the
commit, which requests that arrive together share; each of the others runs in a thread with its own Store.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from evenhand.annotations.database.pool import Pool, stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.announcements import desk_news, desk_state, item_news, record_changes_read
from evenhand.annotations.desk.comparisons import as_shown, as_stored, choice_as_shown, decision_as_shown
from evenhand.annotations.desk.frontend import newer_guideline
from evenhand.annotations.desk.messages import (
    decision_out,
    id_in,
    item_out,
    list_in,
    number_in,
    operation_in,
    progress_out,
    search_in,
)
from evenhand.annotations.desk.session import (
    DeskSession,
    InvitedDesk,
    bases,
    open_session,
    sign_in_of,
    standing_choice,
    standing_decision,
)
from evenhand.annotations.desk.shared_commit import SharedCommit
from evenhand.annotations.desk.tokens import issue, verify
from evenhand.annotations.guideline.comparison import compares
from evenhand.annotations.guideline.free_tags import own_tags
from evenhand.annotations.labels.asked_for import skips_left
from evenhand.annotations.labels.covered import (
    CoveredLabels,
    covered_labels,
    covers_words,
    uncovered_cells,
    uncovered_operations,
)
from evenhand.annotations.labels.operations import reveal
from evenhand.annotations.labels.operations import store_operations as store_operations
from evenhand.annotations.labels.read import own_conflicts as own_conflicts
from evenhand.annotations.labels.read import own_decisions as own_decisions
from evenhand.annotations.labels.read import own_progress
from evenhand.annotations.labels.retest_labels import progress_with_retests
from evenhand.annotations.permissions import OPEN, Action, Person, allowed, require
from evenhand.annotations.queue import leases
from evenhand.annotations.types import Answer, Decision, Item, Operation, OwnProgress
from evenhand.core.errors import N_, BadFile, Busy, EvenhandError, NotAllowed, Refused
from evenhand.core.language import LANGUAGES, Language, explain, translate

PATH = "/api/desk"
MOST_BYTES = 1_000_000  # of a request
MOST_OPERATIONS = 100  # in one request
MOST_ITEMS = 60  # handed out at once
MOST_HAVE = 400
MOST_HISTORY = 500
THREADS = 8  # per route; SQLite lets one writer in at a time

SIGNED_OUT = N_("You are signed out or may no longer label here. Sign in again; nothing is lost.")
logger = logging.getLogger(__name__)
SHARED = ("sync", "heartbeat")  # quick, and they write: they share commits
# Each request can be undone alone, so half of the commits would write a file of pages as they were before, of 300 kB.
shared = SharedCommit(Pool(in_memory=True))
Reply = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DeskRequest:
    """One checked request: the database, the session, the body, the language of the answer.

    `invited`: the limits of a desk that came by the link of a study.
    """

    store: Store
    at: DeskSession
    database: str
    body: dict[str, Any]
    language: Language
    invited: InvitedDesk | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks, as the gate of the server found: a person, and the desks (by public id of the annotator) that this
    browser has by links of studies; or with which status and sentence the gate refuses."""

    person: Person | None
    invited: Mapping[str, InvitedDesk]
    refused: tuple[int, str] | None = None


def routes() -> list[Route]:
    """Return the routes of the desk."""
    return [Route(f"{PATH}/{name}", DeskRoute(name), methods=["POST"]) for name in ROUTES]


class DeskRoute:
    """One route of the desk, an ASGI app: thousands of desks ask it, so nothing stands between it and the gate."""

    def __init__(self, name: str) -> None:
        self.work, self.action = ROUTES[name]
        self.shares = name in SHARED
        self.limiter: anyio.CapacityLimiter | None = None  # created inside the event loop

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        data = await _read(receive)
        headers = dict(scope["headers"])
        token = headers.get(b"authorization", b"").decode("latin-1").removeprefix("Bearer ").strip()
        # The gate says how to find out who asks; routes that run without a gate stand in the open mode.
        asks = (scope.get("state") or {}).get("asks", _open_mode)
        status, reply = await self._answer(token, asks, data)
        text = _json(reply)
        kept = [(b"cache-control", b"no-store"), (b"content-type", b"application/json; charset=utf-8")]
        length = (b"content-length", str(len(text)).encode())
        await send({"type": "http.response.start", "status": status, "headers": [length, *kept]})
        await send({"type": "http.response.body", "body": text})

    async def _answer(self, token: str, asks: Callable[[Store], Asking], data: bytes | None) -> tuple[int, Reply]:
        """Status and reply of one request; never raises."""
        language: Language = "en"
        try:
            if data is None:
                return 413, {"message": translate(N_("This request is too large."), language)}
            body = _object(data)
            asked = body.get("language")
            language = asked if asked in LANGUAGES else "en"

            def answer(store: Store, who: Asking) -> tuple[int, Reply]:
                return _authorized(self.work, self.action, store, token, who, body, language)

            if self.shares:
                found: tuple[int, Reply] = await shared.run(asks, answer)
                return found
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
            message = N_("The server could not do this just now. Nothing is lost; it will try again.")
            return 503, {"message": translate(message, language)}


def _open_mode(_: Store) -> Asking:
    return Asking(OPEN, {})


def _alone(asks: Callable[[Store], Asking], answer: Callable[[Store, Asking], tuple[int, Reply]]) -> tuple[int, Reply]:
    with stores.borrow() as store:
        return answer(store, asks(store))


async def _read(receive: Any) -> bytes | None:
    """The body, or None if it is too long; never more than MOST_BYTES in memory."""
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
    who: Asking,
    body: Reply,
    language: Language,
) -> tuple[int, Reply]:
    if who.refused is not None:
        return who.refused[0], {"message": translate(who.refused[1], language)}
    secret, database = store.key
    try:
        grant = verify(secret, token)
        # A token ends with the sign-in of its person, and with the role in the project; that of somebody who came by a
        # link is good in that person's browser only, as long as the part in the study lasts.
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


def sync(call: DeskRequest) -> Reply:
    """Store operations, then hand out items.

    In: `ops`, `have`, `want`, `hello` (past decisions wanted; 0: none), `version` (of the known guideline).
    Out, among others: `next`, a newer guideline, which is to be read before the next label.
    """
    at, body = call.at, call.body
    sent, have = list_in(body, "ops", MOST_OPERATIONS), list_in(body, "have", MOST_HAVE)
    want, hello = min(number_in(body, "want"), MOST_ITEMS), min(number_in(body, "hello"), MOST_HISTORY)
    answers = _append(call, sent)
    items: list[Item] = []
    share = None if call.invited is None else call.invited.items
    if want > 0 and call.invited is not None:  # no more than this person was asked to judge
        before = own_progress(call.store, at.project, at.annotator, share)
        want = min(want, max(0, call.invited.items - _progress(call, before).labelled - len(have)))
    if want > 0:
        known = [each for each in have if isinstance(each, str)]
        items = leases.claim(call.store, at.project, at.annotator, have=known, want=want)
    elif not sent:
        leases.heartbeat(call.store, at.project, at.annotator)
    own = own_progress(call.store, at.project, at.annotator, share)
    now, version = desk_state(call.store, at.project, at.annotator), number_in(body, "version")
    older = 0 < version < now.guideline  # the texts are read only then
    reply: Reply = {
        "answers": answers,
        "items": _items(call, items),
        "progress": progress_out(_progress(call, own), at.project.kind),
        "guideline": now.guideline,
        "next": newer_guideline(call.store, at.project, version, call.language) if older else None,
        "left": not now.active,
        **desk_news(call.store, at.project, at.annotator, now),
    }
    if want > 0 and not items:
        reply["skipped"] = leases.left_to_others(call.store, at.project, at.annotator)
    if hello:
        reply["history"] = _own_decisions(call, hello)
        reply["tags"] = own_tags(call.store, at.project, at.annotator) if reply["pilot"] else []
    if hello or sent:
        reply["conflicts"] = _conflicts(call)
        if call.invited is not None:
            reply["skips_left"] = skips_left(call.store.db, at.project, at.annotator, call.invited.items)
    return reply


def heartbeat(call: DeskRequest) -> Reply:
    """Renew the leases of an open desk. Out: whether this annotator has `left`, the newest version of the guideline."""
    leases.heartbeat(call.store, call.at.project, call.at.annotator)
    now = desk_state(call.store, call.at.project, call.at.annotator)
    return {"left": not now.active, "guideline": now.guideline}


def history(call: DeskRequest) -> Reply:
    """Own past decisions, newest first. In: `limit`, `search`."""
    limit = max(1, min(number_in(call.body, "limit", 10), MOST_HISTORY))
    return {"history": _own_decisions(call, limit, search_in(call.body))}


def item(call: DeskRequest) -> Reply:
    """One item with the annotator's own decision. In: `item`."""
    found = standing_decision(call.store, call.at, id_in(call.body, "item"))
    (decision,) = _decisions(call, [found], covered_labels(call.store, call.at.project, call.at.annotator))
    return {"decision": decision}


def opinion(call: DeskRequest) -> Reply:
    """The scores of the project's model for a labelled item; records that they were shown. In: `item`."""
    from evenhand.annotations.desk.opinion import opinion_of  # imported here: a desk without opinions never needs it

    decision = standing_decision(call.store, call.at, id_in(call.body, "item"))
    told = opinion_of(call.at.project, decision.item)
    told["reason"] = told["reason"] and translate(told["reason"], call.language)
    # Recorded before it is sent, and only if the label is still valid.
    reveal(call.store, call.at.project, call.at.annotator, decision.item.uid)
    return told


def read_changes(call: DeskRequest) -> Reply:
    """Record that the annotator has read what changed up to a version of the guideline. In: `version`."""
    record_changes_read(call.store, call.at.project, call.at.annotator, number_in(call.body, "version"))
    now = desk_state(call.store, call.at.project, call.at.annotator)
    return desk_news(call.store, call.at.project, call.at.annotator, now)


# Every route with the permission that it needs.
ROUTES: dict[str, tuple[Callable[[DeskRequest], Reply], Action]] = {
    "sync": (sync, "label"),
    "heartbeat": (heartbeat, "label"),
    "history": (history, "see_own_labels"),
    "item": (item, "see_own_labels"),
    "opinion": (opinion, "see_own_labels"),
    "told": (read_changes, "label"),
}


def _append(call: DeskRequest, sent: Sequence[Any]) -> list[Reply]:
    """One answer per operation, in order; an invalid one is refused alone."""
    read: list[Operation | Reply] = [_read_operation(call, raw) for raw in sent]
    if compares(call.store, call.at.project):
        read = [as_stored(call.at, each) if isinstance(each, Operation) else each for each in read]
    operations = [each for each in read if isinstance(each, Operation)]
    stored: list[Answer] = []
    if operations:
        asked = None if call.invited is None else call.invited.items
        stored = store_operations(call.store, call.at.project, call.at.annotator, operations, asked=asked)
    answers = iter(stored)
    return [each if isinstance(each, dict) else _answer_out(next(answers), call.language) for each in read]


def _read_operation(call: DeskRequest, raw: Any) -> Operation | Reply:
    try:
        return operation_in(raw, call.database, call.at)
    except Refused as error:
        op_id = raw.get("op") if isinstance(raw, dict) else None
        return {"op": op_id, "result": "refused", "reason": explain(error, call.language)}


def _answer_out(answer: Answer, language: Language) -> Reply:
    if answer.stored:
        return {"op": answer.op_id, "result": "acked", "conflict": answer.conflict, "latest": answer.latest}
    reason = explain(Refused(answer.reason, **answer.values), language)
    return {"op": answer.op_id, "result": "refused", "reason": reason, "latest": answer.latest}


def _progress(call: DeskRequest, own: OwnProgress) -> OwnProgress:
    at = call.at
    found = progress_with_retests(call.store, at.project, at.annotator, own)
    covered = covered_labels(call.store, at.project, at.annotator)
    if covered is not None:
        found = replace(found, cells=uncovered_cells(call.store, covered, found.cells))
    return found if call.invited is None else replace(found, total=call.invited.items)


def _items(call: DeskRequest, items: Sequence[Item]) -> list[Reply]:
    at = call.at
    replaced = bases(call.store, at.annotator, items) if items else {}
    beside = item_news(call.store, at, items, call.language)
    veil = {"veil": True} if call.invited is not None and call.invited.cover else {}
    kind = at.project.kind
    covered = covers_words(at.project)
    return [
        item_out(as_shown(at, each), replaced.get(each.uid), kind, covered=covered) | beside[each.uid] | veil
        for each in items
    ]


def _own_decisions(call: DeskRequest, limit: int, search: str = "") -> list[Reply]:
    at = call.at
    covered = covered_labels(call.store, at.project, at.annotator)
    found = own_decisions(call.store, at.project, at.annotator, limit=limit, search=search, covered=covered)
    return _decisions(call, found, covered)


def _decisions(call: DeskRequest, found: Sequence[Decision], covered: CoveredLabels | None) -> list[Reply]:
    """Decisions for the desk; the word of an item is covered as long as its label can be undone."""
    if covered is None:
        return [_decision(call, each) for each in found]
    old = uncovered_operations(call.store, call.at.annotator, covered, [each.op_id for each in found])
    return [_decision(call, each, covered=each.op_id not in old, ago=covered.ago(each.op_id)) for each in found]


def _decision(call: DeskRequest, found: Decision, *, covered: bool = False, ago: int | None = None) -> Reply:
    return decision_out(decision_as_shown(call.at, found), call.at.project.kind, covered=covered, ago=ago)


def _conflicts(call: DeskRequest) -> list[Reply]:
    found = own_conflicts(call.store, call.at.project, call.at.annotator)
    stands = [standing_choice(call.store, call.at, each.item.uid) for each in found]
    return [
        {
            **_decision(call, each, covered=covers_words(call.at.project)),
            "stands": choice_as_shown(call.at, each.item, choice),
        }
        for each, choice in zip(found, stands, strict=True)
    ]
