"""The gate: every request and socket passes it before Streamlit and the desk's routes see it.

It answers only for names that this server has (against rebinding of DNS), only to pages of this server (Origin), knows
who asks (the cookie of a sign-in), and puts the security headers on every answer. Nothing here calls outside.
"""

import base64
import hashlib
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from functools import lru_cache, partial
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evenhand.annotations.accounts.accounts import accounts_exist
from evenhand.annotations.accounts.sign_ins import signed_in
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import PATH, ROUTES, Caller, DeskRoute
from evenhand.annotations.desk.session import InvitedDesk
from evenhand.annotations.permissions import OPEN, Person
from evenhand.annotations.study.people import desks
from evenhand.core.errors import N_, EvenhandError
from evenhand.web.page_script import page_scripts
from evenhand.web.requests import folder_of, is_file_of, is_visit_of, with_store

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
SAFE = ("GET", "HEAD", "OPTIONS")
MOST_BYTES = 1_100_000  # of a body, but for uploads, which Streamlit limits
PART_BYTES = 256 << 10  # of an answer
# Files of Streamlit, and what monitors ask; /metrics asks for its token itself.
OPEN_TO_ALL = ("/static/", "/_stcore/health", "/_stcore/host-config")
MONITORED = ("/healthz", "/metrics")
UPLOADS, MEDIA = "/_stcore/upload_file", "/media/"
MOST_STUDIES = 8  # of one browser
PROTOCOLS = b"sec-websocket-protocol"
COOKIE, SECURE_COOKIE = "evenhand", "__Host-evenhand"
STUDY_COOKIE, SECURE_STUDY_COOKIE = "evenhand-study-", "__Host-evenhand-study-"  # and the start of the study's id
STUDY = "/study/"

NOT_SERVED = N_(
    "This server does not use this host name. Add it to EVENHAND_HOSTS on the server, or use the correct address."
)
NO_ACCOUNTS = N_(
    "This server has no accounts, so it responds only on its own machine. To let others in, create the"
    " first account there: python cli.py accounts first"
)
FOREIGN = N_("This request comes from another site.")
TOO_LONG = N_("This request is too large.")
NOT_FOUND = N_("Nothing was found at this address.")
SIGN_IN = N_("Sign in first.")
THROUGH_PROXY = N_(
    "This request came through a proxy. This server has no accounts, so it responds only to its own machine. To let"
    " others in, create the first account there: python cli.py accounts first"
)
# What proxies add; any of them may be on this machine and speak for another.
_FORWARDING = frozenset({"forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip"})


def hosts() -> frozenset[str]:
    """Return the names under which this server answers: those of EVENHAND_HOSTS (with commas) and this machine's."""
    return _names(os.environ.get("EVENHAND_HOSTS", ""))


@lru_cache(maxsize=8)  # asked with every request, and always the same
def _names(listed: str) -> frozenset[str]:
    return LOOPBACK | {name.strip().lower() for name in listed.split(",") if name.strip()}


def guests_allowed() -> bool:
    """Return whether visitors who are not signed in may use what guests may do (EVENHAND_GUESTS=1)."""
    return os.environ.get("EVENHAND_GUESTS") == "1"


@lru_cache(maxsize=64)
def host_name(value: str) -> str:
    """Return the name in a Host header or an address, in lower case without port; "" if it is invalid."""
    try:
        return (urlsplit(f"//{value}").hostname or "").lower()
    except ValueError:
        return ""


