"""axe-core finds no fault of accessibility that is ours: on every page with the demo projects, on open desks, on
a run of scores and on a running job, in both themes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from docs.screenshots import RUN, SECTIONS, example_run
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo import sentences
from evenhand.annotations.imports.run import IMPORT, Settings
from evenhand.annotations.jobs import jobs
from evenhand.core.language import Language
from tests.support.browser import Server
from tests.support.demo_pages import queries
from tests.support.desk_driver import Opener, make_generations, make_project

pytestmark = [pytest.mark.browser, pytest.mark.rehearsal]

# Rules that elements of Streamlit break, with a part of such an element's HTML.
STREAMLIT = {"presentation-role-conflict": "stFileUploaderDropzone", "landmark-unique": 'aria-label="Pagination"'}


def run_queries() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the address and the query of every view of a run of scores."""
    for section in SECTIONS:
        yield "model-bias", {"run": RUN, "section": section, "pick": "span||-0.8|-0.3"}


def violations(page: Page) -> list[tuple[str, str]]:
    """Return the rule and the HTML of every violation on the page that is not Streamlit's own."""
    spinner = [["[data-testid=stSpinner]"]]  # its seconds are paler than text may be
    response = Axe().run(page, context={"exclude": spinner}, options={"resultTypes": ["violations"]}).response
    nodes = [(rule["id"], node["html"]) for rule in response["violations"] for node in rule["nodes"]]
    return [(rule, html) for rule, html in nodes if STREAMLIT.get(rule, html) not in html or rule not in STREAMLIT]


def lasting_violations(page: Page) -> list[tuple[str, str]]:
    """Return the violations that stay; what is fading in has less contrast."""
    for _try in range(6):
        if not (ours := violations(page)):
            break
        page.wait_for_timeout(1500)
    return ours


BOTH = pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("zh", "dark")])


@BOTH
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
        for address, query in (*queries(), *run_queries()):
            page.goto(server.page(address, lang=language, **query))
            expect(page.locator("h1")).to_have_count(1)
            expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
            expect(page.get_by_test_id("stSpinner")).to_have_count(0)
            if ours := lasting_violations(page):
                found[address, str(query)] = ours
    finally:
        page.close()
        server.stop()
    assert found == {}


STATES: dict[str, tuple[tuple[str, ...], ...]] = {
    "sentences": ((), ("k", "1"), ("Escape", "n"), ("Escape", "j", "?"), ("Escape", "/")),
    "generations": ((), ("f",), ("Escape", "f", "2"), ("Escape", "t", "5"), ("Enter", "n"), ("Escape", "1", "?")),
}


@BOTH
@pytest.mark.parametrize("kind", STATES)
def test_axe_finds_nothing_on_an_open_desk(
    app_desks: Opener, kind: str, language: str, theme: Literal["light", "dark"]
) -> None:
    make: Callable[..., str] = make_generations if kind == "generations" else make_project
    desk = app_desks(make(app_desks.server, 6), context=app_desks.fresh(color_scheme=theme)).open(lang=language)
    found = {}
    for keys in STATES[kind]:
        desk.press(*keys)
        if ours := lasting_violations(desk.page):
            found[keys] = ours
    desk.cut()
    desk.press("Escape", "j", "1")
    expect(desk.notice("away")).to_be_visible()
    found |= {("away",): ours} if (ours := lasting_violations(desk.page)) else {}
    desk.mend()
    assert found == {}


def test_a_running_job_has_no_violation_and_its_end_is_said(chromium: Browser, tmp_path: Path) -> None:
    server = Server(tmp_path / "jobs.db")
    sentences.ensure_demo(server.database)
    server.start()
    page = chromium.new_page()
    file = tmp_path / "sentences.txt"
    file.write_text("".join(f"第{n}天，他在河边散步。\n" for n in range(20_000)), encoding="utf-8")
    try:
        with Store.open(server.database) as store:
            jobs.start(store, IMPORT, Settings(sentences.NAME, file), "Reading")
        page.goto(server.page("jobs", lang="en"))
        expect(page.get_by_role("progressbar")).to_be_visible()
        assert lasting_violations(page) == []
        expect(page.locator("#evenhand-says")).to_have_text("Reading: finished")
    finally:
        page.close()
        server.stop()
