"""Marks: valid ones, their positions, and the rules of a label; the desk's own script applies equal rules."""

import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import CHOICES
from evenhand.annotations.labels.checks import (
    MOST_MARKS,
    check_marked_words,
    check_marks,
    check_marks_fit_choice,
    parse_marks,
)
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import annotators, change_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Mark
from evenhand.core.errors import Refused
from tests.support.desk_js import run
from tests.support.generations import generations_project
from tests.support.projects import decide, filled_project

HE, MAN = Mark(3, 5, "pronoun"), Mark(8, 11, "extraneous")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([], ()),
        ([[3, 5, "pronoun"]], (HE,)),
        ([[8, 11, "extraneous"], [3, 5, "pronoun"]], (HE, MAN)),
    ],
)
def test_marks_are_read_in_the_order_of_the_text(raw: Any, expected: tuple[Mark, ...]) -> None:
    assert parse_marks(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        None, "[]", {}, [[3, 5]], [[3, 5, "pronoun", 1]], [[3, 5, ""]], [[3, 5, "x" * 41]], [["3", 5, "pronoun"]],
        [[3.0, 5, "pronoun"]],
        [[True, 5, "pronoun"]], [[3, False, "pronoun"]], [None], [[3, 5, None]], [[0, 1, "pronoun"]] * (MOST_MARKS + 1),
    ],
)  # fmt: skip
def test_malformed_marks_are_refused(raw: Any) -> None:
    with pytest.raises(Refused):
        parse_marks(raw)


@pytest.mark.parametrize(
    ("marks", "fits"),
    [
        ((), True),
        ((Mark(0, 12, "pronoun"),), True),
        ((Mark(0, 3, "pronoun"), Mark(3, 5, "pronoun"), Mark(5, 6, "extraneous")), True),
        ((Mark(0, 13, "pronoun"),), False),
        ((Mark(-1, 2, "pronoun"),), False),
        ((Mark(4, 4, "pronoun"),), False),
        ((Mark(5, 4, "pronoun"),), False),
        ((Mark(0, 4, "pronoun"), Mark(3, 6, "extraneous")), False),
        ((Mark(3, 6, "pronoun"), Mark(0, 12, "pronoun")), False),
        ((HE, HE), False),
        ((Mark(0, 4, "who"),), False),
    ],
)
def test_marks_outside_the_text_or_overlapping_are_refused(marks: tuple[Mark, ...], fits: bool) -> None:
    if fits:
        check_marks(marks, 12)
    else:
        with pytest.raises(Refused):
            check_marks(marks, 12)


@given(st.sets(st.integers(0, 40), max_size=12), st.randoms())
def test_marks_survive_json(cuts: set[int], chance: random.Random) -> None:
    edges = sorted(cuts)
    places = [(edges[n], edges[n + 1]) for n in range(0, len(edges) - 1, 2)]
    marks = [Mark(start, end, chance.choice(("pronoun", "extraneous"))) for start, end in places]
    shuffled = chance.sample(marks, len(marks))
    read = parse_marks(json.loads(json.dumps(shuffled)))
    assert list(read) == marks
    check_marks(read, 41)


# Which label with which flag and marks is whole; the reason in a word of the message otherwise.
RULES: list[tuple[str, bool | None, tuple[Mark, ...], str]] = [
    ("correct", False, (), ""),
    ("correct", None, (), ""),
    ("correct", False, (HE,), ""),  # a wrong case may be marked: it is still correct
    ("correct", True, (MAN,), ""),
    ("correct", True, (), "Extraneous gendered language is flagged, but no words are marked."),
    ("correct", False, (MAN,), "not flagged"),
    ("correct", None, (MAN,), "not flagged"),
    ("misgendering", False, (HE,), ""),
    ("misgendering", True, (HE, MAN), ""),
    ("misgendering", False, (), "For misgendering, the wrong pronoun must be marked."),
    ("misgendering", True, (MAN,), "For misgendering, the wrong pronoun must be marked."),
    ("no_pronoun", False, (), ""),
    ("no_pronoun", True, (MAN,), ""),
    ("no_pronoun", False, (HE,), "a pronoun is marked"),
    ("plural_they", False, (), ""),
    ("plural_they", False, (HE,), ""),
    ("plural_they", True, (HE,), "Extraneous gendered language is flagged, but no words are marked."),
]


