"""The forms by which people come in: sign in, sign out, open a link. Plain HTML, so that password managers work.

They are routes beside Streamlit's: a widget cannot set a cookie, and the server keeps what is typed into it.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import anyio
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from evenhand.annotations.accounts import links
from evenhand.annotations.accounts.accounts import Account, account_of_uid, authenticate
from evenhand.annotations.accounts.sign_ins import sign_in, sign_out
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import Person
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
from evenhand.web import limits
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
    "first": N_("This link creates the first account, which owns this server and invites everybody else."),
    "project": N_("With this link you become {role} in the project {project}."),
    "server": N_("With this link you become {role} on the whole server."),
    "reset": N_("This link sets a new password. All browsers signed in to this account are signed out."),
}
DIFFERENT = N_("The passwords do not match.")
_pages = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True)
# Sentences of a template, each on a line of its own: no space after a full stop of Chinese.
_pages.filters["paragraph"] = lambda text: Markup(one_after_another(str(text).split()))  # noqa: S704 - escaped already


def routes() -> list[Route]:
    """Return the routes of the forms."""
    return [
        Route("/sign-in", sign_in_page),
        Route("/sign-in", sign_in_form, methods=["POST"]),
        Route("/sign-out", sign_out_page),
        Route("/sign-out", sign_out_form, methods=["POST"]),
        Route("/account/link", link_page),
        Route("/account/link", link_form, methods=["POST"]),
        Route("/account/style.css", static_file("style.css", "text/css")),
        Route("/account/link.js", static_file("link.js", "text/javascript")),
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
    """The form; whoever is signed in already is led to the app."""
    if getattr(request.state, "person", None) is not None:
        return RedirectResponse(f"{folder(request)}/", 303)
    return rendered(request, "sign_in.html", title=say(request, N_("Sign in")))


async def sign_in_form(request: Request) -> Response:
    """A name and a password: the cookie, or the form again with one sentence."""
    sent = await request.form(max_files=0, max_fields=8)
    name, password = str(sent.get("name", "")), str(sent.get("password", ""))
    with limits.attempt(name, client_address(request)) as wait:
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
    """A button: an address alone signs nobody out."""
    return rendered(request, "sign_out.html", title=say(request, N_("Sign out")))


async def sign_out_form(request: Request) -> Response:
    """End the sign-in of this browser."""
    await with_store(sign_out, cookie_secret(request.scope["headers"]))
    reply = RedirectResponse(f"{folder(request)}/sign-in", 303)
    for name in (COOKIE, SECURE_COOKIE):
        reply.delete_cookie(name, secure=name == SECURE_COOKIE, httponly=True, samesite="lax")
    return reply


async def link_page(request: Request) -> Response:
    """What a link opens first: a button, so that the preview of a mail program spends nothing."""
    return rendered(request, "link.html", title=say(request, N_("A link for you")))


async def link_form(request: Request) -> Response:
    """Show what a link gives, or use it with a name and a password, or with the account of this browser."""
    sent = await request.form(max_files=0, max_fields=8)
    secret, language = str(sent.get("link", "")), language_of(request)
    person: Person | None = getattr(request.state, "person", None)
    mine = person.account if person else None
    name, problem = str(sent.get("name", "")), ""
    if not limits.admit_address(client_address(request)):
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
        found, account = await with_store(_opened, secret, mine)
    except EvenhandError as error:
        return rendered(request, "link.html", 403, title=explain(error, language), closed=True)
    values = {
        "title": translate(TITLES[found.purpose], language), "problem": problem, "secret": secret,
        "gives": _gives(found, language), "fixed_name": found.account, "name": name or found.name,
        "signed_in_as": account.name if account and found.purpose == "invite" else None,
    }  # fmt: skip
    return rendered(request, "link.html", 400 if problem else 200, **values)


def _gives(found: links.Link, language: Language) -> str:
    if found.role is None:
        return translate(GIVES[found.purpose], language)
    role = translate(ROLES[found.role], language)
    kind = "project" if found.project else "server"
    return translate(GIVES[kind], language).format(role=role, project=found.project.name if found.project else "")


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
