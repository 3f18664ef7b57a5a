"""Sign-ins: how long they are valid, what ends them, what is stored of them."""

import pytest

from evenhand.annotations.accounts.accounts import Account, add_account, close_account, grant, hashed, store_password
from evenhand.annotations.accounts.sign_ins import (
    IDLE_S,
    LONGEST_S,
    end_all,
    end_sign_in,
    sign_in,
    sign_ins,
    sign_out,
    signed_in,
)
from evenhand.annotations.database.store import Store

NOW = 1_800_000_000.0


@pytest.fixture
def ada(fresh_store: Store) -> Account:
    grant(fresh_store, add_account(fresh_store, "Olga"), "owner", None)
    return add_account(fresh_store, "Ada")


def test_a_cookie_secret_identifies_the_account_and_is_not_stored(fresh_store: Store, ada: Account) -> None:
    secret = sign_in(fresh_store, ada, "Firefox")
    person = signed_in(fresh_store, secret)
    assert person is not None
    assert (person.account, person.name) == (ada.uid, "Ada")
    assert secret not in repr(fresh_store.db.execute("SELECT * FROM sign_in").fetchall())
    for wrong in ("", secret[:-1], secret + "x", "\udc80", "é" * 500):
        assert signed_in(fresh_store, wrong) is None


def test_signing_out_of_one_browser_keeps_the_other_signed_in(fresh_store: Store, ada: Account) -> None:
    first, second = sign_in(fresh_store, ada, "Firefox"), sign_in(fresh_store, ada, "Chrome")
    assert [session.browser for session in sign_ins(fresh_store, ada)] == ["Chrome", "Firefox"]
    sign_out(fresh_store, first)
    assert signed_in(fresh_store, first) is None
    assert signed_in(fresh_store, second) is not None
    assert [session.browser for session in sign_ins(fresh_store, ada)] == ["Chrome"]


@pytest.mark.parametrize(
    ("requests", "holds"),
    [
        ([IDLE_S - 1], True),
        ([IDLE_S + 1], False),
        ([IDLE_S - 1, 2 * IDLE_S - 10], True),  # each request starts the time again
        ([IDLE_S * k * 0.9 for k in range(1, 70)], False),  # but for 30 days at most
    ],
)
def test_a_sign_in_expires(fresh_store: Store, ada: Account, requests: list[float], holds: bool) -> None:
    secret = sign_in(fresh_store, ada, now=NOW)
    results = [signed_in(fresh_store, secret, now=NOW + after) is not None for after in requests]
    assert results[-1] == holds
    if len(requests) > 1:
        assert results == [after < LONGEST_S for after in requests]


def test_a_new_password_or_closing_ends_all_sign_ins(fresh_store: Store, ada: Account) -> None:
    acts = (
        lambda: end_all(fresh_store, ada),
        lambda: store_password(fresh_store, ada, hashed("another long one")),
        lambda: close_account(fresh_store, ada),
    )
    for act in acts:
        secret = sign_in(fresh_store, ada)
        assert signed_in(fresh_store, secret) is not None
        act()
        assert signed_in(fresh_store, secret) is None
        assert sign_ins(fresh_store, ada) == []


def test_only_the_own_account_can_end_a_sign_in(fresh_store: Store, ada: Account) -> None:
    bo = add_account(fresh_store, "Bo")
    secret = sign_in(fresh_store, ada)
    uid = sign_ins(fresh_store, ada)[0].uid
    assert not end_sign_in(fresh_store, bo, uid)
    assert signed_in(fresh_store, secret) is not None
    assert end_sign_in(fresh_store, ada, uid)
    assert signed_in(fresh_store, secret) is None
