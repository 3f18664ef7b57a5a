"""The plain pages outside the app: sign in (also by an identity provider), sign out, open a link, check one's own log.

The pages are plain HTML, so that password managers work. Their routes are separate from Streamlit's: a Streamlit widget
cannot set a cookie, and the server keeps what users type into it. On the page of the own log the browser calculates the
hashes itself.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import anyio
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from evenhand.annotations.accounts import links
from evenhand.annotations.accounts.accounts import Account, account_of_uid, authenticate
from evenhand.annotations.accounts.links import account_of_identity, spend_with_identity
from evenhand.annotations.accounts.sign_ins import sign_in, sign_out
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import OPEN, Person, allowed
from evenhand.annotations.projects.annotators import annotator_with
from evenhand.annotations.record.files import own_log
from evenhand.core.errors import N_, EvenhandError, NotAllowed, Refused
from evenhand.core.language import (
    LANGUAGE_COOKIE,
    LANGUAGE_COOKIE_S,
    Count,
    Language,
    explain,
    one_after_another,
    translate,
)
from evenhand.core.resources import ROOT
from evenhand.web import oidc, sign_in_limits
from evenhand.web.gate import COOKIE, SECURE_COOKIE, cookie_secret
from evenhand.web.oidc import provider
from evenhand.web.requests import (
    client_address,
    folder,
    is_secure,
    keep_secret,
    language_of,
    say,
    too_often,
    with_store,
)

HERE = ROOT / "web"
TITLES = {"first": N_("The first account"), "invite": N_("Welcome"), "reset": N_("A new password")}
ROLES = {
    "owner": N_("owner"),
    "lead": N_("lead"),
    "adjudicator": N_("adjudicator"),
    "annotator": N_("annotator"),
    "reader": N_("reader"),
}
GIVES = {
    "first": N_("This link creates the first account, which owns this server and can invite others."),
    "project": N_("With this link you become {role} in the project {project}."),
    "server": N_("With this link you become {role} on the whole server."),
    "reset": N_("This link sets a new password. All browsers signed in to this account are signed out."),
}
DIFFERENT = N_("The passwords do not match.")
_pages = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True)
# Sentences of a template, each on a line of its own: no space after a full stop of Chinese.
_pages.filters["paragraph"] = lambda text: Markup(one_after_another(str(text).split()))  # noqa: S704 - escaped already


def routes() -> list[Route]:
    """Return the routes of the forms and of the own log."""
    return [
        Route("/sign-in", sign_in_page),
        Route("/sign-in", sign_in_form, methods=["POST"]),
        Route("/sign-out", sign_out_page),
        Route("/sign-out", sign_out_form, methods=["POST"]),
        Route("/account/link", link_page),
        Route("/account/link", link_form, methods=["POST"]),
        Route("/account/style.css", static_file("style.css", "text/css")),
        Route("/account/link.js", static_file("link.js", "text/javascript")),
        Route(THERE, go),
        Route(BACK, come_back),
        Route(INVITED, go_with_invitation, methods=["POST"]),
        Route("/own-log", own_log_page),
        Route("/own-log/entries", own_log_entries),
        Route("/own-log/check.js", static_file("check.js", "text/javascript")),
    ]


def static_file(name: str, kind: str) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """Return an endpoint that answers with a file of this package."""

    async def static(_: Request) -> Response:
        return FileResponse(HERE / "static" / name, media_type=f"{kind}; charset=utf-8")

    return static


def rendered(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Return a plain page in the visitor's language, which no browser or proxy keeps.

    A language that the address names is kept as the visitor's choice, for the pages of the app too.
    """
    language, offered = language_of(request), provider()
    text = _pages.get_template(template).render(
        _=partial(translate, language=language),
        count=Count,
        language=language,
        folder=folder(request),
        provider=offered.name if offered else "",
        **values,
    )
    page = HTMLResponse(text, status, {"Cache-Control": "no-store"})
    if request.query_params.get("lang") == language != request.cookies.get(LANGUAGE_COOKIE):
        page.set_cookie(LANGUAGE_COOKIE, language, max_age=LANGUAGE_COOKIE_S, samesite="lax", path="/")
    return page


