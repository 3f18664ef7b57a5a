"""Comparisons: which scheme they have, what a project of them takes, the order that is drawn, what is mirrored."""

from collections import Counter

import pytest

from evenhand.annotations.guideline.scheme import (
    START,
    OwnScheme,
    as_data,
    check_scheme,
    from_data,
    more_in,
    more_out,
    scheme_text,
)
from evenhand.annotations.guideline.versions import (
    PREFERENCE,
    add_guideline,
    compares,
    guideline,
    mirrored,
    place_on_left,
)
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import create_project
from evenhand.annotations.types import Choice, Scheme
from evenhand.core.errors import Refused
from evenhand.core.guidelines import in_language, preference
from tests.support.comparisons import MODELS, compared_project, imported, rows_of

FIRST, SECOND, TIE = PREFERENCE.choices


def test_the_built_in_scheme_survives_file_and_database(fresh_store):
    data = as_data(PREFERENCE)
    assert data["comparison"] is True
    assert [choice["code"] for choice in data["choices"]] == ["first", "second", "tie"]
    assert from_data(data, "p.json") == PREFERENCE
    assert more_in(more_out(PREFERENCE.more)) == PREFERENCE.more
    assert "compares" not in more_out(Scheme())  # stored schemes keep the words that they were hashed with


@pytest.mark.parametrize(
    ("choices", "more", "says"),
    [
        ((FIRST, TIE), Scheme(compares=True), "first, second and, if wanted, tie"),
        ((FIRST, SECOND, Choice("both", "3", "", "Both")), Scheme(compares=True), "first, second and, if wanted, tie"),
        ((FIRST, SECOND), Scheme(spans=(Choice("odd", "", "", "Odd"),), compares=True), "cannot have spans"),
    ],
)
def test_an_invalid_scheme_of_comparisons_is_refused(choices, more, says):
    with pytest.raises(Refused, match=says):
        check_scheme(choices, (), more)


def test_a_scheme_may_omit_the_tie_and_add_flags():
    scheme = OwnScheme((FIRST, SECOND), (Choice("unsafe", "F", "", "Unsafe"),), Scheme(compares=True))
    check_scheme(scheme.choices, scheme.flags, scheme.more)
    assert from_data(as_data(scheme), "test") == scheme


def test_the_guideline_is_shown_in_the_language_of_the_reader():
    assert in_language(scheme_text(PREFERENCE, "en"), "zh") == preference("zh")
    assert in_language(scheme_text(PREFERENCE, "zh"), "en") == preference("en")
    assert "### Choices" in scheme_text(START, "en")


def test_an_item_has_both_texts_and_both_models(fresh_store, tmp_path):
    project, _ = compared_project(fresh_store, tmp_path, 1)
    (item,) = items(fresh_store, project)
    assert compares(fresh_store, project)
    assert (item.context, item.text, item.second) == ("Question 1?", "Answer 1 one.", "Answer 1 two.")
    assert (item.extra["model"], item.extra["second_model"]) == (MODELS[1], MODELS[0])
    assert item.pair == "loud-70b vs. quiet-7b"  # the same stratum in either order


def test_two_texts_in_the_opposite_order_are_a_duplicate(fresh_store, tmp_path):
    project, _ = compared_project(fresh_store, tmp_path, 2)
    there = rows_of(2)
    turned = [
        row | {"completion": row["second"], "second": row["completion"], "model": row["second_model"],
               "second_model": row["model"]}
        for row in there
    ]  # fmt: skip
    report = imported(fresh_store, project, tmp_path, [*there[:1], *turned])
    assert (report.imported, report.duplicates, report.turned) == (0, 3, 2)
    # The models belong to the texts: with their names exchanged it is another comparison.
    other = there[0] | {"model": there[0]["second_model"], "second_model": there[0]["model"]}
    assert imported(fresh_store, project, tmp_path, [other]).imported == 1


