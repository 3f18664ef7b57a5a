"""The desk in a browser in a pilot and after a new version: tags, notices, returned items, covered sentences."""

import json
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import expect

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.drafts import read_draft, write_version
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.projects.projects import change_project, project
from evenhand.core.text.keywords import find
from tests.support.browser import Server
from tests.support.desk_driver import Desk, Opener, make_generations, make_project

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=document.title='hacked'>"


def begin_pilot(server: Server, name: str, items: int = 4) -> None:
    with Store.open(server.database) as store:
        start_pilot(store, project(store, name), items)


def tags_of(server: Server, name: str) -> list[tuple[str, list[str], list[str]]]:
    query = (
        "SELECT choice, reasons, tags FROM label JOIN project ON project.id = label.project WHERE name = ?"
        " AND choice IS NOT NULL ORDER BY label.id"
    )
    with Store.open(server.database) as store:
        return [(row[0], json.loads(row[1]), json.loads(row[2])) for row in store.db.execute(query, (name,))]


def chips(desk: Desk) -> list[str]:
    return [text.strip() for text in desk.part("tagChips").locator("button span").all_inner_texts()]


def test_typing_a_tag_stores_it_and_labels_nothing(desks: Opener) -> None:
    name = make_project(desks.server, 12)
    begin_pilot(desks.server, name)
    desk = desks(name).open()
    expect(desk.part("progress")).to_have_text("Pilot 1, my progress: 0 of 4")
    first = desk.item
    desk.press("t")
    desk.page.keyboard.type("jkx, 1 kin，")
    desk.page.keyboard.type("half")
    assert chips(desk) == ["jkx", "1 kin"] and desk.item == first and desk.labels() == []
    desk.press("Enter", "Enter")
    assert chips(desk) == ["jkx", "1 kin", "half"]
    desk.press("t", "Backspace", "Enter")  # the last one goes again
    desk.decide("j")
    desk.decide("k", "t", *"kin", "Enter", "Enter", "Enter")  # a tag in the place of a reason
    desk.settle()
    assert tags_of(desks.server, name) == [("accept", [], ["jkx", "1 kin"]), ("reject", [], ["kin"])]
    expect(desk.part("progress")).to_have_text("Pilot 1, my progress: 2 of 4")
    # Typed but undecided text is restored once after a reload; so are the own earlier tags, to be pressed.
    desk.press("t", *"left", "Enter", "Enter", "n")
    desk.page.keyboard.type("half a note")
    typed_for = desk.item
    desk.page.reload()
    desk.page.locator('[data-testid="desk"][data-item]').wait_for()
    offered = desk.part("tagOffers").locator("button")
    expect(offered).to_have_count(3)
    assert (desk.item, chips(desk)) == (typed_for, ["left"])
    expect(desk.part("noted")).to_have_text("Note: half a note")
    offered.filter(has_text="1 kin").click()
    assert chips(desk) == ["left", "1 kin"]
    desk.act("choose").first.click()
    desk.settle()
    assert tags_of(desks.server, name)[-1] == ("accept", [], ["left", "1 kin"])
    assert desk.labels()[-1]["note"] == "half a note"
    expect(desk.part("noted")).to_be_hidden()  # the next one begins empty
    # An earlier decision is on screen with its tags; a new one keeps them.
    desk.part("past").locator("button").first.click()
    assert chips(desk) == ["left", "1 kin"]


def test_an_input_method_does_not_end_a_tag(desks: Opener) -> None:
    name = make_project(desks.server, 6)
    begin_pilot(desks.server, name)
    desk = desks(name).open()
    desk.press("t")
    script = """([options]) => {
      const find = (root) => root.querySelector?.('[data-part=tagInput]') ?? [...root.querySelectorAll('*')]
        .map((one) => one.shadowRoot && find(one.shadowRoot)).find(Boolean);
      const input = find(document);
      input.value = '亲';
      input.dispatchEvent(new KeyboardEvent('keydown', { ...options, bubbles: true, composed: true }));
    }"""
    desk.page.evaluate(script, [{"key": "Enter", "code": "Enter", "keyCode": 229, "isComposing": True}])
    assert chips(desk) == []
    desk.press("Enter")
    assert chips(desk) == ["亲"]


def test_the_end_of_a_pilot_is_announced_and_labelling_continues(desks: Opener) -> None:
    name = make_project(desks.server, 8)
    begin_pilot(desks.server, name, 2)
    desk = desks(name).open()
    desk.decide("j")
    desk.decide("j")
    expect(desk.part("empty")).to_contain_text("You have finished your part of the pilot. Thank you.")
    with Store.open(desks.server.database) as store:
        close_pilot(store, project(store, name))
    desk.page.evaluate("window.dispatchEvent(new Event('online'))")
    desk.page.reload()
    desk.page.locator('[data-testid="desk"][data-item]').wait_for()
    expect(desk.part("progress")).to_have_text("My progress: 2 of 8")
    expect(desk.part("tagForm")).to_be_hidden()


def test_a_starting_pilot_replaces_prefetched_items(desks: Opener) -> None:
    name = make_project(desks.server, 20)
    desk = desks(name).open()
    begin_pilot(desks.server, name, 3)
    desk.decide("j")  # the sentence that was on screen still counts
    desk.settle()
    with Store.open(desks.server.database) as store:
        query = "SELECT item.uid FROM item JOIN pilot ON pilot.id = item.pilot JOIN project"
        drawn = {row[0] for row in store.db.execute(f"{query} ON project.id = item.project WHERE name = ?", (name,))}
    expect(desk.part("progress")).to_contain_text("Pilot 1")
    seen = []
    while desk.item and len(seen) < 5:
        seen.append(desk.decide("j"))
    assert set(seen[-3:]) == drawn


