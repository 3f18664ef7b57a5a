"""An annotator checks the own log: a plain page on which the browser works the hashes out by itself."""

from functools import partial
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from evenhand.annotations.database.pool import stores
from evenhand.annotations.permissions import OPEN, Person, allowed
from evenhand.annotations.projects.annotators import annotator_with
from evenhand.annotations.record.own_log import own_log
from evenhand.core.errors import N_
from evenhand.core.language import translate
from evenhand.web.forms import language_of, rendered, static_file

TITLE = N_("Your own log")


def routes(prefix: str = "") -> list[Route]:
    """The page, its entries and its script under *prefix* (`server.baseUrlPath`, "" for none)."""
    folder = f"/{prefix.strip('/')}".rstrip("/")
    return [
        Route(f"{folder}/own-log", partial(own_log_page, folder=folder), methods=["GET"], name="own-log"),
        Route(f"{folder}/own-log/entries", own_log_entries, methods=["GET"], name="own-log-entries"),
        Route(
            f"{folder}/own-log/check.js", partial(static_file("check.js", "text/javascript"), folder=folder),
            methods=["GET"], name="own-log-script",
        ),
    ]  # fmt: skip


async def own_log_page(request: Request, *, folder: str) -> Response:
    """The page; its script fetches the entries of whoever asks."""
    asked = request.query_params.get("annotator", "")[:40]
    return rendered(request, "own_log.html", folder, title=translate(TITLE, language_of(request)), annotator=asked)


async def own_log_entries(request: Request) -> Response:
    """The own chain and the heads as JSON. Status 404 for whoever has no desk, and for another's."""
    person: Person | None = getattr(request.state, "person", None)
    found = await anyio.to_thread.run_sync(_entries, person, request.query_params.get("annotator", ""))
    return JSONResponse(found, 404 if found is None else 200, {"Cache-Control": "no-store"})


def _entries(person: Person | None, asked: str) -> dict[str, Any] | None:
    """*asked*: the public id of an annotator; on a server with accounts everybody sees the own log only."""
    if person is None:
        return None
    uid = (asked if person is OPEN else person.annotator) or ""
    if (asked or uid) != uid or not allowed(person, "see_own_labels", annotator=uid):
        return None
    with stores.borrow() as store:
        annotator = annotator_with(store, uid)
        if annotator is None:
            return None
        found = own_log(store, annotator)
    return {
        "id": uid,
        "chain": [{"row": one.row, "hash": one.hash} for one in found.chain],
        "heads": [{"day": one.day, "hash": one.hash} for one in found.heads],
    }
