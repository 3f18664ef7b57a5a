"""What the script of every page does: Streamlit's own words in its language, the focus, the marks of the navigation."""

import re
from pathlib import Path

import streamlit
from playwright.sync_api import Browser, expect

from evenhand.web.page_script import WORDS, page_script
from tests.support.browser import Server
from tests.support.desk_driver import make_project

SCRIPTS = Path(streamlit.__file__).parent / "static" / "static" / "js"
# Each place of Streamlit with words of its own, and next to it the same words as a user's text.
PAGE = """
<div data-testid="InputInstructions"><span>Press Ctrl+Enter to apply</span></div>
<div data-testid="stMultiSelect"><span data-tag><span title="Search">Search</span>
  <button aria-label="Remove Search"></button></span><input placeholder="Choose options"></div>
<div data-testid="stMultiSelectDropdown"><div role="option"><div>Select 3 matches</div></div></div>
<button aria-label="Help for 名称"></button>
<div data-testid="stDialog"><h2>Page not found</h2></div><button aria-label="Page 12"></button>
<p id="own">Press Ctrl+Enter to apply</p><div class="stHtml"><b title="Search">Select all</b></div>
"""


def test_every_translated_word_occurs_in_the_pinned_streamlit() -> None:
    """This fails for a new version of Streamlit with other words."""
    front_end = "\n".join(file.read_text(encoding="utf-8") for file in SCRIPTS.glob("*.js"))
    put_together = re.compile(r"\{\w+\}|Ctrl|⌘|apply|submit form|options?|(?<=exist)(?=\. Running)")
    pieces = {word: [part.strip() for part in put_together.split(word) if part.strip()] or [word] for word in WORDS}
    assert {word: own for word, own in pieces.items() if not all(piece in front_end for piece in own)} == {}


def test_streamlits_words_are_switched_to_chinese_and_back(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content(PAGE)
    page.evaluate(page_script("zh-CN"))
    expect(page.get_by_test_id("InputInstructions")).to_have_text("按 Ctrl+回车生效")
    expect(page.get_by_test_id("stMultiSelectDropdown")).to_have_text("选中匹配的 3 项")
    expect(page.get_by_placeholder("请选择")).to_be_visible()
    expect(page.get_by_label("移除 Search")).to_have_count(1)
    page.evaluate("document.querySelector('[data-testid=InputInstructions] span').textContent = 'Press Enter to apply'")
    expect(page.get_by_test_id("InputInstructions")).to_have_text("按回车键生效")
    expect(page.get_by_label("名称的说明")).to_have_count(1)
    expect(page.get_by_test_id("stDialog")).to_have_text("没有这个页面")
    expect(page.get_by_label("第 12 页")).to_have_count(1)
    assert page.locator("#own").inner_text() == "Press Ctrl+Enter to apply"
    assert page.locator(".stHtml b").get_attribute("title") == "Search"
    assert page.locator("[data-tag] > span").get_attribute("title") == "Search"
    page.evaluate(page_script("en"))
    expect(page.get_by_test_id("InputInstructions")).to_have_text("Press Enter to apply")
    expect(page.get_by_test_id("stMultiSelectDropdown")).to_have_text("Select 3 matches")
    expect(page.get_by_label("Remove Search")).to_have_count(1)
    page.close()


def test_escape_leaves_a_text_box(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content('<div data-testid="stTextArea"><textarea></textarea></div><textarea id="other"></textarea>')
    page.evaluate(page_script("en"))
    for box, stays in (("textarea >> nth=0", False), ("#other", True)):
        page.locator(box).press("j")
        page.locator(box).press("Escape")
        assert page.evaluate("document.activeElement.tagName === 'TEXTAREA'") is stays
    assert page.locator("textarea >> nth=0").input_value() == "j"
    page.close()


def test_a_move_to_another_page_focuses_its_heading_and_marks_its_link(chromium: Browser, app_server: Server) -> None:
    page = chromium.new_page()
    page.goto(app_server.page("about", lang="en"))
    expect(page.locator("h1")).to_have_text("About")
    assert page.evaluate("document.activeElement === document.body")  # the first page is announced by its title
    assert page.title() == "About · Evenhand"
    rail = page.get_by_role("navigation", name="Navigation")
    rail.get_by_role("link", name="Accounts").click()
    expect(page.locator("h1:focus")).to_have_text("Accounts")
    expect(rail.locator("[aria-current=page]")).to_contain_text("Accounts")
    assert page.title() == "Accounts · Evenhand"
    page.go_back()
    expect(page.locator("h1:focus")).to_have_text("About")
    page.close()


def test_the_rail_of_a_project_fits_a_window_of_900_pixels(chromium: Browser, app_server: Server) -> None:
    project = make_project(app_server, 2)
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(app_server.page("progress", project=project, lang="en"))
    rail = page.get_by_role("navigation", name="Navigation")
    rail.get_by_role("link", name="About").wait_for()
    expect(page.locator("h1")).to_have_text("Progress")
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    assert rail.locator("a:visible").count() >= 20
    content = page.get_by_test_id("stSidebarContent")
    assert content.evaluate("e => e.scrollHeight <= e.clientHeight")
    rail.get_by_text("Models", exact=True).click()
    expect(rail.get_by_role("link", name="Try a sentence")).to_be_visible()
    small = rail.locator("a:visible").evaluate_all("all => all.filter(e => e.offsetHeight < 24).length")
    assert small == 0
    page.close()


def test_a_page_begins_within_the_first_130_pixels(chromium: Browser, app_server: Server) -> None:
    """The heading was 112 pixels down, and what follows it about 212."""
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(app_server.page("sentence-bias", lang="en"))
    page.locator(".try-verdict").wait_for()
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    box = page.locator(".try-sentence").bounding_box()
    assert box is not None and box["y"] < 130
    page.close()


def test_a_closed_rail_is_out_of_the_order_of_tabs(chromium: Browser, app_server: Server) -> None:
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    page.goto(app_server.page("about", lang="en"))
    expect(page.locator("h1")).to_have_text("About")
    expect(page.locator(".st-key-rail a")).not_to_have_count(0)  # the style of the pages has arrived with the rail
    expect(page.get_by_test_id("stSidebar")).to_have_css("visibility", "hidden")
    for _press in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('[data-testid=stSidebar]') === null")
    page.close()


def test_nameless_marks_of_charts_are_no_pictures(chromium: Browser) -> None:
    """The rectangle of a span that is marked in a chart; a mark with a name keeps its role."""
    page = chromium.new_page()
    page.set_content(
        '<svg><g id="brush" role="graphics-symbol" aria-roledescription="rect mark container"></g>'
        '<g id="named" role="graphics-symbol" aria-label="bar"></g></svg>'
    )
    page.evaluate(page_script("en"))
    expect(page.locator("#brush")).not_to_have_attribute("role", "graphics-symbol")
    expect(page.locator("#named")).to_have_attribute("role", "graphics-symbol")
    page.close()
