"""Sign-in by an identity provider: there and back, with real signatures; admitted and refused identities."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from joserfc.jwk import RSAKey
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from evenhand.annotations.accounts.accounts import account, accounts, close_account, person_of
from evenhand.annotations.accounts.links import invite_link, reset_link
from evenhand.annotations.database.store import Store
from evenhand.web import account_pages, oidc, sign_in_limits
from tests.support.gated import gated
from tests.support.identity_provider import IdentityProvider
from tests.support.released_project import ready_project


@pytest.fixture(scope="module")
def server() -> Iterator[IdentityProvider]:
    result = IdentityProvider().start()
    yield result
    result.stop()


@pytest.fixture
def there(server: IdentityProvider, monkeypatch: pytest.MonkeyPatch) -> IdentityProvider:
    monkeypatch.setenv(oidc.ISSUER, server.issuer)
    monkeypatch.setenv(oidc.CLIENT, server.client)
    monkeypatch.setenv(oidc.SECRET, server.secret)
    monkeypatch.setenv(oidc.NAME, "Keycloak")
    monkeypatch.setattr(sign_in_limits, "admit_address", lambda _: True)  # its own tests count the requests
    server.claims, server.subject, server.signs_with, server.userinfo = {}, "person-1", server.key, None
    return server


@pytest.fixture
def client(fresh_store: Store) -> Iterator[TestClient]:
    async def who(request: Request) -> JSONResponse:
        return JSONResponse({"name": request.state.person.name})

    with gated([*account_pages.routes(), Route("/", who)]) as found:
        yield found


def visit(client: TestClient, address: str) -> str:
    """Return the address of return that the browser is given at the provider."""
    assert "localhost" not in address.partition("?")[0]
    return httpx.get(address).headers["location"]


def come_in(client: TestClient, store: Store, role: Any = "annotator") -> None:
    """Open an invitation and continue with the provider."""
    project = ready_project(store, 1)
    secret = invite_link(store, role, project)
    opened = client.post("/account/link", data={"link": secret})
    assert "Continue with Keycloak" in opened.text
    page = client.post("/account/oidc", data={"link": secret})
    match = re.search(r'href="([^"]*)" id="provider"', page.text)
    assert match and secret not in match[1]
    assert client.get(visit(client, match[1].replace("&amp;", "&"))).status_code == 303


def sign_in(client: TestClient) -> httpx.Response:
    return client.get(visit(client, client.get("/sign-in/oidc").headers["location"]))


def test_an_identity_needs_an_invitation_only_once(
    fresh_store: Store, client: TestClient, there: IdentityProvider
) -> None:
    come_in(client, fresh_store)
    assert client.get("/").json() == {"name": "Ada Lovelace"}
    made = account(fresh_store, "Ada Lovelace")
    result = person_of(fresh_store, made.uid)
    assert result is not None and list(result.roles.values()) == ["annotator"]
    client.cookies.clear()
    assert "Continue with Keycloak" in client.get("/sign-in").text
    assert sign_in(client).status_code == 303
    assert client.get("/").json() == {"name": "Ada Lovelace"}
    assert len(accounts(fresh_store)) == 1
    client.cookies.clear()
    close_account(fresh_store, made)
    assert (sign_in(client).status_code, client.get("/").status_code) == (403, 401)


WITHOUT_NAMES = {"preferred_username": None, "email": None}


@pytest.mark.parametrize(
    ("claims", "userinfo", "name"),
    [
        (WITHOUT_NAMES, {"sub": "person-1", "preferred_username": "ada", "name": "Ada Lovelace"}, "ada"),
        (WITHOUT_NAMES, {"sub": "person-1", "email": "lovelace@example.org"}, "lovelace"),
        (WITHOUT_NAMES, {"sub": "person-2", "name": "Bo"}, "annotator"),  # of another user
        (WITHOUT_NAMES, {"sub": "person-1", "name": ["Ada"]}, "annotator"),
        (WITHOUT_NAMES, None, "annotator"),
        ({"preferred_username": None}, None, "ada"),
        ({"preferred_username": "\u0430da", "name": "Ada L."}, None, "Ada L."),  # a Cyrillic letter
        ({"preferred_username": "?" * 90}, None, "?" * 70),
    ],
)
def test_a_new_account_has_a_name(
    fresh_store: Store, client: TestClient, there: IdentityProvider, claims: Any, userinfo: Any, name: str
) -> None:
    there.claims, there.userinfo = claims, userinfo
    come_in(client, fresh_store)
    assert [account.name for account in accounts(fresh_store)] == [name]


def test_an_equal_e_mail_address_opens_no_account(
    fresh_store: Store, client: TestClient, there: IdentityProvider
) -> None:
    come_in(client, fresh_store)
    client.cookies.clear()
    there.subject = "person-2"  # with the same name and address
    result = sign_in(client)
    assert (
        result.status_code == 403
        and "No account is linked to this identity. Open your invitation link first and continue from there."
        in result.text
    )
    assert len(accounts(fresh_store)) == 1


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"}, {"aud": "another"}, {"iss": "https://evil.example"}, {"exp": 1_000_000_000},
        {"azp": "another"}, {"sub": ""}, {"nonce": None},
    ],
    ids=str,
)  # fmt: skip
def test_a_token_with_wrong_claims_is_refused(
    fresh_store: Store, client: TestClient, there: IdentityProvider, claims: dict[str, Any]
) -> None:
    come_in(client, fresh_store)
    client.cookies.clear()
    there.claims = claims
    assert sign_in(client).status_code == 403
    assert client.get("/").status_code == 401


def test_a_token_with_another_key_is_refused(fresh_store: Store, client: TestClient, there: IdentityProvider) -> None:
    come_in(client, fresh_store)
    client.cookies.clear()
    there.signs_with = RSAKey.generate_key(2048, {"kid": "one"})
    assert sign_in(client).status_code == 403


def test_an_answer_works_once_and_in_its_browser_only(
    fresh_store: Store, client: TestClient, there: IdentityProvider
) -> None:
    come_in(client, fresh_store)
    client.cookies.clear()
    back = visit(client, client.get("/sign-in/oidc").headers["location"])
    mine = dict(client.cookies)
    client.cookies.clear()
    assert client.get(back).status_code == 403  # would sign a user in as another one
    for name, value in mine.items():
        client.cookies.set(name, value)
    assert client.get(back).status_code == 403  # and the visit is spent
    assert client.get("/sign-in/oidc/back?state=a&code=b").status_code == 403
    assert client.get("/sign-in/oidc/back").status_code == 403
    client.cookies.clear()
    assert sign_in(client).status_code == 303


def test_a_reset_link_does_not_admit_an_identity(
    fresh_store: Store, client: TestClient, there: IdentityProvider
) -> None:
    come_in(client, fresh_store)
    client.cookies.clear()
    there.subject = "person-2"
    secret = reset_link(fresh_store, account(fresh_store, "Ada Lovelace"))
    page = client.post("/account/oidc", data={"link": secret})
    match = re.search(r'href="([^"]*)" id="provider"', page.text)
    assert match and client.get(visit(client, match[1].replace("&amp;", "&"))).status_code == 403
    assert len(accounts(fresh_store)) == 1
    assert client.post("/account/oidc", data={"link": "made up"}).status_code == 403


def test_without_a_provider_no_form_offers_it(
    fresh_store: Store, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(oidc.ISSUER, raising=False)
    monkeypatch.setattr(sign_in_limits, "admit_address", lambda _: True)
    assert 'id="provider"' not in client.get("/sign-in").text
    assert client.get("/sign-in/oidc").status_code == 403
    monkeypatch.setenv(oidc.ISSUER, "http://127.0.0.1:9")
    monkeypatch.setenv(oidc.CLIENT, "evenhand")
    assert client.get("/sign-in/oidc").status_code == 403  # it does not answer
