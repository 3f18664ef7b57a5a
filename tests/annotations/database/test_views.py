"""The views: what each leaves out, that SQLite folds it into the statement, and that older databases get it."""

import re
from pathlib import Path

import pytest

from evenhand.annotations.database import migrations
from evenhand.annotations.database.store import Store
from evenhand.annotations.items import provenance
from evenhand.annotations.labels import blind_labels
from evenhand.annotations.progress import annotators
from tests.support.projects import filled_project

VIEWS = {
    "published_batch", "published_item", "imported_item", "valid_label", "valid_skip", "valid_retest_label",
    "standing_label", "blind_label", "active_member", "current_guideline", "open_pilot", "standing_answer",
    "frozen_release", "open_sample", "drawn_item", "standing_consent",
}  # fmt: skip


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_a_database_of_every_earlier_version_gets_the_views(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:version])
    Store.open(tmp_path / "a.db").close()
    monkeypatch.undo()
    with Store.open(tmp_path / "a.db") as old, Store.open(tmp_path / "b.db") as new:
        assert names(old) == names(new) >= VIEWS
        assert "latest_label" not in names(old)
        for view in VIEWS:
            assert old.db.execute(f"SELECT * FROM {view}").fetchall() == []


def names(store: Store) -> set[str]:
    return {row[0] for row in store.db.execute("SELECT name FROM sqlite_master")}


def plan(store: Store, query: str) -> str:
    return "\n".join(str(row[3]) for row in store.db.execute(f"EXPLAIN QUERY PLAN {query}"))


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_sqlite_flattens_every_view(fresh_store: Store, view: str) -> None:
    """A view that is computed first, or joined through a temporary index, would read the whole table at every use."""
    result = plan(fresh_store, f"SELECT count(*) FROM cell JOIN {view} AS one ON one.project = cell.project"
                 if view not in ("valid_skip", "valid_retest_label") else f"SELECT * FROM {view} AS one")  # fmt: skip
    assert "MATERIALIZE" not in result and "CO-ROUTINE" not in result, result


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("SELECT * FROM published_item AS item WHERE item.pilot = 1 ORDER BY rank", "item_pilot"),
        ("SELECT * FROM published_item AS item WHERE uid = 'x' AND project = 1", "sqlite_autoindex_item_1"),
        ("SELECT * FROM published_item AS item WHERE project = 1 AND aside = 1", "item_aside"),
        ("SELECT * FROM published_item AS item WHERE project = 1 AND split = 1", "item_split"),
        ("SELECT * FROM published_item AS item WHERE batch = 1 AND id > 5 ORDER BY id", "item_batch"),
        ("SELECT * FROM blind_label WHERE item = 1", "PRIMARY KEY (item=?)"),
        ("SELECT * FROM standing_label WHERE item = 1 AND annotator = 1", "PRIMARY KEY (item=? AND annotator=?)"),
        ("SELECT max(id) FROM valid_label WHERE item = 1 AND annotator = 1", "label_item"),
        ("SELECT * FROM open_pilot WHERE project = 1", "pilot_open"),
        ("SELECT * FROM open_sample WHERE project = 1", "sample_open"),
        ("SELECT * FROM drawn_item WHERE item = 1", "inclusion_drawn"),
        ("SELECT * FROM standing_consent WHERE project = 1 AND use = 'disaggregated'", "label_consent_of"),
        ("SELECT * FROM standing_answer WHERE item = 1", "known_item"),
        ("SELECT * FROM current_guideline WHERE project = 1", "sqlite_autoindex_guideline_1"),
        ("SELECT count(*) FROM active_member WHERE project = 1", "PRIMARY KEY (project=?)"),
    ],
)
def test_a_view_keeps_the_index(fresh_store: Store, query: str, index: str) -> None:
    result = plan(fresh_store, query)
    assert index in result, result
    assert "SCAN item" not in result and "SCAN label" not in result and "SCAN assignment" not in result, result


WHOLE = {
    "agreement": blind_labels.LABELS.format(more="", version=blind_labels.VERSION, share=blind_labels.SHARE),
    "articles": provenance.LABELLED,
    "differences": annotators.SAID.format(joined="", item="NULL"),
}


@pytest.mark.parametrize("statement", WHOLE)
def test_a_whole_project_is_read_in_the_order_of_items(fresh_store: Store, statement: str) -> None:
    """By hash or by time, the next row is on another page each time: three times as slow with a million items."""
    result = plan(fresh_store, re.sub(r"\?|:(project|version)", "1", WHOLE[statement]))
    assert "sqlite_autoindex_item_2" not in result and "SEARCH label USING INTEGER PRIMARY KEY" not in result, result
    assert ("COVERING INDEX label_item" in result) == ("label.id" in WHOLE[statement]), result


def test_items_of_an_undone_import_are_in_one_view_only(fresh_store: Store) -> None:
    filled_project(fresh_store, 3)

    def counted(view: str) -> int:
        return int(fresh_store.db.execute(f"SELECT count(*) FROM {view}").fetchone()[0])

    assert [counted(view) for view in ("published_item", "imported_item", "published_batch")] == [3, 3, 1]
    fresh_store.db.execute("UPDATE batch SET published = 0, withdrawn = 1")
    assert [counted(view) for view in ("published_item", "imported_item", "published_batch")] == [0, 3, 0]
    fresh_store.db.execute("UPDATE batch SET withdrawn = 0")
    assert counted("imported_item") == 0
