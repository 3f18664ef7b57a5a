"""An annotator checks the own log: a plain page on which the browser works the hashes out by itself."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import OPEN, Person, allowed
from evenhand.annotations.projects.annotators import annotator_with
from evenhand.annotations.record.own_log import own_log
from evenhand.core.errors import N_
from evenhand.web.forms import rendered, static_file
from evenhand.web.requests import say, with_store

TITLE = N_("Your own log")


def routes() -> list[Route]:
    """Return the page, its entries and its script."""
    return [
        Route("/own-log", own_log_page),
        Route("/own-log/entries", own_log_entries),
        Route("/own-log/check.js", static_file("check.js", "text/javascript")),
    ]


async def own_log_page(request: Request) -> Response:
    """Return the page; its script fetches the entries of the person who asks."""
    asked = request.query_params.get("annotator", "")[:40]
    return rendered(request, "own_log.html", title=say(request, TITLE), annotator=asked)


async def own_log_entries(request: Request) -> Response:
    """Return the own chain and the heads as JSON. Status 404 for persons without a desk, and for another's."""
    person: Person | None = getattr(request.state, "person", None)
    uid = _own_uid(person, request.query_params.get("annotator", ""))
    found = await with_store(_entries, uid) if uid else None
    return JSONResponse(found, 404 if found is None else 200, {"Cache-Control": "no-store"})


def _own_uid(person: Person | None, asked: str) -> str:
    """Return the public id of the annotator whose log *person* may see, or "".

    *asked*: the public id in the address; on a server with accounts everybody sees the own log only.
    """
    if person is None:
        return ""
    uid = (asked if person is OPEN else person.annotator) or ""
    return uid if (asked or uid) == uid and allowed(person, "see_own_labels", annotator=uid) else ""


def _entries(store: Store, uid: str) -> dict[str, Any] | None:
    annotator = annotator_with(store, uid)
    if annotator is None:
        return None
    found = own_log(store, annotator)
    return {
        "id": uid,
        "chain": [{"row": entry.row, "hash": entry.hash} for entry in found.chain],
        "heads": [{"day": head.day, "hash": head.hash} for head in found.heads],
    }
