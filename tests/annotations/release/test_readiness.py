"""What a release must explain: open cases, and an agreement without information."""

import pytest

from evenhand.annotations.adjudication.decisions import case, decide_case
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.readiness import checked_reason, to_explain
from evenhand.annotations.release.stored_releases import release_files
from evenhand.core.errors import Refused
from tests.support.judged_sentences import judged

GOOD = ["aaa", "rrr"] * 12


@pytest.mark.parametrize(
    ("patterns", "codes"),
    [
        (GOOD, []),
        ([*GOOD, "aar"], ["cases"]),
        (["aaa", "aaa", "aaa"], []),  # no item was rejected, so no interval can be computed
        (["aa"] * 8 + ["rr", "ar"], ["cases", "interval"]),
        (["aa", "aa", "aa", "rr"], ["no_interval"]),  # one reject among the items: alpha is 1, on nothing
        (["aa"] * 9 + ["ar"], ["cases", "no_interval"]),
        (["a", "a"], []),
    ],
)
def test_open_cases_and_poor_agreement_need_an_explanation(
    fresh_store: Store, patterns: list[str], codes: list[str]
) -> None:
    people = ("Ada", "Bo", "Chen")[: max(map(len, patterns))]
    project, _items = judged(fresh_store, patterns, people=people, per_item=len(people))
    assert [requirement.code for requirement in to_explain(fresh_store, project)] == codes
    if codes:
        with pytest.raises(Refused, match="goes into the data sheet"):
            checked_reason(fresh_store, project, " ")
    assert checked_reason(fresh_store, project, " A workshop needs it. ") == ("A workshop needs it." if codes else "")


def test_the_explanation_is_in_data_sheet_and_facts(fresh_store: Store) -> None:
    project, items = judged(fresh_store, [*GOOD, "aar"])
    project = change_project(fresh_store, project, licence="CC BY 4.0", source_statement="Own sentences.")
    made = make_release(fresh_store, project, "1.0", reason="A workshop needs it.")
    files = release_files(fresh_store, made)
    sheets = {name: content.decode() for name, content in files.items() if name.startswith("datasheet.")}
    assert len(sheets) == 4
    assert made.facts["release"]["reason"] == "A workshop needs it."
    assert all("A workshop needs it." in sheet for sheet in sheets.values())
    seen = case(fresh_store, project, items[-1].uid).seen
    decide_case(fresh_store, project, items[-1].uid, adjudicator="Dee", choice=None, seen=seen)
    assert to_explain(fresh_store, project) == []
    later = make_release(fresh_store, project, "1.1")
    assert not [name for name, content in release_files(fresh_store, later).items() if b"chance and good" in content]
