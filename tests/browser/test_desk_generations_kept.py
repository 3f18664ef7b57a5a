"""The invariants of the desk in a real browser, for generations: nothing lost, doubled or revealed."""

import json
import time

import pytest
from playwright.sync_api import expect

from evenhand.annotations.database.store import Store
from tests.support.browser import Server
from tests.support.desk_driver import (
    MISGENDERING,
    WAIT_MS,
    Desk,
    Opener,
    make_generations,
    marks,
    open_generations,
    stored,
)

pytestmark = pytest.mark.browser


def test_fast_keys_label_the_texts_on_screen(desks: Opener) -> None:
    desk = desks(make_generations(desks.server, 90), context=desks.context())
    desk.page.add_init_script("""window.seen = [];
      window.addEventListener("keydown", (event) => {
        const { item, mode } = window.deskRoot.dataset;
        if (event.code === "Digit1" || (event.code === "Digit2" && mode === "label")) window.seen.push(item);
      }, true);""")
    desk.open()
    desk.page.evaluate("root => { window.deskRoot = root; }", desk.root.element_handle())
    begun = time.monotonic()
    keys = ["1", *MISGENDERING, "1"] * 20
    for count, key in enumerate(keys):
        desk.page.wait_for_timeout(max(0.0, begun + count / 15 - time.monotonic()) * 1000)
        desk.wait()  # the server may be slower than the keys
        desk.press(key)
    rows = stored(desk)
    assert [row["item"] for row in rows] == desk.page.evaluate("window.seen") and len(rows) == 60
    assert [row["choice"] for row in rows] == ["correct", "misgendering", "correct"] * 20
    assert all(row["words"] == [("he", "pronoun")] for row in rows if row["choice"] == "misgendering")


def test_reload_closing_and_an_outage_lose_no_label(desks: Opener) -> None:
    context = desks.context()
    desk = desks(make_generations(desks.server, 40), context=context).open()
    text = desk.text.text_content() or ""
    seen = [desk.decide("1"), desk.decide(*MISGENDERING)]
    desk.page.reload()
    desk.page.locator('[data-testid="desk"][data-item]').wait_for(timeout=WAIT_MS)
    desk.cut()
    seen += [desk.decide(*MISGENDERING), desk.decide("3")]
    kept = json.dumps(desk.storage(), ensure_ascii=False)
    assert len(desk.storage()) == 2 and '"pronoun"' in kept
    assert text.strip()[:8] not in kept and "river" not in kept, "no text in storage"
    desk.page.close()
    desk.mend()
    again = desks(desk.project, context=context).open()
    rows = stored(again)
    assert [row["item"] for row in rows] == seen and again.item not in seen and again.storage() == {}
    assert [row["words"] for row in rows] == [[], [("he", "pronoun")], [("he", "pronoun")], []]


@pytest.mark.rehearsal
def test_a_killed_server_loses_no_label(mortal_desks: Opener, mortal_server: Server) -> None:
    desk = open_generations(mortal_desks, 40)
    seen = [desk.decide("1"), desk.decide(*MISGENDERING)]
    desk.cut()  # seconds after the end of the server the page's own dialog takes the keys: these come before
    seen += [desk.decide(*MISGENDERING), desk.decide("1"), desk.decide("f", "m", "d", "m", "Space", "Enter", "4")]
    mortal_server.kill()
    desk.mend()
    expect(desk.notice("away")).to_contain_text("texts are ready, and", timeout=WAIT_MS)
    mortal_server.start()
    desk.settle()
    # While the page shows that its connection is gone, keys belong to that dialog.
    expect(desk.page.locator('[data-testid="stDialog"]')).to_have_count(0)
    seen.append(desk.decide("1"))
    rows = stored(desk)
    assert [row["item"] for row in rows] == seen
    assert [word for row in rows for word, _ in row["words"]] == ["he", "he", "day"]


def test_a_label_with_its_marks_is_in_storage_before_the_next_text_is_drawn(desks: Opener) -> None:
    desk = open_generations(desks)
    desk.cut()
    desk.page.evaluate("""() => {
      const keep = Storage.prototype.setItem;
      window.order = [];
      Storage.prototype.setItem = function (key, value) {
        if (key.startsWith("evenhand:op:")) window.order.push(JSON.parse(value).item, JSON.parse(value).spans.length);
        return keep.call(this, key, value);
      };
    }""")
    desk.page.evaluate(
        "root => new MutationObserver(() => window.order.push('drawn ' + root.dataset.item))"
        ".observe(root, { attributes: true, attributeFilter: ['data-item'] })",
        desk.root.element_handle(),
    )
    first = desk.decide(*MISGENDERING)
    assert desk.page.evaluate("window.order") == [first, 1, f"drawn {desk.item}"] and desk.labels() == []
    desk.mend()
    assert [row["item"] for row in stored(desk)] == [first] and desk.storage() == {}


