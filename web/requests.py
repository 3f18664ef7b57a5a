"""Shared parts of the routes outside Streamlit: addresses, the account, the language, the database, cookies.

Also the former addresses of pages, which still answer, and the account of each visit. A visit is a session of
Streamlit, known by its id. That id opens the session, and is part of the address of its uploads. So the server gives
the state, the uploads and the files of a session only to the account that opened it.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Concatenate, ParamSpec, TypeVar

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_
from evenhand.core.language import LANGUAGE_COOKIE, Language, translate, visitor_language
from evenhand.web import sign_in_limits

DAY_S = 24 * 3600
TOO_OFTEN = N_("Too many attempts. Try again in {minutes} minutes.")

Given = ParamSpec("Given")
T = TypeVar("T")


def folder_of(base: str) -> str:
    """Return the beginning of every address: "" or "/..."; *base*: `server.baseUrlPath`."""
    return f"/{base.strip('/')}".rstrip("/")


def below(base: str, routes: Iterable[Route]) -> list[Route]:
    """Return *routes* at their addresses below *base* (`server.baseUrlPath`)."""
    folder = folder_of(base)
    return [Route(f"{folder}{route.path}", route.endpoint, methods=route.methods) for route in routes]


def folder(request: Request) -> str:
    """Return the beginning of every address, as the gate knows it."""
    return str(getattr(request.state, "folder", ""))


def language_of(request: Request) -> Language:
    """Return the visitor's language, by the same rule as on pages (`visitor_language`)."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    return visitor_language(request.query_params.get("lang"), chosen, request.headers.get("accept-language"))


def say(request: Request, text: str, **values: object) -> str:
    """Return a text in the visitor's language."""
    return translate(text, language_of(request)).format(**values)


def too_often(request: Request, *, study: bool = False) -> str:
    """Return the sentence for an address that has to wait, as an attempt to sign in or to take part in a study."""
    return say(request, TOO_OFTEN, minutes=sign_in_limits.minutes_until_free(client_address(request), study=study))


async def with_store(work: Callable[Concatenate[Store, Given], T], *given: Given.args, **named: Given.kwargs) -> T:
    """Return what *work* gives with a store of the pool, in a thread."""

    def borrowed() -> T:
        with stores.borrow() as store:
            return work(store, *given, **named)

    return await anyio.to_thread.run_sync(borrowed)


def keep_secret(
    request: Request, reply: Response, name: str, secret: str, seconds: int = 30 * DAY_S, path: str = "/"
) -> None:
    """Set a cookie below *path* that no script reads."""
    reply.set_cookie(name, secret, seconds, path=path, secure=is_secure(request), httponly=True, samesite="lax")


def is_secure(request: Request) -> bool:
    """Return whether the browser speaks TLS, to this server or to the proxy in front of it."""
    return request.url.scheme == "https" or (
        from_proxy(request) and request.headers.get("x-forwarded-proto", "").split(",")[0].strip() == "https"
    )


def proxies() -> list[str]:
    """Return the addresses of the proxies that EVENHAND_PROXY names, separated by commas."""
    return [address.strip() for address in os.environ.get("EVENHAND_PROXY", "").split(",") if address.strip()]


def from_proxy(request: Request) -> bool:
    """Return whether the request comes through a proxy that is named."""
    return request.client is not None and request.client.host in proxies()


def client_address(request: Request) -> str:
    """Return the address of the visitor: what a named proxy says, else the other end."""
    # A proxy may add its line below one that the visitor sent.
    if from_proxy(request) and (named := ",".join(request.headers.getlist("x-forwarded-for"))):
        return named.split(",")[-1].strip()
    return request.client.host if request.client else ""


# Former address of a page -> its address, the word of its capability.
OLD_ADDRESSES = {
    "adjudicate": "adjudication",
    "check": "published",
    "generate": "generation",
    "inference": "nli",
    "mine": "mining",
    "models": "model-bias",
    "professions": "association",
    "score": "scoring",
    "statistics": "describe",
    "try": "sentence-bias",
}


def redirect(request: Request) -> RedirectResponse:
    """Return the address of today; the query is kept."""
    old = request.url.path.rstrip("/").rpartition("/")[2]
    return RedirectResponse(f"{folder(request)}/{OLD_ADDRESSES[old]}?{request.url.query}".rstrip("?"))


def old_address_routes() -> list[Route]:
    """Return a redirect for each former address."""
    return [Route(f"/{old}{slash}", redirect) for old in OLD_ADDRESSES for slash in ("", "/")]


MOST = 20_000  # sessions that are remembered; Streamlit forgets most of them sooner

_accounts: OrderedDict[str, str | None] = OrderedDict()
_files: OrderedDict[str, frozenset[str]] = OrderedDict()
_lock = Lock()


def remember_visit(session: str, account: str | None) -> None:
    """Remember that a page ran in *session* for *account* (public id; None: in the open mode, or a guest)."""
    with _lock:
        _accounts[session] = account
        _accounts.move_to_end(session)
        while len(_accounts) > MOST:
            _accounts.popitem(last=False)


def is_visit_of(session: str, account: str | None) -> bool:
    """Return whether *session* belongs to *account*, or is unknown and so has no owner yet."""
    with _lock:
        return _accounts.get(session, account) == account


def is_file_of(sessions: Iterable[str], account: str | None) -> bool:
    """Return whether one of the *sessions* that offer a file is a visit of *account*."""
    with _lock:
        return any(session in _accounts and _accounts[session] == account for session in sessions)


def remember_file(file: str, session: str) -> None:
    """Remember that a file (its name without ending) was made for *session*; several sessions may make the same one."""
    with _lock:
        _files[file] = _files.get(file, frozenset()) | {session}
        _files.move_to_end(file)
        while len(_files) > MOST:
            _files.popitem(last=False)


def sessions_that_made(file: str) -> frozenset[str]:
    """Return the sessions for which a file was made."""
    with _lock:
        return _files.get(file, frozenset())
