"""Consent for each use: what a release leaves out without it, and packages that carry it, with groups."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.package.records import records_of
from evenhand.annotations.files.package.write_package import import_package
from evenhand.annotations.projects.annotators import annotator, annotators
from evenhand.annotations.projects.consent import (
    USES,
    add_grouping,
    answer_consent,
    consents,
    groupings,
    groups_of,
    set_group,
    sharing,
)
from evenhand.annotations.projects.projects import project
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.release.readiness import readiness
from evenhand.annotations.release.stored_releases import release_files
from evenhand.annotations.release.verify import verify
from evenhand.annotations.study.people import agree, begin
from evenhand.annotations.study.studies import change_consent, consent
from tests.support.pages import open_page, without_errors
from tests.support.projects import new_store
from tests.support.released_project import ready_project, rehearse, work
from tests.support.studies import new_study, person

ALONE = ("labels.csv", "labels_history.csv", "hard_cases.jsonl", "label_studio.json", "package/labels.jsonl",
         "package/records.jsonl", "package/decisions.jsonl")  # fmt: skip


def annotators_of(name: str, data: bytes) -> set[str]:
    """Return the codes of the annotators with a label in a file, or a row of a package about them."""
    text = data.decode()
    if name.endswith(".csv"):
        return {row["annotator"] for row in csv.DictReader(io.StringIO(text))}
    if name == "label_studio.json":
        return {
            annotation["result"][0]["evenhand"]["annotator"]
            for task in json.loads(text)
            for annotation in task["annotations"]
        }
    results = set()
    for row in map(json.loads, text.splitlines()):
        results |= {label["annotator"] for label in row.get("labels", ())}
        results |= {row["annotator"]} if row.get("kind") != "event" and row.get("annotator") else set()
    return results


def test_a_release_omits_labels_without_consent(fresh_store: Store, tmp_path: Path) -> None:
    made = rehearse(fresh_store)
    whole = release_files(fresh_store, make_release(fresh_store, made, "1.0"))
    bo = annotator(fresh_store, made, "Bo")
    answer_consent(fresh_store, made, bo, "release", given=False)
    answer_consent(fresh_store, made, annotator(fresh_store, made, "Ada"), "training", given=True)
    second = make_release(fresh_store, made, "2.0")
    files = release_files(fresh_store, second)
    for name in ALONE:
        assert annotators_of(name, whole[name]) >= {"A1", "A2"} or "decisions" in name, name
        assert "A2" not in annotators_of(name, files[name]), name
    of_bo = sum(row["annotator"] == "A2" for row in csv.DictReader(io.StringIO(whole["labels.csv"].decode())))
    shared = sharing(fresh_store, made)
    assert shared["left_out"] == {"people": 1, "labels": of_bo}
    assert shared["training"]["people"] == 1
    # Counts, agreement and gold stay, and three papers and the manifest name the missing annotators.
    facts, before = (json.loads(release["release.json"]) for release in (files, whole))
    assert facts["labels"] == before["labels"] and facts["agreement"] == before["agreement"]
    assert files["kept.jsonl"] == whole["kept.jsonl"] and facts["provenance"]["consent"] == shared
    for name in ("README.md", "datasheet.en.md", "method.en.md"):
        assert f"want of consent: {of_bo} valid labels, annotators: 1" in files[name].decode(), name
    for name in ("README.md", "datasheet.zh.md", "method.zh.md"):
        assert f"有效标注 {of_bo} 个，标注者 1 位" in files[name].decode(), name
    cases = [json.loads(line) for line in files["hard_cases.jsonl"].decode().splitlines()]
    old = {case["item"]: case for case in map(json.loads, whole["hard_cases.jsonl"].decode().splitlines())}
    for case in cases:
        assert case["why_here"] == old[case["item"]]["why_here"]
        assert len(case["labels"]) + case["left_out"] == len(old[case["item"]]["labels"])
    assert sum(case["left_out"] for case in cases) > 0
    assert {requirement.code: requirement.state for requirement in readiness(fresh_store, made)}["consent"] == "note"
    # The rest is a whole release, which is restored with consent.
    out = write_release(fresh_store, made, second, tmp_path / "r")
    assert verify(out, store=fresh_store, release=second).intact
    with new_store(tmp_path / "b.db") as other, tables_in(out) as members:
        back = import_package(other, "back", members, "r").project
        assert {consent.annotator.name: consent.given for consent in consents(other, back, "release")}["A1"] is True
        assert sharing(other, back)["left_out"]["labels"] == 0


def test_consent_for_another_use_does_not_allow_a_release(fresh_store: Store) -> None:
    made = ready_project(fresh_store, 6)
    of = add_grouping(fresh_store, made, "dialect", ("northern speech", "southern speech"))
    for member in annotators(fresh_store, made):
        answer_consent(fresh_store, made, member, "release", given=False)
        answer_consent(fresh_store, made, member, "disaggregated", given=True)
        set_group(fresh_store, made, of, member, "northern speech", "lead")
    work(fresh_store, made)
    files = release_files(fresh_store, make_release(fresh_store, made, "1.0"))
    assert not set().union(*(annotators_of(name, files[name]) for name in ALONE))
    assert not any(b"northern" in data for data in files.values())


ANSWERS = st.tuples(st.sampled_from(("Ada", "Bo", "Chen")), st.sampled_from(USES), st.booleans())
PLACES = st.tuples(st.sampled_from(("Ada", "Bo", "Chen")), st.integers(0, 1), st.sampled_from(("north", "south", None)))


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(st.lists(ANSWERS, max_size=6), st.lists(PLACES, max_size=6))
def test_packages_carry_consent_and_groups(
    tmp_path_factory, answers: list[tuple[str, str, bool]], places: list[tuple[str, int, str | None]]
) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path_factory.mktemp("consent")
    with new_store(folder / "a.db") as store, new_store(folder / "b.db") as other:
        made = ready_project(store, 2)
        kinds = [add_grouping(store, made, name, ("north", "south")) for name in ("dialect", "家乡")]
        for name, use, given_it in answers:
            answer_consent(store, made, annotator(store, made, name), use, given=given_it)  # type: ignore[arg-type]
        for name, which, value in places:
            set_group(store, made, kinds[which], annotator(store, made, name), value, "annotator")
        out = export_file(store, made, folder / "p.zip", format="package", names=True).out
        for _twice in range(2):
            with tables_in(out) as members:
                import_package(other, "set", members, "p.zip")
        back = project(other, "set")
        assert list(records_of(other, back, "consent")) == list(records_of(store, made, "consent"))
        assert [grouping.name for grouping in groupings(other, back)] == ["dialect", "家乡"]
        for kind in ("grouping", "group"):
            assert list(records_of(other, back, kind)) == list(records_of(store, made, kind))


def test_the_lead_stores_consent_and_groups_on_the_page(fresh_store: Store) -> None:
    made = ready_project(fresh_store, 2)
    app = without_errors(open_page("projects", project=made.name, section="people"))
    app.selectbox(key="consent-use").set_value("training").run()
    without_errors(app.button(key="consent-yes").click().run())
    app.selectbox(key="consent-who").set_value("Bo").run()
    without_errors(app.button(key="consent-no").click().run())
    given = {
        consent.annotator.name: (consent.given, consent.recorded_by)
        for consent in consents(fresh_store, made, "training")
    }
    assert given == {"Ada": (True, "lead"), "Bo": (False, "lead"), "Chen": (True, "lead")}
    app.text_input(key="grouping-name").set_value("dialect")
    app.text_area(key="grouping-options").set_value("north\nsouth\n")
    without_errors(app.button(key="grouping-add").click().run())
    (of,) = groupings(fresh_store, made)
    app.selectbox(key=f"grouping-into-{of.id}").set_value("south")
    without_errors(app.button(key=f"grouping-put-{of.id}").click().run())
    assert list(groups_of(fresh_store, of).values()) == ["south"]


def test_boxes_ticked_in_a_study_form_are_stored_as_consent(fresh_store: Store) -> None:
    made = ready_project(fresh_store, 8)
    study = new_study(fresh_store, made, uses=("release", "training"))
    form = consent(fresh_store, study)
    assert form.uses == ("release", "training")
    secret = agree(fresh_store, study, form, "zh", None, given=("release", "disaggregated"))
    begin(fresh_store, study, person(fresh_store, study, secret))
    name = person(fresh_store, study, secret).pseudonym
    answers = {
        use: {answer.annotator.name: answer for answer in consents(fresh_store, made, use)}[str(name)] for use in USES
    }
    assert {use: answer.given for use, answer in answers.items()} == {
        "release": True,
        "disaggregated": None,
        "training": False,
    }
    assert answers["release"].text.startswith("我在本项目中的标注") and answers["release"].recorded_by == "annotator"
    texts = {"en": form.en, "zh": form.zh}
    assert change_consent(fresh_store, study, dict(texts)).version == 1  # type: ignore[arg-type]
    assert change_consent(fresh_store, study, dict(texts), ("release",)).uses == ("release",)  # type: ignore[arg-type]
