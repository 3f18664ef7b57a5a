"""Sign-in by a provider of identities (OpenID Connect: Keycloak, Google and others).

Code flow with PKCE: the browser is sent to the provider and comes back with a code, for which this server gets a
signed token. The token says issuer and subject, which stand for an account; nothing else of it is kept. It ends in a
sign-in of our own, which can be seen and ended here.
"""

import hashlib
import hmac
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from evenhand.core.errors import N_, NotAllowed, Refused

ISSUER, CLIENT, SECRET = "EVENHAND_OIDC_ISSUER", "EVENHAND_OIDC_CLIENT", "EVENHAND_OIDC_SECRET"
SECRET_FILE, NAME = "EVENHAND_OIDC_SECRET_FILE", "EVENHAND_OIDC_NAME"
COOKIE = "evenhand-oidc"  # ties an answer of the provider to the browser that asked
PATIENCE_S = 600.0  # for the visit at the provider
MOST = 1000  # visits under way
TIMEOUT_S = 10.0
LEEWAY_S = 60  # by which clocks may differ
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]  # signatures of a key pair only
FAILED = N_("Signing in with {provider} failed. Try again.")
NOT_SET = N_("No identity provider is set up on this server.")


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: its issuer, and as what it knows this server."""

    issuer: str
    client: str
    secret: str
    name: str


@dataclass(frozen=True, slots=True)
class Visit:
    """The state kept while a visitor is at the provider. `link`: of the invitation, or ""; `browser`: its hash."""

    verifier: str
    nonce: str
    link: str
    browser: str
    back: str
    expires: float


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom the provider has signed in. `names`: what it calls the person, the most fitting first, for a new account."""

    issuer: str
    subject: str
    names: tuple[str, ...]


NAMES = ("preferred_username", "name", "nickname", "given_name")  # claims

_visits: OrderedDict[str, Visit] = OrderedDict()
_lock = Lock()


def provider() -> Provider | None:
    """Return the provider that the environment names, or None."""
    issuer, client = os.environ.get(ISSUER, "").strip(), os.environ.get(CLIENT, "").strip()
    if not issuer or not client:
        return None
    file = os.environ.get(SECRET_FILE, "")
    secret = Path(file).read_text(encoding="utf-8").strip() if file else os.environ.get(SECRET, "")
    return Provider(issuer, client, secret, os.environ.get(NAME, "").strip() or "OpenID")


async def begin(back: str, link: str = "") -> tuple[str, str]:
    """Return the address of the provider to go to, and the secret for the cookie of this browser.

    *back*: where the provider sends the browser afterwards. Raises Refused if no provider answers.
    """
    found = provider()
    if found is None:
        raise Refused(NOT_SET)
    browser, state = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
    visit = Visit(
        secrets.token_urlsafe(48), secrets.token_urlsafe(24), link, _hash(browser), back, time.time() + PATIENCE_S
    )
    async with _client(found, back) as client:
        metadata = await _metadata(client, found)
        address, _state = client.create_authorization_url(
            metadata["authorization_endpoint"], state=state, nonce=visit.nonce, code_verifier=visit.verifier
        )
    with _lock:
        _visits[state] = visit
        while len(_visits) > MOST:
            _visits.popitem(last=False)
    return str(address), browser


async def finish(state: str, code: str, browser: str) -> tuple[Identity, str]:
    """Return the identity that the provider has signed in, and the link that the visit began with.

    A visit is used once, by the browser that began it. Raises NotAllowed for an unknown or expired visit,
    another browser, or an invalid answer of the provider.
    """
    with _lock:
        visit = _visits.pop(state, None)
    result = provider()
    if result is None or visit is None or visit.expires < time.time():
        raise NotAllowed(FAILED, provider=result.name if result else "OpenID")
    if not code or not hmac.compare_digest(visit.browser, _hash(browser)):
        raise NotAllowed(FAILED, provider=result.name)
    async with _client(result, visit.back) as client:
        metadata = await _metadata(client, result)
        try:
            token = await client.fetch_token(metadata["token_endpoint"], code=code, code_verifier=visit.verifier)
            keys = (await client.request("GET", metadata["jwks_uri"], withhold_token=True)).raise_for_status().json()
            claims = _checked(str(token["id_token"]), keys, result, visit.nonce)
            if not any(claims.get(kind) for kind in NAMES):
                claims = await _more_claims(client, metadata, claims) | claims
        except Exception as error:  # the library raises errors of six kinds; each means the same here
            raise NotAllowed(FAILED, provider=result.name) from error
    return Identity(result.issuer, str(claims["sub"]), names_in(claims)), visit.link


def names_in(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of a person in claims, the most fitting first; of an e-mail address what is before the @."""
    email = claims.get("email")
    names = [*(claims.get(kind) for kind in NAMES), email.partition("@")[0] if isinstance(email, str) else ""]
    return tuple(name.strip() for name in names if isinstance(name, str) and name.strip())


async def _more_claims(client: Any, metadata: Mapping[str, Any], claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the provider says of the person apart from the token; {} where it says nothing.

    Many providers put names only there. A failure here does not stop the sign-in: the name decides nothing.
    """
    try:
        answer = await client.request("GET", str(metadata["userinfo_endpoint"]))
        more = answer.raise_for_status().json()
    except Exception:  # the library raises errors of six kinds
        return {}
    return more if isinstance(more, dict) and more.get("sub") == claims["sub"] else {}


def _client(found: Provider, back: str) -> Any:
    from authlib.integrations.httpx_client import AsyncOAuth2Client  # loaded where a provider is set up only

    return AsyncOAuth2Client(
        found.client, found.secret or None, scope="openid profile", redirect_uri=back, timeout=TIMEOUT_S,
        code_challenge_method="S256", token_endpoint_auth_method="client_secret_basic" if found.secret else "none",
    )  # fmt: skip


async def _metadata(client: Any, found: Provider) -> dict[str, Any]:
    address = f"{found.issuer.rstrip('/')}/.well-known/openid-configuration"
    try:
        metadata = (await client.request("GET", address, withhold_token=True)).raise_for_status().json()
    except Exception as error:  # no connection, no answer, no JSON: each means the same here
        raise Refused(FAILED, provider=found.name) from error
    if not isinstance(metadata, dict) or metadata.get("issuer") != found.issuer:
        raise Refused(FAILED, provider=found.name)
    return metadata


def _checked(token: str, keys: Any, found: Provider, nonce: str) -> dict[str, Any]:
    """Return the claims of a token that this provider has signed for this server and this visit. Raises for others."""
    from joserfc import jwt
    from joserfc.jwk import KeySet

    claims = dict(jwt.decode(token, KeySet.import_key_set(keys), algorithms=ALGORITHMS).claims)
    rules: dict[str, Any] = {
        "iss": {"essential": True, "value": found.issuer}, "aud": {"essential": True, "value": found.client},
        "exp": {"essential": True}, "sub": {"essential": True}, "nonce": {"essential": True, "value": nonce},
    }  # fmt: skip
    jwt.JWTClaimsRegistry(leeway=LEEWAY_S, **rules).validate(claims)
    if claims.get("azp", found.client) != found.client:
        raise ValueError("the token is for another client")
    return claims


def _hash(browser: str) -> str:
    return hashlib.sha256(browser.encode()).hexdigest()
