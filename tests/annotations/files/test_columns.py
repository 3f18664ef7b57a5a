"""The columns of a file: the guess, the user's choice, errors, and the memory next to the database."""

import json

import pytest

from evenhand.annotations.files.detect import (
    Columns,
    bare_name,
    checked_columns,
    guess_columns,
    is_complete,
    memory_path,
    recall_columns,
    remember_columns,
    setting_of,
)
from evenhand.core.errors import BadFile
from evenhand.core.files.readers import Source


def source(*columns, tmp="g.csv"):
    from pathlib import Path

    return Source(Path(tmp), tmp, "csv", "utf-8", columns)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (("context", "completion"), {"context": "context", "completion": "completion"}),
        (
            ("Prompt", "Response", "Pronoun set", "Engine"),
            {"context": "Prompt", "completion": "Response", "pronouns": "Pronoun set"},
        ),
        (
            ("上文", "续文", "代词", "模型"),
            {"context": "上文", "completion": "续文", "pronouns": "代词", "model": "模型"},
        ),
        (
            ("template", "random_pre_gen", "correct", "pronoun", "model"),
            {"generation": "random_pre_gen", "pronouns": "pronoun", "model": "model", "template": "template"},
        ),
        (("prompt", "generation"), {"context": "prompt", "generation": "generation"}),
        (("a", "b"), {}),
    ],
    ids=lambda value: "-".join(value),
)
def test_columns_are_guessed_by_name(columns, named):
    assert guess_columns(columns).named == named
    assert is_complete(guess_columns(columns)) is (len(named) > 0)


def test_named_columns_override_the_guess():
    columns = checked_columns(
        source("context", "completion", "who", "other"), Columns({"name": "other", "context": "who"})
    )
    assert columns.named == {"context": "who", "completion": "completion", "name": "other"}
    none = checked_columns(source("context", "completion", "model"), Columns({"model": ""}, {"model": "m"}))
    assert (none.named, none.fixed) == ({"context": "context", "completion": "completion"}, {"model": "m"})


@pytest.mark.parametrize(
    ("columns", "wished", "says"),
    [
        (("a", "b"), Columns(), "lacks the columns context and completion"),
        (("a", "b"), Columns({"context": "a"}), "lacks the columns context and completion"),
        (("context", "completion"), Columns({"model": "engine"}), "has no column engine for model"),
        (
            ("context", "completion"),
            Columns({"model": "context", "context": "context"}),
            "cannot serve two purposes; choose another for one of them.",
        ),
        (("context", "completion"), Columns({"tone": "context"}), "has no field tone"),
    ],
    ids=["nothing", "half", "absent", "twice", "unknown"],
)
def test_ambiguous_columns_are_refused_with_a_reason(columns, wished, says):
    with pytest.raises(BadFile, match=says):
        checked_columns(source(*columns), wished)


def test_a_choice_is_remembered_for_the_same_columns(tmp_path):
    database = tmp_path / "labels.db"
    assert recall_columns(database, ("a", "b")) is None
    chosen = Columns({"context": "a", "completion": "b", "name": ""}, {"model": "m"})
    remember_columns(database, ("a", "b"), chosen)
    assert recall_columns(database, ("b", "a")) == chosen
    assert recall_columns(database, ("a", "b", "c")) is None
    assert memory_path(database) == tmp_path / "labels-columns.json"
    remember_columns(database, ("a", "b"), Columns({"context": "b", "completion": "a"}))
    assert recall_columns(database, ("a", "b")).named == {"context": "b", "completion": "a"}


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{broken", json.dumps({'["a", "b"]': {"named": {"context": "gone"}, "fixed": {}}}), '{"x": 1}'],
)
def test_an_invalid_stored_choice_is_ignored(tmp_path, content):
    database = tmp_path / "labels.db"
    memory_path(database).write_text(content, "utf-8")
    assert recall_columns(database, ("a", "b")) is None


@pytest.mark.parametrize(
    ("text", "setting"),
    [("pre", "pre"), ("pre-[MASK]", "pre"), ("post_mask", "post"), (" Post ", "post"), ("zero shot", "zero shot")],
)
def test_setting_names_are_normalised(text, setting):
    assert setting_of(text) == setting


def test_column_names_are_compared_without_punctuation():
    assert bare_name("Pronoun set(s)") == bare_name("pronoun_sets") == "pronounsets"
