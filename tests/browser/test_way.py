"""The way through in a real browser: the project in every address, Back and Forward in one press, the first presses."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import Server
from tests.support.desk_driver import make_project, new_context

pytestmark = pytest.mark.browser
STALE_MS = 1_500  # so long a browser may still send the address before (LATE of pages/ui/address.py)


def title(page: Page, name: str, **parts: str) -> None:
    """Check the title of the page, and that its address contains *parts*."""
    expect(page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible()
    for part, value in parts.items():
        expect(page).to_have_url(re.compile(rf"[?&]{part}={value}(&|$)"))
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)


def choose(page: Page, project: str) -> None:
    page.get_by_role("combobox", name="Project").click()
    page.get_by_role("option", name=project, exact=True).click()


@pytest.mark.long
def test_back_and_forward_restore_the_page_in_one_press(chromium: Browser, app_server: Server) -> None:
    first, second = (make_project(app_server, 2) for _ in range(2))
    at_first, at_second = (name.replace(" ", r"(\+|%20)") for name in (first, second))
    context = new_context(chromium)
    page = context.new_page()
    page.goto(app_server.page("plan", project=first))
    rail = page.get_by_test_id("stSidebar")
    title(page, "Labelling plan", project=at_first)
    rail.get_by_role("link", name="Pilot and guideline").click()
    title(page, "Pilot and guideline", project=at_first, part="pilot")
    page.get_by_role("radio", name="Next version").click()
    title(page, "Pilot and guideline", project=at_first, part="guideline")
    page.wait_for_timeout(STALE_MS)
    rail.get_by_role("link", name="People").click()
    title(page, first, project=at_first, section="people")
    rail.get_by_role("link", name="Sources").click()
    title(page, first, project=at_first, section="files")
    page.wait_for_timeout(STALE_MS)
    rail.get_by_role("link", name="Progress").click()
    title(page, "Progress", project=at_first)
    choose(page, second)
    title(page, "Progress", project=at_second)
    page.wait_for_timeout(STALE_MS)
    page.go_back()
    title(page, "Progress", project=at_first)
    expect(page.get_by_role("combobox", name="Project")).to_have_value(first)
    page.go_back()
    title(page, first, project=at_first, section="files")
    page.go_back()
    title(page, first, project=at_first, section="people")
    expect(page.get_by_text("More annotators, one per line")).to_be_visible()
    page.go_back()
    title(page, "Pilot and guideline", project=at_first, part="guideline")
    page.go_back()
    title(page, "Pilot and guideline", project=at_first, part="pilot")
    page.go_back()
    title(page, "Labelling plan", project=at_first)
    page.go_forward()
    title(page, "Pilot and guideline", project=at_first, part="pilot")
    context.close()


def test_home_leads_to_a_desk_in_one_press(chromium: Browser, app_server: Server) -> None:
    project = make_project(app_server, 2)
    context = new_context(chromium)
    page = context.new_page()
    page.goto(app_server.page(lang="en"))
    page.locator(".st-key-entrance-annotate summary").click()
    desks = page.locator(".st-key-entrance-annotate a")
    desks.first.wait_for()
    named = [
        element
        for element in desks.all()
        if project in parse_qs(urlsplit(element.get_attribute("href") or "").query).get("project", [])
    ]
    named[0].click()
    expect(page.get_by_test_id("desk-text")).to_be_visible()
    context.close()
