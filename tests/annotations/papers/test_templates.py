"""Sentences of templates that name what they are about: units, items, categories and order."""

import re

import pytest
from jinja2 import Environment, StrictUndefined

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.papers import datasheet
from evenhand.annotations.papers.paper import FEWEST_OF, LABELLING
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.release.changes import TEMPLATES as RELEASE
from evenhand.annotations.release.facts import coverage_cited
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.stored_releases import release_file
from tests.support.released_project import label, ready_project

IN_CLAIM = re.compile(r'\{% call\(one\) claim\("(\w+)"\) %\}\n.*?\{% endcall %\}\n?', re.S)
COVERED = {"coverage": coverage_cited(), "fewest": FEWEST_OF}


@pytest.mark.parametrize("kind", ["sentences", "generations"])
def test_only_the_order_of_generations_is_described_as_fully_random(kind: str) -> None:
    facts = {"provenance": {"here": {"labels": 3}}, "project": {"seed": 42, "kind": kind}}
    assert {name for name in LABELLING if name.startswith("order") and LABELLING[name](facts)} == {f"order_{kind}"}
    for language, rule in (("en", "The next pair and side is not drawn"), ("zh", "并非随机")):
        text = (datasheet.TEMPLATES / language / "labelling.md.jinja").read_text(encoding="utf-8")
        claim = next(match.group(0) for match in IN_CLAIM.finditer(text) if match.group(1) == f"order_{kind}")
        assert (rule in claim) == (kind == "sentences")
        assert ({"en": "only its items are shown", "zh": "只分发试标条目"}[language] in claim) == (kind == "sentences")


@pytest.mark.parametrize(
    ("unit", "named"),
    [("source", ("other source articles", "其他来源文章")), ("context", ("other contexts", "其他上文")),
     ("item", ("other items", "其他条目"))],
)  # fmt: skip
def test_the_scope_of_agreement_names_the_units_of_its_intervals(unit: str, named: tuple[str, str]) -> None:
    for language, says in zip(("en", "zh"), named, strict=True):
        text = (RELEASE / language / "method.md.jinja").read_text(encoding="utf-8")
        (claim,) = (match.group(0) for match in IN_CLAIM.finditer(text) if match.group(1) == "agreement_scope")
        template = Environment(undefined=StrictUndefined, autoescape=True).from_string(claim)
        results = {"signature": f"agreement|unit:{unit}|v3"}
        assert says in template.render(agreement=results, claim=lambda _name, caller: caller(COVERED))


@pytest.mark.parametrize("choices", [("accept", "accept"), ("accept", "reject")])
def test_papers_name_the_items_of_agreement_and_the_categories_of_ac1(
    fresh_store: Store, choices: tuple[str, str]
) -> None:
    project = ready_project(fresh_store, 3)
    people = annotators(fresh_store, project)
    for item, labels in zip(items(fresh_store, project), (("accept",) * 3, choices, choices[:1]), strict=True):
        for person, choice in zip(people, labels, strict=False):
            label(fresh_store, project, person, item.uid, choice, note="off")
    made = make_release(fresh_store, project, "1.0")
    assert made.facts["total"]["reviewed"] == 1 and made.facts["agreement"]["items"] == 3
    method, sheet = (
        release_file(fresh_store, made, "method.en.md").decode(),
        datasheet.datasheet(fresh_store, project, "en"),
    )
    assert "in all items that have any" in method and "all reviewed items" not in method
    chinese = release_file(fresh_store, made, "method.zh.md").decode()
    assert "所有标注过的条目" not in chinese
    used = len(set(choices))
    for text in (method, sheet):
        assert "Gwet's AC1 (all categories) of all items with blind labels |" in text
        assert ("Gwet's AC1 (categories that were used) of all items" in text) == (used == 1)
    for text in (chinese, datasheet.datasheet(fresh_store, project, "zh")):
        assert "Gwet AC1，按方案的全部类别（有盲标的全部条目） |" in text
        assert ("Gwet AC1，按用到的类别（有盲标的全部条目）" in text) == (used == 1)


@pytest.mark.parametrize(("unit", "named"), [("source", "12 source articles"), ("context", "12 contexts")])
def test_the_method_section_names_the_units_of_its_intervals(unit: str, named: str) -> None:
    text = (RELEASE / "en" / "method.md.jinja").read_text(encoding="utf-8")
    (claim,) = (match.group(0) for match in IN_CLAIM.finditer(text) if match.group(1) == "agreement_intervals")
    template = Environment(undefined=StrictUndefined, autoescape=True).from_string(claim)
    template.environment.filters["thousands"] = str
    for share, says in (
        ({"clusters": 12}, f"Bayesian bootstrap of {named} "),
        ({}, f" of {named.removeprefix('12 ')} "),
    ):
        results = {"signature": f"unit:{unit}|clustered-dirichlet:2000", "pairwise_percent": share}
        assert says in template.render(agreement=results, claim=lambda _name, caller: caller(COVERED))


def test_templates_have_no_arithmetic_and_no_numbers_of_their_own() -> None:
    """A number is computed once, in the code; 95 is the level of the intervals, 32, 128 and 256 name formats."""
    for file in sorted([*RELEASE.rglob("*.md.jinja"), *datasheet.TEMPLATES.rglob("*.md.jinja")]):
        text = file.read_text(encoding="utf-8")
        for expression in re.findall(r"\{\{(.*?)\}\}", text):
            bare = re.sub(r'"[^"]*"|\[[:\d]*\]', "", expression)
            assert not re.search(r" [-+*/] |\| *sum|\bround\b", bare), (file.name, expression)
        words = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", text)
        assert set(re.findall(r"(?<![A-Z])\d+", words)) <= {"95", "32", "128", "256"}, file
