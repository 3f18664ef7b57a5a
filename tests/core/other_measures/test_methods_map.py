"""The map of methods: every cell is complete in both languages, and its links lead somewhere."""

from docs.methods_map import FILE, document
from evenhand.core.other_measures.methods_map import FAMILIES, KINDS, methods, of
from evenhand.core.other_measures.settings import BY_NAME
from evenhand.core.resources import ROOT

VIEWS = {"measure", "results", "own", "methods"}


def test_every_kind_of_model_has_measures_and_mitigations() -> None:
    assert {method.family for method in methods()} == set(FAMILIES)
    assert all(of(family, kind) for family in FAMILIES for kind in KINDS)


def test_every_cell_is_complete_in_both_languages() -> None:
    for method in methods():
        for language in ("en", "zh"):
            texts = [method.name[language], method.formula[language], method.against[language]]
            assert all(texts) and method.source, method.name
            assert bool(method.page) != bool(method.why[language]), method.name
        assert any("\u4e00" <= sign <= "\u9fff" for sign in method.against["zh"] + method.why["zh"])


def test_links_point_to_existing_pages_and_documents() -> None:
    for method in methods():
        if method.page:
            assert (ROOT / "pages" / method.page).is_file(), method.page
            assert (ROOT / "docs" / method.doc).is_file(), method.doc
            assert method.parameters.get("measure", "weat") in BY_NAME
            assert method.parameters.get("view", "own") in VIEWS
            assert set(method.parameters) <= {"view", "measure"}


def test_the_document_matches_the_table() -> None:
    assert FILE.read_text(encoding="utf-8") == document()
