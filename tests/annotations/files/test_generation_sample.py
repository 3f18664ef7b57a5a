"""Samples of a file of generations, the pilot by rule and by people, and the command `sample`."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.generation_sample import (
    draw_sample,
    pilot_by_people,
    pilot_by_rule,
    read_generations,
    write_sample,
)
from evenhand.annotations.files.import_items import import_file
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, create_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Mark
from evenhand.core.errors import BadFile, Refused
from tests.support.projects import decide


def row(context: int, index: int, wrong: bool, pronoun: str = "she", model: str = "tiny") -> dict[str, Any]:
    text = f" Then {'he' if wrong else pronoun} slept through hour {index}."
    return {
        "context": f"Kim ({pronoun}) went to town {context}.", "completion": text, "name": "Kim", "pronouns": [pronoun],
        "dataset": "own", "setting": "pre", "template": f"t{context}", "model": model, "index": index,
    }  # fmt: skip


# The first case of test_sampling: three contexts with 3, 1 and 2 of 4 wrong: an intra-class correlation of -0.025641.
WRONG = {1: (True, True, True, False), 2: (False, False, False, True), 3: (True, True, False, False)}
ROWS = [row(context, index, wrong) for context, rows in WRONG.items() for index, wrong in enumerate(rows)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "made.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_the_rule_serves_as_a_pilot(file: Path) -> None:
    result = pilot_by_rule(read_generations(file))
    assert (result.contexts, result.labels, result.mean) == (3, 12, 0.5)
    assert result.value == pytest.approx(-0.0256410256)


def test_rows_with_unknown_pronouns_are_left_out_of_the_pilot() -> None:
    assert pilot_by_rule([{**ROWS[0], "pronouns": []}, {**ROWS[1], "pronouns": ["no such set"]}]).labels == 0


def test_labels_by_people_serve_as_a_pilot(fresh_store: Store, file: Path) -> None:
    """Equal labels by people give an equal correlation; two labels of one text count as their mean."""
    made = create_project(
        fresh_store, "judged", kind="generations", language="en", annotators=("Ada", "Bo"), per_item=2
    )
    import_file(fresh_store, made, file)
    wrong = {
        (row_["context"], row_["completion"])
        for row_, bad in zip(ROWS, [x for y in WRONG.values() for x in y], strict=True)
        if bad
    }
    for person in annotators(fresh_store, made):
        while claimed := claim(fresh_store, made, person):
            for item in claimed:
                start = item.text.find(" he ") + 1
                bad = (item.context, item.text) in wrong
                spans: dict[str, Any] = {"spans": (Mark(start, start + 2, "pronoun"),)} if bad else {}
                made_now = decide(item, "misgendering" if bad else "correct", **spans)
                [answer] = store_operations(fresh_store, made, person, [made_now])
                assert answer.stored, answer
    assert len(list(items(fresh_store, made))) == 12
    found_pilot = pilot_by_people(fresh_store, made)
    assert (found_pilot.contexts, found_pilot.labels) == (3, 12)
    assert found_pilot.value == pytest.approx(-0.0256410256)


def test_a_sample_is_drawn_per_cell() -> None:
    rows = [row(c, k, False, p, m) for m in ("a", "b") for p in ("she", "xe") for c in range(6) for k in range(3)]
    result = draw_sample(rows, 6, seed=1)
    assert result.facts() == {
        "rows": 24, "of": 72, "cells": 4, "fewest_in_a_cell": 6, "contexts": 6, "most_of_one_context": 1,
    }  # fmt: skip
    assert draw_sample(rows, 8).most_of_one == 2 and draw_sample(rows, 99).fewest == 18


def test_a_sample_is_written_completely_and_never_overwritten(tmp_path: Path) -> None:
    write_sample(draw_sample(ROWS, 2), tmp_path / "s.jsonl")
    assert len(read_generations(tmp_path / "s.jsonl")) == 2 and (tmp_path / "s.jsonl").stat().st_mode & 0o077 == 0
    with pytest.raises(Refused):
        write_sample(draw_sample(ROWS, 2), tmp_path / "s.jsonl")


def test_a_file_without_generations_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("one,two\n1,2\n")
    with pytest.raises(BadFile):
        read_generations(tmp_path / "x.csv")


def test_the_command_writes_a_sample(file: Path, tmp_path: Path) -> None:
    arguments = ["sample", str(file), "--per-cell", "3", "--out", str(tmp_path / "s.jsonl"), "--json"]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    data = json.loads(done.stdout)
    assert (data["rows"], data["contexts"], data["most_of_one_context"]) == (3, 3, 1)
    assert data["pilot"]["icc"] == pytest.approx(-0.0256410256) and data["pilot"]["from"] == "rule"
    assert [(design["contexts"], design["per_context"]) for design in data["designs"]] == [(3, 1), (1, 3)]
    # p = 0.5, no likeness: sqrt(0.25 / 3) either way
    assert [design["se"] for design in data["designs"]] == pytest.approx([0.2886751346] * 2)
    assert len((tmp_path / "s.jsonl").read_text().splitlines()) == 3


def test_the_command_explains_an_undefined_precision(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text("".join(json.dumps(row(n, 0, n > 2)) + "\n" for n in range(6)))
    done = CliRunner().invoke(cli, ["sample", str(tmp_path / "one.jsonl"), "--per-cell", "2", "--json"])
    data = json.loads(done.stdout)
    assert (
        data["pilot"]["icc"] is None
        and "No context has two labelled generations, so their correlation is unknown." in data["pilot"]["icc_reason"]
    )
    assert data["designs"][0]["se"] is None and data["designs"][0]["se_reason"]
    text = CliRunner().invoke(cli, ["sample", str(tmp_path / "one.jsonl"), "--per-cell", "2"]).stdout
    assert "No intra-class correlation: No context has two" in text
