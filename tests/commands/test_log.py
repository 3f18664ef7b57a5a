"""`log` on the command line, and `accounts erase` and `scrub`."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenhand.annotations.accounts.accounts import add_account
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.queue.leases import claim
from tests.support.projects import decide, filled_project
from tests.support.tampering import changed_outside, forget_comparison
from tests.support.terminal import typed


def run(db: Path, *arguments: str, code: int = 0) -> Any:
    ended = typed(*arguments, "--db", db, "--json")
    assert ended.code == code, ended
    return json.loads(ended.stdout) if code < 2 else ended.stderr


def test_the_log_can_be_verified_and_listed(fresh_store: Store) -> None:
    began = datetime.now(UTC).date()
    study, (ada, *_others) = filled_project(fresh_store, 4)
    for item in claim(fresh_store, study, ada, want=3):
        store_operations(fresh_store, study, ada, [decide(item)])
    db = fresh_store.path
    holds, head = run(db, "log", "verify", "--all"), run(db, "log", "head", "--days")
    assert (holds["holds"], holds["head"], holds["entries"]) == (True, head["hash"], head["entry"])
    assert head["days"] == [] or datetime.now(UTC).date() > began  # the first day is not over
    assert run(db, "log", "verify", study.name)["labels"] == 3
    shown = run(db, "log", "show", "--kind", "label", "--last", "2")["entries"]
    assert [(entry["kind"], entry["row"]) for entry in shown] == [("label", 2), ("label", 3)]
    assert "--all" in run(db, "log", "verify", code=2)
    with closing(sqlite3.connect(db)) as plain:
        plain.execute("DROP TRIGGER label_is_never_changed")
        plain.execute("UPDATE label SET choice = 'reject' WHERE id = 2")
        plain.commit()
    entry = shown[0]["entry"]
    assert run(db, "log", "verify", "--all", code=2) == (
        f"Log entry {entry} is invalid: the row 2 of label, or the entry itself, was changed.\n"
    )


def test_a_flipped_verdict_is_named_and_corrected(fresh_store: Store) -> None:
    study, (ada, *_others) = filled_project(fresh_store, 4, per_item=1)
    other, _ = filled_project(fresh_store, 2)
    for item in claim(fresh_store, study, ada, want=2):
        store_operations(fresh_store, study, ada, [decide(item, "reject")])
    db = fresh_store.path
    assert [row["stale"] for row in run(db, "log", "verify", "--all")["derived"]] == [0, 0]
    flipped = "UPDATE item SET gold = 'accept', status = 'accepted' WHERE status = 'rejected'"
    changed_outside(fresh_store, flipped)
    result = run(db, "log", "verify", "--all", code=1)
    row = next(row for row in result["derived"] if row["project"] == study.name)
    assert not result["holds"] and row["stale"] == 2 and row["counts"] == {"census": 4}
    assert row["items"][0]["stored"]["gold"] == "accept" and row["items"][0]["recounted"]["gold"] == "reject"
    text = typed("log", "verify", study.name, "--db", db)
    assert text.code == 1 and row["items"][1]["item"] in text.stdout and "project recount" in text.stdout
    assert run(db, "log", "verify", other.name)["holds"]  # nothing of another project is printed
    assert run(db, "project", "recount", study.name)["corrected"] == 2
    assert run(db, "log", "verify", "--all")["holds"]


def test_missing_triggers_are_restored_and_reported(fresh_store: Store) -> None:
    db = fresh_store.path
    with closing(sqlite3.connect(db)) as plain:
        plain.execute("DROP TRIGGER log_label")
        plain.execute("CREATE TRIGGER own AFTER INSERT ON label BEGIN SELECT 1; END")
    result = run(db, "log", "verify", "--all", code=1)
    assert result["triggers"] == {"missing": ["log_label"], "changed": [], "unknown": ["own"]}
    forget_comparison(db)
    result = run(db, "log", "verify", "--all", code=1)
    assert result["triggers"] == {"missing": [], "changed": [], "unknown": ["own"]}
    assert result["triggers_restored"] == [{"entry": result["entries"], "names": ["log_label"]}]
    text = typed("log", "verify", "--all", "--db", db).stdout
    assert "that are unknown: own." in text and "restored them: log_label." in text


def test_a_person_is_erased_and_texts_are_scrubbed(fresh_store: Store) -> None:
    study, (ada, *_others) = filled_project(fresh_store, 4)
    items = claim(fresh_store, study, ada, want=2)
    for item in items:
        store_operations(fresh_store, study, ada, [decide(item, note="as Theo said")])
    add_account(fresh_store, "someone")
    db = fresh_store.path
    done = run(db, "accounts", "erase", "Ada")
    assert [text["text"] for text in done["texts"]] == ["as Theo said"] * 2
    assert "Ada" in run(db, "accounts", "erase", "Ada", code=2)
    assert len(run(db, "accounts", "scrub", done["code"])["texts"]) == 2
    assert run(db, "accounts", "scrub", done["code"], "--yes", "--item", items[0].uid)["scrubbed"] == 1
    assert run(db, "accounts", "scrub", done["code"], "--yes") == {"scrubbed": 1, "texts": []}
    assert run(db, "log", "verify", "--all")["kinds"]["scrubbed"] >= 2
