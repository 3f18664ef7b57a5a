"""The routes of a sign-in by a provider of identities: there, back, and there with an invitation."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evenhand.annotations.accounts import links
from evenhand.annotations.accounts.identities import account_of_identity, spend_with_identity
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, EvenhandError
from evenhand.core.language import explain
from evenhand.web import limits, oidc
from evenhand.web.forms import rendered, sign_in_again, welcome
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

THERE, BACK, INVITED = "/sign-in/oidc", "/sign-in/oidc/back", "/account/oidc"


def routes() -> list[Route]:
    """Return the routes."""
    return [Route(THERE, go), Route(BACK, come_back), Route(INVITED, go_with_invitation, methods=["POST"])]


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
    """Sign in the browser that comes back with a code; return the form with one sentence where that fails."""
    if refused := _refused(request):
        return refused
    asked = request.query_params
    try:
        identity, secret = await oidc.finish(
            asked.get("state", ""), asked.get("code", ""), request.cookies.get(oidc.COOKIE, "")
        )
        cookie = await with_store(_signed_in, identity, secret, request.headers.get("user-agent", ""))
    except EvenhandError as error:
        return _failed(request, error)
    reply = welcome(request, cookie)
    reply.delete_cookie(oidc.COOKIE, path=f"{folder(request)}{THERE}")
    return reply


def _signed_in(store: Store, identity: oidc.Identity, secret: str, browser: str) -> str:
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
    if limits.admit_address(client_address(request)):
        return None
    return sign_in_again(request, 429, too_often(request))


def _failed(request: Request, error: EvenhandError) -> Response:
    return sign_in_again(request, 403, explain(error, language_of(request)))
