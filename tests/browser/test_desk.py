"""The desk in a real browser: one test per invariant of the design, and what an annotator does all day."""

import json
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from evenhand.annotations.database.store import Store
from tests.support.browser import Server
from tests.support.desk_driver import WAIT_MS, Desk, Opener, labelled, make_project

pytestmark = pytest.mark.browser


# ---- invariant 1: what was on screen when the key went down ---------------------------------------------------------


def test_a_key_pressed_before_the_sentence_is_shown_labels_nothing(desks: Opener) -> None:
    desk = desks().open()
    first = desk.item
    desk.page.evaluate("""() => {
      const key = () => new KeyboardEvent("keydown", { code: "KeyJ", key: "j", bubbles: true });
      const [one, two] = [key(), key()];
      window.dispatchEvent(one);
      window.dispatchEvent(two);
    }""")
    expect(desk.root).not_to_have_attribute("data-item", first or "")
    desk.settle()
    assert labelled(desk) == [first]


def test_a_held_key_is_one_label(desks: Opener) -> None:
    desk = desks().open()
    first = desk.item
    for _ in range(8):
        desk.page.keyboard.down("j")
    desk.page.keyboard.up("j")
    desk.act("choose").first.focus()
    second = desk.item
    for _ in range(8):
        desk.page.keyboard.down("Enter")
    desk.page.keyboard.up("Enter")
    expect(desk.root).not_to_have_attribute("data-item", second or "")
    desk.settle()
    assert labelled(desk) == [first, second]


def test_keys_on_an_empty_desk_label_nothing(desks: Opener) -> None:
    desk = desks(make_project(desks.server, 2)).open()
    first, second = desk.decide("j"), desk.decide("j")
    expect(desk.part("empty")).to_contain_text("All done")
    assert desk.item is None
    desk.press("j", "k", "1", "Enter", "x", "j")
    desk.settle()
    assert labelled(desk) == [first, second] and desk.item is None


def test_120_fast_keys_label_the_items_on_screen(desks: Opener) -> None:
    desk = desks(make_project(desks.server, 160), context=desks.context())
    # The first listener of the page: it sees what is on screen before the desk hears of the key.
    desk.page.add_init_script("""window.seen = [];
      window.addEventListener("keydown", () => window.seen.push(window.deskRoot.dataset.item), true);""")
    desk.open()
    desk.page.evaluate("root => { window.deskRoot = root; }", desk.root.element_handle())
    begun = time.monotonic()
    for count in range(120):
        desk.page.wait_for_timeout(max(0.0, begun + count / 10 - time.monotonic()) * 1000)
        desk.wait()  # the server may be slower than the keys
        desk.press("j")
    desk.settle()
    seen, rows = desk.page.evaluate("window.seen"), labelled(desk)
    assert len(seen) == 120 and rows == seen, "one label a key, each about what was on screen, in that order"


# ---- invariant 2: first into the outbox -----------------------------------------------------------------------------


def test_a_decision_is_in_storage_before_the_next_sentence_is_drawn(desks: Opener) -> None:
    desk = desks().open()
    text = desk.text.text_content() or ""
    desk.cut()
    desk.page.evaluate("""() => {
      const keep = Storage.prototype.setItem;
      window.order = [];
      Storage.prototype.setItem = function (key, value) {
        if (key.startsWith("evenhand:op:")) window.order.push(JSON.parse(value).item);
        return keep.call(this, key, value);
      };
    }""")
    root = desk.root.element_handle()
    desk.page.evaluate(
        "root => new MutationObserver(() => window.order.push('drawn ' + root.dataset.item))"
        ".observe(root, { attributes: true, attributeFilter: ['data-item'] })",
        root,
    )
    first = desk.decide("j")
    assert desk.page.evaluate("window.order") == [first, f"drawn {desk.item}"]
    stored = desk.storage()
    assert [op["item"] for op in stored.values()] == [first]
    assert text[:4] not in json.dumps(stored, ensure_ascii=False), "no sentence in storage"
    assert desk.root.get_attribute("data-pending") == "1" and desk.labels() == []
    expect(desk.notice("away")).to_be_visible(timeout=WAIT_MS)
    desk.mend()
    desk.settle()
    assert labelled(desk) == [first] and desk.storage() == {}
    expect(desk.notice("away")).to_be_hidden()


def test_a_browser_without_storage_waits_for_the_server(desks: Opener) -> None:
    desk = desks().open()
    desk.page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    desk.cut()
    first = desk.decide("j")
    assert desk.item is None
    expect(desk.notice("unkept")).to_be_visible()
    desk.press("j")
    desk.mend()
    desk.page.locator('[data-testid="desk"][data-item]').wait_for(timeout=WAIT_MS)
    assert labelled(desk) == [first]


