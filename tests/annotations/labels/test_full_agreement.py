"""Full agreement: items with at least two blind labels, the same choice; one number wherever it is printed."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import make_generations_demo
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.blind_labels import full_agreement, full_agreement_of_rows, population_labels
from evenhand.annotations.papers.datasheet import read_known
from evenhand.annotations.pilot.pilots import close_pilot, pilots, start_pilot
from evenhand.annotations.pilot.progress import pilot_progress
from evenhand.annotations.progress.cells import counted_cells, funnel, total
from evenhand.annotations.projects.projects import annotators, change_project
from evenhand.annotations.projects.steps import pipeline
from evenhand.annotations.quantities.catalogue import funnel_ids
from evenhand.annotations.release.facts import gather
from evenhand.annotations.types import Mark
from tests.support.agreed_labels import label as choose
from tests.support.agreed_labels import make, texts
from tests.support.generations import generations_project
from tests.support.projects import new_store
from tests.support.released_project import label

TEXTS = [f"They read page {number} again." for number in range(8)]
CHOICES = ("correct", "misgendering", "no_pronoun")


def test_items_with_one_label_and_flags_do_not_count(fresh_store: Store) -> None:
    """The stock demo: 68 of 99 reviewed texts have one label; two of the others differ in the flag only."""
    project = make_generations_demo(fresh_store)
    known = read_known(fresh_store, project)
    facts = gather(fresh_store, project, known)
    result = facts["total"]
    assert (result["reviewed"], result["compared"], result["unanimous"], result["split"]) == (99, 31, 26, 7)
    assert (result["rate"]["value"], result["rate"]["n"]) == (pytest.approx(26 / 31), 31)
    assert result["rate"] == facts["agreement"]["percent"] == facts["quantities"]["agreement.full.reviewed"]
    assert sum(row["unanimous"] for row in facts["funnel"]) == 26
    assert sum(row["rate"]["n"] for row in facts["funnel"]) == 31
    cells, _ahead = counted_cells(fresh_store, project)
    assert [sum(getattr(cell.counted, name) for cell in cells) for name in ("compared", "unanimous")] == [31, 26]
    assert [known.quantities[id_].value for id_ in funnel_ids(sentences=False)] == [120, 99, 31, 26, 94]


def test_a_population_without_two_labels_has_a_reason(fresh_store: Store) -> None:
    """Two of three labels are there: the item has two labels, and it is not reviewed."""
    project = make(fresh_store, 1, ("Ada", "Bo", "Chen"), per_item=3)
    for who in ("Ada", "Bo"):
        choose(fresh_store, project, who, dict.fromkeys(texts(fresh_store, project), "accept"))
    assert full_agreement(fresh_store, project, "labelled").value == 1.0
    reason = full_agreement(fresh_store, project, "reviewed").reason
    assert reason is not None and reason.message == "No item of this kind has labels by two annotators yet."


def test_kept_items_have_an_own_share_without_an_interval(fresh_store: Store) -> None:
    project = make(fresh_store, 4, ("Ada", "Bo"), per_item=2)
    first, second, third, _four = texts(fresh_store, project)
    choose(fresh_store, project, "Ada", dict.fromkeys((first, second, third), "accept"))
    choose(fresh_store, project, "Bo", {first: "accept", second: "accept", third: "reject"})
    reviewed, estimate = (full_agreement(fresh_store, project, name) for name in ("reviewed", "kept"))  # type: ignore[arg-type]
    assert (reviewed.value, reviewed.units) == (pytest.approx(2 / 3), 3)
    assert (estimate.value, estimate.units, estimate.low, estimate.note is not None) == (1.0, 2, None, True)


def test_pilot_agreement_and_release_give_equal_numbers(fresh_store: Store) -> None:
    project = make(fresh_store, 12, ("Ada", "Bo"), per_item=2)
    start_pilot(fresh_store, project, 12)
    choose(fresh_store, project, "Ada", dict.fromkeys(texts(fresh_store, project), "accept"))
    choices = {text: "accept" if n % 3 else "reject" for n, text in enumerate(texts(fresh_store, project)[:9])}
    choose(fresh_store, project, "Bo", choices)
    close_pilot(fresh_store, project)
    figures = pilot_progress(fresh_store, project, pilots(fresh_store, project)[0])
    assert (figures.labelled, figures.compared, figures.unanimous.value) == (12, 9, pytest.approx(6 / 9))
    assert figures.unanimous == agreement(fresh_store, project).overall.unanimity
    (facts,) = gather(fresh_store, project)["pilots"]
    assert (facts["compared"], facts["agreement"]["value"]) == (9, figures.unanimous.value)


def test_single_labels_are_not_counted_as_unanimous_on_the_home_page(fresh_store: Store) -> None:
    project = make(fresh_store, 4, ("Ada",), per_item=1)
    choose(fresh_store, project, "Ada", dict.fromkeys(texts(fresh_store, project), "accept"))
    result = pipeline(fresh_store)
    assert (result.reviewed, result.unanimous, result.kept) == (4, 0, 4)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.tuples(st.sampled_from(CHOICES), st.booleans()), max_size=3), min_size=1, max_size=8))
def test_counts_and_shares_are_over_equal_items(written: list[list[tuple[str, bool]]]) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(Path(folder) / "a.db") as store:
        project = generations_project(store, "g", TEXTS[: len(written)], annotators=("Ada", "Bo", "Cy"), per_item=2)
        project = change_project(store, project, doubled=None)
        people = annotators(store, project)
        for item, labels in zip(list(items(store, project)), written, strict=True):
            for person, (choice, flag) in zip(people, labels, strict=False):
                marks = [Mark(0, 2, "pronoun")] if choice == "misgendering" else []
                marks += [Mark(5, 9, "extraneous")] if flag else []
                label(store, project, person, item.uid, choice, extraneous=flag, spans=tuple(marks))
        several = [{choice for choice, _flag in labels} for labels in written if len(labels) > 1]
        same = sum(len(choices) == 1 for choices in several)
        result = total(store, project, funnel(store, project))
        assert (result["compared"], result["unanimous"]) == (len(several), same)
        shares = [result["rate"], full_agreement(store, project, "reviewed"), population_labels(store, project,
                  "labelled").share(), agreement(store, project).overall.unanimity]  # fmt: skip
        value = pytest.approx(same / len(several)) if several else None
        assert all((share.value, share.units) == (value, len(several)) for share in shares)
        rows = [(n, choice, "") for n, labels in enumerate(written) for choice, _flag in labels]
        assert full_agreement_of_rows(rows).value == value
