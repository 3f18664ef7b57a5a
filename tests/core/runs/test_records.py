"""Records of runs: the list, names, what comes of a model that could not be used, and records of earlier versions."""

import json
from contextvars import copy_context
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import EvenhandError, ModelUnavailable, Refused
from evenhand.core.runs.records import (
    Failure,
    free_name,
    ordered_by,
    run_file,
    runs_folder,
    runs_in,
    sentences_scored,
    write_record,
)
from evenhand.core.typed_json import to_json


def record(name, created, scored=(3, 2)):
    return {
        "source": {"name": "a.csv", "sha256": "x"}, "sentences": 3, "seconds": 1.5, "created": created,
        "models": [{"model": f"{name}{i}", "signature": f"s{i}", "scored": n} for i, n in enumerate(scored)],
    }  # fmt: skip


def test_runs_are_listed_the_newest_first(tmp_path):
    folder = runs_folder(tmp_path / "labels.db", "scores")
    assert folder == tmp_path / "labels-scores"
    assert runs_in(folder) == []
    for name, created in (("old", "2026-01-01"), ("new", "2026-02-01"), ("no table", "2026-03-01")):
        write_record(run_file(folder, name), record(name, created))
        if name != "no table":
            (folder / f"{name}.csv").write_text("row\n")
    (folder / "broken.json").write_text("{")
    (folder / "broken.csv").touch()
    (folder / "list.json").write_text("[]")
    (folder / "list.csv").touch()
    runs = runs_in(folder)
    assert [run.name for run in runs] == ["new", "old"]
    assert (runs[0].models, runs[0].signatures) == (("new0", "new1"), ("s0", "s1"))
    assert (runs[0].sentences, runs[0].scored, runs[0].seconds) == (3, 3, 1.5)
    runs[0].delete()
    assert [run.name for run in runs_in(folder)] == ["old"]


def test_a_data_set_scored_repeatedly_counts_once(tmp_path):
    assert sentences_scored([]) is None
    for name, data, scored in (("a", "x", (5, 9)), ("b", "x", (7,)), ("c", "y", (3,)), ("d", "", (2,))):
        facts = record(name, name, scored)
        facts["source"]["sha256"] = data
        write_record(run_file(tmp_path, name), facts)
        (tmp_path / f"{name}.csv").touch()
    assert sentences_scored(runs_in(tmp_path)) == 9 + 3 + 2


def test_a_malformed_record_does_not_break_the_list(tmp_path):
    for i, facts in enumerate(
        [{}, {"models": None, "seconds": "long", "source": 3}, {"models": ["x"], "sentences": None}]
    ):
        (tmp_path / f"{i}.json").write_text(json.dumps(facts))
        (tmp_path / f"{i}.csv").touch()
    for run in runs_in(tmp_path):
        assert (run.models, run.scored, run.sentences, run.seconds, run.source) == ((), 0, 0, None, {})


@pytest.mark.parametrize("name", ["", "  ", "a/b", "..", ".hidden", "a\\b", 'a"b', "a\nb", "长" * 60, "a\0b"])
def test_an_invalid_run_name_is_refused(tmp_path, name):
    with pytest.raises(Refused, match=r'is not a valid run name\. Use at most 120 bytes, no slash, none of < > : "'):
        run_file(tmp_path, name)


def test_a_taken_run_name_is_refused(tmp_path):
    (tmp_path / "示例.csv").touch()
    with pytest.raises(EvenhandError, match=r"A run named 示例 already exists\. Choose another name\."):
        run_file(tmp_path, " 示例 ")


def test_a_failure_keeps_its_values_in_a_record(tmp_path):
    failure = Failure.of("none", ModelUnavailable("{name} is not a model.", name="none"))
    write_record(run_file(tmp_path, "one"), {"failed": [to_json(failure)]})
    (tmp_path / "one.csv").touch()
    (run,) = runs_in(tmp_path)
    assert run.failures == [failure]
    assert (failure.text, failure.values) == ("none is not a model.", {"name": "none"})


def test_a_failure_of_an_older_record_is_shown_in_english(tmp_path):
    old = {"model": "none", "error": "{name} is not a model.", "text": "none is not a model."}
    write_record(run_file(tmp_path, "old"), {"failed": [old, "x"], "notices": [{"message": "A {b}."}, 3]})
    (tmp_path / "old.csv").touch()
    (run,) = runs_in(tmp_path)
    assert [failure.text for failure in run.failures] == ["none is not a model."]
    assert [notice.text for notice in run.notices] == ["A {b}."]


def test_a_run_of_generation_has_one_model(tmp_path):
    facts = {"model": "m", "signature": "s", "generations": 4, "contexts": "many"}
    write_record(run_file(tmp_path, "v1.5", ".jsonl"), facts)
    (tmp_path / "v1.5.jsonl").touch()
    (run,) = runs_in(tmp_path)
    assert (run.name, run.table.name, run.models, run.signatures) == ("v1.5", "v1.5.jsonl", ("m",), ("s",))
    assert (run.count("generations"), run.count("contexts")) == (4, 0)


def test_deleting_a_run_deletes_exactly_its_files(tmp_path):
    for name in ("one.csv", "one.jsonl", "one.json", "one.two.csv", "one.two.json"):
        (tmp_path / name).write_text("{}")
    next(run for run in runs_in(tmp_path) if run.name == "one").delete()
    assert {file.name for file in tmp_path.iterdir()} == {"one.two.csv", "one.two.json"}


@given(st.text(max_size=200))
def test_a_proposed_name_is_valid(label):
    day = datetime(2026, 1, 2, tzinfo=UTC)
    first = free_name(label, (), day)
    second = free_name(label, {first}, day)
    assert first.endswith("2026-01-02") and second == f"{first} (2)"
    for name in (first, second):
        assert run_file(runs_folder("/none/labels.db", "scores"), name).stem == name


def test_a_record_contains_the_owner_of_the_run(tmp_path):
    def written(name, owner):
        ordered_by.set(owner)
        write_record(run_file(tmp_path, name), {"created": name, "owner": "nobody"})
        (tmp_path / f"{name}.csv").touch()

    for name, owner in (("b", {"project": "p", "account": "a"}), ("a", {})):
        copy_context().run(written, name, owner)
    assert [run.owner for run in runs_in(tmp_path)] == [("p", "a"), (None, None)]
