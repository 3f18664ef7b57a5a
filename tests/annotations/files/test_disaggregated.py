"""Soft labels, labels one by one, and the consent that these need."""

import csv
import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.label_tables import LeftOut, disaggregated_lines, left_out, soft_label_lines
from evenhand.annotations.projects.annotators import annotator
from evenhand.annotations.projects.consent import TEXTS, answer_consent, consent_of, consenting
from evenhand.annotations.projects.projects import create_project
from evenhand.annotations.types import Project
from evenhand.core.language import translate
from tests.support.agreed_labels import label, make, texts
from tests.support.pages import open_page


@pytest.fixture
def project(fresh_store: Store) -> Project:
    made = make(fresh_store, 3, ("Ada", "Bo", "Chen"), per_item=3)
    first, second, _third = texts(fresh_store, made)
    label(fresh_store, made, "Ada", {first: "accept", second: "accept"}, note="SECRET of Ada")
    label(fresh_store, made, "Bo", {first: "reject", second: "accept"})
    label(fresh_store, made, "Chen", {first: "accept"})
    return made


def consent(store: Store, project: Project, name: str, *, given: bool = True) -> None:
    answer_consent(store, project, annotator(store, project, name), "disaggregated", given=given)


def rows(lines: Iterable[str]) -> list[dict[str, str]]:
    return list(csv.DictReader("".join(lines).splitlines()))


def test_soft_labels_are_the_shares_of_every_choice(fresh_store: Store, project: Project) -> None:
    first, second = rows(soft_label_lines(fresh_store, project))  # the third has no label
    shares = [(row["labels"], row["share_accept"], row["share_reject"]) for row in (first, second)]
    assert shares == [("3", "0.666667", "0.333333"), ("2", "1", "0")]


def test_single_labels_are_exported_only_with_consent(fresh_store: Store, project: Project) -> None:
    assert rows(disaggregated_lines(fresh_store, project, "disaggregated")) == []
    assert left_out(fresh_store, project, "disaggregated") == LeftOut(5, 3)
    for name in ("Ada", "Bo"):
        consent(fresh_store, project, name)
    text = "".join(disaggregated_lines(fresh_store, project, "disaggregated"))
    assert [(row["annotator"], row["choice"]) for row in rows(text)] == [
        ("A1", "accept"), ("A2", "reject"), ("A1", "accept"), ("A2", "accept"),
    ]  # fmt: skip
    assert "SECRET" not in text and "Ada" not in text
    assert left_out(fresh_store, project, "disaggregated") == LeftOut(1, 1)
    consent(fresh_store, project, "Ada", given=False)
    assert {row["annotator"] for row in rows(disaggregated_lines(fresh_store, project, "disaggregated"))} == {"A2"}
    assert left_out(fresh_store, project, "disaggregated") == LeftOut(3, 2)


def test_answers_are_appended_with_the_text_as_read(fresh_store: Store, project: Project) -> None:
    ada = annotator(fresh_store, project, "Ada")
    for given in (True, True, False, True):  # the second adds nothing new
        answer_consent(fresh_store, project, ada, "disaggregated", given=given, language="zh")
    stored = fresh_store.db.execute("SELECT given, text, recorded_by FROM label_consent ORDER BY id").fetchall()
    text = translate(TEXTS["disaggregated"], "zh")
    assert stored == [(1, text, "annotator"), (0, text, "annotator"), (1, text, "annotator")]
    assert consenting(fresh_store, project, "disaggregated") == {"Ada"}
    for statement in ("UPDATE label_consent SET given = 0", "DELETE FROM label_consent"):
        with pytest.raises(sqlite3.IntegrityError), fresh_store.write() as db:
            db.execute(statement)


def test_consent_holds_for_one_project(fresh_store: Store, project: Project) -> None:
    consent(fresh_store, project, "Ada")
    other = create_project(fresh_store, "other", annotators=("Ada",))
    assert consenting(fresh_store, other, "disaggregated") == frozenset()


def test_commands_and_the_page_store_equal_consent(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    def answer_to(*arguments: str) -> Any:
        result = CliRunner().invoke(cli, [*arguments, "--db", str(fresh_store.path), "--json"], catch_exceptions=False)
        return json.loads(result.stdout)

    page = open_page("record", project=project.name, annotator="Ada", view="use")
    assert "Withdraw consent" not in [button.label for button in page.button]
    page.button(key="consent-give-disaggregated").click().run()
    assert "Withdraw consent" in [button.label for button in page.button] and not page.exception
    answer_to("people", project.name, "consent", "Bo", "--give", "--use", "disaggregated")
    every = answer_to("people", project.name, "consent", "--use", "disaggregated")["consents"]
    given = {entry["annotator"]: (entry["given"], entry["recorded_by"]) for entry in every}
    assert given == {"Ada": (True, "annotator"), "Bo": (True, "lead"), "Chen": (None, None)}
    # The lead stored it in the words of today, which the page has in its own language.
    of_bo = open_page("record", project=project.name, annotator="Bo", view="use", lang="zh")
    shown = [block.value for block in of_bo.markdown]
    assert translate(TEXTS["disaggregated"], "zh") in shown and TEXTS["disaggregated"] not in shown
    result = answer_to("export", project.name, str(tmp_path / "one.csv"), "--format", "disaggregated")
    assert result == {"rows": 4, "left_out": {"labels": 1, "annotators": 1}}
    page.button(key="consent-refuse-disaggregated").click().run()
    assert consent_of(fresh_store, project, annotator(fresh_store, project, "Ada"), "disaggregated").given is False
    assert export_file(fresh_store, project, tmp_path / "two.csv", format="disaggregated").rows == 2
    assert export_file(fresh_store, project, tmp_path / "soft.csv", format="soft-labels").rows == 2
