"""The routes of a sign-in by a provider of identities: there, back, and there with an invitation."""

from functools import partial
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evenhand.annotations.accounts import links
from evenhand.annotations.accounts.identities import account_of_identity, spend_with_identity
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.database.pool import stores
from evenhand.core.errors import N_, EvenhandError
from evenhand.core.language import explain, translate
from evenhand.web import limits, oidc
from evenhand.web.forms import TOO_OFTEN, client_address, is_secure, language_of, rendered, welcome

THERE, BACK, INVITED = "/sign-in/oidc", "/sign-in/oidc/back", "/account/oidc"


def routes(prefix: str = "") -> list[Route]:
    """The routes under *prefix* (`server.baseUrlPath`, "" for none)."""
    folder = f"/{prefix.strip('/')}".rstrip("/")

    def route(path: str, work: Any, method: str) -> Route:
        return Route(f"{folder}{path}", partial(work, folder=folder), methods=[method], name=path)

    return [route(THERE, go, "GET"), route(BACK, come_back, "GET"), route(INVITED, go_with_invitation, "POST")]


async def go(request: Request, *, folder: str) -> Response:
    """Send the browser to the provider."""
    if refused := _too_often(request, folder):
        return refused
    try:
        address, browser = await oidc.begin(_back(request, folder))
    except EvenhandError as error:
        return _failed(request, folder, error)
    return _with_cookie(request, folder, RedirectResponse(address, 303), browser)


async def go_with_invitation(request: Request, *, folder: str) -> Response:
    """A page that leads to the provider, for who opened an invitation: a form may not lead to another site."""
    sent = await request.form(max_files=0, max_fields=8)
    secret = str(sent.get("link", ""))
    if refused := _too_often(request, folder):
        return refused
    try:
        await anyio.to_thread.run_sync(_opened, secret)
        address, browser = await oidc.begin(_back(request, folder), secret)
    except EvenhandError as error:
        return _failed(request, folder, error)
    title = translate(N_("Sign in"), language_of(request))
    return _with_cookie(request, folder, rendered(request, "oidc.html", folder, title=title, address=address), browser)


async def come_back(request: Request, *, folder: str) -> Response:
    """The browser comes back with a code: the sign-in, or the form with one sentence."""
    if refused := _too_often(request, folder):
        return refused
    asked = request.query_params
    try:
        identity, secret = await oidc.finish(
            asked.get("state", ""), asked.get("code", ""), request.cookies.get(oidc.COOKIE, "")
        )
        browser = request.headers.get("user-agent", "")
        cookie = await anyio.to_thread.run_sync(_signed_in, identity, secret, browser)
    except EvenhandError as error:
        return _failed(request, folder, error)
    reply = welcome(request, folder, cookie)
    reply.delete_cookie(oidc.COOKIE, path=f"{folder}{THERE}")
    return reply


def _signed_in(identity: oidc.Identity, secret: str, browser: str) -> str:
    with stores.borrow() as store:
        if secret:
            who = spend_with_identity(store, secret, identity.issuer, identity.subject, identity.names)
        else:
            who = account_of_identity(store, identity.issuer, identity.subject)
        return sign_in(store, who, browser)


def _opened(secret: str) -> None:
    with stores.borrow() as store:
        links.link(store, secret)


def _back(request: Request, folder: str) -> str:
    # The gate has checked that the name in the address is one of this server.
    return f"{'https' if is_secure(request) else 'http'}://{request.headers['host']}{folder}{BACK}"


def _with_cookie(request: Request, folder: str, reply: Response, browser: str) -> Response:
    reply.set_cookie(
        oidc.COOKIE, browser, max_age=int(oidc.PATIENCE_S), path=f"{folder}{THERE}", secure=is_secure(request),
        httponly=True, samesite="lax",
    )  # fmt: skip
    reply.headers["cache-control"] = "no-store"
    return reply


def _too_often(request: Request, folder: str) -> Response | None:
    address = client_address(request)
    if limits.admit_address(address):
        return None
    language = language_of(request)
    problem = translate(TOO_OFTEN, language).format(minutes=limits.minutes_until_free(address))
    return rendered(request, "sign_in.html", folder, 429, title=translate(N_("Sign in"), language), problem=problem)


def _failed(request: Request, folder: str, error: EvenhandError) -> Response:
    language = language_of(request)
    title, problem = translate(N_("Sign in"), language), explain(error, language)
    return rendered(request, "sign_in.html", folder, 403, title=title, problem=problem)
