"""annotations.agreement, its disagreements, command and page: from labels in a store to numbers."""

import json
import uuid
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.agreement.disagreements import (
    Disagreement,
    differing_items,
    disagreements_of,
    record_reveals,
)
from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.agreement.report import AgreementReport, Categories
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem, items
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.projects.projects import (
    add_annotators,
    annotator,
    change_project,
    create_project,
    remove_annotator,
)
from evenhand.annotations.types import Operation, Project
from evenhand.commands.agreement import for_people
from evenhand.core.statistics.estimate import CLUSTERED, DIRICHLET
from evenhand.core.text.keywords import find
from tests.support.agreed_labels import FAST, _operation, label, make, texts
from tests.support.pages import captions_of, forest_of, open_page


def test_labels_of_gwets_table_give_the_published_ac1(fresh_store: Store) -> None:
    # Gwet (2008): 118 accepted by both, 5 and 2 split, none rejected by both: kappa -0.0234, AC1 0.9408.
    project = make(fresh_store, 125, ("Ada", "Bo"), per_item=2)
    all_texts = texts(fresh_store, project)
    label(fresh_store, project, "Ada", {t: "reject" if i >= 123 else "accept" for i, t in enumerate(all_texts)})
    label(fresh_store, project, "Bo", {t: "reject" if 118 <= i < 123 else "accept" for i, t in enumerate(all_texts)})
    report = agreement(fresh_store, project, resampling=FAST)
    two = report.two("Ada", "Bo")
    assert two is not None
    assert two.table == ((118, 5), (2, 0))
    assert two.kappa.value == pytest.approx(-0.0234, abs=5e-5)
    assert report.overall.ac1.value == pytest.approx(0.9408, abs=5e-5)
    assert report.overall.unanimity.value == pytest.approx(118 / 125)
    turned = report.two("Bo", "Ada")
    assert turned is not None and turned.table == ((118, 2), (5, 0))
    # Rejected items count: among kept items only, annotators would always agree.
    assert report.by_labels == {0: 0, 1: 0, 2: 125}


