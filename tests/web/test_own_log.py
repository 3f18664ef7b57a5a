"""The route on which an annotator's browser checks the own log: the own one only."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from evenhand.annotations.accounts.accounts import account, add_account, grant
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.queue.leases import claim
from evenhand.web import account_pages
from evenhand.web.gate import COOKIE
from tests.support.gated import gated
from tests.support.projects import decide, filled_project


@pytest.fixture
def client(fresh_store: Store) -> Iterator[TestClient]:
    with gated(account_pages.routes()) as found:
        yield found


def test_annotators_get_only_their_own_log(fresh_store: Store, client: TestClient) -> None:
    study, (ada, bo, _chen) = filled_project(fresh_store, 4)
    store_operations(fresh_store, study, ada, [decide(claim(fresh_store, study, ada, want=1)[0])])
    entries = "/own-log/entries"
    assert len(client.get(entries, params={"annotator": ada.uid}).json()["chain"]) == 1  # the open mode
    assert client.get(entries, params={"annotator": "nobody"}).status_code == 404
    add_account(fresh_store, "ada")
    grant(fresh_store, account(fresh_store, "ada"), "annotator", study, annotator="Ada")
    assert client.get(entries, params={"annotator": ada.uid}).status_code == 401
    client.cookies.set(COOKIE, sign_in(fresh_store, account(fresh_store, "ada")))
    for query in ({}, {"annotator": ada.uid}):
        assert client.get(entries, params=query).json()["id"] == ada.uid
    assert client.get(entries, params={"annotator": bo.uid}).status_code == 404
    add_account(fresh_store, "reader")
    grant(fresh_store, account(fresh_store, "reader"), "reader", study)
    client.cookies.set(COOKIE, sign_in(fresh_store, account(fresh_store, "reader")))
    assert client.get(entries, params={"annotator": ada.uid}).status_code == 404


def test_the_page_explains_its_limits_in_both_languages(client: TestClient) -> None:
    page = client.get("/own-log", params={"annotator": '"><script>', "lang": "en"})
    assert "they cannot prove that the newest entries are complete" in page.text and "<script>" not in page.text
    assert "不能证明最新的条目齐全" in client.get("/own-log", params={"lang": "zh"}).text
    assert "crypto.subtle" in client.get("/own-log/check.js").text