async def sign_in_page(request: Request) -> Response:
    """Return the form, or a redirect to the app for a visitor who is signed in already."""
    if getattr(request.state, "person", None) is not None:
        return RedirectResponse(f"{folder(request)}/", 303)
    return rendered(request, "sign_in.html", title=say(request, N_("Sign in")))


async def sign_in_form(request: Request) -> Response:
    """Check a name and a password; return the cookie, or the form again with one sentence."""
    sent = await request.form(max_files=0, max_fields=8)
    name, password = str(sent.get("name", "")), str(sent.get("password", ""))
    with sign_in_limits.attempt(name, client_address(request)) as wait:
        if wait is None:
            return sign_in_again(request, 429, too_often(request), name)
        try:
            await anyio.sleep(wait)
            secret = await with_store(_signed_in, name, password, request.headers.get("user-agent", ""))
        except EvenhandError as error:
            status = 403 if isinstance(error, NotAllowed) else 503
            return sign_in_again(request, status, explain(error, language_of(request)), name)
    return welcome(request, secret)


def sign_in_again(request: Request, status: int, problem: str, name: str = "") -> Response:
    """Return the form to sign in with one sentence."""
    return rendered(request, "sign_in.html", status, title=say(request, N_("Sign in")), problem=problem, name=name)


def _signed_in(store: Store, name: str, password: str, browser: str) -> str:
    return sign_in(store, authenticate(store, name, password), browser)


async def sign_out_page(request: Request) -> Response:
    """Return the page with a button to sign out: opening an address must not sign a visitor out."""
    return rendered(request, "sign_out.html", title=say(request, N_("Sign out")))


async def sign_out_form(request: Request) -> Response:
    """End the sign-in of this browser."""
    await with_store(sign_out, cookie_secret(request.scope["headers"]))
    reply = RedirectResponse(f"{folder(request)}/sign-in", 303)
    for name in (COOKIE, SECURE_COOKIE):
        reply.delete_cookie(name, secure=name == SECURE_COOKIE, httponly=True, samesite="lax")
    return reply


async def link_page(request: Request) -> Response:
    """Return the page that a link opens first: a button, so that the preview of a mail program does not use it up."""
    return rendered(request, "link.html", title=say(request, N_("Your link")))


async def link_form(request: Request) -> Response:
    """Show what a link gives, or use it with a name and a password, or with the account of this browser."""
    sent = await request.form(max_files=0, max_fields=8)
    secret, language = str(sent.get("link", "")), language_of(request)
    person: Person | None = getattr(request.state, "person", None)
    mine = person.account if person else None
    name, problem = str(sent.get("name", "")), ""
    if not sign_in_limits.admit_address(client_address(request)):
        return rendered(request, "link.html", 429, title=too_often(request), closed=True)
    try:
        if "accept" in sent and mine:
            await with_store(_accepted, secret, mine)
            return RedirectResponse(f"{folder(request)}/", 303)
        if "password" in sent:
            if sent["password"] != sent.get("again"):
                raise Refused(DIFFERENT)
            browser = request.headers.get("user-agent", "")
            return welcome(request, await with_store(_spent, secret, name, str(sent["password"]), browser))
    except Refused as error:
        problem = explain(error, language)
    except EvenhandError as error:
        return rendered(request, "link.html", 403, title=explain(error, language), closed=True)
    try:
        link, account = await with_store(_opened, secret, mine)
    except EvenhandError as error:
        return rendered(request, "link.html", 403, title=explain(error, language), closed=True)
    values = {
        "title": translate(TITLES[link.purpose], language), "problem": problem, "secret": secret,
        "gives": _gives(link, language), "fixed_name": link.account, "name": name or link.name,
        "signed_in_as": account.name if account and link.purpose == "invite" else None,
    }  # fmt: skip
    return rendered(request, "link.html", 400 if problem else 200, **values)


def _gives(link: links.Link, language: Language) -> str:
    if link.role is None:
        return translate(GIVES[link.purpose], language)
    role = translate(ROLES[link.role], language)
    kind = "project" if link.project else "server"
    return translate(GIVES[kind], language).format(role=role, project=link.project.name if link.project else "")


def _opened(store: Store, secret: str, uid: str | None) -> tuple[links.Link, Account | None]:
    return links.link(store, secret), account_of_uid(store, uid) if uid else None


