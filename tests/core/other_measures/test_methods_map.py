"""The map of methods: every cell says everything in both languages, and its links lead somewhere."""

from docs.methods_map import FILE, document
from evenhand.core.other_measures.measures import BY_NAME
from evenhand.core.other_measures.methods_map import FAMILIES, KINDS, methods, of
from evenhand.core.resources import ROOT

VIEWS = {"measure", "results", "own", "methods"}


def test_every_kind_of_model_has_measures_and_mitigations() -> None:
    assert {one.family for one in methods()} == set(FAMILIES)
    assert all(of(family, kind) for family in FAMILIES for kind in KINDS)


def test_every_cell_is_complete_in_both_languages() -> None:
    for one in methods():
        for language in ("en", "zh"):
            texts = [one.name[language], one.formula[language], one.against[language]]
            assert all(texts) and one.source, one.name
            assert bool(one.page) != bool(one.why[language]), one.name
        assert any("\u4e00" <= sign <= "\u9fff" for sign in one.against["zh"] + one.why["zh"])


def test_links_point_to_existing_pages_and_documents() -> None:
    for one in methods():
        if one.page:
            assert (ROOT / "pages" / one.page).is_file(), one.page
            assert (ROOT / "docs" / one.doc).is_file(), one.doc
            assert one.parameters.get("measure", "weat") in BY_NAME
            assert one.parameters.get("view", "own") in VIEWS
            assert set(one.parameters) <= {"view", "measure"}


def test_the_document_matches_the_table() -> None:
    assert FILE.read_text(encoding="utf-8") == document()
