"""The wide table of labels and the items as JSON lines: the adjudicator's decision is next to the gold label."""

import csv
import json
from pathlib import Path

from evenhand.annotations.adjudication.decisions import decide_case, reopen
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.export_formats import export_options
from evenhand.annotations.files.import_items import import_file, tables_in
from evenhand.annotations.files.label_tables import item_lines_with_gold, wide_lines
from evenhand.annotations.files.package.write_package import import_package
from evenhand.annotations.items.batch import Batch, items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, change_project, create_project
from evenhand.annotations.types import Mark, Operation
from tests.support.generations import generation, generations_project

PASSWORD = "a long password"


def test_a_decision_is_exported_with_flag_and_marks(fresh_store: Store, tmp_path: Path) -> None:
    project = generations_project(fresh_store, "g", ["She saw him and he left.", "They left."])
    first, _second = items(fresh_store, project)
    people = annotators(fresh_store, project)
    for number, (who, choice) in enumerate(zip(people, ("correct", "no_pronoun", "correct"), strict=False)):
        operation = Operation(op_id=f"op-{number}", item=first.uid, choice=choice, desk=f"d{number}", revision=1)
        assert store_operations(fresh_store, project, who, [operation])[0].stored
    marks = (Mark(8, 11, "pronoun"), Mark(16, 18, "pronoun"))

    def rows() -> list[dict[str, str]]:
        wish = export_options("labels-wide", locked=True)
        return list(csv.DictReader("".join(wide_lines(fresh_store, project, wish)).splitlines()))

    assert [row["adjudicated"] for row in rows()] == ["", ""]
    assert [row["status"] for row in rows()] == ["awaiting_adjudication", "awaiting_labels"]
    seen = [f"op-{number}" for number in range(len(people))]
    act = decide_case(
        fresh_store, project, first.uid, adjudicator="Lin", choice="misgendering", seen=seen, why="two wrong pronouns",
        extraneous=False, marks=marks,
    )  # fmt: skip
    decided, other = rows()
    assert (decided["adjudicated"], decided["gold"], decided["gold_extraneous"]) == ("1", "misgendering", "0")
    assert json.loads(decided["gold_spans"]) == [list(mark) for mark in marks]
    assert (decided["status"], other["status"]) == ("has_gold", "awaiting_labels")
    lines = [json.loads(line) for line in item_lines_with_gold(fresh_store, project, export_options("jsonl"))][1:]
    keys = ("status", "gold", "adjudicated", "gold_extraneous", "gold_spans")
    assert [[line[key] for key in keys] for line in lines] == [
        ["has_gold", "misgendering", True, False, [list(mark) for mark in marks]],
        ["awaiting_labels", None, False, None, None],
    ]
    assert (other["adjudicated"], other["gold_extraneous"], other["gold_spans"]) == ("", "", "")
    export_file(fresh_store, project, tmp_path / "all.zip", format="package", password=PASSWORD, names=True)
    with Store.open(tmp_path / "back.db") as other, tables_in(tmp_path / "all.zip", password=PASSWORD) as members:
        back = import_package(other, "g", members, "all.zip").project
        wish = export_options("jsonl")
        assert [json.loads(line) for line in item_lines_with_gold(other, back, wish)][1:] == lines
    reopen(fresh_store, project, first.uid, adjudicator="Lin", base=act.op_id)
    assert [row["adjudicated"] for row in rows()] == ["", ""]


def test_an_extra_column_named_gold_survives_a_round_trip(fresh_store: Store, tmp_path: Path) -> None:
    """An imported column `gold` is not the gold label: it travels in `extra`; exports of earlier versions keep it."""
    project = change_project(fresh_store, create_project(fresh_store, "g", kind="generations"), open_text=True)
    with Batch.begin(fresh_store, project, "made.jsonl") as batch:
        batch.add([generation(1, gold="right", note="n")])
        batch.publish()
    (item,) = items(fresh_store, project)
    export_file(fresh_store, project, tmp_path / "new.jsonl", format="jsonl")
    line = json.loads((tmp_path / "new.jsonl").read_text("utf-8").splitlines()[-1])
    assert (line["gold"], line["extra"], line["note"]) == (None, {"gold": "right"}, "n")
    earlier = {key: value for key, value in line.items() if key not in ("adjudicated", "gold_extraneous", "gold_spans")}
    earlier = {**earlier, "gold": earlier.pop("extra")["gold"], "status": "pending"}
    (tmp_path / "old.jsonl").write_text(json.dumps(earlier) + "\n", encoding="utf-8")
    for name in ("new", "old"):
        with Store.open(tmp_path / f"{name}.db") as other:
            again = create_project(other, "g", kind="generations")
            assert import_file(other, again, tmp_path / f"{name}.jsonl").imported == 1
            (back,) = items(other, again)
            assert (back.uid, back.extra) == (item.uid, item.extra), name