def in_articles(store: Store, per_article: int) -> AgreementReport:
    """Return the report of 60 sentences; two people agree on all sentences of an article or on none."""
    project = make(store, 60, ("Ada", "Bo"), per_item=2, per_article=per_article)
    every = texts(store, project)
    label(store, project, "Ada", dict.fromkeys(every, "accept"))
    label(store, project, "Bo", {t: "accept" if (i // 5) % 2 else "reject" for i, t in enumerate(every)})
    return agreement(store, project, resampling=FAST)


def test_intervals_are_over_articles_where_some_have_several_sentences(fresh_store: Store) -> None:
    report = in_articles(fresh_store, 5)
    assert "|unit:source|clustered-dirichlet:200|" in report.signature
    two = report.two("Ada", "Bo")
    assert two is not None
    for estimate in (report.overall.unanimity, report.overall.pairwise, report.overall.ac1, two.agreed, two.kappa):
        assert (estimate.method, estimate.clusters) == (CLUSTERED, 12)
    # sqrt(.25 / 12) over articles, wider for t with 11 degrees of freedom; sqrt(.25 / 60) were sentences independent.
    estimate = report.overall.pairwise
    assert estimate.value == 0.5 and estimate.se == pytest.approx((0.25 / 12) ** 0.5, rel=0.2)
    assert str(estimate.note) == "Few units (12): a wide interval."
    assert {"method": CLUSTERED, "clusters": 12}.items() <= estimate.to_json().items()
    assert report.by_form is not None and report.by_form.forms[0].rate.clusters == 12
    assert "Intervals over 12 source articles:" in "\n".join(for_people(report))


@pytest.mark.parametrize("per_article", [0, 1])
def test_intervals_are_over_sentences_where_no_article_has_several(fresh_store: Store, per_article: int) -> None:
    report = in_articles(fresh_store, per_article)
    assert "|unit:item|dirichlet:200|" in report.signature
    assert (report.overall.ac1.method, report.overall.ac1.clusters) == (DIRICHLET, 0)
    assert report.overall.pairwise == report.overall.unanimity  # of two labels per item: one number, one interval


def with_missing_labels(store: Store) -> AgreementReport:
    """Return the report of 20 items: 16 with a label of Ada, 12 of them of Bo, 6 of these of Chen."""
    project = make(store, 20)
    first = texts(store, project)
    label(store, project, "Ada", dict.fromkeys(first[:16], "accept"))
    label(store, project, "Bo", {t: "reject" if i < 4 else "accept" for i, t in enumerate(first[:12])})
    label(store, project, "Chen", dict.fromkeys(first[:6], "accept"))
    return agreement(store, project, resampling=FAST)


def test_every_row_has_its_number_of_items_and_ac1_its_categories(fresh_store: Store) -> None:
    report = with_missing_labels(fresh_store)
    lines = "\n".join(for_people(report)).splitlines()
    by_name = {line.split("  ")[0]: line for line in lines[1:]}
    assert "n = 12 (all items with at least two blind labels)" in by_name["Full agreement"]
    assert "n = 6 (all items with the most common number of blind labels, two or more)" in by_name["Fleiss' kappa"]
    assert "n = 16 (all items with blind labels)" in by_name["Gwet's AC1 (all categories)"]
    assert "that both labelled" in by_name["kappa Ada & Bo"] and "categories that were used" not in "".join(by_name)
    assert report.overall.ac1_used == report.overall.ac1
    unused = replace(report.overall, categories=Categories(4, 2))
    shown = "\n".join(for_people(replace(report, overall=unused)))
    assert "Gwet's AC1 (categories that were used)" in shown


def test_alpha_includes_items_with_missing_labels(fresh_store: Store) -> None:
    report = with_missing_labels(fresh_store)
    assert (report.all_items, report.items, report.labels) == (20, 16, 34)
    assert report.by_labels == {0: 4, 1: 4, 2: 6, 3: 6}
    assert report.overall.unanimity.value == pytest.approx(8 / 12)
    assert (report.overall.fleiss.units, report.overall.alpha.units, report.overall.ac1.units) == (6, 12, 16)
    assert [two.items for two in report.cohen] == [12, 6, 6]
    assert report.annotators == ("Ada", "Bo", "Chen")


def test_a_label_after_an_opinion_does_not_count(fresh_store: Store) -> None:
    project = make(fresh_store, 4)
    first = texts(fresh_store, project)
    for name in ("Ada", "Bo"):
        label(fresh_store, project, name, dict.fromkeys(first, "accept"))
    bo = annotator(fresh_store, project, "Bo")
    item = next(iter(items(fresh_store, project)))
    last = fresh_store.db.execute(
        "SELECT op_id FROM label JOIN item ON item.id = label.item WHERE item.uid = ? AND annotator = ?",
        (item.uid, bo.id),
    ).fetchone()[0]
    reveal(fresh_store, project, bo, item.uid)
    (answer,) = store_operations(fresh_store, project, bo, [_operation(item, "reject", 2, base=last)])
    assert answer.stored
    assert agreement(fresh_store, project, resampling=FAST).overall.unanimity.value == 1
    assert disagreements(fresh_store, project) == []


def test_changed_and_withdrawn_labels_do_not_count(fresh_store: Store) -> None:
    project = make(fresh_store, 3)
    first = texts(fresh_store, project)
    label(fresh_store, project, "Ada", dict.fromkeys(first, "accept"))
    label(fresh_store, project, "Bo", dict.fromkeys(first, "accept"))
    bo = annotator(fresh_store, project, "Bo")
    remove_annotator(fresh_store, project, annotator(fresh_store, project, "Chen"))
    ops = dict(
        fresh_store.db.execute(
            "SELECT item.uid, op_id FROM label JOIN item ON item.id = label.item WHERE annotator = ?", (bo.id,)
        ).fetchall()
    )
    one, second, _three = items(fresh_store, project)
    change = _operation(one, "reject", 2, base=ops[one.uid], note="读起来别扭")
    back = Operation(uuid.uuid4().hex, second.uid, None, "d", 3, base=ops[second.uid])
    assert all(answer.stored for answer in store_operations(fresh_store, project, bo, [change, back]))
    report = agreement(fresh_store, project, resampling=FAST)
    assert report.by_labels == {0: 0, 1: 1, 2: 2}
    assert report.overall.unanimity.value == 0.5
    (disagreement,) = disagreements(fresh_store, project)
    assert disagreement.item == one.uid
    assert [(j.annotator, j.choice, j.note) for j in disagreement.judgements] == [
        ("Ada", "accept", ""),
        ("Bo", "reject", "读起来别扭"),
    ]
    assert disagreement.judgements[1].reasons == ("not_plausible",)


def disagreements(store: Store, project: Project, **of: Any) -> list[Disagreement]:
    """Return the items with different labels, as the page lists them."""
    return disagreements_of(store, differing_items(store, project, **of))


def test_disagreements_are_listed_by_pair_and_between_two_annotators(fresh_store: Store) -> None:
    project = make(fresh_store, 12)
    first = texts(fresh_store, project)
    label(fresh_store, project, "Ada", dict.fromkeys(first, "accept"))
    label(fresh_store, project, "Bo", {t: "reject" if i < 6 else "accept" for i, t in enumerate(first)})
    label(fresh_store, project, "Chen", {t: "reject" if i % 2 else "accept" for i, t in enumerate(first)})
    everybody = disagreements(fresh_store, project)
    assert len(everybody) == 9 and [d.text for d in everybody[2:6]] == [first[i] for i in (2, 3, 4, 5)]
    assert len(disagreements(fresh_store, project, between=("Ada", "Bo"))) == 6
    assert len(disagreements(fresh_store, project, between=("Bo", "Chen"))) == 6
    of_pair = disagreements(fresh_store, project, pair="爸爸/妈妈")
    assert len(of_pair) == 4  # items 2, 3, 7 and 11 of the twelve
    assert {d.pair for d in of_pair} == {"爸爸/妈妈"}
    assert all(d.text[slice(*d.word)] in ("爸爸", "妈妈") for d in of_pair if d.word)


def test_a_disagreement_is_listed_after_the_last_blind_label(fresh_store: Store) -> None:
    project = make(fresh_store, 4)
    first = texts(fresh_store, project)
    label(fresh_store, project, "Ada", dict.fromkeys(first, "accept"))
    label(fresh_store, project, "Bo", dict.fromkeys(first, "reject"))
    assert disagreements(fresh_store, project) == []  # Chen would see the labels of the two
    label(fresh_store, project, "Chen", {first[0]: "accept"})
    assert [d.text for d in disagreements(fresh_store, project)] == first[:1]
    remove_annotator(fresh_store, project, annotator(fresh_store, project, "Chen"))
    assert len(disagreements(fresh_store, project)) == 4


def test_an_annotator_sees_only_labelled_items_and_the_view_is_recorded(fresh_store: Store) -> None:
    project = make(fresh_store, 4, per_item=2)
    first = texts(fresh_store, project)
    label(fresh_store, project, "Ada", dict.fromkeys(first, "accept"))
    label(fresh_store, project, "Bo", dict.fromkeys(first[:3], "reject") | {first[3]: "skip"})
    label(fresh_store, project, "Chen", dict.fromkeys(first[3:], "reject"))
    bo = annotator(fresh_store, project, "Bo")
    listed = disagreements(fresh_store, project, reader=bo)
    assert [d.text for d in listed] == first[:3]
    record_reveals(fresh_store, bo, listed[:2])
    query = (
        "SELECT item.text, revealed IS NOT NULL FROM assignment JOIN item ON item.id = item"
        " WHERE annotator = ? AND state = 'labelled'"
    )
    seen = dict(fresh_store.db.execute(query, (bo.id,)).fetchall())
    assert seen == {first[0]: 1, first[1]: 1, first[2]: 0}
    ada = annotator(fresh_store, project, "Ada")
    assert not any(dict(fresh_store.db.execute(query, (ada.id,)).fetchall()).values())


def test_rows_by_keyword_pair_add_up(fresh_store: Store) -> None:
    project = make(fresh_store, 40)
    first = texts(fresh_store, project)
    for shift, name in enumerate(("Ada", "Bo", "Chen")):
        label(
            fresh_store, project, name, {t: "reject" if (i + shift) % 5 == 0 else "accept" for i, t in enumerate(first)}
        )
    report = agreement(fresh_store, project, resampling=FAST)
    assert [name for name, _ in report.by_pair] == ["他/她", "爸爸/妈妈"]
    assert sum(m.items for _, m in report.by_pair) == report.items == 40
    assert sum(c.labels for c in report.categories) == report.labels == 120
    assert sum(c.prevalence.value or 0 for c in report.categories) == pytest.approx(1)
    # Each two annotators together are the pairs that Fleiss' P-bar averages over.
    agreed = [two.agreed.value for two in report.cohen]
    assert report.overall.pairwise.value == pytest.approx(sum(a or 0 for a in agreed) / 3)


def run(*arguments: str) -> dict[str, object]:
    result = CliRunner().invoke(cli, ["agreement", *arguments, "--json", "--resamples", "200"], catch_exceptions=False)
    assert result.exit_code == 0
    return dict(json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON")))


def test_command_keeps_its_contract(fresh_store: Store) -> None:
    project = make(fresh_store, 8)
    for name, choice in (("Ada", "accept"), ("Bo", "accept"), ("Chen", "reject")):
        label(fresh_store, project, name, dict.fromkeys(texts(fresh_store, project), choice))
    result = run("made", "--db", str(fresh_store.path))
    assert {"items", "labels", "percent", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1", "cohen_kappa"} <= set(
        result
    )
    assert (result["items"], result["labels"]) == (8, 24)
    for key in ("percent", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        assert {"value", "low", "high"} <= set(result[key])  # type: ignore[call-overload]
    pairs = {(row["a"], row["b"]): row for row in result["cohen_kappa"]}  # type: ignore[attr-defined]
    assert set(pairs) == set(combinations(("Ada", "Bo", "Chen"), 2))
    assert pairs["Ada", "Bo"]["value"] is None
    assert "Only one category" in pairs["Ada", "Bo"]["value_reason"]
    assert pairs["Ada", "Chen"]["value"] == 0 and pairs["Ada", "Chen"]["n"] == 8
    assert {"pair", "items", "percent"} <= set(result["by_pair"][0])  # type: ignore[index]


def test_command_without_labels_gives_reasons(fresh_store: Store) -> None:
    make(fresh_store, 3)
    result = run("made", "--db", str(fresh_store.path))
    assert (result["items"], result["labels"], result["cohen_kappa"], result["by_pair"]) == (0, 0, [], [])
    for key in ("percent", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        measure = result[key]
        assert measure["value"] is None and measure["value_reason"]  # type: ignore[index]


def test_command_prints_readable_text(fresh_store: Store) -> None:
    make(fresh_store, 3)
    text = CliRunner().invoke(cli, ["agreement", "made", "--db", str(fresh_store.path)]).stdout
    assert "0 of 3 items with 0 blind labels" in text and "—" in text and "nan" not in text


def test_page_explains_missing_labels(fresh_store: Store) -> None:
    assert "no projects yet" in open_page("agreement").info[0].value
    project = create_project(fresh_store, "made", annotators=("Ada",))
    assert "no items yet" in open_page("agreement").info[0].value
    batch = Batch.begin(fresh_store, project, "one.txt")
    batch.add([NewItem(text="她在看书。", candidate=find("她在看书。")[0], file="one.txt", line=1, extra={})])
    batch.publish()
    assert "No item has been labelled" in open_page("agreement").info[0].value
    label(fresh_store, project, "Ada", {"她在看书。": "accept"})
    assert "No item has labels by two annotators yet" in open_page("agreement").info[0].value


def test_page_shows_the_numbers_of_the_report(fresh_store: Store) -> None:
    hostile = "<b>**Bo** :red[x] $a$"
    project = make(fresh_store, 30, per_item=2)
    add_annotators(fresh_store, project, [hostile])
    first = texts(fresh_store, project)
    label(fresh_store, project, "Ada", dict.fromkeys(first, "accept"))
    label(
        fresh_store,
        project,
        hostile,
        {t: "reject" if i < 3 else "accept" for i, t in enumerate(first)},
        note="<i>嗯</i>",
    )
    page = open_page("agreement")
    shown = forest_of(page)
    assert shown["Full agreement"].startswith("90% (") and "30 of 30 items" in captions_of(page)
    assert shown["Fleiss κ"].startswith("−0.05")
    page = open_page("agreement", view="disagreements")
    cards = [element.value for element in page.get("html") if "<article" in str(element.value)]
    assert len(cards) == 3
    for card in cards:
        assert "&lt;b&gt;**Bo** :red[x] $a$" in card and "&lt;i&gt;嗯&lt;/i&gt;" in card
        assert "<b>" not in card and "<i>" not in card
    assert agreement(fresh_store, project).signature in [code.value for code in page.code]
    page.selectbox(key="select-pair").set_value("爸爸/妈妈").run()
    assert not page.exception
    assert len([e for e in page.get("html") if "<article" in str(e.value)]) == 1


def test_a_negative_kappa_is_printed_with_a_minus_sign(fresh_store: Store) -> None:
    project = make(fresh_store, 20)
    first = texts(fresh_store, project)
    for name, choices in (("Ada", ("accept", "reject")), ("Bo", ("reject", "accept"))):
        label(fresh_store, project, name, {text: choices[n % 2] for n, text in enumerate(first)})
    results = [
        caption.value.replace("\\", "")
        for caption in open_page("agreement").caption
        if "Maximum given their marginals" in caption.value
    ]
    assert len(results) == 1 and "kappa −1.00 (−1.00" in results[0], results


def test_page_follows_new_labels(fresh_store: Store) -> None:
    project = make(fresh_store, 20)
    first = texts(fresh_store, project)
    label(fresh_store, project, "Ada", dict.fromkeys(first, "accept"))
    label(fresh_store, project, "Bo", dict.fromkeys(first[:10], "accept"))
    page = open_page("agreement")
    assert forest_of(page)["Full agreement"].startswith("100% (")
    label(fresh_store, project, "Bo", dict.fromkeys(first[10:], "reject"))
    page.run()
    assert forest_of(page)["Full agreement"].startswith("50% (")


def test_page_with_an_open_desk_records_what_it_shows(fresh_store: Store) -> None:
    project = make(fresh_store, 4, ("Ada", "Bo", "<i>Chen"), per_item=2)
    first = texts(fresh_store, project)
    label(fresh_store, project, "Ada", dict.fromkeys(first, "accept"))
    label(fresh_store, project, "Bo", dict.fromkeys(first, "skip") | {first[0]: "reject"})
    label(fresh_store, project, "<i>Chen", dict.fromkeys(first[1:], "reject"))
    page = open_page("agreement", view="disagreements", state={"desk_project": "made", "desk_annotator": "Bo"})
    (card,) = [str(e.value) for e in page.get("html") if "<article" in str(e.value)]
    assert first[0][1:] in card
    bo = annotator(fresh_store, project, "Bo")
    (item,) = [candidate for candidate in items(fresh_store, project) if candidate.text == first[0]]
    last = fresh_store.db.execute("SELECT op_id FROM label WHERE annotator = ?", (bo.id,)).fetchone()[0]
    store_operations(fresh_store, project, bo, [_operation(item, "accept", 2, base=last)])
    assert fresh_store.db.execute("SELECT after_reveal FROM label ORDER BY id DESC LIMIT 1").fetchone() == (1,)


def test_page_recomputes_for_a_new_project_of_the_same_name(fresh_store: Store) -> None:
    project = make(fresh_store, 4, ("Ada", "Bo"), per_item=2)
    for name in ("Ada", "Bo"):
        label(fresh_store, project, name, dict.fromkeys(texts(fresh_store, project), "accept"))
    other = create_project(fresh_store, "other", annotators=("Ada",))
    page = open_page("agreement", project=project.name)
    assert "4 of 4 items" in captions_of(page)
    change_project(fresh_store, project, name="old")
    change_project(fresh_store, other, name="made")
    page = open_page("agreement", project="made")
    assert page.selectbox(key="project").value == "made"
    assert "no items yet" in page.info[0].value
