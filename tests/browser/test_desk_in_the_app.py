"""The desk in the app: where Streamlit mounts, themes, reloads or reruns it, or has keys of its own."""

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from evenhand.annotations.database.store import Store
from tests.support.browser import Server
from tests.support.desk_driver import (
    MISGENDERING,
    WAIT_MS,
    Opener,
    labelled,
    make_generations,
    make_project,
    marks,
    no_sideways_scroll,
    piece,
    run_keys,
    stored,
)
from tests.support.generations import FILE, MODELS

pytestmark = pytest.mark.browser


def test_a_label_is_about_the_item_on_screen(app_desks: Opener) -> None:
    desk = app_desks().open()
    first = desk.decide("j")
    second = desk.decide("k", "3", "1", "Enter")
    desk.settle()
    rows = desk.labels()
    assert [(row["item"], row["choice"]) for row in rows] == [(first, "accept"), (second, "reject")]
    assert json.loads(rows[1]["reasons"]) == ["not_plausible", "gender_term"]


def test_an_input_method_and_a_field_never_label(app_desks: Opener) -> None:
    desk = app_desks().open()
    first = desk.item
    send = "options => window.dispatchEvent(new KeyboardEvent('keydown', options))"
    desk.page.evaluate(send, {"code": "KeyJ", "key": "Process", "keyCode": 229, "isComposing": True})
    for modifier in ("ctrlKey", "metaKey", "altKey", "shiftKey"):
        desk.page.evaluate(send, {"code": "KeyJ", "key": "j", modifier: True})
    desk.press("n")
    desk.page.keyboard.type("jkxu 12?/")
    expect(desk.part("note")).to_have_value("jkxu 12?/")
    desk.press("Escape", "/")
    desk.page.keyboard.type("jjxu")
    desk.press("Escape")
    assert desk.item == first and desk.labels() == []
    # With a Chinese input method on and no field focused, the place of the key counts.
    desk.page.evaluate(send, {"code": "KeyJ", "key": "Process", "keyCode": 229})
    expect(desk.root).not_to_have_attribute("data-item", first or "")
    desk.settle()
    assert labelled(desk) == [first]


def test_reload_and_closing_the_tab_lose_no_label(app_desks: Opener) -> None:
    project = make_project(app_desks.server, 60)
    context = app_desks.context()
    desk = app_desks(project, context=context).open()
    seen = run_keys(desk, 8, 60)
    desk.page.reload()
    desk.page.locator('[data-testid="desk"][data-item]').wait_for(timeout=WAIT_MS)
    seen += run_keys(desk, 8, 60)
    desk.page.close()
    again = app_desks(project, context=context).open()
    again.settle()
    assert labelled(again) == list(dict.fromkeys(seen)) and len(labelled(again)) == 16


@pytest.mark.rehearsal
def test_a_killed_server_loses_no_label(mortal_app_desks: Opener, mortal_app: Server) -> None:
    desk = mortal_app_desks(make_project(mortal_app, 60)).open()
    seen = run_keys(desk, 6, 60)
    mortal_app.kill()
    seen += run_keys(desk, 8, 60)
    expect(desk.notice("away")).to_be_visible(timeout=WAIT_MS)
    mortal_app.start()
    desk.settle()
    seen += [desk.decide("j") for _ in range(4)]
    desk.settle()
    assert labelled(desk) == list(dict.fromkeys(seen)) and len(seen) == 18


# At each frame, whether a dialog of the page is drawn.
WATCH_DIALOGS = """
window.dialogsDrawn = 0
const look = () => {
  const dialog = document.querySelector('[data-testid="stDialog"]')
  if (dialog?.checkVisibility({ visibilityProperty: true })) window.dialogsDrawn += 1
  requestAnimationFrame(look)
}
look()
"""
IN_FOCUS = """(() => {
  let at = document.activeElement
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
  return at.dataset.part ?? at.tagName
})()"""
CONNECTION_GONE = {"zh": ("正在连接", "服务器没有响应"), "en": ("Connecting", "The server is not responding")}