@pytest.mark.parametrize(("choice", "flag", "marks", "why"), RULES)
def test_labels_that_break_a_rule_are_refused(
    choice: str, flag: bool | None, marks: tuple[Mark, ...], why: str
) -> None:
    if not why:
        check_marks_fit_choice(choice, flag, marks)
    else:
        with pytest.raises(Refused, match=why):
            check_marks_fit_choice(choice, flag, marks)


def test_desk_and_server_apply_equal_rules() -> None:
    kinds: list[tuple[Mark, ...]] = [(), (HE,), (MAN,), (HE, MAN)]
    # The desk takes the flag along with the marks, so it cannot come to marked words without it.
    cases = [
        (choice, flag, marks)
        for choice, flag, marks in itertools.product(CHOICES["generations"], (False, True), kinds)
        if flag or MAN not in marks
    ]
    results = [{"choice": choice, "draft": {"flag": flag, "marks": marks}} for choice, flag, marks in cases]
    scene = f"tell({json.dumps(results)}.map((one) => brokenRule(one.choice, one.draft)));"
    assert len(cases) == 24
    for case, refusal in zip(cases, run(scene, "marks"), strict=True):
        try:
            check_marks_fit_choice(*case)
        except Refused:
            assert refusal is not None, case
        else:
            assert refusal is None, case


NASTY = [
    "",
    " he said she's him/her.",
    "\n\nThemselves were tired, said xe's mother-in-law… 他笑了。",
    "e\u0301te\u0301 👩‍👩‍👧 𠀀𠮷 ’twas hers",
    "\u202eשלום he\u202c <b>man</b> &amp; 3.5 km",
    "a\tb\u00a0c\u200bd_e1",
]


def test_pieces_join_to_the_text_and_are_counted_in_code_points() -> None:
    scene = f"tell({json.dumps(NASTY)}.map((text) => new Words(text, 'en').pieces));"
    for text, pieces in zip(NASTY, run(scene, "marks"), strict=True):
        assert "".join(piece["text"] for piece in pieces) == text
        assert all(text[piece["start"] : piece["end"]] == piece["text"] for piece in pieces)


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        (" he said she's him/her.", ["he", "said", "she", "s", "him", "her"]),
        ("xe’s well-known (Xem).", ["xe", "s", "well", "known", "Xem"]),
        ("𠀀 👩‍👩‍👧 – e\u0301te\u0301!", ["𠀀", "👩‍👩‍👧", "e\u0301te\u0301"]),
    ],
)
def test_the_cursor_stops_at_words(text: str, stops: list[str]) -> None:
    scene = f"const w = new Words({json.dumps(text)}, 'en'); tell(w.stops.map((one) => w.pieces[one].text));"
    assert run(scene, "marks") == stops


@pytest.mark.parametrize("text", ['"', "“", "。", " ", "\u3000", "—", "...", "\u200d", "‼", "`"])
def test_punctuation_and_space_cannot_be_marked(text: str) -> None:
    with pytest.raises(Refused, match="has no word in it"):
        check_marked_words([Mark(0, len(text), "pronoun")], f"{text} he")
    pieces = f"const w = new Words({json.dumps(text)}, 'en'); tell(w.pieces.map((_, place) => w.canMark(place)));"
    assert not any(run(pieces, "marks"))


@given(st.text(max_size=12))
def test_the_server_accepts_every_mark_of_the_desk(text: str) -> None:
    sample = f"{text} he 👩‍👧 ♀ ↔ e\u0301 她"
    scene = (
        f"const w = new Words({json.dumps(sample)}, 'en');"
        " tell(w.pieces.filter((_, place) => w.canMark(place)).map(({ start, end }) => [start, end]));"
    )
    spans = run(scene, "marks")
    assert len(spans) >= 6
    check_marked_words([Mark(start, end, "pronoun") for start, end in spans], sample)


@pytest.mark.parametrize("language", ["en", "zh", "", "no language at all", "x-"])
def test_a_language_unknown_to_browsers_still_has_words(language: str) -> None:
    scene = f"tell(new Words(' he ran', {json.dumps(language)}).stops.length);"
    assert run(scene, "marks") == 2


def test_a_letter_jumps_to_the_next_word_and_wraps() -> None:
    text = " He hid behind her Éva hut"
    scene = f"const w = new Words({json.dumps(text)}, 'en'); let at = w.first; const seen = [];"
    scene += "for (const letter of 'hhhhez') { at = w.jump(at, letter); seen.push(w.pieces[at]?.text); }"
    assert run(scene + "tell(seen);", "marks") == ["hid", "her", "hut", "He", "Éva", None]


