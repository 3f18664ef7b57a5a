"""The forms by which people come in: sign in, sign out, open a link. Plain HTML, so that password managers work.

They are routes beside Streamlit's: a widget cannot set a cookie, and the server keeps what is typed into it.
"""

import os
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from evenhand.annotations.accounts import links
from evenhand.annotations.accounts.accounts import Account, account_of_uid, authenticate
from evenhand.annotations.accounts.sign_ins import sign_in, sign_out
from evenhand.annotations.database.pool import stores
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
    visitor_language,
)
from evenhand.core.resources import ROOT
from evenhand.web import limits
from evenhand.web.gate import COOKIE, SECURE_COOKIE, cookie_secret
from evenhand.web.oidc import provider

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
TOO_OFTEN = N_("Too many attempts. Try again in {minutes} minutes.")
_pages = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True)
# Sentences of a template, each on a line of its own: no space after a full stop of Chinese.
_pages.filters["paragraph"] = lambda text: Markup(one_after_another(str(text).split()))  # noqa: S704 - escaped already


def routes(prefix: str = "") -> list[Route]:
    """The routes of the forms under *prefix* (`server.baseUrlPath`, "" for none)."""
    folder = f"/{prefix.strip('/')}".rstrip("/")

    def route(path: str, work: Any, *methods: str) -> Route:
        return Route(f"{folder}{path}", partial(work, folder=folder), methods=list(methods), name=path)

    return [
        route("/sign-in", sign_in_page, "GET"),
        route("/sign-in", sign_in_form, "POST"),
        route("/sign-out", sign_out_page, "GET"),
        route("/sign-out", sign_out_form, "POST"),
        route("/account/link", link_page, "GET"),
        route("/account/link", link_form, "POST"),
        route("/account/style.css", static_file("style.css", "text/css"), "GET"),
        route("/account/link.js", static_file("link.js", "text/javascript"), "GET"),
    ]


def static_file(name: str, kind: str) -> Any:
    """An endpoint that answers with a file of this package."""

    async def static(_: Request, *, folder: str) -> Response:
        return FileResponse(HERE / "static" / name, media_type=f"{kind}; charset=utf-8")

    return static