@pytest.mark.rehearsal
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_an_outage_never_covers_the_desk(mortal_app_desks: Opener, mortal_app: Server, lang: str) -> None:
    desk = mortal_app_desks(make_project(mortal_app, 60)).open(lang=lang)
    desk.page.evaluate(WATCH_DIALOGS)
    desk.press("n")
    desk.page.keyboard.type("a")
    mortal_app.kill()
    page_says, desk_says = CONNECTION_GONE[lang]
    expect(desk.page.get_by_test_id("stConnectionStatus")).to_contain_text(page_says)
    expect(desk.notice("away")).to_contain_text(desk_says)  # nothing was to be sent, and it is known all the same
    desk.page.wait_for_timeout(4000)  # the page has polled the server several times by then
    assert desk.page.evaluate(IN_FOCUS) == "note"
    desk.page.keyboard.type("b")
    expect(desk.part("note")).to_have_value("ab")
    desk.press("Enter")
    seen = [desk.decide("j"), desk.decide("k", "1", "Enter"), desk.decide("j")]
    assert desk.page.evaluate("window.dialogsDrawn") == 0
    assert desk.root.get_attribute("data-pending") == "3"
    expect(desk.part("saved")).to_contain_text("3")
    mortal_app.start()
    desk.settle()
    assert [(row["item"], row["note"]) for row in desk.labels()] == [(seen[0], "ab"), (seen[1], ""), (seen[2], "")]


def test_an_expired_sign_in_keeps_the_outbox(app_desks: Opener) -> None:
    desk = app_desks().open()
    first = desk.decide("j")
    desk.settle()
    with Store.open(app_desks.server.database) as store:
        store.db.execute("UPDATE database SET secret = randomblob(32)")
    second = desk.decide("j")
    expect(desk.notice("signed-out")).to_contain_text("1 decisions are kept")
    third = desk.decide("j")
    assert desk.root.get_attribute("data-pending") == "2" and labelled(desk) == [first]
    desk.act("sign-in").click()
    desk.settle()
    assert labelled(desk) == [first, second, third]
    expect(desk.notice("signed-out")).to_be_hidden()


