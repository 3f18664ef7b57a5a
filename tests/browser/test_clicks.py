"""A click on an explanation and a key in a field change nothing, in a real browser."""

import re

from playwright.sync_api import Browser, Page, expect

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs import jobs
from evenhand.annotations.pilot.pilots import open_pilot
from evenhand.annotations.projects.projects import project
from tests.support.browser import Server
from tests.support.desk_driver import WAIT_MS, make_project, new_context
from tests.support.judged_sentences import judged
from tests.support.released_project import ready_project, work
from tests.support.waiting import until


def settled(page: Page) -> None:
    """Wait until the page has run, and for the run that a click would have started."""
    page.wait_for_timeout(400)
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(timeout=WAIT_MS)


def test_an_explanation_does_not_flip_its_switch(chromium: Browser, app_server: Server) -> None:
    name = make_project(app_server, 3)
    context = new_context(chromium)
    page = context.new_page()
    page.goto(app_server.page("adjudicate", project=name, lang="en"))
    switch = page.locator("[class*='st-key-rescue-']")
    box = switch.get_by_role("switch")
    expect(box).not_to_be_checked()
    signs = page.locator("label:has(input[type=checkbox]) [data-testid=stTooltipIcon]")
    expect(signs).to_have_count(0)
    page.get_by_text("the rule of the journal paper").click()
    settled(page)
    expect(box).not_to_be_checked()
    # The switch itself stores nothing either, before its change was read and saved.
    switch.locator("label").click()
    expect(page.get_by_text("not allowed → allowed")).to_be_visible()
    with Store.open(app_server.database) as store:
        assert not project(store, name).rescue
        page.locator(".st-key-save_rule button").click()
        until(lambda: project(store, name).rescue)
    expect(page.get_by_text("not allowed → allowed")).to_have_count(0)
    context.close()


def test_enter_does_not_start_a_pilot(chromium: Browser, app_server: Server) -> None:
    name = make_project(app_server, 6)
    context = new_context(chromium)
    page = context.new_page()
    page.goto(app_server.page("pilot", project=name, lang="en"))
    field = page.locator(".st-key-pilot_items input")
    field.fill("4")
    with Store.open(app_server.database) as store:
        stored = project(store, name)
        for keys in ("Enter", "Control+Enter"):
            field.press(keys)
            settled(page)
            assert open_pilot(store, stored) is None
        page.locator("[class*='st-key-ask-pilot_start'] button").first.click()
        expect(page.get_by_text("A pilot of 4 items begins for 2 annotators.")).to_be_visible()
        settled(page)
        assert open_pilot(store, stored) is None
        page.locator(".st-key-pilot_start button").click()
        until(lambda: open_pilot(store, stored) is not None)
    expect(page.get_by_text("Pilot 1 is open")).to_be_visible()
    context.close()


def test_ctrl_enter_does_not_make_a_release(chromium: Browser, own_server: Server) -> None:
    with Store.open(own_server.database) as store:
        made = ready_project(store, 8)
        work(store, made)
        context = new_context(chromium)
        page = context.new_page()
        page.goto(own_server.page("release", project=made.name, lang="en"))
        reason = page.locator("[class*='st-key-reason-'] textarea")
        reason.fill("A workshop needs it.")
        for keys in ("Control+Enter", "Meta+Enter"):
            reason.press(keys)
            settled(page)
            assert not jobs.jobs(store)
        version = page.locator("[class*='st-key-version-'] input")
        version.fill("1.1")
        version.press("Enter")
        settled(page)
        assert not jobs.jobs(store)
        page.locator("[class*='st-key-ask-create-release'] button").first.click()
        expect(page.get_by_text("Release 1.1 of set will contain")).to_be_visible()
        settled(page)
        assert not jobs.jobs(store)
        page.locator(".st-key-create-release button").click()
        until(lambda: len(jobs.jobs(store)) == 1)
        context.close()


def test_a_click_on_a_cell_of_agreement_lists_its_items(chromium: Browser, own_server: Server) -> None:
    with Store.open(own_server.database) as store:
        made, _items = judged(store, ["aaa", "arr", "raa", "raa"])
    context = new_context(chromium)
    page = context.new_page()
    page.goto(own_server.page("agreement", project=made.name, lang="en"))
    cell = page.locator(".st-key-confusion-box .marks")
    cards = page.locator("article.card")

    def click(right: float, down: float) -> None:
        cell.wait_for(timeout=WAIT_MS)
        settled(page)
        cell.scroll_into_view_if_needed()
        box = cell.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + right * box["width"], box["y"] + down * box["height"])

    click(0.4, 0.85)  # Ada: reject, Bo: accept
    expect(cards).to_have_count(2)
    expect(page).to_have_url(re.compile("cell=reject%2Faccept"))
    click(0.85, 0.45)  # Ada: accept, Bo: reject
    expect(cards).to_have_count(1)
    click(0.85, 0.45)  # the same cell again: nothing is selected
    expect(cards).to_have_count(3)  # on which the two differ
    page.locator(".st-key-chip-a button").first.click()
    expect(cards).to_have_count(0)
    context.close()
