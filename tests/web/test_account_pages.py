"""The forms: signing in and out, links, cookies, both languages."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.testclient import TestClient

from evenhand.annotations.accounts.accounts import account, add_account, grant
from evenhand.annotations.accounts.links import first_link, invite_link, reset_link
from evenhand.annotations.accounts.sign_ins import signed_in
from evenhand.annotations.database.store import Store
from evenhand.core.language import LANGUAGE_COOKIE
from evenhand.web import account_pages, sign_in_limits
from evenhand.web.gate import COOKIE, SECURE_COOKIE
from evenhand.web.requests import client_address
from tests.support.gated import gated
from tests.support.released_project import ready_project

PASSWORD = "correct horse battery"
LINK = "/account/link"


@pytest.fixture
def client(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(sign_in_limits, "SLOW_S", 0.0)
    sign_in_limits._window.storage.reset()
    with gated(account_pages.routes()) as found:
        yield found


def test_forms_below_a_path_use_its_addresses(fresh_store: Store) -> None:
    add_account(fresh_store, "Ada", password=PASSWORD)
    with gated(account_pages.routes(), base="lab") as client:
        assert 'action="/lab/sign-in' in client.get("/lab/sign-in").text
        answer = client.post("/lab/sign-in", data={"name": "ada", "password": PASSWORD})
        assert (answer.status_code, answer.headers["location"]) == (303, "/lab/")
        assert client.get("/sign-in").status_code == 404


def test_a_name_and_a_password_sign_in(fresh_store: Store, client: TestClient) -> None:
    add_account(fresh_store, "Ada", password=PASSWORD)
    assert 'type="password"' in client.get("/sign-in").text
    answer = client.post("/sign-in", data={"name": "ada", "password": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert signed_in(fresh_store, client.cookies[COOKIE]) is not None
    assert client.get("/sign-in").status_code == 303  # already in
    assert client.post("/sign-out").status_code == 303
    assert COOKIE not in client.cookies
    assert client.get("/sign-in").status_code == 200


def test_failed_sign_ins_get_equal_answers(fresh_store: Store, client: TestClient) -> None:
    add_account(fresh_store, "Ada", password=PASSWORD)
    answers = [
        client.post("/sign-in", data={"name": name, "password": password})
        for name, password in (("ada", "wrong"), ("<b>nobody", PASSWORD), ("", ""))
    ]
    for answer in answers:
        assert answer.status_code == 403
        assert "Wrong name or password." in answer.text
        assert "set-cookie" not in answer.headers
        assert "<b>nobody" not in answer.text
    assert client.post("/sign-in", headers={"origin": "http://evil.example"}).status_code == 403
    chinese = client.post("/sign-in?lang=zh", data={"name": "ada", "password": "wrong"})
    assert "用户名或密码错误" in chinese.text
    assert '<html lang="zh-CN">' in chinese.text


def test_a_chosen_language_is_kept(fresh_store: Store, client: TestClient) -> None:
    add_account(fresh_store, "Ada", password=PASSWORD)
    english = {"accept-language": "en-GB,en;q=0.9"}
    assert '<html lang="en">' in client.get("/sign-in", headers=english).text
    assert LANGUAGE_COOKIE not in client.cookies  # nothing was chosen
    assert '<html lang="zh-CN">' in client.get("/sign-in?lang=zh", headers=english).text
    assert client.cookies[LANGUAGE_COOKIE] == "zh"
    for address in ("/sign-in", "/account/link"):
        answer = client.get(address, headers=english)
        assert '<html lang="zh-CN">' in answer.text and "set-cookie" not in answer.headers
    assert '<html lang="en">' in client.get("/sign-in?lang=en", headers={"accept-language": "zh"}).text
    assert client.cookies[LANGUAGE_COOKIE] == "en"
    client.cookies.clear()
    client.cookies[LANGUAGE_COOKIE] = "xx"  # no language of the interface
    assert '<html lang="zh-CN">' in client.get("/sign-in", headers={"accept-language": "zh-TW"}).text


def test_a_cookie_is_secure_behind_tls(fresh_store: Store, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    add_account(fresh_store, "Ada", password=PASSWORD)
    forwarded = {"x-forwarded-proto": "https"}
    answer = client.post("/sign-in", data={"name": "ada", "password": PASSWORD}, headers=forwarded)
    assert "secure" not in answer.headers["set-cookie"].lower()  # any client can send that header
    monkeypatch.setenv("EVENHAND_PROXY", "127.0.0.1")
    client.cookies.clear()
    answer = client.post("/sign-in", data={"name": "ada", "password": PASSWORD}, headers=forwarded)
    assert answer.headers["set-cookie"].startswith(f"{SECURE_COOKIE}=")
    assert "secure" in answer.headers["set-cookie"].lower()


def test_the_last_address_of_a_trusted_proxy_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [(b"x-forwarded-for", b"203.0.113.1, 203.0.113.2"), (b"x-forwarded-for", b"198.51.100.7")]
    request = Request({"type": "http", "headers": lines, "client": ("127.0.0.1", 1)})
    assert client_address(request) == "127.0.0.1"
    monkeypatch.setenv("EVENHAND_PROXY", "127.0.0.1")
    assert client_address(request) == "198.51.100.7"


def test_sign_in_attempts_are_limited(fresh_store: Store, client: TestClient) -> None:
    add_account(fresh_store, "Ada", password=PASSWORD)
    wrong = [client.post("/sign-in", data={"name": "ada", "password": "x"}).status_code for _ in range(29)]
    assert set(wrong) == {403}
    client.post("/sign-in", data={"name": "bo", "password": "x"})
    answer = client.post("/sign-in", data={"name": "carla", "password": "x"})
    assert answer.status_code == 429
    assert "Too many attempts" in answer.text
    sign_in_limits._window.storage.reset()
    assert (
        client.post("/sign-in", data={"name": "ada", "password": PASSWORD}).status_code == 303
    )  # no account is locked


def waits(*attempts: tuple[str, str]) -> list[float | None]:
    """Return how long each of these (name, address) has to wait while the ones before it still wait."""
    with ExitStack() as stack:
        return [stack.enter_context(sign_in_limits.attempt(*attempt)) for attempt in attempts]


def test_repeated_attempts_slow_a_name_down_per_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_limits, "SLOW_S", 4.0)
    sign_in_limits._window.storage.reset()
    assert waits(*[("Ada", "192.0.2.1")] * 5) == [0.0] * 5
    neighbours = [("ada ", "192.0.2.9"), ("ADA", "192.0.2.1")] * 4
    assert waits(*neighbours) == [4.0, 8.0, 12.0, 16.0, 20.0, 20.0, 20.0, 20.0]  # in turn, and none is refused
    assert waits(("ada", "192.0.2.1")) == [4.0]
    assert waits(("bo", "192.0.2.1"), ("ada", "198.51.100.7"), ("ada", "2001:db8::1")) == [0.0, 0.0, 0.0]
    assert not sign_in_limits._waiting


def test_guesses_from_many_networks_are_delayed_and_never_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_limits, "SLOW_S", 4.0)
    sign_in_limits._window.storage.reset()
    networks = [("ada", f"2001:db8:{number:x}::1") for number in range(70)]
    assert waits(*networks) == [0.0] * 60 + [4.0] * 10
    assert waits(("ada", "198.51.100.7"), ("bo", "198.51.100.7")) == [4.0, 0.0]


ADDRESSES = st.sampled_from([f"{net}.{host}" for net in ("192.0.2", "198.51.100") for host in range(1, 5)])


@given(st.lists(st.tuples(st.sampled_from(["ada", "Ada ", "bo"]), ADDRESSES), max_size=60))
def test_attempts_of_others_never_block_the_owner_of_a_name(attempts: list[tuple[str, str]]) -> None:
    sign_in_limits._window.storage.reset()
    with ExitStack() as stack:
        for attempt in attempts:
            stack.enter_context(sign_in_limits.attempt(*attempt))
        assert waits(("ada", "203.0.113.5")) in ([0.0], [sign_in_limits.SLOW_S])
    assert not sign_in_limits._waiting


def test_the_right_password_signs_in_while_others_guess(fresh_store: Store, client: TestClient) -> None:
    add_account(fresh_store, "Ada", password=PASSWORD)
    guessing, owner = (
        TestClient(client.app, base_url="http://localhost", follow_redirects=False, client=(address, 5000))
        for address in ("192.0.2.1", "198.51.100.7")
    )
    guesses = [guessing.post("/sign-in", data={"name": "ada", "password": "x"}) for _ in range(31)]
    assert [answer.status_code for answer in guesses] == [403] * 30 + [429]
    assert owner.post("/sign-in", data={"name": "ada", "password": PASSWORD}).status_code == 303


def test_answers_for_a_name_without_an_account_have_the_same_bytes(fresh_store: Store, client: TestClient) -> None:
    add_account(fresh_store, "Ada", password=PASSWORD)
    by_name = {}
    for name in ("Ada", "Bob"):
        sign_in_limits._window.storage.reset()
        answers = [client.post("/sign-in", data={"name": name, "password": "wrong"}) for _ in range(32)]
        by_name[name] = [(answer.status_code, answer.text.replace(name, "NAME")) for answer in answers]
    assert by_name["Ada"] == by_name["Bob"]


def test_the_first_account_is_made_by_its_link(fresh_store: Store, client: TestClient) -> None:
    secret = first_link(fresh_store)
    page = client.get(LINK)
    assert secret not in page.text
    assert "link.js" in page.text
    opened = client.post(LINK, data={"link": secret})
    assert "This link creates the first account, which owns this server and can invite others." in opened.text
    new = {"link": secret, "name": "Olga", "password": PASSWORD, "again": PASSWORD}
    for change, sentence in (
        ({"again": "other"}, "The passwords do not match."),
        ({"password": "x", "again": "x"}, "12 to 512"),
    ):
        answer = client.post(LINK, data={**new, **change})
        assert answer.status_code == 400
        assert sentence in answer.text
        assert 'value="Olga"' in answer.text
    assert client.post(LINK, data=new).status_code == 303
    person = signed_in(fresh_store, client.cookies[COOKIE])
    assert person is not None
    assert person.everywhere == "owner"
    spent = client.post(LINK, data=new)
    assert spent.status_code == 403
    assert (
        "This link is no longer valid: it has been used or withdrawn, or has expired. Ask for a new one." in spent.text
    )
    assert "This address is incomplete" not in spent.text
    assert "<form" not in spent.text


def test_an_existing_account_accepts_an_invitation(fresh_store: Store, client: TestClient) -> None:
    project = ready_project(fresh_store, 1, name="<i>set")
    ada = add_account(fresh_store, "Ada", password=PASSWORD)
    grant(fresh_store, ada, "reader", None)
    client.post("/sign-in", data={"name": "ada", "password": PASSWORD})
    secret = invite_link(fresh_store, "adjudicator", project)
    opened = client.post(LINK, data={"link": secret}).text
    assert "adjudicator in the project &lt;i&gt;set" in opened
    assert "You are signed in as Ada." in opened
    assert client.post(LINK, data={"link": secret, "accept": "1"}).status_code == 303
    person = signed_in(fresh_store, client.cookies[COOKIE])
    assert person is not None
    assert person.roles == {project.uid: "adjudicator"}


def test_a_reset_form_shows_the_account(fresh_store: Store, client: TestClient) -> None:
    ada = add_account(fresh_store, "Ada", password=PASSWORD)
    secret = reset_link(fresh_store, ada)
    assert 'value="Ada" readonly' in client.post(LINK, data={"link": secret}).text
    new = {"link": secret, "name": "Eve", "password": "another long one", "again": "another long one"}
    assert client.post(LINK, data=new).status_code == 303
    person = signed_in(fresh_store, client.cookies[COOKIE])
    assert person is not None
    assert person.account == account(fresh_store, "Ada").uid


def test_style_and_scripts_of_the_forms_are_served(client: TestClient) -> None:
    for name, kind in (("style.css", "text/css"), ("link.js", "text/javascript")):
        answer = client.get(f"/account/{name}")
        assert answer.headers["content-type"].startswith(kind)


@pytest.mark.parametrize(
    ("address", "counts_as"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
        ("unknown", "unknown"),
    ],
)
def test_an_ipv6_network_counts_as_one_address(address: str, counts_as: str) -> None:
    assert sign_in_limits.network_of(address) == counts_as
