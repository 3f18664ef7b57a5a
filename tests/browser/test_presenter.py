"""The presenter mode in a real browser: keys, marks, announcements, sharing, small windows, the page to hand out."""

import json
import math
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.core.demo_page.page import Chosen, answers_of, page_html
from evenhand.core.models import open_scorer
from evenhand.core.sentence_bias.model_answer import read
from tests.support.browser import Server

pytestmark = pytest.mark.browser
SENTENCE = "The nurse said he was tired."
SWAPPED = "The captain said he was tired."


def stage(page: Page, name: str, slide: int = 0) -> None:
    show = page.get_by_test_id("presenter")
    expect(show).to_have_attribute("data-stage", name)
    expect(show).to_have_attribute("data-slide", str(slide))


def at(page: Page, part: str) -> tuple[float, float]:
    """Return where a part of the bar begins and how wide it is, in percent of the bar."""
    found: list[float] = page.locator(part).evaluate(
        "e => { const b = e.getBoundingClientRect(), t = e.parentElement.getBoundingClientRect();"
        " return [100 * (b.left - t.left) / t.width, 100 * b.width / t.width] }"
    )
    return found[0], found[1]


def opened(chromium: Browser, server: Server, **look: Any) -> Page:
    page = chromium.new_page(reduced_motion="reduce", **look)
    page.goto(server.page("sentence-bias", lang="en", present="1", text=SENTENCE, model="demo-en"))
    stage(page, "ask")
    return page