def new_version(server: Server, name: str, changes: str, which: Any = "none") -> None:
    with Store.open(server.database) as store:
        stored = project(store, name)
        now = read_draft(store, stored)
        reasons = tuple(
            replace(reason, en=f"{reason.en} (anew)") if reason.code == "name" else reason for reason in now.reasons
        )
        write_version(store, stored, replace(now, reasons=reasons, changes=changes), which=which)


def versions_of(server: Server, name: str) -> list[int]:
    query = (
        "SELECT guideline.version FROM label JOIN guideline ON guideline.id = label.guideline"
        " JOIN project ON project.id = label.project WHERE project.name = ? ORDER BY label.id"
    )
    with Store.open(server.database) as store:
        return [row[0] for row in store.db.execute(query, (name,))]


def test_a_new_version_stops_the_desk_until_it_is_read(desks: Opener) -> None:
    name = make_project(desks.server, 12)
    desk = desks(name).open()
    rejected = desk.decide("k", "5", "Enter")
    desk.settle()
    new_version(desks.server, name, HOSTILE, "named")
    desk.decide("j")  # before the desk can know: under the version that is in view
    news = desk.part("news")
    expect(news).to_contain_text(f"Version 2: {HOSTILE}")
    expect(news).to_contain_text("Was: Contains a name. Now: Contains a name (anew)")
    expect(news).to_contain_text("Sent back to you for relabelling: 1")
    expect(news.locator("li").filter(has_text="· Reject, Contains a name")).to_have_count(1)
    desk.settle()
    assert desk.item is None and versions_of(desks.server, name) == [1, 1]
    desk.press("j", "k", "1", "Enter", "u", "x", "Space")  # keys on their way label and confirm nothing
    expect(news).to_be_visible()
    desk.settle()
    assert versions_of(desks.server, name) == [1, 1] and desk.page.title() != "hacked"
    desk.page.reload()
    expect(news).to_contain_text(f"Version 2: {HOSTILE}")
    news.get_by_role("button", name="I have read this").click()
    desk.wait()
    expect(desk.part("guidelineTitle")).to_contain_text("Guideline v2")
    # The returned item is the first on screen, with its former label.
    assert desk.item == rejected
    expect(desk.part("was")).to_contain_text("Under version 1 you decided: Reject (Contains a name)")
    desk.decide("j")
    desk.settle()
    assert versions_of(desks.server, name) == [1, 1, 2]
    # Read while the desk stays open, with a note half typed, by an annotator whose labels are not returned.
    desk.press("n", *"half")
    new_version(desks.server, name, "Once more.")
    desk.page.evaluate("window.dispatchEvent(new Event('pagehide'))")
    desk.press("Enter", "x")
    desk.act("understood").click()
    desk.wait()
    expect(desk.part("guidelineTitle")).to_contain_text("Guideline v3")
    assert desk.item is not None  # another one if the key that skips was quicker than the news
    desk.decide("j")
    desk.settle()
    assert versions_of(desks.server, name) == [1, 1, 2, 3]
    with Store.open(desks.server.database) as store:
        assert store.db.execute("SELECT count(*) FROM event WHERE action = 'read_changes'").fetchone()[0] >= 2


def test_labels_made_during_an_outage_keep_the_old_version(desks: Opener) -> None:
    name = make_project(desks.server, 12)
    desk = desks(name).open()
    desk.decide("j")
    desk.settle()
    desk.cut()
    for _ in range(3):
        desk.decide("j")
    desk.press("n", *"half")
    desk.press("Enter")
    typed_for = desk.item
    new_version(desks.server, name, "No names.")
    desk.mend()
    desk.page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(desk.part("news")).to_contain_text("Version 2: No names.")
    desk.settle()
    assert versions_of(desks.server, name) == [1] * 4 and desk.storage("evenhand:refused:") == {}
    desk.act("understood").click()
    desk.wait()
    assert desk.item == typed_for
    expect(desk.part("noted")).to_have_text("Note: half")
    desk.decide("j")
    desk.settle()
    assert versions_of(desks.server, name) == [1] * 4 + [2] and desk.labels()[-1]["note"] == "half"


def test_a_flagged_sentence_is_covered_until_it_is_opened(desks: Opener) -> None:
    name = make_project(desks.server, 0, presentation="original")
    with Store.open(desks.server.database) as store:
        stored = change_project(store, project(store, name), blur=True)
        with Batch.begin(store, stored, "made.txt") as batch:
            for n, flags in enumerate((["name"], ["name"], ["name"])):
                text = f"第{n}天，他在河边散步。"
                batch.add([NewItem(text, find(text)[0], "made.txt", n + 1, {"flags": flags})])
            batch.publish()
    desk = desks(name).open()
    first = desk.item
    expect(desk.part("unveil")).to_be_visible()
    desk.press("j", "k", "s", "n")
    assert desk.item == first and desk.labels() == []
    expect(desk.part("readings")).to_be_hidden()
    desk.press("Space")
    expect(desk.part("unveil")).to_be_hidden()
    assert desk.decide("j") == first
    expect(desk.part("unveil")).to_be_visible()  # the next one is covered again


def test_generations_have_a_separate_key_for_tags(desks: Opener) -> None:
    name = make_generations(desks.server, 6)
    begin_pilot(desks.server, name, 3)
    desk = desks(name).open()
    desk.press("w")
    desk.page.keyboard.type("1 f m")
    desk.press("Enter", "Enter")
    desk.decide("1")
    desk.settle()
    assert tags_of(desks.server, name) == [("correct", [], ["1 f m"])]
