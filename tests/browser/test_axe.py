"""Every page with the demo projects: axe-core finds no fault of accessibility that is ours, in both themes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from docs.screenshots import RUN, SECTIONS, example_run
from evenhand.annotations.demo import generation_texts, sentences
from evenhand.core.language import Language
from evenhand.pages.catalogue import PAGES, PageSpec
from tests.support.browser import Server

pytestmark = [pytest.mark.browser, pytest.mark.rehearsal]

# Rules that elements of Streamlit break, with a part of such an element's HTML.
STREAMLIT = {"presentation-role-conflict": "stFileUploaderDropzone"}


def projects_of(spec: PageSpec) -> tuple[str, ...]:
    """Return the demo projects to open a page with; one empty name for a page about none."""
    return (sentences.NAME, generation_texts.NAME) if spec.areas[0] in ("step", "project") else ("",)


def queries() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the address and the query of every page, of the slides of the presenter mode, and of a run of scores."""
    for spec in PAGES:
        for project in projects_of(spec):
            yield spec.address, {"project": project} if project else {}
    for guess in ({}, {"guess": "male"}):
        yield "sentence-bias", {"present": "1", **guess}
    for section in SECTIONS:
        yield "model-bias", {"run": RUN, "section": section, "pick": "span||-0.8|-0.3"}


def violations(page: Page) -> list[tuple[str, str]]:
    """Return the rule and the HTML of every violation on the page that is not Streamlit's own."""
    spinner = [["[data-testid=stSpinner]"]]  # its seconds are paler than text may be
    response = Axe().run(page, context={"exclude": spinner}, options={"resultTypes": ["violations"]}).response
    nodes = [(rule["id"], node["html"]) for rule in response["violations"] for node in rule["nodes"]]
    return [(rule, html) for rule, html in nodes if STREAMLIT.get(rule, html) not in html or rule not in STREAMLIT]


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("zh", "dark")])
def test_axe_finds_no_violation_of_ours(
    chromium: Browser, tmp_path: Path, language: Language, theme: Literal["light", "dark"]
) -> None:
    server = Server(tmp_path / "demo.db")
    sentences.ensure_demo(server.database)
    example_run(server.database)
    server.start()
    page = chromium.new_page(color_scheme=theme)
    found = {}
    try:
        for address, query in queries():
            page.goto(server.page(address, lang=language, **query))
            expect(page.locator("h1")).to_have_count(1)
            expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
            expect(page.get_by_test_id("stSpinner")).to_have_count(0)
            for _try in range(6):
                if not (ours := violations(page)):
                    break
                page.wait_for_timeout(1500)  # what is fading in has less contrast
            if ours:
                found[address, str(query)] = ours
    finally:
        page.close()
        server.stop()
    assert found == {}
