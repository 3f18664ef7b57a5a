"""Every reason has a key that the desk takes, and no key that annotators have learnt moves."""

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import frontend
from evenhand.annotations.guideline.drafts import check_draft, read_draft, save_draft
from evenhand.annotations.guideline.versions import (
    KEYS,
    add_guideline,
    clashing_numbers,
    guideline,
    is_reachable,
    with_keys,
)
from evenhand.annotations.projects.projects import annotators, create_project
from evenhand.annotations.types import Choice, Kind
from evenhand.core.errors import Refused
from evenhand.core.guidelines import builtin
from tests.support.desk_js import run

ANY_KEY = st.sampled_from(["", *"1234567890abkstjzé中"])


def reasons(*keys: str) -> list[Choice]:
    return [Choice(f"r{n}", key, f"理由{n}", f"Reason {n}") for n, key in enumerate(keys, 1)]


@given(st.sampled_from(get_args(Kind)), st.lists(ANY_KEY, max_size=30))
def test_keys_are_reachable_unique_and_stable(kind: Kind, keys: list[str]) -> None:
    unique = list(dict.fromkeys(key for key in keys if key)) + [""] * keys.count("")
    given_reasons = reasons(*unique)
    result = with_keys(kind, given_reasons)
    used = [reason.key.upper() for reason in result if reason.key]
    assert len(used) == len(set(used)) and all(is_reachable(kind, key) for key in used)
    for before, after in zip(given_reasons, result, strict=True):
        assert after.key == before.key or not is_reachable(kind, before.key)
    assert len(used) == len(result) or not set(KEYS[kind]) - set(used)
    assert with_keys(kind, result) == result


def test_all_automatic_keys_choose_a_reason_at_the_desk() -> None:
    """The desk's own JavaScript: in the mode of reasons each of these keys chooses a reason."""
    codes = [f"Digit{key}" if key.isdigit() else f"Key{key}" for key in KEYS["sentences"]]
    result = run(
        f"""
      const pressed = (code) => ({{ code, key: code.at(-1), shiftKey: false }});
      tell({json.dumps(codes)}.map((code) => actionOf(pressed(code), "reject", [], false)));
    """,
        "keys",
    )
    assert result == [{"name": "reason", "key": key} for key in KEYS["sentences"]]
    kept = run(
        """
      const pressed = (code) => ({ code, key: code.at(-1), shiftKey: false });
      tell(["KeyS", "KeyN", "KeyT"].map((code) => actionOf(pressed(code), "reject", [], false).name));
    """,
        "keys",
    )
    assert kept == ["hold", "note", "own"]


def test_the_eleventh_reason_has_a_key_at_the_desk(fresh_store: Store) -> None:
    made = create_project(fresh_store, "set", annotators=("Ada",))
    first = guideline(fresh_store, made)
    more = [Choice("tenth", "", "第十", "Tenth"), Choice("eleventh", "é", "第十一", "Eleventh")]
    add_guideline(fresh_store, made, first.text, first.choices, [*first.reasons, *more], changes="Two more.")
    data = frontend.start_data(fresh_store, made, annotators(fresh_store, made)[0], language="en", api="")
    assert [reason["key"] for reason in data["reasons"]] == [*"1234567890", "A"]
    further, head, listed = data["guideline"]["blocks"][-3:]
    assert further["keys"] == [*"6789"], "a point of the text that is named like a reason has its key"
    assert head == {"kind": "head", "runs": [("Reasons to reject and their keys", False)]}
    assert listed["keys"] == [*"123450", "A"]
    assert listed["items"][-1] == [("Eleventh", False)]


def test_keys_of_the_built_in_guidelines_do_not_move() -> None:
    for version in ("journal", "conference"):
        built = [Choice(reason.code, reason.key, reason.zh, reason.en) for reason in builtin(version).reasons]
        assert with_keys("sentences", built) == tuple(built)


@pytest.mark.parametrize("key", ["s", "k", "T", "é"])
def test_a_draft_with_a_key_that_no_desk_takes_is_refused(fresh_store: Store, key: str) -> None:
    made = create_project(fresh_store, "set", annotators=("Ada",))
    draft = read_draft(fresh_store, made)
    more = (*draft.reasons, Choice("tenth", key, "第十", "Tenth"))
    save_draft(fresh_store, made, type(draft)(draft.base, draft.text, draft.choices, more, "One more."))
    with pytest.raises(Refused, match="cannot be the key of a reason"):
        check_draft(fresh_store, made, read_draft(fresh_store, made))


def test_a_new_number_equal_to_an_older_key_is_reported() -> None:
    old = reasons("5", "6")
    text = "1. one\n5. five\n6. six: new\n7. seven\n"
    assert clashing_numbers("1. one\n5. five\n", text, old, [*old, *reasons("7")]) == [(6, old[1])]
    assert clashing_numbers(text, text, old, old) == []
