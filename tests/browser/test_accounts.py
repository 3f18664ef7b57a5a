"""From the first link to a label, in a real browser: who comes in, what a role opens, what the policy refuses."""

import re

from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotations.accounts.accounts import account, close_account, reopen_account
from annotations.accounts.links import first_link, invite_link
from annotations.database.store import Store
from annotations.projects.projects import projects
from tests.support.browser import Server
from tests.support.desk_driver import make_project, new_context
from tests.support.waiting import until

PASSWORD = "correct horse battery"
LISTENER = """
window.refusedByPolicy = []
document.addEventListener('securitypolicyviolation', (event) =>
  window.refusedByPolicy.push(`${event.violatedDirective} ${event.blockedURI}`))
"""


def come_in(context: BrowserContext, server: Server, secret: str, name: str) -> Page:
    """Open a link as a new person does."""
    page = context.new_page()
    page.goto(f"{server.url}/account/link?lang=en#{secret}")
    page.get_by_role("button", name="Open it").click()
    page.get_by_label("Your name here").fill(name)
    page.get_by_label("A password").fill(PASSWORD)
    page.get_by_label("The same once more").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    return page


def labels(server: Server) -> int:
    with Store.open(server.database) as store:
        return int(store.db.execute("SELECT count(*) FROM label").fetchone()[0])


def test_people_come_in_by_links_and_label(chromium: Browser, own_server: Server) -> None:
    make_project(own_server, 3)
    with Store.open(own_server.database) as store:
        project = projects(store)[0]
        secret = first_link(store)
        lead, ada = new_context(chromium), new_context(chromium)
        for context in (lead, ada):
            context.add_init_script(LISTENER)
        page = come_in(lead, own_server, secret, "Olga")
        for name in ("accounts", "agreement", "sentence-bias"):
            page.goto(own_server.page(name, lang="en"))
            expect(page.locator("h1")).to_be_visible()
            expect(page.get_by_text("Signed in as Olga")).to_be_visible()
            assert page.evaluate("window.refusedByPolicy") == []
        desk = come_in(ada, own_server, invite_link(store, "annotator", project, name="Ada"), "ada@example.org")
        expect(desk.get_by_role("link", name="Projects")).to_have_count(0)
        desk.goto(own_server.page("review", lang="en"))
        root = desk.get_by_test_id("desk")
        expect(root).to_have_attribute("data-item", re.compile(r"\w{32}"))
        desk.keyboard.press("j")
        until(lambda: labels(own_server) == 1)
        assert desk.evaluate("window.refusedByPolicy") == []
        desk.goto(own_server.page("record", lang="en"))
        with desk.expect_download() as download:
            desk.get_by_role("button", name="JSON").click()
        assert "Ada" in download.value.path().read_text(encoding="utf-8")
        address = download.value.url
        assert ada.request.get(address).status == 200
        assert lead.request.get(address).status == 404  # whoever guesses the address of a file gets nothing
        desk.goto(own_server.page("review", lang="en"))
        expect(root).to_have_attribute("data-item", re.compile(r"\w{32}"))
        # Signed out by the lead: nothing more is stored, nothing is lost.
        close_account(store, account(store, "ada@example.org"))
        desk.keyboard.press("j")
        expect(root).to_have_attribute("data-pending", "1")
        desk.wait_for_timeout(500)
        assert labels(own_server) == 1
        reopen_account(store, account(store, "ada@example.org"))
        desk.goto(own_server.page("review", lang="en"))
        expect(desk.get_by_role("heading", name="Sign in")).to_be_visible()
        desk.get_by_label("Name").fill("ADA@example.org")
        desk.get_by_label("Password").fill(PASSWORD)
        desk.get_by_role("button", name="Sign in").click()
        expect(desk.get_by_role("heading", name="Home")).to_be_visible()
        desk.goto(own_server.page("review", lang="en"))
        until(lambda: labels(own_server) == 2)
        for context in (lead, ada):
            context.close()
