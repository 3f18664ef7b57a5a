"""In a browser: what comes again after its hours is labelled and stored like any other item."""

import pytest
from playwright.sync_api import expect

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import change_project, project
from tests.support.browser import Server
from tests.support.desk_driver import Opener, make_project

pytestmark = pytest.mark.browser


def second_labels(server: Server) -> list[tuple[str, str, str, int]]:
    query = (
        "SELECT item.text, retest.uid, coalesce(retest_label.choice, ''), retest.latest = retest_label.id"
        " FROM retest_label JOIN retest ON retest.id = retest_label.retest JOIN item ON item.id = retest.item"
        " ORDER BY retest_label.id"
    )
    with Store.open(server.database) as store:
        return store.db.execute(query).fetchall()


def test_a_retest_is_stored_undone_and_stored_again(desks: Opener, desk_server: Server) -> None:
    name = make_project(desk_server, 3, annotators=("Ada",))
    with Store.open(desk_server.database) as store:
        change_project(store, project(store, name), retest=1.0, retest_hours=0)
    desk = desks(name).open()
    first = [desk.decide("j") for _ in range(3)]
    desk.settle()
    desk.open()  # a reload: what is due again is handed out
    texts, again = [], []
    for _ in range(3):
        texts.append(desk.text.inner_text())
        again.append(desk.decide("j"))
    desk.settle()
    assert len(set(texts)) == 3 and not set(first) & set(again)
    stored = second_labels(desk_server)
    assert [(uid, choice) for _, uid, choice, _ in stored] == [(uid, "accept") for uid in again]
    assert len(desk.labels()) == 3  # the first labels are as they were
    desk.press("u")
    expect(desk.root).to_have_attribute("data-item", again[-1])
    desk.settle()
    desk.open()  # undone and loaded again: it is the next one
    assert desk.item == again[-1]
    desk.decide("j")
    desk.settle()
    assert [row[2] for row in second_labels(desk_server)] == ["accept"] * 3 + ["", "accept"]
    expect(desk.part("progress")).to_contain_text("6 of 6")
