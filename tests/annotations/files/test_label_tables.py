"""The wide table of labels: what the adjudicator decided stands beside the gold label."""

import csv
import json

from annotations.adjudication import reopen, settle_case
from annotations.database.store import Store
from annotations.files.export_formats import export_options
from annotations.files.label_tables import wide_lines
from annotations.items.batch import items
from annotations.labels.operations import store_operations
from annotations.projects.projects import annotators
from annotations.types import Mark, Operation
from tests.support.generations import generations_project


def test_a_decision_brings_its_flag_and_its_marks(fresh_store: Store) -> None:
    project = generations_project(fresh_store, "g", ["She saw him and he left.", "They left."])
    first, _second = items(fresh_store, project)
    people = annotators(fresh_store, project)
    for number, (who, choice) in enumerate(zip(people, ("correct", "no_pronoun", "correct"), strict=False)):
        said = Operation(op_id=f"op-{number}", item=first.uid, choice=choice, desk=f"d{number}", revision=1)
        assert store_operations(fresh_store, project, who, [said])[0].stored
    marks = (Mark(8, 11, "pronoun"), Mark(16, 18, "pronoun"))

    def rows() -> list[dict[str, str]]:
        wish = export_options("labels-wide", locked=True)
        return list(csv.DictReader("".join(wide_lines(fresh_store, project, wish)).splitlines()))

    assert [row["adjudicated"] for row in rows()] == ["", ""]
    seen = [f"op-{number}" for number in range(len(people))]
    act = settle_case(
        fresh_store, project, first.uid, adjudicator="Lin", choice="misgendering", seen=seen, why="two wrong pronouns",
        extraneous=False, marks=marks,
    )  # fmt: skip
    decided, other = rows()
    assert (decided["adjudicated"], decided["gold"], decided["gold_extraneous"]) == ("1", "misgendering", "0")
    assert json.loads(decided["gold_spans"]) == [list(mark) for mark in marks]
    assert (other["adjudicated"], other["gold_extraneous"], other["gold_spans"]) == ("", "", "")
    reopen(fresh_store, project, first.uid, adjudicator="Lin", base=act.op_id)
    assert [row["adjudicated"] for row in rows()] == ["", ""]