def test_decisions_made_while_cut_off_survive_closing(desks: Opener) -> None:
    context = desks.context()
    desk = desks(make_project(desks.server, 60), context=context).open()
    desk.cut()
    seen = [desk.decide("j") for _ in range(5)]
    desk.page.close()
    desk.mend()
    again = desks(desk.project, context=context).open()
    again.settle()
    assert labelled(again) == seen and again.item not in seen


# ---- invariants 3, 4 ------------------------------------------------------------------------------------------------


def test_undo_can_be_repeated(desks: Opener) -> None:
    desk = desks(make_project(desks.server, 30)).open()
    seen = [desk.decide("j") for _ in range(14)]
    desk.settle()
    desk.page.reload()
    desk.page.locator('[data-testid="desk"][data-item]').wait_for(timeout=WAIT_MS)
    for expected in reversed(seen):
        desk.press("u")
        expect(desk.root).to_have_attribute("data-item", expected)
    desk.press("u")
    expect(desk.part("say")).to_have_text("Nothing to undo.")
    desk.decide("k", "2", "Enter")
    desk.settle()
    choices = [row["choice"] for row in desk.labels()]
    assert choices == ["accept"] * 14 + [None] * 14 + ["reject"], "appended, never overwritten"
    assert not any(row["superseded"] for row in desk.labels())


def test_a_skipped_sentence_returns_at_the_end_or_by_undo(desks: Opener) -> None:
    desk = desks(make_project(desks.server, 4)).open()
    skipped = desk.decide("x")
    order = [desk.decide("j") for _ in range(2)]
    last = desk.decide("x")
    desk.press("u")
    expect(desk.root).to_have_attribute("data-item", last)
    order.append(desk.decide("j"))
    expect(desk.root).to_have_attribute("data-item", skipped, timeout=WAIT_MS)
    desk.settle()
    assert [row["item"] for row in desk.labels() if row["choice"]] == order


def test_a_past_decision_can_be_searched_and_changed(desks: Opener) -> None:
    desk = desks().open()
    first = desk.decide("j")
    text = desk.root.locator("[data-act=edit] .line").first.text_content() or ""
    current = desk.decide("j") and desk.item
    desk.press("/")
    desk.page.keyboard.type(text[:4])
    expect(desk.part("pastTitle")).to_have_text("Found: 1", timeout=WAIT_MS)
    desk.part("past").locator("button").click()
    expect(desk.root).to_have_attribute("data-item", first)
    expect(desk.part("was")).to_contain_text(
        "Earlier decision: Keep. A new decision replaces it; press Esc to leave it unchanged."
    )
    desk.press("x")
    assert desk.item == first, "a decision cannot be skipped"
    desk.press("Escape")
    expect(desk.root).to_have_attribute("data-item", current or "")
    desk.press("h", "ArrowDown", "Enter")
    expect(desk.root).to_have_attribute("data-item", first)
    desk.decide("k", "4", "Enter")
    assert desk.item == current
    desk.settle()
    assert [row["choice"] for row in desk.labels() if row["item"] == first] == ["accept", "reject"]


def test_opinions_are_off_by_default(desks: Opener) -> None:
    project = make_project(desks.server)
    desk = desks(project, context=desks.context()).open()
    assert desk.act("opinion").count() == 0
    with Store.open(desks.server.database) as store:
        store.db.execute("UPDATE project SET opinion_model = 'none-such' WHERE name = ?", (project,))
    requests: list[str] = []
    desk.page.on("request", lambda request: requests.append(request.url) if "opinion" in request.url else None)
    desk.open()
    desk.decide("j")
    desk.settle()
    expect(desk.part("opinion")).to_be_hidden()
    assert requests == []
    desk.press("o")
    expect(desk.part("opinion")).to_contain_text("none-such")
    desk.press("o")
    expect(desk.part("opinion")).to_be_hidden()


def test_the_opinion_is_requested_once_the_last_label_is_stored(desks: Opener) -> None:
    project = make_project(desks.server)
    with Store.open(desks.server.database) as store:
        store.db.execute("UPDATE project SET opinion_model = 'none-such' WHERE name = ?", (project,))
    desk = desks(project, context=desks.fresh())
    desk.page.clock.install()
    desk.open()
    desk.press("o")
    desk.cut()
    desk.decide("j")
    for _ in range(80):  # eight seconds: more than the desk waits for an opinion on one before the last
        desk.page.clock.run_for(100)
    with desk.page.expect_request("**/opinion") as request:  # raises where none is sent
        desk.mend()
        desk.settle()
    assert request.value.method == "POST" and len(labelled(desk)) == 1


# ---- invariants 5, 6: text as it is, hooks --------------------------------------------------------------------------

