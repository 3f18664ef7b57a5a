"""The selection of Models side by side in a real browser: a click, a dragged span, the button that removes it."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from docs.screenshots import RUN, example_run
from evenhand.annotations.database.store import Store
from tests.support.browser import Server

pytestmark = pytest.mark.browser
CHART = "[data-testid=stVegaLiteChart] :is(svg, canvas)"


def drag(page: Page, first: float, last: float) -> None:
    """Drag across the first chart between two shares of its width."""
    box = page.locator(CHART).first.bounding_box()
    assert box is not None
    x, y = box["x"], box["y"] + 60
    page.mouse.move(x + box["width"] * first, y)
    page.mouse.down()
    page.mouse.move(x + box["width"] * (first + last) / 2, y)
    page.mouse.move(x + box["width"] * last, y)
    page.mouse.up()


def test_a_selection_is_made_kept_in_all_views_and_removed(chromium: Browser, tmp_path: Path) -> None:
    server = Server(tmp_path / "models.db")
    Store.open(server.database).close()
    example_run(server.database)
    server.start()
    page = chromium.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    try:
        page.goto(server.page("model-bias", run=RUN, section="distribution", lang="en"))
        chart = page.locator(CHART).first
        expect(chart).to_be_visible()
        box = chart.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] * 0.62, box["y"] + 95)
        chip = page.locator(".st-key-chip-pick button").first
        expect(chip).to_contain_text("(made-up-1)")
        expect(page.get_by_role("heading", name=re.compile("Sentences: Bias_c .* \\(made-up-1\\)"))).to_be_visible()
        chip.click()
        expect(chip).to_have_count(0)
        expect(chart).to_be_visible()
        page.wait_for_timeout(1500)  # a new chart takes the place of the one that was clicked
        drag(page, 0.25, 0.4)
        expect(chip).to_contain_text("(in all models)")
        span = chip.inner_text()
        page.get_by_role("tab", name="Pairs").click()
        expect(page.get_by_text("Signed mean: from")).to_be_visible()
        assert chip.inner_text() == span
        expect(page.get_by_role("link", name="Try", exact=True).first).to_have_attribute("target", "_blank")
        page.reload()
        expect(chip).to_contain_text("(in all models)")
    finally:
        page.close()
        server.stop()
