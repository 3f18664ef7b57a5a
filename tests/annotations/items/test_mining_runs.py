"""Facts of a mining run in its candidates: from the source text into the papers, and invalid facts."""

import json

import pytest

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.package.import_records import store_records
from evenhand.annotations.files.package.write_package import import_package
from evenhand.annotations.files.undo_import import imports, undo_import
from evenhand.annotations.items.batch import items
from evenhand.annotations.items.provenance import mined_runs, run_facts
from evenhand.annotations.mining.candidates import add_candidates
from evenhand.annotations.progress.cells import mining
from evenhand.annotations.projects.projects import annotators, change_project, create_project
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.release.stored_releases import release_file
from tests.support.mined_project import mined
from tests.support.released_project import label

TEXT = "昨天他修好了水泵。他和她都在。院子里她在晒被子。明天他要去看看新机器。她写完了那份报告。没有人在家。"


def test_facts_of_a_mining_run_reach_papers_and_packages(fresh_store, tmp_path):
    out, output = mined(tmp_path, TEXT)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert ["run" in line for line in lines] == [False] * (len(lines) - 1) + [True]
    project = create_project(fresh_store, "set", annotators=["Ada"], per_item=1)
    done = add_candidates(fresh_store, project, out)
    result = mining(fresh_store, project)
    assert (result["imported"], result["candidates"]) == (done.imported, output["candidates"]) == (4, 4)
    assert result["read"]["sentences"] == output["read"]["sentences"] == 6
    assert result["exactly_one"] == output["total"]["exactly_one"] == 4
    assert result["cells"]["他/她"]["male"]["with_keyword"] == 3
    assert all("run" not in item.extra for item in items(fresh_store, project))
    for item in items(fresh_store, project):
        label(fresh_store, project, annotators(fresh_store, project)[0], item.uid, "accept")
    project = change_project(fresh_store, project, licence="CC0", source_statement="Own.")
    made = make_release(fresh_store, project, "1.0")
    for name in ("method.en.md", "datasheet.en.md"):
        paper = release_file(fresh_store, made, name).decode()
        assert output["signature"].replace("|", "\\|") in paper.replace("`", "").replace("|", "\\|").replace(
            "\\\\|", "\\|"
        )
    assert "6 sentences in the cleaned text (files: 1)" in release_file(fresh_store, made, "method.en.md").decode()
    write_release(fresh_store, project, made, tmp_path / "out")
    with Store.open(tmp_path / "new.db") as other, tables_in(tmp_path / "out") as members:
        back = import_package(other, "back", members, "out").project
        assert mined_runs(other, back) == mined_runs(fresh_store, project)
        # An undone batch of the same number in this database is a different one.
        undo_import(other, back, imports(other, back)[0].id)
        assert mined_runs(other, back) == mined_runs(fresh_store, project)


def test_each_mining_run_counts_once_and_not_after_its_undo(fresh_store, tmp_path):
    first, _ = mined(tmp_path, TEXT)
    second, output = mined(tmp_path, TEXT + "后来她去了北京。", "more")
    project = create_project(fresh_store, "set")
    add_candidates(fresh_store, project, first)
    assert add_candidates(fresh_store, project, first).imported == 0
    both = tmp_path / "both.jsonl"
    both.write_bytes(first.read_bytes() + second.read_bytes())
    assert add_candidates(fresh_store, project, both).imported == 1
    result = mined_runs(fresh_store, project)
    assert [run["candidates"] for run in result] == [4, output["candidates"]]
    assert mining(fresh_store, project)["read"]["sentences"] == 6 + 7
    for import_ in imports(fresh_store, project):
        undo_import(fresh_store, project, import_.id)
    assert mined_runs(fresh_store, project) == []
    assert {event.action for event in events(fresh_store, project)} == {"mined", "import_undone"}


GOOD = {
    "signature": "mine|v1", "read": {"files": 1, "bytes": 2, "characters": 3, "sentences": 4, "damaged": 0},
    "with_keyword": 1, "exactly_one": 1, "candidates": 1, "flagged_candidates": 0, "cells": {},
}  # fmt: skip


@pytest.mark.parametrize("said", [{"imported": "many"}, {"imported": True}, {"batch": [1]}, {"at": {}}], ids=str)
def test_a_malformed_mining_event_does_not_break_papers(said, fresh_store):
    project = create_project(fresh_store, "set")
    data = {"at": "other", "batch": 1, "imported": 2, "run": GOOD} | said
    row = {"kind": "event", "data": data, "author": "", "created": "2026-01-01T00:00:00.000Z"}
    rows = [row | {"action": action} for action in ("mined", "import_undone")]
    assert store_records(fresh_store, project, rows[:1], early=False) == 1
    assert [run["imported"] for run in mined_runs(fresh_store, project)] == [0 if "imported" in said else 2]
    store_records(fresh_store, project, rows, early=False)
    assert mined_runs(fresh_store, project) == []


@pytest.mark.parametrize(
    "change",
    [{"signature": "x"}, {"signature": 3}, {"read": {}}, {"read": None}, {"candidates": -1}, {"candidates": True},
     {"candidates": 1 << 60}, {"cells": []}, {"cells": {"他/她": {"male": {}}}}, {"cells": {"他/她": 1}}],
)  # fmt: skip
def test_invalid_run_facts_stay_an_extra_column(change, fresh_store, tmp_path):
    assert run_facts(GOOD) is not None and run_facts(GOOD | change) is None
    out, _ = mined(tmp_path, "昨天他修好了水泵。")
    line = json.loads(out.read_text(encoding="utf-8")) | {"run": GOOD | change}
    out.write_text(json.dumps(line), encoding="utf-8")
    project = create_project(fresh_store, "set")
    add_candidates(fresh_store, project, out)
    assert [item.extra["run"] for item in items(fresh_store, project)] == [GOOD | change]
    assert mined_runs(fresh_store, project) == []
