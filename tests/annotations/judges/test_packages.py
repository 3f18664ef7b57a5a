"""Judges in packages: their labels return with them, in another database and as copies in the same one."""

from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.package.records import each_record
from evenhand.annotations.files.package.write_package import import_package
from evenhand.annotations.judges.judges import Judge, Spec, add_judge, choose_margin, judges, store_labels
from evenhand.annotations.log.verify import verify
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.types import Project
from evenhand.core.judges.prompts import JudgeLabel
from tests.support.projects import filled_project

SPEC = Spec("server", 1, "signed", "m", "http://h/v1", "system", "Label {text}.", {"way": "json"})
LABELS = "SELECT round, choice, extraneous, spans, shares, samples, answered, seconds, created FROM judge_label"


@pytest.fixture
def project(fresh_store: Store) -> Project:
    made, _ = filled_project(fresh_store, 4)
    judge = add_judge(fresh_store, made, "mine", SPEC)
    choose_margin(fresh_store, made, judge, 0.15)
    add_judge(fresh_store, made, "rule", Spec("rule", 1, "rule v1"))
    ids = [row[0] for row in fresh_store.db.execute("SELECT id FROM item ORDER BY id")]
    labels = [JudgeLabel(item, "accept", shares={"accept": 0.75}, answered="m-1", seconds=0.5) for item in ids[:3]]
    store_labels(fresh_store, judge, labels)
    return made


def facts(found: Judge) -> tuple[Any, ...]:
    return found.name, found.spec, found.created, found.labels, found.eps, found.eps_labels, found.eps_chosen


def bring(store: Store, file: Path, name: str) -> Project:
    with tables_in(file) as members:
        return import_package(store, name, members, file.name).project


def test_a_package_restores_judges_and_their_labels(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    file = export_file(fresh_store, project, tmp_path / "p.zip", format="package", names=True).out
    before = [facts(judge) for judge in judges(fresh_store, project)]
    labels = fresh_store.db.execute(LABELS).fetchall()
    with Store.open(tmp_path / "other.db") as other:
        for _ in range(2):  # the second adds nothing
            there = bring(other, file, "back")
            assert [facts(judge) for judge in judges(other, there)] == before
            assert other.db.execute(LABELS).fetchall() == labels
        assert list(each_record(other, there, {})) == list(each_record(fresh_store, project, {}))
        verify(other)  # raises if the log is invalid
    beside = bring(fresh_store, file, "beside")
    assert [facts(judge) for judge in judges(fresh_store, beside)] == before
    assert {judge.uid for judge in judges(fresh_store, beside)}.isdisjoint(
        judge.uid for judge in judges(fresh_store, project)
    )


@pytest.mark.parametrize(("open_text", "prompt"), [(True, SPEC.prompt), (False, "")])
def test_a_release_hides_the_server_and_prompts_of_protected_texts(
    fresh_store: Store, project: Project, open_text: bool, prompt: str
) -> None:
    project = change_project(fresh_store, project, open_text=open_text)
    record = next(row for row in each_record(fresh_store, project, {}, private=False) if row["kind"] == "judge")
    assert (record["address"], record["prompt"]) == ("", prompt)