def language_of(request: Request) -> Language:
    """Return the visitor's language, by the same rule as on pages (`visitor_language`)."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    return visitor_language(request.query_params.get("lang"), chosen, request.headers.get("accept-language"))


def rendered(request: Request, template: str, folder: str, status: int = 200, **values: Any) -> Response:
    """Return a plain page in the visitor's language, which no browser or proxy keeps.

    A language that the address names is kept as the visitor's choice, for the pages of the app too.
    """
    language, offered = language_of(request), provider()
    text = _pages.get_template(template).render(
        _=partial(translate, language=language),
        count=Count,
        language=language,
        folder=folder,
        provider=offered.name if offered else "",
        **values,
    )
    page = HTMLResponse(text, status, {"Cache-Control": "no-store"})
    if request.query_params.get("lang") == language != request.cookies.get(LANGUAGE_COOKIE):
        page.set_cookie(LANGUAGE_COOKIE, language, max_age=LANGUAGE_COOKIE_S, samesite="lax", path="/")
    return page


async def sign_in_page(request: Request, *, folder: str) -> Response:
    """The form; whoever is signed in already is led to the app."""
    if getattr(request.state, "person", None) is not None:
        return RedirectResponse(f"{folder}/", 303)
    return rendered(request, "sign_in.html", folder, title=translate(N_("Sign in"), language_of(request)))


async def sign_in_form(request: Request, *, folder: str) -> Response:
    """A name and a password: the cookie, or the form again with one sentence."""
    sent = await request.form(max_files=0, max_fields=8)
    name, password = str(sent.get("name", "")), str(sent.get("password", ""))
    language, address = language_of(request), client_address(request)
    title = translate(N_("Sign in"), language)
    again = partial(rendered, request, "sign_in.html", folder, title=title, name=name)
    with limits.attempt(name, address) as wait:
        if wait is None:
            problem = translate(TOO_OFTEN, language).format(minutes=limits.minutes_until_free(address))
            return again(status=429, problem=problem)
        try:
            await anyio.sleep(wait)
            secret = await anyio.to_thread.run_sync(_signed_in, name, password, request.headers.get("user-agent", ""))
        except EvenhandError as error:
            return again(status=403 if isinstance(error, NotAllowed) else 503, problem=explain(error, language))
    return welcome(request, folder, secret)


def _signed_in(name: str, password: str, browser: str) -> str:
    with stores.borrow() as store:
        return sign_in(store, authenticate(store, name, password), browser)


async def sign_out_page(request: Request, *, folder: str) -> Response:
    """A button: an address alone signs nobody out."""
    return rendered(request, "sign_out.html", folder, title=translate(N_("Sign out"), language_of(request)))


async def sign_out_form(request: Request, *, folder: str) -> Response:
    """End the sign-in of this browser."""
    await anyio.to_thread.run_sync(_signed_out, cookie_secret(request.scope["headers"]))
    reply = RedirectResponse(f"{folder}/sign-in", 303)
    for name in (COOKIE, SECURE_COOKIE):
        reply.delete_cookie(name, secure=name == SECURE_COOKIE, httponly=True, samesite="lax")
    return reply


def _signed_out(secret: str) -> None:
    with stores.borrow() as store:
        sign_out(store, secret)


async def link_page(request: Request, *, folder: str) -> Response:
    """What a link opens first: a button, so that the preview of a mail program spends nothing."""
    return rendered(request, "link.html", folder, title=translate(N_("A link for you"), language_of(request)))


async def link_form(request: Request, *, folder: str) -> Response:
    """Show what a link gives, or use it with a name and a password, or with the account of this browser."""
    sent = await request.form(max_files=0, max_fields=8)
    secret, language = str(sent.get("link", "")), language_of(request)
    person: Person | None = getattr(request.state, "person", None)
    mine = person.account if person else None
    name, problem, cookie = str(sent.get("name", "")), "", ""
    if not limits.admit_address(client_address(request)):
        problem = translate(TOO_OFTEN, language).format(minutes=limits.minutes_until_free(client_address(request)))
        return rendered(request, "link.html", folder, 429, title=problem, closed=True)
    try:
        if "accept" in sent and mine:
            await anyio.to_thread.run_sync(_accepted, secret, mine)
            return RedirectResponse(f"{folder}/", 303)
        if "password" in sent:
            if sent["password"] != sent.get("again"):
                raise Refused(DIFFERENT)
            browser = request.headers.get("user-agent", "")
            cookie = await anyio.to_thread.run_sync(_spent, secret, name, str(sent["password"]), browser)
            return welcome(request, folder, cookie)
    except Refused as error:
        problem = explain(error, language)
    except EvenhandError as error:
        return rendered(request, "link.html", folder, 403, title=explain(error, language), closed=True)
    try:
        found, account = await anyio.to_thread.run_sync(_opened, secret, mine)
    except EvenhandError as error:
        return rendered(request, "link.html", folder, 403, title=explain(error, language), closed=True)
    values = {
        "title": translate(TITLES[found.purpose], language), "problem": problem, "secret": secret,
        "gives": _gives(found, language), "fixed_name": found.account, "name": name or found.name,
        "signed_in_as": account.name if account and found.purpose == "invite" else None,
    }  # fmt: skip
    return rendered(request, "link.html", folder, 400 if problem else 200, **values)


def _gives(found: links.Link, language: Language) -> str:
    if found.role is None:
        return translate(GIVES[found.purpose], language)
    role = translate(ROLES[found.role], language)
    kind = "project" if found.project else "server"
    return translate(GIVES[kind], language).format(role=role, project=found.project.name if found.project else "")


def _opened(secret: str, uid: str | None) -> tuple[links.Link, Account | None]:
    with stores.borrow() as store:
        return links.link(store, secret), account_of_uid(store, uid) if uid else None


def _accepted(secret: str, uid: str) -> None:
    with stores.borrow() as store:
        links.accept(store, secret, account_of_uid(store, uid))


def _spent(secret: str, name: str, password: str, browser: str) -> str:
    with stores.borrow() as store:
        return sign_in(store, links.spend(store, secret, name, password), browser)


def welcome(request: Request, folder: str, secret: str) -> Response:
    """The way into the app, with the cookie of a new sign-in."""
    reply = RedirectResponse(f"{folder}/", 303)
    secure = is_secure(request)
    reply.set_cookie(
        SECURE_COOKIE if secure else COOKIE, secret, secure=secure, httponly=True, samesite="lax", path="/",
        max_age=30 * 24 * 3600,
    )  # fmt: skip
    return reply


def is_secure(request: Request) -> bool:
    """Whether the browser speaks TLS, to this server or to the proxy in front of it."""
    return request.url.scheme == "https" or (
        from_proxy(request) and request.headers.get("x-forwarded-proto", "").split(",")[0].strip() == "https"
    )


def from_proxy(request: Request) -> bool:
    """Whether the request comes through the proxy that EVENHAND_PROXY names (addresses, separated by commas)."""
    named = [one.strip() for one in os.environ.get("EVENHAND_PROXY", "").split(",")]
    return request.client is not None and request.client.host in named


def client_address(request: Request) -> str:
    """The address of the visitor: what the proxy says where it is one that is named, else the other end."""
    # A proxy may add its line below one that the visitor sent.
    if from_proxy(request) and (named := ",".join(request.headers.getlist("x-forwarded-for"))):
        return named.split(",")[-1].strip()
    return request.client.host if request.client else ""
