"""Text in another language than the page has a `lang` (WCAG 3.1.2), on every page with the demo projects."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.annotations.demo import sentences
from evenhand.core.language import Language
from evenhand.web.page_script import page_script
from tests.support.browser import Server
from tests.support.demo_pages import queries

pytestmark = pytest.mark.browser

# Every visible text with Han signs on an English page, and with four Latin words in a row on a Chinese one, whose
# nearest `lang` is that of the page. Code and pictures are not read as language.
WITHOUT_LANGUAGE = r"""() => {
  const page = document.documentElement.lang.slice(0, 2), found = [];
  const foreign = page === "en" ? /\p{Script=Han}/u : /\p{Script=Latin}+(?:[^\p{L}]+\p{Script=Latin}+){3,}/u;
  const look = (root) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const at = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
      if (!at || !foreign.test(text)) continue;
      if (at.closest("script, style, svg, canvas, code, pre, [aria-hidden=true]")) continue;
      const told = at.closest("[lang]")?.lang || page;
      if (told.slice(0, 2) === page && at.checkVisibility({ visibilityProperty: true })) found.push(text.slice(0, 80));
    }
    for (const one of root.querySelectorAll("*")) if (one.shadowRoot) look(one.shadowRoot);
  };
  look(document.body);
  return found;
}"""
# Own sentences with a few words of the other language in one text node, which React keeps: not wrapped.
MOST = {"en": 25, "zh": 12}


@pytest.mark.rehearsal
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nearly_all_text_in_another_language_says_so(chromium: Browser, tmp_path: Path, language: Language) -> None:
    server = Server(tmp_path / "demo.db")
    sentences.ensure_demo(server.database)
    server.start()
    page = chromium.new_page()
    found = {}
    try:
        for address, query in queries():
            page.goto(server.page(address, lang=language, **query))
            expect(page.locator("h1")).to_have_count(1)
            expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
            page.wait_for_timeout(500)
            if texts := page.evaluate(WITHOUT_LANGUAGE):
                found[address, str(query)] = texts
    finally:
        page.close()
        server.stop()
    assert sum(map(len, found.values())) <= MOST[language], found


def languages(page: Page) -> dict[str, str | None]:
    """Return the language of each element with an id."""
    pairs = page.locator("[id]:not(#evenhand-says)").evaluate_all(
        "all => all.map((one) => [one.id, one.getAttribute('lang')])"
    )
    return dict(pairs)


def test_the_writing_tells_the_language_of_stored_text(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content("""
      <div class="stHtml"><p id="own">Sentence: 他是医生。 <b>kept</b></p><p id="told" lang="de">他</p></div>
      <button id="name"><p id="label">示例 · Demo</p></button><p id="mostly">The word 他 in an English sentence</p>
      <p id="hebrew">היא אמרה</p><p id="japanese">彼はペンを持つ。</p>
      <input id="field" value="他是医生"><textarea id="note"></textarea><code id="code">他</code>
    """)
    page.evaluate(page_script("en"))
    expect(page.locator("#own span")).to_have_attribute("lang", "zh")
    assert page.locator("#own span").inner_text() == "他是医生"
    assert page.locator("#own").inner_text() == "Sentence: 他是医生。 kept"
    assert languages(page) == {
        "own": None, "told": "de", "name": None, "label": "zh", "mostly": None, "hebrew": "he", "japanese": "ja",
        "field": "zh", "note": None, "code": None,
    }  # fmt: skip
    page.evaluate("document.querySelector('#label').firstChild.data = 'Keep'")
    expect(page.locator("#label")).not_to_have_attribute("lang", "zh")
    page.locator("#note").fill("שלום עולם")
    expect(page.locator("#note")).to_have_attribute("lang", "he")
    assert page.locator("#note").evaluate("note => getComputedStyle(note).direction") == "rtl"
    page.close()
