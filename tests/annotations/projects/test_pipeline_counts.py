"""Counts of the pipeline: what is published, reviewed, unanimous and kept, in open sentence projects only."""

from pathlib import Path
from uuid import uuid4

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.package.write_package import import_package
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotator, archive, change_project, create_project
from evenhand.annotations.projects.steps import Pipeline, pipeline, state
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Operation, Project
from evenhand.core.text.keywords import find
from evenhand.pages.home.view import Stage, picture, share


def label(store: Store, project: Project, name: str, choices: dict[int, str]) -> None:
    """Let an annotator label the items of these lines as given; the rest of the claim stays open."""
    person = annotator(store, project, name)
    for item in claim(store, project, person, want=40):
        if item.line in choices:
            choice = choices[item.line]
            note = "as the test says" if choice == "reject" else ""
            made = Operation(uuid4().hex, item.uid, choice, desk="test", revision=item.line, note=note)
            assert store_operations(store, project, person, [made])[0].stored


def test_an_empty_database_counts_zero(fresh_store: Store) -> None:
    assert pipeline(fresh_store) == Pipeline(0, 0, 0, 0)


def test_each_stage_of_the_pipeline_is_counted(fresh_store: Store, sample_project: Project) -> None:
    label(fresh_store, sample_project, "Ada", {1: "accept", 2: "reject", 3: "accept", 4: "accept"})
    label(fresh_store, sample_project, "Bo", {1: "accept", 2: "reject", 3: "reject", 4: "accept"})
    assert pipeline(fresh_store) == Pipeline(8, 0, 0, 0)
    label(fresh_store, sample_project, "Chen", {1: "accept", 2: "reject", 3: "accept"})
    # 1 all accept, 2 all reject, 3 mixed, 4 has two labels of three
    assert pipeline(fresh_store) == Pipeline(8, 3, 2, 1)


def test_archived_projects_and_unpublished_batches_do_not_count(fresh_store: Store, sample_project: Project) -> None:
    other = create_project(fresh_store, "other", annotators=("Ada",))
    batch = Batch.begin(fresh_store, other, "other.txt")
    batch.add([NewItem(text="他在修自行车。", candidate=find("他在修自行车。")[0], file="other.txt", line=1)])
    assert pipeline(fresh_store).candidates == 8
    batch.publish()
    assert pipeline(fresh_store).candidates == 9
    archive(fresh_store, sample_project)
    assert pipeline(fresh_store).candidates == 1


def test_a_text_in_several_projects_counts_once(fresh_store: Store, sample_project: Project, tmp_path: Path) -> None:
    for name in ("Ada", "Bo", "Chen"):
        label(fresh_store, sample_project, name, {1: "accept", 2: "reject"})
    before = pipeline(fresh_store)
    assert before == Pipeline(8, 2, 2, 1)
    out = export_file(fresh_store, sample_project, tmp_path / "set.zip", format="package", names=True).out
    with tables_in(out) as members:
        brought = import_package(fresh_store, "copy", members, out.name)
    assert brought.items is not None and brought.items.imported == 8
    assert pipeline(fresh_store) == before
    assert pipeline(fresh_store, [brought.project.uid]) == before


def test_the_state_changes_with_every_count(fresh_store: Store, sample_project: Project) -> None:
    seen = [state(fresh_store)]
    label(fresh_store, sample_project, "Ada", {1: "accept"})
    seen.append(state(fresh_store))
    archive(fresh_store, sample_project)
    seen.append(state(fresh_store))
    create_project(fresh_store, "empty", per_item=2)
    seen.append(state(fresh_store))
    assert len(set(seen)) == len(seen)
    assert state(fresh_store) == seen[-1]


def test_the_state_differs_for_every_change_of_a_project(fresh_store: Store, sample_project: Project) -> None:
    other = create_project(fresh_store, "other", per_item=2)
    archive(fresh_store, other)
    seen = [state(fresh_store)]
    changes = [
        lambda: change_project(fresh_store, sample_project, gold="majority"),
        lambda: change_project(fresh_store, sample_project, gold="unanimous", per_item=2),
        lambda: change_project(fresh_store, other, per_item=3),  # the sum is what it was
        lambda: (archive(fresh_store, sample_project), archive(fresh_store, other, archived=False)),
    ]
    for change in changes:
        change()
        seen.append(state(fresh_store))
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(("part", "whole", "expected"), [(1, 4, 0.25), (0, 3, 0.0), (0, 0, None)])
def test_a_share_is_a_quotient_or_undefined(part: int, whole: int, expected: float | None) -> None:
    assert share(part, whole) == expected


def test_the_pipeline_is_drawn_as_a_list_with_escaped_text() -> None:
    drawn = picture([Stage("A<b>", 1234, "all of them", 0.5), Stage("B", None, "x & y")])
    assert drawn.count("<li>") == 2
    assert "A&lt;b&gt;" in drawn
    assert "x &amp; y" in drawn and "all of them" not in drawn  # the help of the heading says what is counted
    assert "<b>1,234</b>" in drawn
    assert "width:50.0%" in drawn
    assert "<b>—</b>" in drawn