def test_an_outbox_stays_with_its_annotator_and_a_refusal_blocks_nothing(desks: Opener) -> None:
    context = desks.context()
    ada = desks(make_generations(desks.server), context=context).open()
    ada.cut()
    bad, good = ada.decide(*MISGENDERING), ada.decide("f", "m", "w", "m", "Space", "Enter", "1")
    ada.spoil(bad, spans=[])
    ada.mend()
    bo = desks(ada.project, "Bo", context=context).open()
    expect(bo.notice("foreign")).to_contain_text("2 decisions in this browser belong to another annotator")
    bo.decide("1")
    assert [row["choice"] for row in stored(bo)] == ["correct"] and ada.labels() == []
    bo.page.close()
    again = desks(ada.project, context=context).open()
    expect(again.notice("refused")).to_contain_text(
        "For misgendering, the wrong pronoun must be marked.", timeout=WAIT_MS
    )
    rows = stored(again)
    assert [(row["item"], row["words"]) for row in rows] == [(good, [("walked", "extraneous")])]
    assert again.storage() == {}


def test_a_browser_without_storage_waits_for_the_server(desks: Opener) -> None:
    desk = open_generations(desks)
    desk.page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    desk.cut()
    first = desk.decide(*MISGENDERING)
    assert desk.item is None
    expect(desk.notice("unkept")).to_contain_text("Each text waits")
    desk.press("1", "2", "h", "Enter")
    desk.mend()
    desk.page.locator('[data-testid="desk"][data-item]').wait_for(timeout=WAIT_MS)
    assert [row["item"] for row in stored(desk)] == [first]


def test_held_keys_and_input_methods_add_no_labels(desks: Opener) -> None:
    desk = open_generations(desks)
    first = desk.item
    for key in ("1", "Enter"):
        for _ in range(6):
            desk.page.keyboard.down(key)
        desk.page.keyboard.up(key)
    second = desk.item
    desk.press("2", "h")
    for _ in range(6):
        desk.page.keyboard.down("Enter")
    desk.page.keyboard.up("Enter")
    assert desk.item == second and marks(desk) == ["he"], "a held Enter marks and does not store as well"
    desk.press("Escape")
    send = "options => window.dispatchEvent(new KeyboardEvent('keydown', options))"
    desk.page.evaluate(send, {"code": "Digit1", "key": "Process", "keyCode": 229, "isComposing": True})
    for modifier in ("ctrlKey", "metaKey", "altKey", "shiftKey"):
        desk.page.evaluate(send, {"code": "Digit1", "key": "1", modifier: True})
    desk.press("n")
    desk.page.keyboard.type("1234fmb")
    desk.press("Escape")
    assert desk.item == second
    desk.page.evaluate(send, {"code": "Digit1", "key": "Process", "keyCode": 229})
    expect(desk.root).not_to_have_attribute("data-item", second or "")
    assert [(row["item"], row["note"]) for row in stored(desk)] == [(first, ""), (second, "")]


def test_a_key_pressed_before_the_text_is_shown_labels_nothing(desks: Opener) -> None:
    desk = open_generations(desks, 2)
    first = desk.item
    desk.page.evaluate("""() => {
      const key = () => new KeyboardEvent("keydown", { code: "Digit1", key: "1", bubbles: true });
      const [one, two] = [key(), key()];
      window.dispatchEvent(one);
      window.dispatchEvent(two);
    }""")
    expect(desk.root).not_to_have_attribute("data-item", first or "")
    desk.decide("1")
    desk.press("1", "2", "m", "f", "Enter", "3")
    assert len(stored(desk)) == 2 and desk.item is None, "nothing on screen, nothing labelled"
    expect(desk.part("empty")).to_contain_text("You have labelled all 2 texts")


HOSTILE = [
    " he said<img src=x onerror=alert(1)><b>bold</b>&amp;&lt;",
    "\n\nshe wrote **bold** $x^2$ :red[red] [link](http://x.invalid) `code`",
    " 𠀀𠮷😀👩‍👩‍👧 xe wrote\non two lines,\twith a tab; e\u0301 ",
    "\u202ebackwards\u202c שלום, said they",
]


def test_hostile_text_is_shown_as_text(desks: Opener) -> None:
    desk = desks(make_generations(desks.server, HOSTILE), context=desks.context()).open()
    dialogs: list[str] = []
    desk.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    shown = []
    for _ in HOSTILE:
        desk.press("m", "Space")
        shown.append(desk.text.text_content())
        assert desk.page.get_by_test_id("desk-context").text_content() == context_of(desk)
        desk.decide("1")
    assert sorted(filter(None, shown)) == sorted(HOSTILE)
    assert dialogs == [] and desk.root.locator("img, a, .text b").count() == 0
    assert all(len(row["words"]) == 1 for row in stored(desk))


def context_of(desk: Desk) -> str:
    with Store.open(desk.server.database) as store:
        return str(store.db.execute("SELECT context FROM item WHERE uid = ?", (desk.item,)).fetchone()[0])
