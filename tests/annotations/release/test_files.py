"""The files of a release: data as they are, and copies for spreadsheet programs."""

import csv
import io
import json

from evenhand.annotations.database.backup import snapshot
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.release import labelled_files
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.release.stored_releases import release_files
from evenhand.annotations.release.verify import verify
from evenhand.core.text.keywords import find
from tests.support.released_project import label, ready_project, rehearse


def test_another_process_writes_equal_files(fresh_store, monkeypatch):
    made = rehearse(fresh_store)
    release = make_release(fresh_store, made, "1.0")
    here = release_files(fresh_store, release)
    monkeypatch.setattr(labelled_files, "LARGE", 0)
    with snapshot(fresh_store) as seen, labelled_files.labelled_files(seen, made) as begun:
        there = begun(labelled_files.packed_items(seen, made))
    files = {file.name: b"".join(line.encode() for line in file.lines()) for file in (*there.package, *there.labels)}
    again = sorted(name for name in here if name.startswith(("package/", "labels", "hard_cases")))
    assert sorted(files) == again
    changed = {name for name in again if here[name] != files[name]}
    assert changed == {"package/records.jsonl"}  # which now contain the release
    assert there.compared.hash == release.hash and there.hard_cases


def test_a_sentence_that_looks_like_a_formula_is_released_unchanged(fresh_store, tmp_path):
    made = ready_project(fresh_store, 4)
    text = "-他把实验报告交给了老师。"
    with Batch.begin(fresh_store, made, "more.txt") as batch:
        batch.add([NewItem(text, find(text)[0], "more.txt", 1)])
        batch.publish()
    for who in annotators(fresh_store, made):
        for frozen in claim(fresh_store, made, who, want=9):
            label(fresh_store, made, who, frozen.uid, "accept", note="=1+1" if frozen.text == text else "")
    frozen = make_release(fresh_store, made, "1.0")
    files = release_files(fresh_store, frozen)
    table = {row["句子"]: row for row in csv.DictReader(io.StringIO(files["slguset.csv"].decode(), newline=""))}
    assert text[slice(*json.loads(table[text]["关键词位置"]))] == "他"
    assert "'-" not in files["slguset.csv"].decode() and "'=" not in files["labels.csv"].decode()
    copies = sorted(name for name in files if name.startswith("for_spreadsheets/"))
    assert copies == [f"for_spreadsheets/{name}.csv" for name in ("labels", "labels_history", "slguset")]
    assert "'" + text in files["for_spreadsheets/slguset.csv"].decode("utf-8-sig")
    assert "for_spreadsheets/" in files["README.md"].decode().replace("\\", "")
    out = write_release(fresh_store, made, frozen, tmp_path / "out")
    result = verify(out, store=fresh_store, release=frozen)
    assert result.intact and result.found == frozen.hash
