"""The hash of a release's content: equal for equal judgements, different for every other difference."""

import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.release.changes import Entry, content_hash, contents_of

GOLDEN = (
    [{"item": "i1", "sentence": "他来了。", "start": 0, "end": 1, "stem_start": 0, "stem_end": 1, "keyword": "他",
      "counterpart": "她", "pair": "他/她", "side": "male", "status": "accepted", "file": "f", "line": 2}],
    [{"item": "i1", "status": "accepted", "gold": "accept"}],
    [{"item": "i1", "annotator": "A1", "op_id": "o1", "choice": "reject", "reasons": ["name"], "extraneous": None,
      "spans": [], "tags": [], "note": "?", "form_shown": "masked", "guideline": 1, "after_reveal": False,
      "superseded": False, "created": "2026-01-01T00:00:00.000Z", "seconds": 1.5},
     {"item": "i1", "annotator": "A1", "op_id": "o2", "choice": "accept", "reasons": [], "extraneous": None,
      "spans": [], "tags": [], "note": "", "form_shown": "masked", "guideline": 1, "after_reveal": False,
      "superseded": False, "created": "2026-01-02T00:00:00.000Z", "seconds": 2.5}],
    [],
)  # fmt: skip


def test_the_hash_is_computed_as_documented():
    """Written out by hand, so that a release of today has the same hash in every later version."""

    def canonical(value):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    row = {key: value for key, value in GOLDEN[0][0].items() if key not in ("item", "file", "line", "status")}
    item = hashlib.sha256(canonical(row).encode()).hexdigest()
    judgement = canonical(["accept", [], None, [], [], "", "masked", 1, False])
    entry = canonical([item, "accepted", "accept", [["A1", f"{judgement}\n{judgement}"]]])
    expected = hashlib.sha256(b"evenhand-content-1\n" + hashlib.sha256(entry.encode()).digest()).hexdigest()
    assert content_hash(contents_of(*GOLDEN).entries.values()) == expected
    assert expected == "991aba5586633b7c3e35d096918ad92c7709e97f9f2eca747ef75f6efaad34cb"


@pytest.mark.parametrize(
    ("part", "row", "key", "value"),
    [
        *((0, 0, key, value) for key, value in (
            ("sentence", "她来了。"), ("end", 2), ("stem_start", 1), ("pair", "男/女"), ("side", "female"),
            ("keyword", "她"), ("year", 2019))),
        (1, 0, "status", "pending"), (1, 0, "gold", None),
        *((2, 1, key, value) for key, value in (
            ("choice", "reject"), ("choice", None), ("reasons", ["name"]), ("extraneous", True), ("note", "!"),
            ("spans", [{"start": 0, "end": 1, "kind": "x"}]), ("tags", ["t"]), ("form_shown", "original"),
            ("guideline", 2), ("after_reveal", True), ("superseded", True), ("annotator", "A2"))),
    ],
)  # fmt: skip
def test_every_changed_value_changes_the_hash(part, row, key, value):
    parts = json.loads(json.dumps(GOLDEN))
    parts[part][row][key] = value
    assert content_hash(contents_of(*parts).entries.values()) != content_hash(contents_of(*GOLDEN).entries.values())


def test_a_standing_record_overrides_the_operations():
    """A returned label is not current any more, in spite of its operations."""
    away = {"kind": "standing", "item": "i1", "annotator": "A1", "latest": None, "blind": None}
    assert contents_of(*GOLDEN[:3], [away]).entries["i1"].labels == {}
    first = away | {"latest": "o2", "blind": "o1"}
    latest, _, blind = contents_of(*GOLDEN[:3], [first]).entries["i1"].labels["A1"].partition("\n")
    assert (json.loads(latest)[0], json.loads(blind)[0]) == ("accept", "reject")


def test_the_renamed_status_of_generations_keeps_the_hash():
    items, gold, labels, records = GOLDEN
    today = [row | {"status": "has_gold"} for row in gold]
    hashes = {
        content_hash(contents_of(items, gold_rows, labels, records).entries.values()) for gold_rows in (gold, today)
    }  # fmt: skip
    assert len(hashes) == 1


ENTRIES = st.dictionaries(
    st.text(max_size=4),
    st.tuples(st.sampled_from(["accepted", "rejected"]), st.dictionaries(st.sampled_from("ABC"), st.text(max_size=3))),
    max_size=4,
)


@given(one=ENTRIES, other=ENTRIES)
def test_different_contents_have_different_hashes(one, other):
    def entries(found):
        return [Entry(item, status, None, dict(labels)) for item, (status, labels) in found.items()]

    assert (content_hash(entries(one)) == content_hash(entries(other))) == (one == other)
    assert re.fullmatch("[0-9a-f]{64}", content_hash(entries(one)))