def test_incomparable_rows_are_rejected_and_others_imported(fresh_store, tmp_path):
    project, _ = compared_project(fresh_store, tmp_path, 0)
    good, lone, same = rows_of(3)
    lone["second"], same["second"] = "  ", same["completion"]
    report = imported(fresh_store, project, tmp_path, [lone, good, same])
    assert (report.imported, report.rejected) == (1, 2)
    assert [(error.file, error.line, error.reason) for error in report.errors] == [
        ("pairs.jsonl", 1, "no_text"), ("pairs.jsonl", 3, "same_texts"),
    ]  # fmt: skip
    assert "no second text" in report.errors[0].message


def test_rows_without_a_second_text_are_reported(fresh_store, tmp_path):
    project, _ = compared_project(fresh_store, tmp_path, 0)
    report = imported(fresh_store, project, tmp_path, [{"context": "Q", "completion": "A"}])
    assert (report.imported, [error.reason for error in report.errors]) == (0, ["no_text"])


def test_a_project_of_single_texts_refuses_a_second_text(fresh_store, tmp_path):
    project = create_project(fresh_store, "single", kind="generations", language="en")
    with pytest.raises(Refused, match="second text in the column second, but single holds single texts"):
        imported(fresh_store, project, tmp_path, rows_of(1))


@pytest.mark.parametrize(
    ("first", "second"),
    [("response_a", "response_b"), ("Completion 1", "Completion 2"), ("output", "second"), ("回答一", "回答二")],
)
def test_columns_of_two_texts_are_recognised_by_name(fresh_store, tmp_path, first, second):
    project, _ = compared_project(fresh_store, tmp_path, 0)
    row = {"prompt": "Q", first: "A", second: "B", "model_a": "m", "model_b": "n"}
    imported(fresh_store, project, tmp_path, [row])
    (item,) = items(fresh_store, project)
    assert (item.text, item.second, item.extra["model"], item.extra["second_model"]) == ("A", "B", "m", "n")


def test_a_project_with_items_keeps_its_kind(fresh_store, tmp_path):
    pairs, _ = compared_project(fresh_store, tmp_path, 1)
    own = START.choices, START.flags
    with pytest.raises(Refused, match="pairs holds comparisons"):
        add_guideline(fresh_store, pairs, "x", *own, scheme=START.more)
    single = create_project(fresh_store, "single", kind="generations", language="en")
    add_guideline(fresh_store, single, "x", PREFERENCE.choices, (), scheme=PREFERENCE.more)  # nothing in it yet
    assert guideline(fresh_store, single).version == 2
    add_guideline(fresh_store, single, "x", *own, scheme=START.more)
    imported(fresh_store, single, tmp_path, [{"context": "Q", "completion": "A"}])
    with pytest.raises(Refused, match="single holds single texts"):
        add_guideline(fresh_store, single, "x", PREFERENCE.choices, (), scheme=PREFERENCE.more)


def test_the_order_is_drawn_once_per_item_and_annotator():
    drawn = [place_on_left(7, f"item{n}", who) for n in range(1000) for who in ("ada", "bo")]
    assert drawn == [place_on_left(7, f"item{n}", who) for n in range(1000) for who in ("ada", "bo")]
    number = Counter(drawn)
    assert abs(number["first"] - 1000) < 4 * 500**0.5  # four standard deviations of 2,000 fair coins
    both = Counter(zip(drawn[::2], drawn[1::2], strict=True))  # one annotator's order does not reveal another's
    assert all(abs(count - 250) < 4 * (1000 * 0.25 * 0.75) ** 0.5 for count in both.values())
    assert place_on_left(8, "item1", "ada") in ("first", "second")


@pytest.mark.parametrize(
    ("said", "left", "stored"),
    [
        ("first", "first", "first"), ("second", "first", "second"), ("first", "second", "second"),
        ("second", "second", "first"), ("tie", "second", "tie"), ("skip", "second", "skip"), (None, "second", None),
        ("first", None, "first"),
    ],
)  # fmt: skip
def test_left_and_right_become_first_and_second_and_back(said, left, stored):
    assert mirrored(said, left) == stored
    assert mirrored(stored, left) == said