def test_toggled_marks_never_overlap() -> None:
    chance = random.Random(7)
    games = [
        [(sorted(chance.sample(range(30), 2)), chance.choice(("pronoun", "extraneous", None))) for _ in range(25)]
        for _ in range(200)
    ]
    scene = f"""tell({json.dumps(games)}.map((game) => game.reduce((marks, [range, kind]) =>
        kind ? toggled(marks, range, kind) : without(marks, range), [])));"""
    kept = run(scene, "marks")
    for marks in kept:
        read = parse_marks(marks)
        assert [list(mark) for mark in read] == marks, "in the order of the text"
        check_marks(read, 30)
    assert any(kept)


@pytest.mark.parametrize(
    ("marks", "place", "kind", "expected"),
    [
        ([], [3, 5], "pronoun", [[3, 5, "pronoun"]]),
        ([[3, 5, "pronoun"]], [3, 5], "pronoun", []),
        ([[3, 5, "pronoun"]], [3, 5], "extraneous", [[3, 5, "extraneous"]]),
        ([[0, 9, "pronoun"]], [3, 5], "pronoun", []),
        ([[0, 9, "pronoun"]], [3, 5], "extraneous", [[0, 9, "extraneous"]]),
        ([[0, 2, "pronoun"], [3, 5, "extraneous"]], [0, 9], "pronoun", [[0, 9, "pronoun"]]),
    ],
)
def test_toggling_a_mark_removes_or_replaces_it(marks: Any, place: Any, kind: str, expected: Any) -> None:
    scene = f"tell(toggled({json.dumps(marks)}, {json.dumps(place)}, {json.dumps(kind)}));"
    assert run(scene, "marks") == expected


# ---- stored ---------------------------------------------------------------------------------------------------------


def test_valid_marks_are_stored_and_invalid_ones_refused(fresh_store: Store) -> None:
    project = generations_project(fresh_store, "g", 6)
    ada = annotators(fresh_store, project)[0]
    items = claim(fresh_store, project, ada)
    whole = decide(items[0], "misgendering", extraneous=True, spans=(MAN, HE), reasons=("degenerate", "age"))
    outside = decide(items[1], "misgendering", spans=(Mark(0, len(items[1].text) + 1, "pronoun"),), extraneous=False)
    unmarked = decide(items[2], "misgendering", extraneous=False)
    flagged = decide(items[3], "correct", extraneous=True)
    plain = decide(items[4], "correct", extraneous=False)
    answers = store_operations(fresh_store, project, ada, [whole, outside, unmarked, flagged, plain])
    assert [answer.stored for answer in answers] == [True, False, False, False, True]
    assert "not in the text" in answers[1].reason and "wrong pronoun" in answers[2].reason
    rows = {row["item"]: row for row in label_rows(fresh_store, project)}
    first, second = rows[items[0].uid], rows[items[4].uid]
    assert (first["spans"], first["extraneous"]) == ([[3, 5, "pronoun"], [8, 11, "extraneous"]], True)
    assert (first["reasons"], second["spans"], second["extraneous"]) == (["degenerate", "age"], [], False)
    taken_back = decide(items[0], None, base=whole.op_id)
    assert store_operations(fresh_store, project, ada, [taken_back])[0].stored, "no rule holds for what is taken back"


def test_checks_of_rules_but_not_of_positions_can_be_turned_off(fresh_store: Store) -> None:
    project = generations_project(fresh_store, "g", 3)
    ada = annotators(fresh_store, project)[0]
    items = claim(fresh_store, project, ada)
    operation = decide(items[0], "misgendering", extraneous=True)
    assert not store_operations(fresh_store, project, ada, [operation])[0].stored
    change_project(fresh_store, project, checked=False)
    assert store_operations(fresh_store, project, ada, [operation])[0].stored, (
        "also for somebody who read the project before"
    )
    overlapping = (Mark(0, 5, "pronoun"), HE)
    assert not store_operations(fresh_store, project, ada, [decide(items[1], "correct", spans=overlapping)])[0].stored


def test_marks_are_refused_for_sentences(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 3)
    items = claim(fresh_store, project, people[0])
    marked, flagged = decide(items[0], spans=(Mark(0, 1, "pronoun"),)), decide(items[1], extraneous=False)
    answers = store_operations(fresh_store, project, people[0], [marked, flagged, decide(items[2])])
    assert [answer.stored for answer in answers] == [False, False, True]
