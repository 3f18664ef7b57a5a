"""A follow-up sample: drawn by a seed, without visible stop reasons, judged by outsiders, in the data sheet."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.audit.follow_up import create_follow_up, follow_ups
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.requests import DeskRequest
from evenhand.annotations.desk.routes import ROUTES
from evenhand.annotations.desk.session import DeskSession
from evenhand.annotations.files.other_tools.import_tasks import Names
from evenhand.annotations.items.batch import items
from evenhand.annotations.papers.datasheet import datasheet
from evenhand.annotations.projects.projects import add_annotators, annotators
from evenhand.annotations.release.facts import gather
from evenhand.annotations.types import Project
from evenhand.core.errors import Refused
from tests.support.released_project import label, ready_project
from tests.support.task_files import bring, chosen, task, written


@pytest.fixture
def parent(fresh_store: Store) -> Project:
    """Return a project with six accepted and four rejected sentences."""
    project = ready_project(fresh_store, 10)
    for number, item in enumerate(items(fresh_store, project)):
        for person in annotators(fresh_store, project):
            label(fresh_store, project, person, item.uid, "accept" if number < 6 else "reject", note="no")
    return project


def strata(store: Store, made: Project) -> dict[str, str]:
    return {item.text: item.extra["follow_up"]["stratum"] for item in items(store, made)}


def judge(store: Store, made: Project, name: str, neutral: set[str]) -> None:
    person = next(annotator for annotator in annotators(store, made) if annotator.name == name)
    for item in items(store, made):
        label(store, made, person, item.uid, "accept" if item.text in neutral else "reject", note="no")


def test_the_draw_is_seeded_mixed_and_without_labels(fixed_ids: None, fresh_store: Store, parent: Project) -> None:
    made = [create_follow_up(fresh_store, parent, f"f{n}", ["Zoe"], kept=4, rejected=3, seed=n // 2) for n in range(4)]
    texts = [list(strata(fresh_store, project).items()) for project in made]
    assert texts[0] == texts[1] != texts[2] == texts[3]
    kept = {item.text for item in items(fresh_store, parent, accepted_only=True)}
    for some in texts:
        assert [stratum for _, stratum in some].count("kept") == 4
        assert all((text in kept) == (stratum == "kept") for text, stratum in some)
    assert any([stratum for _, stratum in some] != sorted(stratum for _, stratum in some) for some in texts)
    assert all(item.status == "pending" for item in items(fresh_store, made[0]))


def test_the_desk_does_not_learn_the_stratum(fresh_store: Store, parent: Project) -> None:
    made = create_follow_up(fresh_store, parent, "f", ["Zoe"], kept=4, rejected=3)
    session = DeskSession(made, annotators(fresh_store, made)[0])
    reply = ROUTES["sync"][0](DeskRequest(fresh_store, session, fresh_store.uid, {"want": 40, "hello": 40}, "en"))
    assert len(reply["items"]) == 7 and {item["source"] for item in reply["items"]} == {"follow_up.jsonl"}
    sent = json.dumps(reply["items"])
    assert "stratum" not in sent and "rejected" not in sent and parent.uid not in sent


def test_labels_of_outsiders_are_in_the_data_sheet(fresh_store: Store, parent: Project) -> None:
    made = create_follow_up(fresh_store, parent, "f", ["Zoe", "Yan"], kept=5, rejected=2, per_item=2)
    assert "none of them is fully labelled yet" in datasheet(fresh_store, parent, "en")
    kept = sorted(text for text, stratum in strata(fresh_store, made).items() if stratum == "kept")
    judge(fresh_store, made, "Zoe", set(kept))
    judge(fresh_store, made, "Yan", set(kept[:4]))
    (up,) = follow_ups(fresh_store, parent)
    one = up.strata["kept"]
    # Wilson's interval of 4 of 5, from the formula: (0.3755, 0.9638).
    assert (one.judged, one.neutral, one.share.value) == (5, 4, 0.8)
    assert (one.share.low, one.share.high) == pytest.approx((0.3755, 0.9638), abs=1e-4)
    assert (up.people, up.left_out, up.from_kept, up.from_rejected) == (2, 0, 6, 4)
    assert (up.strata["rejected"].judged, up.strata["rejected"].neutral) == (2, 0)
    sheet = datasheet(fresh_store, parent, "en")
    assert "a share of 0.800" in sheet and "0.376, 0.964" in sheet and "Zoe" not in sheet
    assert "0.376, 0.964" in datasheet(fresh_store, parent, "zh")
    assert gather(fresh_store, parent)["follow_ups"][0]["kept"]["share"]["value"] == 0.8


def test_members_of_the_project_are_refused_as_outsiders(fresh_store: Store, parent: Project) -> None:
    with pytest.raises(Refused, match="ada"):
        create_follow_up(fresh_store, parent, "f", ["Zoe", " Ada"], kept=2, rejected=1)
    made = create_follow_up(fresh_store, parent, "f", ["Zoe"], kept=2, rejected=1, per_item=1)
    add_annotators(fresh_store, made, ["Ada"])
    judge(fresh_store, made, "Ada", set())
    (up,) = follow_ups(fresh_store, parent)
    assert (up.people, up.left_out, up.strata["kept"].judged) == (0, 3, 0)


def test_uncounted_labels_are_listed_with_the_reason(fresh_store: Store, parent: Project, tmp_path: Path) -> None:
    made = create_follow_up(fresh_store, parent, "f", ["Zoe"], kept=2, rejected=1, per_item=1)
    people = {"1": "Guest 1", "2": "Guest 2"}
    tasks = [
        task(item.text, *(chosen("Keep", id=f"{who}-{item.uid}", completed_by=int(who)) for who in people))
        for item in items(fresh_store, made)
    ]
    bring(fresh_store, made, written(tmp_path / "tasks.json", tasks), Names(people=people))
    add_annotators(fresh_store, made, ["Ada"])
    judge(fresh_store, made, "Ada", set())
    (up,) = follow_ups(fresh_store, parent)
    assert (up.left_out, up.elsewhere, up.strata["kept"].judged) == (9, 6, 0)
    assert (
        "Existing labels of the sample that do not count: 9 (not made at a desk of this database, but from a file or"
        " of unknown origin: 6; by people of the project: 3)." in datasheet(fresh_store, parent, "en")
    )
    assert "已有但不计入的标注：9 个" in datasheet(fresh_store, parent, "zh")
    shown = CliRunner().invoke(cli, ["project", "followup", parent.name, "--db", str(fresh_store.path)]).stdout
    assert "f: 9 labels do not count: 6 not made at a desk of this database, 3 of people of set" in shown


@pytest.mark.parametrize(("kept", "rejected"), [(7, 0), (1, 5), (0, 1)])
def test_drawing_more_than_available_is_refused(fresh_store: Store, parent: Project, kept: int, rejected: int) -> None:
    with pytest.raises(Refused, match="Cannot draw"):
        create_follow_up(fresh_store, parent, "f", ["Zoe"], kept=kept, rejected=rejected)
    assert follow_ups(fresh_store, parent) == []
