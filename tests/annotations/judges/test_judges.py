"""Judges and their labels in the database: appended, apart from people's, in the log."""

import sqlite3
from dataclasses import replace

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.judges import (
    Spec,
    add_judge,
    choose_margin,
    failures,
    judge,
    judges,
    state_of_judges,
    store_failure,
    store_labels,
)
from evenhand.annotations.log.verify import Broken, verify
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, NotFound, Refused
from evenhand.core.judges.prompts import JudgeLabel
from tests.support.projects import filled_project

SPEC = Spec("server", 1, "made", "m", "http://h/v1", "s", "{text}", {"way": "json"})


@pytest.fixture
def project(fresh_store: Store) -> Project:
    return filled_project(fresh_store, 6)[0]


def rows(store: Store, project: Project) -> list[int]:
    query = "SELECT id FROM item WHERE project = ? ORDER BY id"
    return [row[0] for row in store.db.execute(query, (project.id,)).fetchall()]


def test_equal_specs_are_one_judge(fresh_store: Store, project: Project) -> None:
    first = add_judge(fresh_store, project, "mine", SPEC, author="Lea")
    assert add_judge(fresh_store, project, "other name", SPEC) == first
    other = add_judge(fresh_store, project, "", replace(SPEC, prompt="{text}!"))
    assert (other.name, add_judge(fresh_store, project, "", replace(SPEC, model="x/m")).name) == ("m", "m 2")
    assert [stored.name for stored in judges(fresh_store, project)] == ["mine", "m", "m 2"]
    with pytest.raises(
        Refused,
        match="already a judge named mine with a different prompt",
    ):
        add_judge(fresh_store, project, "mine", replace(SPEC, system="t"))
    with pytest.raises(NotFound):
        judge(fresh_store, project, "nobody")


@pytest.mark.parametrize(
    "change", [{"model": "n"}, {"address": "http://i/v1"}, {"system": ""}, {"prompt": "{text} "}, {"settings": {}},
               {"guideline": 2}, {"kind": "model"}, {"signature": "n"}],
)  # fmt: skip
def test_every_field_that_affects_labels_is_in_the_hash(change: dict[str, object]) -> None:
    assert replace(SPEC, **change).hash != SPEC.hash  # type: ignore[arg-type]


def test_labels_are_stored_once_and_never_changed(fresh_store: Store, project: Project) -> None:
    result = add_judge(fresh_store, project, "mine", SPEC)
    before = state_of_judges(fresh_store)
    items = rows(fresh_store, project)
    assert store_labels(fresh_store, result, [JudgeLabel(item, "accept") for item in items[:4]]) == 4
    more = [JudgeLabel(item, "reject") for item in items] + [JudgeLabel(items[0], "reject", round=1)]
    assert store_labels(fresh_store, result, more) == 3
    assert judge(fresh_store, project, "mine").labels == 6 and state_of_judges(fresh_store) != before
    rows_ = fresh_store.db.execute("SELECT choice, round FROM judge_label ORDER BY id").fetchall()
    assert rows_ == [("accept", 0)] * 4 + [("reject", 0)] * 2 + [("reject", 1)]
    for statement in ("UPDATE judge_label SET choice = 'accept'", "DELETE FROM judge_label", "DELETE FROM judge",
                      "UPDATE judge SET prompt = ''"):  # fmt: skip
        with pytest.raises(sqlite3.IntegrityError):
            fresh_store.db.execute(statement)


def test_the_database_refuses_invalid_labels(fresh_store: Store, project: Project) -> None:
    result = add_judge(fresh_store, project, "mine", SPEC)
    other, _people = filled_project(fresh_store, 2)
    for wrong in (
        JudgeLabel(rows(fresh_store, project)[0], "misgendering"),
        JudgeLabel(rows(fresh_store, other)[0], "accept"),
    ):
        with pytest.raises(sqlite3.IntegrityError, match=r"choice of the guideline|of one project"):
            store_labels(fresh_store, result, [wrong])


def test_labels_and_margins_are_in_the_log(fresh_store: Store, project: Project) -> None:
    result = add_judge(fresh_store, project, "mine", SPEC)
    store_labels(fresh_store, result, [JudgeLabel(item, "accept") for item in rows(fresh_store, project)])
    choose_margin(fresh_store, project, result, 0.2)
    kinds = verify(fresh_store).kinds
    assert (kinds["judge"], kinds["judge_label"], kinds["judge_margin"]) == (1, 6, 1)
    fresh_store.db.execute("DROP TRIGGER judge_label_is_never_changed")
    fresh_store.db.execute("UPDATE judge_label SET choice = 'reject' WHERE id = 3")
    with pytest.raises(Broken, match="row 3 of judge_label"):
        verify(fresh_store)


def test_the_margin_is_chosen_once(fresh_store: Store, project: Project) -> None:
    result = add_judge(fresh_store, project, "mine", SPEC)
    store_labels(fresh_store, result, [JudgeLabel(rows(fresh_store, project)[0], "accept")])
    chosen = choose_margin(fresh_store, project, result, 0.15)
    assert (chosen.eps, chosen.eps_labels) == (0.15, 1)
    assert choose_margin(fresh_store, project, result, 0.15) == chosen
    with pytest.raises(Refused, match="This judge was recorded with an eps of 0\\.15, which cannot be changed\\."):
        choose_margin(fresh_store, project, result, 0.2)
    with pytest.raises(Refused, match="from 0 to 1"):
        choose_margin(fresh_store, project, result, 2)


def test_failures_are_listed_until_there_is_a_label(fresh_store: Store, project: Project) -> None:
    result = add_judge(fresh_store, project, "mine", SPEC)
    item, other = rows(fresh_store, project)[:2]
    for _ in range(2):
        store_failure(fresh_store, result, item, EvenhandError(N_("It said {what}."), what="nothing"))
    store_failure(fresh_store, result, other, EvenhandError("Late."))
    assert [(failure.message.format(**failure.values), failure.tries) for failure in failures(fresh_store, result)] == [
        ("It said nothing.", 2), ("Late.", 1),
    ]  # fmt: skip
    store_labels(fresh_store, result, [JudgeLabel(item, "accept")])
    (left,) = failures(fresh_store, result)
    final = result.spec.kind != "server"  # only a server may answer otherwise the next time
    assert (left.message, left.final) == ("Late.", final) and left.text