HOSTILE = [
    "他说<img src=x onerror=alert(1)><b>粗</b>&amp;&lt;",
    "她写下**粗体** $x^2$ :red[红] [链](http://x.invalid) `码`",
    "𠀀𠮷😀👩‍👩‍👧 他在第二行\n里，\t有制表符",
    "\u202e倒着写\u202c的句子里有她",
]


def test_hostile_text_is_shown_as_text(desks: Opener) -> None:
    project = make_project(desks.server, HOSTILE, presentation="original")
    desk = desks(project, context=desks.context()).open()
    dialogs: list[str] = []
    desk.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    shown, words = [], []
    for _ in HOSTILE:
        shown.append(desk.text.text_content())
        words.append(desk.text.locator(".keyword").text_content())
        desk.decide("j")
    assert sorted(filter(None, shown)) == sorted(HOSTILE) and set(words) == {"他", "她"}
    assert dialogs == [] and desk.root.locator("img, b b, a").count() == 0


@pytest.mark.parametrize(("presentation", "readings"), [("original", 1), ("masked", 2)])
def test_the_form_shown_is_stored(desks: Opener, presentation: str, readings: int) -> None:
    sentence = "那天下午，叔叔在河边修船。"
    desk = desks(make_project(desks.server, [sentence], presentation=presentation)).open()
    masked = presentation == "masked"
    assert desk.text.text_content() == (sentence.replace("叔叔", "") if masked else sentence)
    assert desk.text.locator(".cover" if masked else ".keyword.male").count() == 1
    assert "阿姨" not in (desk.root.locator(".card").inner_text()).replace("叔叔 / 阿姨", "")
    desk.page.keyboard.down("s")
    expect(desk.part("readings").locator(".keyword")).to_have_text(["叔叔", "阿姨"] if masked else ["阿姨"])
    assert desk.part("readings").locator("p").count() == readings
    desk.page.keyboard.up("s")
    expect(desk.part("readings").locator(".keyword")).to_have_count(0)
    desk.decide("j")
    desk.settle()
    assert [row["form_shown"] for row in desk.labels()] == [presentation]


def test_a_desk_reports_sentences_skipped_twice(desks: Opener) -> None:
    desk = desks(make_project(desks.server, 3)).open()
    skipped = [desk.decide("x"), desk.decide("x")]
    kept = desk.decide("j")
    assert [desk.decide("x"), desk.decide("x")] == skipped  # once more, at the end
    empty = desk.part("empty")
    expect(empty).to_contain_text("Skipped twice, and left to other annotators or to the lead: 2.")
    assert "The remaining sentences" not in empty.inner_text()
    desk.press("u")
    expect(desk.root).to_have_attribute("data-item", skipped[1])
    desk.decide("j")
    expect(empty).to_contain_text("or to the lead: 1.")
    desk.settle()
    assert [item for item in labelled(desk) if item == skipped[1]] and labelled(desk)[0] == kept


def test_a_covered_word_is_shown_after_its_undo_history_ends(desks: Opener) -> None:
    sentences = [f"第{n}天，{'女儿' if n % 2 else '儿子'}在河边散步。" for n in range(40)]
    desk = desks(make_project(desks.server, sentences, presentation="masked")).open()
    seen = [desk.decide("j") for _ in range(32)]
    desk.settle()
    rows = desk.part("past").locator("button")
    expect(rows.first.locator(".bar-of-word")).to_have_attribute("aria-label", "遮住的词")
    widths = {row.locator(".bar-of-word").bounding_box()["width"] for row in rows.all()}  # type: ignore[index]
    assert len(widths) == 1
    expect(desk.part("balance").locator(".count").first).to_have_text("1")  # two labels of 32 are not covered
    desk.press("/")
    desk.page.keyboard.type("女儿")
    expect(desk.part("pastTitle")).to_have_text("Found: 1")
    rows.first.click()
    expect(desk.text.locator(".keyword.female")).to_have_text("女儿")
    desk.press("Escape")
    for _ in range(30):
        desk.press("u")
    expect(desk.root).to_have_attribute("data-item", seen[2])
    desk.press("u")
    expect(desk.notice("hint")).to_have_text("Where words are covered, only the last 30 labels can be undone.")
    assert desk.item == seen[2] and desk.text.locator(".cover").count() == 1
    desk.settle()
    desk.open()
    assert desk.text.locator(".cover").count() == 1
    rows.first.click()  # older than the undo history, so in full, which is stored with a change
    expect(desk.text.locator(".keyword")).to_have_count(1)
    desk.press("k", "1", "Enter")
    desk.settle()
    assert desk.labels()[-1]["form_shown"] == "original" and desk.labels()[0]["form_shown"] == "masked"


# ---- invariant 7: an outbox never crosses over ----------------------------------------------------------------------


