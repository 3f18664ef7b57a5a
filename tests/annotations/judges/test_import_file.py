"""Labels of a judge from a file."""

import json
import time
from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.job_kinds import import_judge
from evenhand.annotations.judges.judges import judge
from evenhand.annotations.types import Project
from evenhand.core.errors import BadFile
from tests.support.judged_generations import all_written, judged_project


@pytest.fixture
def project(fresh_store: Store) -> Project:
    return judged_project(fresh_store, all_written(1))


def test_labels_are_read_from_csv_and_json_lines(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    results = list(items(fresh_store, project))
    table, lines = tmp_path / "a.csv", tmp_path / "b.jsonl"
    table.write_text("item,label,extraneous\n" + "".join(f"{item.uid},correct,1\n" for item in results[:3]))
    mark = {"item": results[3].uid, "label": "misgendering", "extraneous": False, "spans": [[0, 4, "pronoun"]],
            "shares": {"misgendering": 0.9, "correct": 0.1}}  # fmt: skip
    lines.write_text("\n".join(json.dumps(row) for row in (mark, {**mark, "label": "correct"})))
    judge_, report = import_judge(fresh_store, project, table, "mine", author="Lea")
    assert (judge_.name, report.rows, report.imported, report.rejected) == ("mine", 3, 3, 0)
    _, more = import_judge(fresh_store, project, lines, "mine")
    assert (more.imported, more.duplicates) == (1, 1) and judge(fresh_store, project, "mine").labels == 4
    last = fresh_store.db.execute(
        "SELECT choice, extraneous, spans, shares FROM judge_label ORDER BY id DESC"
    ).fetchone()
    assert last == ("misgendering", 0, '[[0, 4, "pronoun"]]', '{"misgendering": 0.9, "correct": 0.1}')


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"item": "nobody", "label": "correct"}, "no_item"),
        ({"label": "correct"}, "no_item"),
        ({"item": "UID", "label": "right"}, "label"),
        ({"item": "UID", "label": None}, "label"),
        ({"item": "UID", "label": "correct", "extraneous": "maybe"}, "extraneous"),
        ({"item": "UID", "label": "correct", "spans": [[0, 9999, "pronoun"]]}, "spans"),
        ({"item": "UID", "label": "correct", "spans": "[[0"}, "spans"),
        ({"item": "UID", "label": "correct", "shares": {"right": 1}}, "shares"),
        ({"item": "UID", "label": "correct", "shares": [1]}, "shares"),
    ],
)
def test_unusable_lines_are_reported(
    fresh_store: Store, project: Project, tmp_path: Path, row: dict[str, object], reason: str
) -> None:
    first, second = [item.uid for item in items(fresh_store, project)][:2]
    file = tmp_path / "a.jsonl"
    bad = {key: second if value == "UID" else value for key, value in row.items()}
    file.write_text(json.dumps({"item": first, "label": "correct"}) + "\n" + json.dumps(bad))
    _, report = import_judge(fresh_store, project, file, "mine")
    assert (report.imported, report.rejected, report.errors[0].reason, report.errors[0].line) == (1, 1, reason, 2)


def test_a_file_without_its_columns_adds_no_judge(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("text,choice\nx,correct\n")
    with pytest.raises(BadFile, match="no column item"):
        import_judge(fresh_store, project, file, "mine")
    assert fresh_store.db.execute("SELECT count(*) FROM judge").fetchone() == (0,)


@pytest.mark.long
def test_a_hundred_thousand_labels_in_less_than_a_minute(fresh_store: Store, tmp_path: Path) -> None:
    """With their entries in the log, and pauses for people who label."""
    project = judged_project(fresh_store, all_written(1250))
    uids = [row[0] for row in fresh_store.db.execute("SELECT uid FROM item")]
    assert len(uids) == 100_000
    file = tmp_path / "a.csv"
    file.write_text("item,label,extraneous\n" + "".join(f"{uid},correct,0\n" for uid in uids))
    began = time.monotonic()
    _, report = import_judge(fresh_store, project, file, "mine")
    assert report.imported == 100_000 and time.monotonic() - began < 60