def test_sentences_are_labelled_by_touch_at_390_px(app_desks: Opener) -> None:
    context = app_desks.fresh(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    desk = app_desks(context=context).open()
    buttons = desk.part("acts").locator("button")
    first = desk.item
    buttons.filter(has_text="Keep").tap()
    expect(desk.root).not_to_have_attribute("data-item", first or "")
    second = desk.item
    buttons.filter(has_text="Reject").tap()
    desk.root.locator("[data-code=name]").tap()
    assert no_sideways_scroll(desk.page)
    desk.act("finish").tap()
    expect(desk.root).not_to_have_attribute("data-item", second or "")
    buttons.filter(has_text="Undo").tap()
    expect(desk.root).to_have_attribute("data-item", second or "")
    desk.act("help").tap()
    assert no_sideways_scroll(desk.page)
    desk.settle()
    assert [(row["item"], row["choice"]) for row in desk.labels()] == [
        (first, "accept"),
        (second, "reject"),
        (second, None),
    ]


def test_the_desk_is_translated_into_chinese(app_desks: Opener) -> None:
    desk = app_desks(make_project(app_desks.server, presentation="original")).open(lang="zh")
    expect(desk.act("choose").first).to_contain_text("保留")
    label = desk.text.locator(".keyword").get_attribute("data-word")
    assert label in ("男性词", "女性词")
    desk.press("?")
    expect(desk.part("help")).to_contain_text("快捷键")
    desk.press("j", "Escape")
    assert desk.labels() == [], "the key map is in front"
    desk.part("guideline").focus()  # it scrolls, so Tab reaches it; the keys of the desk still work
    expect(desk.part("guideline")).to_be_focused()
    expect(desk.root.get_by_role("region", name="准则 v1")).to_be_visible()
    desk.decide("j")
    desk.settle()
    assert len(desk.labels()) == 1


def test_keys_are_limited_to_the_focused_desk_or_switched_off(app_desks: Opener) -> None:
    """Keys that write a sign can be switched off (WCAG 2.1.4); buttons and the dialog's own keys still work."""
    desk = app_desks(make_project(app_desks.server)).open(lang="en")
    for scope, focused, labels in (("desk", False, 0), ("desk", True, 1), ("off", True, 1), ("page", False, 2)):
        desk.act("help").first.click()
        desk.part("help").locator(f"input[value={scope}]").check()
        desk.press("Escape")
        expect(desk.part("help")).to_be_hidden()
        desk.page.evaluate("document.activeElement.blur()")
        if focused:
            desk.act("note").first.focus()
        desk.page.keyboard.press("j")
        desk.settle()
        assert len(desk.labels()) == labels, (scope, focused)
    desk.page.reload()
    desk.act("help").first.click()
    expect(desk.part("help").locator("input[value=page]")).to_be_checked()


def test_the_guideline_follows_the_width_until_it_is_toggled(app_desks: Opener) -> None:
    context = app_desks.fresh(viewport={"width": 500, "height": 800})
    desk = app_desks(make_project(app_desks.server), context=context).open(lang="en")
    guideline, title = desk.part("guideline"), desk.part("guidelineTitle")
    expect(guideline).to_be_hidden()
    desk.page.set_viewport_size({"width": 1280, "height": 800})
    expect(guideline).to_be_visible()
    title.click()
    expect(guideline).to_be_hidden()
    desk.page.set_viewport_size({"width": 500, "height": 800})
    title.click()
    expect(guideline).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_generations_are_labelled_by_touch_at_390_px(app_desks: Opener, scheme: Any) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    project = make_generations(app_desks.server, [" he met a man and she left again."] * 1 + [""] * 3)
    desk = app_desks(project, context=app_desks.fresh(**phone, color_scheme=scheme)).open(lang="zh")
    first = desk.item
    desk.act("flag").tap()
    desk.root.locator("[data-code=misgendering]").tap()
    expect(desk.part("because")).to_be_visible()
    assert no_sideways_scroll(desk.page)
    piece(desk, "he").tap()
    desk.act("confirm").tap()
    piece(desk, "she").tap()
    assert len(marks(desk)) == 2
    desk.act("confirm").tap()
    expect(desk.root).not_to_have_attribute("data-item", first or "")
    desk.act("tags").tap()
    desk.root.locator("[data-code=age]").tap()
    assert no_sideways_scroll(desk.page)
    desk.part("why").locator("[data-act=back]").tap()
    desk.act("help").tap()
    assert no_sideways_scroll(desk.page)
    desk.part("help").locator("[data-act=back]").tap()
    desk.act("undo").tap()
    expect(desk.root).to_have_attribute("data-item", first or "")
    row = stored(desk)[0]
    assert (row["choice"], row["words"]) == ("misgendering", [("he", "pronoun"), ("she", "extraneous")])


def test_model_setting_and_row_are_never_sent_to_a_browser(app_desks: Opener) -> None:
    desk = app_desks(make_generations(app_desks.server, 8), context=app_desks.context())
    results: list[str] = []
    desk.page.on("response", lambda reply: results.append(reply.text()) if "/api/desk/" in reply.url else None)
    desk.page.on("websocket", lambda socket: socket.on("framereceived", lambda data: results.append(repr(data))))
    desk.open()
    who = desk.page.get_by_test_id("desk-who")
    expect(who).to_contain_text(" / ")
    for _ in range(3):
        desk.decide(*MISGENDERING)
    desk.settle()
    shown = desk.root.evaluate("root => root.outerHTML")
    assert any("Dunmoor" in body for body in results), "the texts were on their way"
    for secret in (*MODELS, FILE, "pre-secret", "secret-template", "4711", "rule_correct"):
        assert not any(secret in body for body in [*results, shown]), secret
