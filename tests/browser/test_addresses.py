"""Every address that a page ever had answers, in a running server."""

import httpx
import pytest
from playwright.sync_api import Browser, expect

from evenhand.pages.catalogue import PAGES
from tests.support.browser import Server
from tests.support.desk_driver import new_context

# The addresses of version 0.4 whose page has another one now.
MOVED = {
    "adjudicate": "adjudication",
    "check": "published",
    "generate": "generation",
    "inference": "nli",
    "mine": "mining",
    "models": "model-bias",
    "professions": "association",
    "score": "scoring",
    "statistics": "describe",
    "try": "sentence-bias",
}
STAYED = (
    *("projects", "pilot", "plan", "review", "record", "progress", "browse", "agreement", "quality", "guideline"),
    *(
        "human-vs-rule",
        "judges",
        "release",
        "concordance",
        "swap",
        "tune",
        "before-after",
        "before-after",
        "ruler",
        "misgendering",
        "other-measures",
        "jobs",
        "accounts",
        "study",
        "about",
    ),
)


@pytest.mark.parametrize("old", MOVED)
def test_an_old_address_redirects_to_its_page(app_server: Server, old: str) -> None:
    for slash in ("", "/"):
        answer = httpx.get(f"{app_server.url}/{old}{slash}?text=%E4%BB%96&model=a&model=b")
        assert answer.status_code == 307
        assert answer.headers["location"] == f"/{MOVED[old]}?text=%E4%BB%96&model=a&model=b"
        assert httpx.get(f"{app_server.url}/{old}", follow_redirects=True).status_code == 200


def test_an_old_address_without_a_query_redirects(app_server: Server) -> None:
    assert httpx.get(f"{app_server.url}/try").headers["location"] == "/sentence-bias"


def test_every_address_opens_its_page() -> None:
    assert {page.address for page in PAGES} == {"", *STAYED, *MOVED.values()}


def test_an_unknown_address_gives_one_notice(chromium: Browser, app_server: Server) -> None:
    context = new_context(chromium)
    page = context.new_page()
    page.goto(app_server.page("nothing-here", lang="en"))
    expect(page.get_by_text("There is no page /nothing-here. This is the home page.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("How language models treat gender")
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    assert page.get_by_role("dialog").count() == 0 and page.get_by_text("Page not found").count() == 0
    context.close()


def test_the_language_of_the_app_is_used_by_the_forms(chromium: Browser, app_server: Server) -> None:
    context = new_context(chromium)
    page = context.new_page()
    page.goto(f"{app_server.url}/about")
    expect(page.get_by_role("heading", name="About", level=1)).to_be_visible()
    page.get_by_test_id("stSidebar").get_by_text("中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.goto(f"{app_server.url}/account/link")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("heading", name="Your link")).to_be_visible()
    page.goto(f"{app_server.url}/about")
    expect(page.get_by_role("heading", name="About", level=1)).to_be_visible()
    context.close()
