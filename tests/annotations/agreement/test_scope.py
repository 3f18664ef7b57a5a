"""Agreement of one guideline version and on the random share; items of undone imports do not count."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.agreement.measures import EMPTY_SHARE, SHARE_UNDER_WAY, agreement, usual_items
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.other_tools.import_tasks import Names
from evenhand.annotations.papers.paper import CLAIMS
from evenhand.annotations.progress.cells import funnel, total
from evenhand.annotations.projects.projects import add_guideline, change_project, guideline
from evenhand.annotations.release.facts import agreement_facts
from evenhand.annotations.types import Project
from evenhand.core.errors import NotFound
from evenhand.core.statistics import Note
from evenhand.pages.ui.text import plain
from tests.support.agreed_labels import FAST, label, make, texts
from tests.support.pages import forest_of, open_page, records_of
from tests.support.task_files import bring, chosen, task, written


def two_versions(store: Store) -> Project:
    """Make twelve items: Ada and Bo agree on the first six under version 1, on none of the others under version 2."""
    project = make(store, 12, ("Ada", "Bo"), per_item=2)
    first = texts(store, project)
    for name in ("Ada", "Bo"):
        label(store, project, name, {t: "reject" if i % 2 else "accept" for i, t in enumerate(first[:6])})
    old = guideline(store, project)
    add_guideline(store, project, old.text + "\n\nNew.", old.choices, old.reasons)
    label(store, project, "Ada", dict.fromkeys(first[6:], "accept"))
    label(store, project, "Bo", dict.fromkeys(first[6:], "reject"), form_shown="masked")
    return project


def test_agreement_is_computed_per_guideline_version(fresh_store: Store) -> None:
    project = two_versions(fresh_store)
    whole = agreement(fresh_store, project, resampling=FAST)
    assert whole.version is None and whole.overall.unanimity.value == 0.5
    assert [(version, report.items, report.labels) for version, report in whole.by_version] == [(1, 6, 12), (2, 6, 12)]
    assert [report.unanimity.value for _, report in whole.by_version] == [1.0, 0.0]
    for version, report in whole.by_version:
        alone = agreement(fresh_store, project, resampling=FAST, version=version)
        assert alone.overall == report and f"guideline:v{version}" in alone.signature
        assert alone.by_labels == {0: 6, 1: 0, 2: 6}
    assert "guideline" not in whole.signature
    with pytest.raises(NotFound, match="no version 3"):
        agreement(fresh_store, project, version=3)


def test_labels_of_two_versions_are_not_paired(fresh_store: Store) -> None:
    project = make(fresh_store, 4, ("Ada", "Bo"), per_item=2)
    first = texts(fresh_store, project)
    label(fresh_store, project, "Ada", dict.fromkeys(first, "accept"))
    old = guideline(fresh_store, project)
    add_guideline(fresh_store, project, old.text, old.choices, old.reasons)
    label(fresh_store, project, "Bo", dict.fromkeys(first, "accept"))
    report = agreement(fresh_store, project, resampling=FAST)
    assert report.overall.unanimity.value == 1
    assert [figures.unanimity.value for _, figures in report.by_version] == [None, None]


def share(store: Store, project: Project, chosen: list[str]) -> None:
    """Make exactly these items the random share, as the plan would have drawn them."""
    with store.write() as db:
        db.execute("UPDATE item SET shared = 0 WHERE project = ?", (project.id,))
        for text in chosen:
            db.execute("UPDATE item SET shared = 1, wanted = 2 WHERE text = ?", (text,))


def stopped(store: Store) -> Project:
    """Return a project that stops at a reject; a share of four of ten items, one of which lacks a label."""
    project = change_project(store, make(store, 10, ("Ada", "Bo"), per_item=2), plan="stop", share=0.0)
    first = texts(store, project)
    share(store, project, first[:4])
    label(store, project, "Ada", {t: "reject" if i in (1, 4, 5) else "accept" for i, t in enumerate(first)})
    todo = [t for i, t in enumerate(first) if i not in (3, 4, 5)]  # an item that was rejected outside the share is done
    label(store, project, "Bo", {t: "reject" if t in (first[2], first[7]) else "accept" for t in todo})
    return project


@pytest.mark.parametrize(("shared", "why"), [(0, EMPTY_SHARE), (3, SHARE_UNDER_WAY)], ids=["empty", "under way"])
def test_an_empty_random_share_is_given_as_the_reason(fresh_store: Store, shared: int, why: Note) -> None:
    """Other items have labels of two annotators by then, so a message that there are none would be wrong."""
    project = change_project(fresh_store, make(fresh_store, 8, ("Ada", "Bo"), per_item=2), plan="stop", share=0.0)
    first = texts(fresh_store, project)
    share(fresh_store, project, first[:shared])
    for name in ("Ada", "Bo"):
        label(fresh_store, project, name, dict.fromkeys(first[3:], "accept"))
    report = agreement(fresh_store, project, resampling=FAST)
    measures = (report.overall.unanimity, report.overall.alpha, report.categories[0].prevalence)
    assert [measure.reason for measure in measures] == [why] * 3
    assert agreement(fresh_store, project, resampling=FAST, on="all").overall.unanimity.value == 1
    page = open_page("agreement")
    assert not page.exception and plain(why.message) in [info.value for info in page.info]


def test_on_the_random_share_only_items_with_all_their_labels_count(fresh_store: Store) -> None:
    project = stopped(fresh_store)
    assert usual_items(project) == "share"
    report = agreement(fresh_store, project, resampling=FAST)
    assert (report.on, report.biased, report.items, report.labels) == ("share", False, 3, 6)
    assert report.overall.unanimity.value == pytest.approx(1 / 3)  # accept+accept, reject+accept, accept+reject
    assert (report.all_items, report.by_labels) == (4, {0: 0, 1: 1, 2: 3})
    assert "items:random-share" in report.signature
    everything = agreement(fresh_store, project, resampling=FAST, on="all")
    assert everything.biased and "items:all-reviewed|plan:stop" in everything.signature
    assert everything.items == 10 and everything.overall.unanimity.units == 7


def test_after_a_change_of_plan_the_share_is_the_basis_and_ended_items_are_named(fresh_store: Store) -> None:
    """The plan `all` reopens items that a reject ended; until they are labelled the others are selected."""
    before = stopped(fresh_store)
    assert total(fresh_store, before, funnel(fresh_store, before))["rate"].reason.values == {"begun": 1}
    project = change_project(fresh_store, before, plan="all")
    report = agreement(fresh_store, project, resampling=FAST)
    assert (report.on, report.items, report.ended, report.biased) == ("share", 3, 2, False)
    assert report.overall.unanimity.value == pytest.approx(1 / 3) and "items:random-share" in report.signature
    everything = agreement(fresh_store, project, resampling=FAST, on="all")
    assert everything.biased and "items:all-reviewed|plan:stop" in everything.signature
    rate = total(fresh_store, project, funnel(fresh_store, project))["rate"]
    assert rate.value is None and rate.reason.values == {"ended": 2}
    facts = {"agreement": agreement_facts(report)}
    assert CLAIMS["agreement_ended"](facts) == [2] and CLAIMS["sheet_agreement_ended"]({"agreement": report}) == [2]
    page = open_page("agreement")
    assert not page.exception and "2 of these still lack" in page.warning[0].value
    first = texts(fresh_store, project)
    label(fresh_store, project, "Bo", {first[i]: "reject" for i in (4, 5)})
    label(fresh_store, project, "Bo", {first[3]: "accept"})
    assert agreement(fresh_store, project, resampling=FAST).on == "all"
    assert total(fresh_store, project, funnel(fresh_store, project))["rate"].value is not None


def test_the_signature_of_plan_all_is_unchanged(fresh_store: Store) -> None:
    project = make(fresh_store, 4)
    report = agreement(fresh_store, project, resampling=FAST)
    assert (report.on, report.stopped) == ("all", False)
    assert report.signature.startswith("agreement|labels:blind|items:all-reviewed|categories:accept+reject|unit:item|")


def test_items_of_an_undone_import_do_not_count(fresh_store: Store) -> None:
    project = make(fresh_store, 6, ("Ada", "Bo"), per_item=2)
    first = texts(fresh_store, project)
    label(fresh_store, project, "Ada", dict.fromkeys(first, "accept"))
    label(fresh_store, project, "Bo", {t: "reject" if i < 2 else "accept" for i, t in enumerate(first)})
    db = fresh_store.db
    db.execute("INSERT INTO batch (project, file, published, withdrawn, heard, created) VALUES (?, '', 0, 1, 0, '')",
               (project.id,))  # fmt: skip
    db.execute("UPDATE item SET batch = (SELECT max(id) FROM batch) WHERE text IN (?, ?)", first[:2])
    report = agreement(fresh_store, project, resampling=FAST)
    assert (report.items, report.labels, report.all_items, report.overall.unanimity.value) == (4, 8, 4, 1.0)


def run(*arguments: str) -> dict[str, object]:
    result = CliRunner().invoke(cli, ["agreement", *arguments, "--json", "--resamples", "200"], catch_exceptions=False)
    assert result.exit_code == 0
    return dict(json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON")))


def test_command_names_version_share_and_form(fresh_store: Store) -> None:
    two_versions(fresh_store)
    result = run("made", "--db", str(fresh_store.path))
    assert (result["on"], result["version"]) == ("all", None) and result["version_reason"]
    assert [(row["version"], row["percent"]["value"]) for row in result["by_version"]] == [(1, 1.0), (2, 0.0)]  # type: ignore[attr-defined]
    forms = result["by_form"]
    assert [(form["form"], form["labels"], form["accepted"]) for form in forms["forms"]] == [  # type: ignore[index]
        ("original", 18, 12),
        ("masked", 6, 0),
    ]
    assert forms["difference"]["value"] == pytest.approx(-2 / 3)  # type: ignore[index]
    assert forms["difference_same_items"]["value"] == -1  # type: ignore[index]
    for name in ("difference", "difference_same_items"):
        assert forms[name]["equivalence"]["margin"] == 0.05 and forms[name]["equivalence"]["says"]  # type: ignore[index]
    wide = run("made", "--db", str(fresh_store.path), "--margin", "1")["by_form"]
    assert wide["difference"]["equivalence"]["answer"] == "yes"  # type: ignore[index]
    assert [annotator["annotator"] for annotator in forms["annotators"]] == ["Ada", "Bo"]  # type: ignore[index]
    data = run("made", "--version", "2", "--db", str(fresh_store.path))
    assert (data["version"], data["items"], data["percent"]["value"]) == (2, 6, 0.0)  # type: ignore[index]
    text = CliRunner().invoke(cli, ["agreement", "made", "--resamples", "200", "--db", str(fresh_store.path)]).stdout
    assert "alpha, version 2" in text and "masked - original" in text and "margin 0.05: " in text


def test_command_warns_of_the_biased_numbers(fresh_store: Store) -> None:
    stopped(fresh_store)
    usual = run("made", "--db", str(fresh_store.path))
    assert usual["on"] == "share" and "random share" in str(usual["on_reason"])
    biased = run("made", "--on", "all", "--db", str(fresh_store.path))
    assert biased["on"] == "all" and "biased" in str(biased["on_reason"])


def test_page_chooses_a_version_and_compares_forms(fresh_store: Store) -> None:
    project = two_versions(fresh_store)
    page = open_page("agreement")
    assert forest_of(page)["Full agreement"].startswith("50% (")
    page = open_page("agreement", view="versions")
    headings = [heading.value for heading in page.header]
    assert "By version of the guideline" in headings and "By form shown" in headings
    page.number_input(key="by-form-margin").set_value(1.0).run()
    forms = next(row for row in records_of(page) if "Against the margin" in row)
    assert forms["Against the margin"].startswith("smaller than the margin; minimum detectable difference: ")
    page.segmented_control(key=f"version-{project.uid}").set_value("1").run()
    assert not page.exception
    assert any("version 1 of the guideline" in caption.value for caption in page.caption)
    assert any("nothing to compare" in caption.value for caption in page.caption)
    page.session_state["view"] = "Between annotators"
    assert forest_of(page.run())["Full agreement"].startswith("100% (")


def test_page_explains_the_share_and_warns_without_it(fresh_store: Store) -> None:
    project = stopped(fresh_store)
    page = open_page("agreement", view="items")
    assert "random share" in page.info[0].value and "3 of its 4 items" in page.info[0].value and not page.warning
    assert any("4 of 4 items have at least one label; 7 labels in total" in caption.value for caption in page.caption)
    page.segmented_control(key=f"on-{project.uid}").set_value("all").run()
    assert not page.exception and "Biased" in page.warning[0].value


def test_imported_items_ended_by_a_reject_are_incomplete(fresh_store: Store, tmp_path: Path) -> None:
    """At the source the first reject ended an item, so of the share only accepted items have all labels."""
    project = make(fresh_store, 12, ("Ada", "Bo"), per_item=2)
    project = change_project(fresh_store, project, plan="stop", share=1.0)
    first = texts(fresh_store, project)
    tasks = [task(t, chosen("Keep", id=f"a{t}", completed_by=1), chosen("Keep", id=f"b{t}", completed_by=2))
             for t in first[:4]]  # fmt: skip
    tasks += [task(t, chosen("Drop", id=f"a{t}", completed_by=1)) for t in first[4:7]]
    names = Names(people={"1": "Guest", "2": "Other"}, choices={"Drop": "reject"})
    bring(fresh_store, project, written(tmp_path / "t.json", tasks), names)
    for name in ("Ada", "Bo"):
        label(fresh_store, project, name, {t: "accept" if n else "reject" for n, t in enumerate(first[7:])})
    report = agreement(fresh_store, project, resampling=FAST)
    assert (report.imported_ended, report.overall.items, report.overall.unanimity.value) == (3, 5, 1.0)
    assert report.overall.labels == 10
    facts = agreement_facts(report)
    assert CLAIMS["agreement_imported"]({"agreement": facts}) == [3]
    assert CLAIMS["sheet_agreement_imported"]({"agreement": report}) == [3]
    label(fresh_store, project, "Ada", dict.fromkeys(first[4:7], "reject"), revision=99)  # what they lacked
    report = agreement(fresh_store, project, resampling=FAST)
    assert (report.imported_ended, report.overall.items) == (0, 12)