def cookies(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the cookies of a request."""
    result: dict[str, str] = {}
    for key, value in headers:
        if key == b"cookie":
            try:
                result |= {name: one.value for name, one in SimpleCookie(value.decode("latin-1")).items()}
            except CookieError:
                continue
    return result


def cookie_secret(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the secret of the sign-in that a request carries, or ""."""
    return _secret(cookies(headers))


def study_secrets(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    """Return the secrets of the studies in which the browser of a request takes part."""
    return _study_secrets(cookies(headers))


def _secret(held: Mapping[str, str]) -> str:
    return held.get(SECURE_COOKIE) or held.get(COOKIE) or ""


def _study_secrets(held: Mapping[str, str]) -> list[str]:
    prefixes = (STUDY_COOKIE, SECURE_STUDY_COOKIE)
    return [value for name, value in held.items() if name.startswith(prefixes)][:MOST_STUDIES]


def content_policy(page: Path) -> str:
    """Return the Content-Security-Policy of the app, which allows content of this server only.

    Its scripts are the app's own files, those of *page* (Streamlit's index.html) and those that a run of a page can
    have (`page_scripts`).
    """
    inline = re.findall(r"<script>(.*?)</script>", page.read_text(encoding="utf-8"), re.S)
    inline += page_scripts()
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(entry.encode()).digest()).decode()}'" for entry in inline
    )
    return (
        f"default-src 'self'; script-src 'self' 'wasm-unsafe-eval' blob: {hashes}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
        "object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    )


class Gate:
    """ASGI middleware in front of everything.

    *page*: Streamlit's index.html; *base*: `server.baseUrlPath`; *sessions_of*: the ids of the sessions whose pages
    offer a file (its name without ending).
    """

    def __init__(
        self, app: Any, page: Path, base: str = "", sessions_of: Callable[[str], Iterable[str]] = lambda file: ()
    ) -> None:
        self.app, self.folder, self.sessions_of = app, folder_of(base), sessions_of
        # The gate answers these itself: the other layers around the app cost as much as a label.
        self.desk = {f"{PATH}/{name}": DeskRoute(name) for name in ROUTES}
        self.headers: Headers = [
            (b"content-security-policy", content_policy(page).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),
            (b"x-frame-options", b"DENY"),
            (b"cross-origin-opener-policy", b"same-origin"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request or socket on, or refuse it with one sentence."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        path = str(scope.get("path", "")).removeprefix(self.folder)
        refused = _refused_by_address(scope)
        if refused is None and path in self.desk and scope.get("method") == "POST":
            # Who asks is found out in the thread and with the store of the work itself.
            asks = partial(self._asking_desk, scope, path)
            scope["state"] = {**(scope.get("state") or {}), "asks": asks}
            await self.desk[path](scope, receive, self._with_headers(send, path))
            return
        refused = refused or await self._refused_by_person(scope, path)
        if refused == (401, SIGN_IN) and _is_page(scope):
            to_form = [(b"location", f"{self.folder}/sign-in".encode()), (b"cache-control", b"no-store")]
            await _refuse(scope, receive, send, 303, "", [*self.headers, *to_form])
            return
        if refused is not None:
            await _refuse(scope, receive, send, *refused, self.headers)
            return
        if scope["type"] == "websocket":
            scope = _own_session_only(scope)
        if path.startswith(MEDIA):  # packed in the event loop, a large one would hold up everybody
            pairs = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
            scope = {**scope, "headers": pairs}
        await self.app(scope, receive, self._with_headers(send, path))

    async def _refused_by_person(self, scope: Scope, path: str) -> tuple[int, str] | None:
        """Store the person of the request in `scope["state"]`, None if not signed in; return the refusal if any."""
        if scope["type"] == "http" and (path.startswith(OPEN_TO_ALL) or path in MONITORED):
            return None
        secret = cookie_secret(scope["headers"])
        try:
            person, has_accounts, invited = await with_store(_asking, secret, [])
        except (EvenhandError, OSError):  # no database now: the page says so in the visitor's language
            person, has_accounts, invited = None, True, {}
        scope["state"] = {**(scope.get("state") or {}), "person": person, "invited": invited, "folder": self.folder}
        return self._refused(scope, path, person, has_accounts, invited)

    def _asking_desk(self, scope: Scope, path: str, store: Store) -> Caller:
        """Return the caller at a desk: the person, their desks in studies, and the refusal of the request if any."""
        held = cookies(scope["headers"])
        person, has_accounts, invited = _asking(store, _secret(held), _study_secrets(held))
        return Caller(person, invited, self._refused(scope, path, person, has_accounts, invited))

    def _refused(
        self, scope: Scope, path: str, person: Person | None, has_accounts: bool, invited: Mapping[str, InvitedDesk]
    ) -> tuple[int, str] | None:
        """Return the status and message that refuse a request of *person*, None to admit the request."""
        if not has_accounts and not path.startswith("/account/link"):
            if is_forwarded(key.decode("latin-1") for key, _ in scope["headers"]):
                return 403, THROUGH_PROXY
            if not _from_here(scope):
                return 403, NO_ACCOUNTS
        account = person.account if person else None
        if has_accounts and not self._may_have(path, account):
            return 404, NOT_FOUND
        # Participants of a study have no account: they get its pages, and the routes of their own desk.
        if path.startswith(STUDY) or invited:
            return None
        if person is None and not guests_allowed() and not path.startswith(("/sign-in", "/account/")):
            return 401, SIGN_IN
        return None

    def _may_have(self, path: str, account: str | None) -> bool:
        """Return whether a file that a page offers, or an upload to a page, belongs to a visit of *account*."""
        if path.startswith(MEDIA):
            file = path.removeprefix(MEDIA).partition(".")[0]
            return is_file_of(self.sessions_of(file), account)
        if path.startswith(UPLOADS):
            return is_visit_of(path.removeprefix(f"{UPLOADS}/").partition("/")[0], account)
        return True

    def _with_headers(self, send: Send, path: str) -> Send:
        own = self.headers + ([(b"cache-control", b"no-store")] if path.startswith(MEDIA) else [])
        names = {name for name, _ in own}

        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message.get("headers", []) if pair[0].lower() not in names]
                message = {**message, "headers": [*kept, *own]}
            for part in _parts(message):
                await send(part)

        return sent


def _parts(message: MutableMapping[str, Any]) -> Iterable[MutableMapping[str, Any]]:
    """Yield a large body in parts: the next part follows when the one before is sent, so not all waits in memory."""
    body = message.get("body") or b""
    if len(body) <= PART_BYTES:
        return [message]
    starts = range(0, len(body), PART_BYTES)
    return (
        {
            "type": "http.response.body", "body": bytes(body[start : start + PART_BYTES]),
            "more_body": start + PART_BYTES < len(body) or message.get("more_body", False),
        }
        for start in starts
    )  # fmt: skip


def _asking(store: Store, secret: str, studies: list[str]) -> tuple[Person | None, bool, dict[str, InvitedDesk]]:
    """Return the person of a request, whether this server has accounts, and the desks of the browser in studies."""
    invited = desks(store, studies) if studies else {}
    if not accounts_exist(store):
        return OPEN, False, invited
    return signed_in(store, secret), True, invited


def _own_session_only(scope: Scope) -> Scope:
    """Return the scope of a socket, without the requested session if that session belongs to another account.

    Streamlit reads the id of the session from the third subprotocol; without one it begins a new session.
    """
    person = scope["state"]["person"]
    asked = [part.strip() for part in _header(scope, PROTOCOLS).split(",")]
    if len(asked) < 3 or is_visit_of(asked[2], person.account if person else None):
        return scope
    headers = [(key, ", ".join(asked[:2]).encode() if key == PROTOCOLS else value) for key, value in scope["headers"]]
    return {**scope, "headers": headers, "subprotocols": list(scope.get("subprotocols", ()))[:2]}


def _is_page(scope: Scope) -> bool:
    """Return whether a person opens an address, rather than a page loading a script or a picture."""
    return scope["type"] == "http" and scope["method"] == "GET" and "text/html" in _header(scope, b"accept")


def is_forwarded(names: Iterable[str]) -> bool:
    """Return whether the names of the headers of a request say that it came through a proxy."""
    return any(name in _FORWARDING or name.startswith("x-forwarded-") for name in map(str.lower, names))


def _from_here(scope: Scope) -> bool:
    """Return whether both ends are this machine: its name in the address, its loopback as the client."""
    client = scope.get("client")
    return _host(scope) in LOOPBACK and (client is None or client[0] in LOOPBACK)


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _host(scope: Scope) -> str:
    return host_name(_header(scope, b"host"))


def _refused_by_address(scope: Scope) -> tuple[int, str] | None:
    if _host(scope) not in hosts():
        return 421, NOT_SERVED
    changes = scope["type"] == "websocket" or scope["method"] not in SAFE
    if not changes:
        return None
    origin = _header(scope, b"origin")
    if origin and urlsplit(origin).netloc.lower() != _header(scope, b"host").lower():
        return 403, FOREIGN
    if not origin and _header(scope, b"sec-fetch-site") not in ("", "same-origin", "none"):
        return 403, FOREIGN
    length = _header(scope, b"content-length")
    if UPLOADS not in scope.get("path", "") and length.isdigit() and int(length) > MOST_BYTES:
        return 413, TOO_LONG
    return None


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, message: str, headers: Headers) -> None:
    if scope["type"] == "websocket":
        await receive()  # the request to connect
        await send({"type": "websocket.close", "code": 1008, "reason": message[:100]})
        return
    body = message.encode()
    start = [*headers, (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*start, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})
