"""From the first link to a label, in a real browser: who comes in, what a role opens, what the policy refuses."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Download, Page, expect

from evenhand.annotations.accounts.accounts import account, close_account, grant, reopen_account, withdraw
from evenhand.annotations.accounts.links import first_link, invite_link, reset_link, spend
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.types import Project
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
    page.get_by_label("User name").fill(name)
    page.get_by_label("A password").fill(PASSWORD)
    page.get_by_label("Repeat the password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1, name="How language models treat gender")).to_be_visible()
    return page


def labels(server: Server) -> int:
    with Store.open(server.database) as store:
        return int(store.db.execute("SELECT count(*) FROM label").fetchone()[0])


def check_own_log(page: Page, server: Server, store: Store, record: bytes) -> None:
    """Check that the browser recomputes its user's log, compares it with an earlier file, and finds a changed row."""
    address, log = f"{server.url}/own-log?lang=en", page.locator("#log")
    page.goto(address)
    expect(log).to_have_attribute("data-state", "holds")
    expect(page.get_by_text("1 entries are valid: each contains the hash of the previous one.")).to_be_visible()
    page.get_by_label("An earlier file").set_input_files({"name": "r.json", "mimeType": "a/b", "buffer": record})
    expect(page.get_by_text("All 1 entries of the file are here")).to_be_visible()
    other = json.loads(record)
    other["log"]["chain"][0]["hash"] = "0" * 64
    changed = {"name": "r.json", "mimeType": "a/b", "buffer": json.dumps(other).encode()}
    page.get_by_label("An earlier file").set_input_files(changed)
    expect(page.get_by_text("Entry 1 of the file differs from the one here.")).to_be_visible()
    with touched(store, "UPDATE label SET choice = 'reject'"):
        page.goto(address)
        expect(log).to_have_attribute("data-state", "broken")
        expect(page.get_by_text("Entry 1 is invalid: it, or an entry before it, was changed.")).to_be_visible()
    assert page.evaluate("window.refusedByPolicy") == []


@contextmanager
def touched(store: Store, change: str) -> Iterator[None]:
    """Change the database past the app, and restore it when the block ends."""
    name = "label_is_never_changed"
    guard = store.db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
    before = store.db.execute("SELECT choice, id FROM label").fetchall()
    store.db.execute(f"DROP TRIGGER {name}")
    store.db.execute(change)
    yield
    store.db.executemany("UPDATE label SET choice = ? WHERE id = ?", before)
    store.db.execute(guard)


def no_file_without_a_role(server: Server, store: Store, project: Project, desk: Page) -> None:
    """Check that an open page makes no file after its role is revoked."""
    ada = account(store, "ada@example.org")
    desk.goto(server.page("record", view="files", lang="en"))
    expect(desk.get_by_role("button", name="JSON")).to_be_visible()
    withdraw(store, ada, project)
    made: list[Download] = []
    desk.on("download", lambda one: made.append(one))
    desk.get_by_role("button", name="JSON").click()
    desk.wait_for_timeout(1500)
    assert made == []
    grant(store, ada, "annotator", project, annotator="Ada")


def test_a_second_link_in_the_same_tab_opens_its_own_form(chromium: Browser, own_server: Server) -> None:
    with Store.open(own_server.database) as store:
        spend(store, first_link(store), "Olga", PASSWORD)
        ada, bo = (invite_link(store, "lead", None) for _ in range(2))
        spend(store, ada, "Ada", PASSWORD)
        reset = reset_link(store, account(store, "Ada"))
    context = new_context(chromium)
    page = context.new_page()
    address = f"{own_server.url}/account/link?lang=en"
    page.goto(f"{address}#{ada}")
    page.get_by_role("button", name="Open it").click()
    spent = page.get_by_role("heading", name="no longer valid")
    expect(spent).to_be_visible()
    page.evaluate("secret => { location.hash = secret }", bo)  # as a second link does in the address bar
    expect(spent).to_have_count(0)
    page.get_by_role("button", name="Open it").click()
    page.get_by_label("User name").fill("Bo")
    page.get_by_label("A password").fill("short")
    page.evaluate("secret => { location.hash = secret }", reset)
    page.get_by_role("button", name="Open it").click()
    expect(page.get_by_role("heading", name="A new password")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("Ada")
    expect(page.get_by_label("A password")).to_have_value("")
    page.goto(f"{own_server.url}/account/link")  # without a query, in the language of the browser
    page.evaluate("secret => { location.hash = secret }", bo)
    page.locator("#open button").click()
    expect(page.locator("#password")).to_be_visible()
    context.close()


@pytest.mark.rehearsal
def test_invited_people_sign_up_by_links_and_label(chromium: Browser, own_server: Server) -> None:
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
        desk.goto(own_server.page("record", view="files", lang="en"))
        with desk.expect_download() as download:
            desk.get_by_role("button", name="JSON").click()
        assert "Ada" in download.value.path().read_text(encoding="utf-8")
        check_own_log(desk, own_server, store, download.value.path().read_bytes())
        address = download.value.url
        assert ada.request.get(address).status == 200
        assert lead.request.get(address).status == 404  # a guessed address of a file gives nothing
        no_file_without_a_role(own_server, store, project, desk)
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
        expect(desk.get_by_role("heading", level=1, name="How language models treat gender")).to_be_visible()
        desk.goto(own_server.page("review", lang="en"))
        until(lambda: labels(own_server) == 2)
        for context in (lead, ada):
            context.close()
