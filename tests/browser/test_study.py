"""A study from its link to the code, with the keyboard alone, on the screen of a phone."""

import re

from playwright.sync_api import Browser, Page, expect

from evenhand.annotations.accounts.accounts import add_account, grant
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.study.people import participants
from evenhand.annotations.study.studies import Settings, Study, create_study, signed
from tests.support.browser import Server
from tests.support.desk_driver import make_project, new_context
from tests.support.waiting import until

LISTENER = """
window.refusedByPolicy = []
document.addEventListener('securitypolicyviolation', (event) =>
  window.refusedByPolicy.push(`${event.violatedDirective} ${event.blockedURI}`))
"""


def tab_to(page: Page, name: str) -> None:
    """Go to the button, radio or link of that name by Tab."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('body') ? '' : document.activeElement.textContent") == name:
            return
    raise AssertionError(f"Tab does not reach {name}")


def fits(page: Page) -> None:
    """Check that the page is not wider than the screen, and that the policy refused nothing."""
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("window.refusedByPolicy") == []


def new_study(store: Store) -> Study:
    """Return a study of two texts a person with a test of one question, on a server with accounts."""
    grant(store, add_account(store, "Olga"), "owner", None)
    project = projects(store)[0]
    settings = Settings("lead@example.org", "prolific", items=2, questions=1, pass_mark=1)
    return create_study(store, project, "Spring", settings, questions=[(next(iter(items(store, project))), "accept")])


def agree_and_pass(page: Page, address: str) -> None:
    """Go from the link to the desk."""
    page.goto(f"{address}?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=x1")
    page.get_by_role("link", name="中文").click()
    expect(page.get_by_role("heading", name="参加之前")).to_be_visible()
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("heading", name="Before you take part")).to_be_visible()
    tab_to(page, "I have read this and agree")
    fits(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="A short test")).to_be_visible()
    expect(page.locator(".sentence")).to_be_hidden()
    tab_to(page, "Show the text")
    page.keyboard.press("Enter")
    expect(page.locator(".sentence")).to_be_visible()
    fits(page)
    page.keyboard.press("Tab")  # the first choice: accept
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You have passed the test.")).to_be_visible()
    tab_to(page, "Show the first text")
    fits(page)
    page.keyboard.press("Enter")


def judge(page: Page, number: int) -> None:
    """Open and keep so many texts at the desk."""
    desk, text = page.get_by_test_id("desk"), page.get_by_test_id("desk-text")
    expect(desk).to_have_attribute("data-item", re.compile(r"\w{32}"))
    fits(page)
    expect(page.get_by_role("button", name="Finish")).to_be_hidden()
    first = desk.get_attribute("data-item")
    page.keyboard.press("j")
    assert desk.get_attribute("data-item") == first  # what is covered cannot be judged
    for _ in range(number):
        expect(text).to_have_class(re.compile("veiled"))
        page.keyboard.press("Space")
        expect(text).not_to_have_class(re.compile("veiled"))
        page.keyboard.press("j")


def test_a_participant_gets_from_the_link_to_the_code(chromium: Browser, own_server: Server) -> None:
    make_project(own_server, 6)
    with Store.open(own_server.database) as store:
        study = new_study(store)
        context = new_context(chromium, viewport={"width": 390, "height": 800})
        context.add_init_script(LISTENER)
        page = context.new_page()
        agree_and_pass(page, f"{own_server.url}/study/{signed(store, study)}")
        judge(page, 2)
        expect(page.get_by_role("button", name="Finish")).to_be_focused()
        fits(page)
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("code")).to_have_text(study.settings.code_finished)
        fits(page)
        labels = "SELECT count(*) FROM label JOIN annotator ON annotator.id = annotator WHERE name = ?"
        (who,) = participants(store, study)
        assert store.db.execute(labels, (who.pseudonym,)).fetchone() == (2,)
        tab_to(page, "Withdraw")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Withdraw")).to_be_visible()
        tab_to(page, "Withdraw my labels")
        page.keyboard.press("Enter")
        expect(page.get_by_text("You have withdrawn.")).to_be_visible()
        until(lambda: store.db.execute("SELECT count(*) FROM blind_label").fetchone() == (0,))
        page.goto(f"{own_server.url}/review")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()  # the app itself stays shut
        context.close()
