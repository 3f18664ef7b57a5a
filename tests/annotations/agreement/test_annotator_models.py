"""Dawid-Skene and MACE of a project: next to the vote, over finished items only, never gold."""

import json

from click.testing import CliRunner

from cli import cli
from evenhand.annotations.agreement.annotator_models import annotator_models
from evenhand.annotations.agreement.disagreements import finished_items
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import add_annotators, annotator
from evenhand.annotations.types import Project
from tests.support.agreed_labels import label, make, texts
from tests.support.pages import open_page

NAMES = ("Ada", "Bo", "Chen", "Dee", "Eva")
SAID = {"1": "accept", "0": "reject"}


def labelled(store: Store, columns: dict[str, str]) -> Project:
    """Make a project from one column per annotator, one sign per item: 1 accept, 0 reject, - no label."""
    project = make(store, len(next(iter(columns.values()))), tuple(columns), per_item=5)
    sentences = texts(store, project)
    for name, column in columns.items():
        choices = {text: SAID[sign] for text, sign in zip(sentences, column, strict=True) if sign != "-"}
        label(store, project, name, choices)
    return project


COLUMNS = {"Ada": "1100110010-", "Bo": "1100110010-", "Chen": "1100010101-", "Dee": "1010101010-", "Eva": "01100011101"}


def test_models_read_five_labels_an_item_and_leave_gold(fresh_store: Store) -> None:
    project = labelled(fresh_store, COLUMNS)
    before = fresh_store.db.execute("SELECT id, status, gold FROM item ORDER BY id").fetchall()
    result = annotator_models(fresh_store, project)
    assert (len(result.items), result.labels, result.fewer, result.reason, result.tied) == (10, 50, 1, None, 0)
    assert [choice.code for choice in result.choices] == ["accept", "reject"]
    assert {annotator.name: annotator.labels for annotator in result.annotators} == dict.fromkeys(NAMES, 10)
    right = {annotator.name: annotator.right for annotator in result.annotators}
    assert right["Ada"] == right["Bo"] > right["Eva"]
    first = result.items[0]
    assert (first.votes, first.vote, first.dawid_skene, first.mace) == ((4, 1), 0, 0, 0) and not first.differs
    assert result.signature == "annotator-models|labels:blind|items:all|at-least:5|categories:accept+reject|v1"
    assert fresh_store.db.execute("SELECT id, status, gold FROM item ORDER BY id").fetchall() == before


def test_an_undefined_model_has_a_reason(fresh_store: Store) -> None:
    few = annotator_models(fresh_store, labelled(fresh_store, dict(list(COLUMNS.items())[:4])))
    assert (few.items, few.fewer) == ((), 10) and "No item has 5 labels or more" in str(few.reason)


def test_unfinished_items_are_not_modelled(fresh_store: Store) -> None:
    project = labelled(fresh_store, COLUMNS | {"Eva": "0110001-101"})
    add_annotators(fresh_store, project, ["Fay"])
    rows = [row[0] for row in fresh_store.db.execute("SELECT id FROM item ORDER BY id")]
    assert finished_items(fresh_store, project, rows).keys() == {*rows[:7], rows[8], rows[9]}
    fay = annotator(fresh_store, project, "Fay")
    assert finished_items(fresh_store, project, rows, fay) == {}


TWO_GOOD = {  # Chen, Dee and Eva guess, and are all wrong on the first item
    "Ada": "11010110100010000001",
    "Bo": "11010110100010000001",
    "Chen": "01001010000000110111",
    "Dee": "01010100110110100000",
    "Eva": "00000010011011011011",
}


def test_command_and_page_show_equal_numbers(fresh_store: Store) -> None:
    project = labelled(fresh_store, TWO_GOOD)
    arguments = ["annotator-models", project.name, "--db", str(fresh_store.path)]
    data = json.loads(CliRunner().invoke(cli, [*arguments, "--json"], catch_exceptions=False).stdout)
    assert (data["items"], data["items_with_fewer_labels"], data["settled"]) == (20, 0, True)
    assert data["against_vote"]["dawid_skene"] == 1
    first = data["differ"][0]
    assert (first["votes"], first["vote"], first["dawid_skene"]) == ({"accept": 2, "reject": 3}, "reject", "accept")
    assert "competence" in CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout
    shown = open_page("agreement", project=project.name, view="models")
    counts = f"Dawid-Skene differs from the vote on {data['against_vote']['dawid_skene']}"
    assert any(counts in block.value.replace("\\", "") for block in shown.markdown)
