"""Names of accounts: which are the same, and which could pass for another one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.accounts.accounts import account, account_name, accounts, add_account, authenticate, name_key
from evenhand.annotations.database.store import Store
from evenhand.core.errors import NotAllowed, NotFound, Refused

PASSWORD = "correct horse battery"
ALIKE = ["esc", "ESC", "\uff45\uff53\uff43", "\u24d4\u24e2\u24d2", "e\u200ds\u00adc", "  esc ", "e\ufe0fsc"]


@pytest.mark.parametrize("other", ALIKE)
def test_an_equivalent_spelling_of_a_name_is_taken_and_signs_in(fresh_store: Store, other: str) -> None:
    made = add_account(fresh_store, "Esc", password=PASSWORD)
    assert authenticate(fresh_store, other, PASSWORD) == account(fresh_store, other) == made
    with pytest.raises(Refused, match=r"There is already an account named|must be one line"):
        add_account(fresh_store, other)
    assert len(accounts(fresh_store)) == 1


@pytest.mark.parametrize(
    "name",
    ["Ada", "Ada Lovelace-2", "王小明", "王 Ada", "\u3005木さん", "山田タロー", "김철수 Kim", "\u3105王", "Иван",
     "Ελένη", "أحمد", "आदित्य", "Zoë O’Brien 3", "陳\uff21", "a_b@example.org"],
)  # fmt: skip
def test_names_of_one_script_or_compatible_scripts_are_allowed(fresh_store: Store, name: str) -> None:
    made = add_account(fresh_store, name, password=PASSWORD)
    assert authenticate(fresh_store, name, PASSWORD) == made


@pytest.mark.parametrize("name", ["\u0435sc", "Ada\u03b1", "Иван Petrov", "王Иван", "한か", "\u0441\u0430t"])
def test_a_name_of_several_scripts_is_refused(fresh_store: Store, name: str) -> None:
    with pytest.raises(Refused, match=r"mixes scripts \("):
        add_account(fresh_store, name)


@pytest.mark.parametrize("name", ["\u3164", "\u115f\u1160", "\u034f"])
def test_an_invisible_name_is_refused(fresh_store: Store, name: str) -> None:
    with pytest.raises(Refused):
        add_account(fresh_store, name)


def test_accounts_of_earlier_versions_still_sign_in(fresh_store: Store) -> None:
    """They may have names that are the same today, and names of several scripts."""
    names = ("esc", "\uff45\uff53\uff43", "\u0435sc")
    for number, name in enumerate(names):
        made = add_account(fresh_store, f"name {number}", password=f"{PASSWORD} {number}")
        with fresh_store.write() as db:
            db.execute("UPDATE account SET name = ? WHERE id = ?", (name, made.id))
    for number, name in enumerate(names):
        assert authenticate(fresh_store, name, f"{PASSWORD} {number}").name == name
        with pytest.raises(NotAllowed):
            authenticate(fresh_store, name, f"{PASSWORD} {(number + 1) % 3}")
    with pytest.raises(NotFound):  # two accounts have it
        account(fresh_store, "\u24d4\u24e2\u24d2")


@given(st.text(max_size=12))
def test_the_normalised_key_of_a_name_is_idempotent(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name)
    try:
        stored = account_name(name)
    except Refused:
        return
    assert name_key(stored) == name_key(name) != "" and account_name(stored) == stored