def _accepted(store: Store, secret: str, uid: str) -> None:
    links.accept(store, secret, account_of_uid(store, uid))


def _spent(store: Store, secret: str, name: str, password: str, browser: str) -> str:
    return sign_in(store, links.spend(store, secret, name, password), browser)


def welcome(request: Request, secret: str) -> Response:
    """Return the way into the app, with the cookie of a new sign-in."""
    reply = RedirectResponse(f"{folder(request)}/", 303)
    keep_secret(request, reply, SECURE_COOKIE if is_secure(request) else COOKIE, secret)
    return reply


THERE, BACK, INVITED = "/sign-in/oidc", "/sign-in/oidc/back", "/account/oidc"


async def go(request: Request) -> Response:
    """Send the browser to the provider."""
    if refused := _refused(request):
        return refused
    try:
        address, browser = await oidc.begin(_back(request))
    except EvenhandError as error:
        return _failed(request, error)
    return _with_cookie(request, RedirectResponse(address, 303), browser)


async def go_with_invitation(request: Request) -> Response:
    """Return a page that leads to the provider, for who opened an invitation: a form may not lead to another site."""
    sent = await request.form(max_files=0, max_fields=8)
    secret = str(sent.get("link", ""))
    if refused := _refused(request):
        return refused
    try:
        await with_store(links.link, secret)
        address, browser = await oidc.begin(_back(request), secret)
    except EvenhandError as error:
        return _failed(request, error)
    page = rendered(request, "oidc.html", title=say(request, N_("Sign in")), address=address)
    return _with_cookie(request, page, browser)


async def come_back(request: Request) -> Response:
    """Sign in the browser that returns with a code; show the form with one sentence if that fails."""
    if refused := _refused(request):
        return refused
    asked = request.query_params
    try:
        identity, secret = await oidc.finish(
            asked.get("state", ""), asked.get("code", ""), request.cookies.get(oidc.COOKIE, "")
        )
        cookie = await with_store(_signed_in_with, identity, secret, request.headers.get("user-agent", ""))
    except EvenhandError as error:
        return _failed(request, error)
    reply = welcome(request, cookie)
    reply.delete_cookie(oidc.COOKIE, path=f"{folder(request)}{THERE}")
    return reply


def _signed_in_with(store: Store, identity: oidc.Identity, secret: str, browser: str) -> str:
    if secret:
        who = spend_with_identity(store, secret, identity.issuer, identity.subject, identity.names)
    else:
        who = account_of_identity(store, identity.issuer, identity.subject)
    return sign_in(store, who, browser)


def _back(request: Request) -> str:
    # The gate has checked that the name in the address is one of this server.
    return f"{'https' if is_secure(request) else 'http'}://{request.headers['host']}{folder(request)}{BACK}"


def _with_cookie(request: Request, reply: Response, browser: str) -> Response:
    keep_secret(request, reply, oidc.COOKIE, browser, int(oidc.PATIENCE_S), f"{folder(request)}{THERE}")
    reply.headers["cache-control"] = "no-store"
    return reply


def _refused(request: Request) -> Response | None:
    if sign_in_limits.admit_address(client_address(request)):
        return None
    return sign_in_again(request, 429, too_often(request))


def _failed(request: Request, error: EvenhandError) -> Response:
    return sign_in_again(request, 403, explain(error, language_of(request)))


TITLE = N_("Your own log")


async def own_log_page(request: Request) -> Response:
    """Return the page; its script fetches the entries of the person who asks."""
    asked = request.query_params.get("annotator", "")[:40]
    return rendered(request, "own_log.html", title=say(request, TITLE), annotator=asked)


async def own_log_entries(request: Request) -> Response:
    """Return the own chain and the heads as JSON. Status 404 for persons without a desk, and for another's."""
    person: Person | None = getattr(request.state, "person", None)
    uid = _own_uid(person, request.query_params.get("annotator", ""))
    result = await with_store(_entries, uid) if uid else None
    return JSONResponse(result, 404 if result is None else 200, {"Cache-Control": "no-store"})


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
    log = own_log(store, annotator)
    return {
        "id": uid,
        "chain": [{"row": entry.row, "hash": entry.hash} for entry in log.chain],
        "heads": [{"day": head.day, "hash": head.hash} for head in log.heads],
    }
