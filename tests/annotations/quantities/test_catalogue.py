"""The catalogue of quantities: complete entries, headings that exist, and a document that is current."""

import re
from typing import Any

import pytest

from docs.quantities import FILE, GROUPS, document
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import Quantity
from evenhand.core.language import translate
from evenhand.core.resources import ROOT

EACH = pytest.mark.parametrize("one", ENTRIES.values(), ids=list(ENTRIES))


def headings(document_name: str) -> set[str]:
    text = (ROOT / "docs" / document_name).read_text(encoding="utf-8")
    found = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


@EACH
def test_an_entry_is_complete_in_both_languages(one: Quantity[Any, Any]) -> None:
    for text in (
        one.name,
        one.population.words,
        one.each,
        *([one.interval.words] if one.interval else []),
        *([one.by] if one.by else []),
    ):
        assert text and translate(text, "zh") != text
    assert one.population.condition and one.id.partition(".")[0] in GROUPS
    assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)+", one.id)


@EACH
def test_formula_and_coverage_are_headings_of_documents(one: Quantity[Any, Any]) -> None:
    for place in (one.formula, *([one.interval.coverage] if one.interval else [])):
        name, _, heading = place.partition("#")
        assert heading in headings(name), place


def test_two_entries_have_two_names_or_two_populations() -> None:
    names = [(one.name, one.population.words, one.by, one.population.condition) for one in ENTRIES.values()]
    assert len(names) == len(set(names)) == len({name[:3] for name in names})


def test_the_document_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == document()
