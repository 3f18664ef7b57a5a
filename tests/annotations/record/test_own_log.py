"""What an annotator checks alone: the own chain, the same in the browser as here, and nothing of others in it."""

import csv
import io
import json

import pytest

from evenhand.annotations.database.hash_chain import chained, daily_heads
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.record.files import own_heads, own_log, record_csv, record_json
from evenhand.annotations.types import Annotator, Project
from tests.support.projects import decide, filled_project

DAY_MS = 86_400_000


def at_day(monkeypatch: pytest.MonkeyPatch, day: int) -> None:
    monkeypatch.setattr("evenhand.annotations.database.hash_chain.now_ms", lambda: day * DAY_MS)


@pytest.fixture
def three_days(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> tuple[Store, Project, list[Annotator]]:
    """Let Ada work on the first and the third day, Bo on the second; the fourth is today."""
    at_day(monkeypatch, 20_000)
    study, people = filled_project(fresh_store, 9)
    ada, bo = people[:2]
    for day, who in ((40_000, ada), (40_001, bo), (40_002, ada)):
        at_day(monkeypatch, day)
        for item in claim(fresh_store, study, who, want=2):
            store_operations(fresh_store, study, who, [decide(item, note="mine")])
    at_day(monkeypatch, 40_003)
    return fresh_store, study, people


def test_the_own_chain_is_valid_without_data_of_others(three_days: tuple[Store, Project, list[Annotator]]) -> None:
    store, _study, (ada, bo, chen) = three_days
    log = own_log(store, ada)
    before = None
    for entry in log.chain:
        assert chained(before, entry.row).hex() == entry.hash
        before = bytes.fromhex(entry.hash)
        assert json.loads(entry.row)[0] == entry.op_id
        assert bo.uid not in entry.row
    assert len(log.chain) == 4 and own_log(store, chen).chain == ()
    assert [head.day for head in log.heads] == ["2079-07-08", "2079-07-10"]  # Bo's day is not named
    assert log.heads == own_heads(store, ada)
    assert set(log.heads) < set(daily_heads(store.db))


def test_both_record_files_contain_the_log(three_days: tuple[Store, Project, list[Annotator]]) -> None:
    store, study, (ada, *_others) = three_days
    log = own_log(store, ada)
    result = json.loads("".join(record_json(store, study, ada)))["log"]
    assert [entry["hash"] for entry in result["chain"]] == [entry.hash for entry in log.chain]
    assert result["heads"] == [{"day": head.day, "hash": head.hash} for head in log.heads]
    rows = list(csv.DictReader(io.StringIO("".join(record_csv(store, study, ada)))))
    by_operation = {row["op_id"]: row["hash"] for row in rows if row["op_id"]}
    assert by_operation == {entry.op_id: entry.hash for entry in log.chain}
    last = [(row["created"], row["hash"]) for row in rows if row["what"] == "head of the log"]
    assert last == [(head.day, head.hash) for head in log.heads]