def test_another_database_on_the_port_gets_no_labels(
    mortal_desks: Opener, mortal_server: Server, tmp_path: Path
) -> None:
    context = mortal_desks.context()
    desk = mortal_desks(make_project(mortal_server), context=context).open()
    desk.cut()  # seconds after the end of the server the page's own dialog takes the keys: these come before
    for _ in range(3):
        desk.decide("j")
    mortal_server.kill()
    desk.page.close()
    desk.mend()
    first = mortal_server.database
    mortal_server.database = tmp_path / "other.db"
    mortal_server.start()
    other = Desk(context, mortal_server, make_project(mortal_server)).open()
    expect(other.notice("foreign")).to_contain_text("3 decisions in this browser belong to another database")
    own = other.decide("j")
    other.settle()
    assert labelled(other) == [own] and len(other.storage()) == 3
    other.page.close()
    mortal_server.kill()
    mortal_server.database = first
    mortal_server.start()
    back = Desk(context, mortal_server, desk.project).open()
    back.settle()
    assert len(labelled(back)) == 3 and back.storage() == {}


def test_another_annotator_does_not_send_my_outbox(desks: Opener) -> None:
    context = desks.context()
    ada = desks(context=context).open()
    ada.cut()
    mine = [ada.decide("j"), ada.decide("j")]
    ada.page.close()
    ada.mend()
    bo, sent = desks(ada.project, "Bo", context=context), list[str]()
    bo.page.on("request", lambda request: sent.append(request.post_data or ""))
    bo.open()
    expect(bo.notice("foreign")).to_contain_text("2 decisions in this browser belong to another annotator")
    bo.decide("k", "1", "Enter")
    bo.settle()
    assert len(bo.labels()) == 1
    # What Ada's own page still sends while it closes is Ada's; Bo's desk sends nothing of it.
    kept = [operation["op"] for operation in bo.storage().values()]
    assert not any(op in post for op in kept for post in sent)
    bo.page.close()
    again = desks(ada.project, context=context).open()
    again.settle()
    assert labelled(again) == mine


def test_two_desks_of_one_annotator_conflict(desks: Opener) -> None:
    project = make_project(desks.server)
    first, second = desks(project).open(), desks(project).open()
    assert first.item == second.item
    item = first.decide("j")
    first.settle()
    second.decide("k", "1", "Enter")
    expect(second.notice("conflict")).to_contain_text(
        ": Reject here, Keep in the other window. The latter counts.", timeout=WAIT_MS
    )
    assert [(row["choice"], row["superseded"]) for row in first.labels()] == [("accept", 0), ("reject", 1)]
    second.notice("conflict").get_by_role("button").click()
    expect(second.root).to_have_attribute("data-item", item)
    second.decide("k", "1", "Enter")
    second.settle()
    expect(second.notice("conflict")).to_be_hidden()
    assert [row["superseded"] for row in first.labels()] == [0, 1, 0]


# ---- invariant 8: answers one by one --------------------------------------------------------------------------------


def test_a_refused_decision_is_listed_and_blocks_nothing(desks: Opener) -> None:
    context = desks.context()
    desk = desks(context=context).open()
    desk.cut()
    bad, good = desk.decide("j"), desk.decide("j")
    desk.spoil(bad, choice="maybe")
    desk.mend()
    again = desks(desk.project, context=context).open()
    expect(again.notice("refused")).to_contain_text("maybe is not a choice", timeout=WAIT_MS)
    again.settle()
    assert labelled(again) == [good] and again.storage() == {}
    with again.page.expect_download() as download:
        again.notice("refused").get_by_role("button", name="Download").click()
    assert [op["item"] for op in json.loads(download.value.path().read_text())] == [bad]
    again.notice("refused").get_by_role("button", name="Remove").click()
    expect(again.notice("refused")).to_be_hidden()
    assert again.storage("evenhand:refused:") == {}


# ---- the panels, other hands, small screens -------------------------------------------------------------------------


def test_reject_without_a_reason_asks_for_a_note(desks: Opener) -> None:
    desk = desks().open()
    first = desk.item
    desk.press("k", "1", "Escape")
    expect(desk.part("why")).to_be_hidden()
    desk.press("k", "1", "1", "Enter")
    expect(desk.part("noteForm")).to_be_visible()
    desk.press("Enter")
    assert desk.item == first, "an empty note is no reason"
    desk.press("Enter")
    expect(desk.part("noteForm")).to_be_visible()
    desk.page.keyboard.type("不像句子")
    desk.decide("Enter")
    desk.settle()
    (row,) = desk.labels()
    assert (row["choice"], row["reasons"], row["note"]) == ("reject", "[]", "不像句子")


def test_a_double_click_is_one_label(desks: Opener) -> None:
    desk = desks().open()
    first = desk.item
    desk.part("acts").locator("button").filter(has_text="Keep").dblclick()
    expect(desk.root).not_to_have_attribute("data-item", first or "")
    desk.settle()
    assert labelled(desk) == [first]