def test_keys_lead_from_the_guess_to_the_mass_with_real_numbers(chromium: Browser, app_server: Server) -> None:
    scorer = open_scorer("demo-en")
    first, second = (read(text, scorer) for text in (SENTENCE, SWAPPED))
    assert first.bias_log10 is not None and second.bias_log10 is not None
    page = opened(chromium, app_server, viewport={"width": 1280, "height": 720})
    assert page.get_by_test_id("stSidebar").count() == 0
    expect(page.get_by_role("button", name="she", exact=True)).to_be_visible()
    assert at(page, ".show-fill")[1] == 0
    size = page.locator(".show h1").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    assert size == pytest.approx(0.06 * 1280)

    page.keyboard.press("ArrowLeft")
    stage(page, "result")
    times = f"{10 ** abs(first.bias_log10):.1f}"
    expect(page.locator(".show-verdict")).to_contain_text(f"{times} times as likely as")
    expect(page.get_by_role("status").filter(has_text="times as likely")).to_have_count(1)
    expect(page.get_by_text("Your guess: she")).to_be_visible()
    assert at(page, ".show-guess")[0] < 1  # the half of the bar on the side of the guess
    assert at(page, ".show-fill")[1] == pytest.approx(50 * abs(first.bias_log10) / 3, abs=0.5)

    page.keyboard.press("Space")
    stage(page, "swap")
    expect(page.locator(".show h1")).to_contain_text("captain")
    was = 50 + 50 * first.bias_log10 / 3
    left, width = at(page, ".show-before")
    assert left + width / 2 == pytest.approx(was, abs=0.5)
    assert at(page, ".show-fill")[1] == pytest.approx(50 * abs(second.bias_log10) / 3, abs=0.5)
    expect(page.locator(".show-guess")).to_be_visible()

    page.keyboard.press("Space")
    stage(page, "mass")
    assert second.pair_mass is not None
    expect(page.locator(".show-caution")).to_contain_text(f"{100 * second.pair_mass:.2g}% of the probability")
    page.keyboard.press("ArrowRight")
    stage(page, "ask", 1)
    page.keyboard.press("ArrowRight")
    stage(page, "result", 1)
    page.keyboard.press("ArrowLeft")
    stage(page, "ask", 0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Try a sentence", level=1)).to_be_visible()
    expect(page.get_by_label("Sentence", exact=True)).to_have_value(SENTENCE)
    expect(page.get_by_role("navigation", name="Navigation")).to_be_visible()
    page.close()


def test_buttons_do_what_keys_do_and_a_small_window_needs_no_sideways_scrolling(
    chromium: Browser, app_server: Server
) -> None:
    page = opened(chromium, app_server, viewport={"width": 390, "height": 844})
    page.get_by_role("button", name="he", exact=True).click()
    stage(page, "result")
    for name in ("swap", "mass"):
        page.get_by_role("button", name="Next").click()
        stage(page, name)
    show = page.get_by_test_id("presenter")
    assert show.evaluate("e => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight")
    small = page.locator(".show button:visible").evaluate_all(
        "all => all.filter(e => Math.min(e.offsetWidth, e.offsetHeight) < 24).length"
    )
    assert small == 0
    page.close()


def test_a_shared_link_has_language_and_guess_and_opens_at_the_answer(chromium: Browser, app_server: Server) -> None:
    page = opened(chromium, app_server, viewport={"width": 1280, "height": 720})
    page.keyboard.press("ArrowRight")
    stage(page, "result")
    page.get_by_role("button", name="Share this slide").click()
    expect(page.get_by_alt_text("QR code of the link")).to_be_visible()
    stage(page, "result")  # the answer of the server leaves the slide as it is
    address = page.locator(".show-share code").inner_text()
    query = parse_qs(urlsplit(address).query)
    assert query == {"text": [SENTENCE], "model": ["demo-en"], "present": ["1"], "lang": ["en"], "guess": ["male"]}
    page.goto(address)
    stage(page, "result")
    expect(page.get_by_text("Your guess: he")).to_be_visible()
    page.close()


def test_motion_moves_the_bar_and_counts_up_unless_it_is_reduced(chromium: Browser, app_server: Server) -> None:
    moving = chromium.new_page(reduced_motion="no-preference")
    moving.goto(app_server.page("sentence-bias", lang="en", present="1", text=SENTENCE, model="demo-en"))
    stage(moving, "ask")
    assert moving.locator(".show-fill").evaluate("e => getComputedStyle(e).transitionDuration") == "0.8s, 0.8s"
    moving.keyboard.press("ArrowRight")
    expect(moving.locator(".show-verdict")).to_contain_text("times as likely as")  # at the end of the count
    moving.close()
    still = opened(chromium, app_server)
    assert still.locator(".show-fill").evaluate("e => getComputedStyle(e).transitionDuration") == "0s"
    texts = still.evaluate_handle("[]")
    still.locator(".show-verdict").evaluate(
        "(e, all) => new MutationObserver(() => all.push(e.textContent)).observe(e, { childList: true })", texts
    )
    still.keyboard.press("ArrowRight")
    stage(still, "result")
    assert len(texts.json_value()) == 1
    still.close()


def test_the_page_without_a_server_shows_the_same_slides(chromium: Browser, tmp_path: Path) -> None:
    scorer = open_scorer("demo-en")
    chosen = [Chosen("en", SENTENCE), Chosen("en", "[MASK] sat by the window.", ("he", "she"))]
    file = tmp_path / "page.html"
    file.write_text(page_html([(one, answers_of(one, {"demo-en": scorer})) for one in chosen]), encoding="utf-8")
    page = chromium.new_page(reduced_motion="reduce")
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(file.as_uri())
    page.get_by_role("button", name="Present").click()
    stage(page, "ask")
    page.keyboard.press("ArrowRight")
    stage(page, "result")
    value = read(SENTENCE, scorer).bias_log10
    assert value is not None and math.isfinite(value)
    expect(page.locator(".show-verdict")).to_contain_text(f"{10 ** abs(value):.1f} times as likely as")
    for name in ("swap", "mass"):
        page.keyboard.press("Space")
        stage(page, name)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("presenter")).to_have_count(0)
    expect(page.get_by_role("button", name="Present")).to_be_focused()
    assert asked == [file.as_uri()] and not errors, json.dumps(errors)
    page.close()
