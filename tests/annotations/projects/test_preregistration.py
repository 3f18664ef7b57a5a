"""Plans in the log: written before labels, or marked; sections; hashes that can be counted again."""

import hashlib

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.preregistration import form, preregister, sections_of, sheet_facts, sheets
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.stored_releases import release_file
from evenhand.core.errors import Refused
from evenhand.core.language import LANGUAGES
from tests.support.released_project import label, ready_project

TEXT = """# Plan
## Hypotheses
Half of the sentences stay.

### H2
Kappa is above .6.
## Measures
Krippendorff's alpha.
## Margins
.05
## Stopping rule
40 items, or Friday.
"""


def test_a_preregistration_is_logged_with_its_hashes(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 4)
    sheet = preregister(fresh_store, project, TEXT, author="Lead")
    assert sheets(fresh_store, project) == [sheet] and sheet.labels == 0 and sheet.author == "Lead"
    assert sheet.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert sheet.seal == hashlib.sha256(f"{sheet.written}\n{TEXT}".encode()).hexdigest()
    assert sheet.sections["hypotheses"].endswith("Kappa is above .6.")
    assert sheet.sections["stopping"] == "40 items, or Friday."
    with pytest.raises(Refused):
        preregister(fresh_store, project, TEXT)


def test_a_preregistration_after_labels_is_refused_or_marked(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 4)
    uid = next(iter(items(fresh_store, project))).uid
    label(fresh_store, project, annotators(fresh_store, project)[0], uid, "accept")
    with pytest.raises(Refused, match="1 labels"):
        preregister(fresh_store, project, TEXT)
    assert sheets(fresh_store, project) == []
    assert preregister(fresh_store, project, TEXT, late=True).labels == 1
    (facts,) = sheet_facts(fresh_store, project)
    assert not facts["before"] and facts["elsewhere"] == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_empty_preregistration_form_is_refused(language: str) -> None:
    with pytest.raises(Refused, match="hypotheses, measures, margins, stopping rule"):
        sections_of(form(language))  # type: ignore[arg-type]
    filled = form(language).replace("\n\n>", "\n\nSomething.\n>")  # type: ignore[arg-type]
    assert set(sections_of(filled).values()) == {"Something."}


def test_a_release_reports_the_plan_with_the_result(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 2)
    preregister(fresh_store, project, TEXT)
    for item in items(fresh_store, project):
        for person in annotators(fresh_store, project):
            label(fresh_store, project, person, item.uid, "accept")
    made = make_release(fresh_store, project, "1.0")
    text = {name: release_file(fresh_store, made, name).decode() for name in ("preregistration.en.md", "method.en.md")}
    for part in ("40 items, or Friday.", "Kappa is above .6.", "| Accepted / reviewed items | 2 / 2 |",
                 "| Labels at that time | 0 |", "| Valid labels | 6 |"):  # fmt: skip
        assert part in text["preregistration.en.md"], part
    assert "when the database held no labels" in text["method.en.md"]
    assert release_file(fresh_store, made, "preregistration/1.md").decode() == TEXT
    assert made.facts["preregistration"][0]["before"] is True
