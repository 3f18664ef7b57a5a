"""How long the page Progress waits for its numbers: `python -m benchmarks.dashboard [ITEMS]`.

A project with ITEMS made-up sentences (100,000) and three labels each, made over thirty days, is written straight
into a database that is removed again. Printed are the median and the slowest of RUNS runs in milliseconds.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.progress.annotators import disagreement, workers
from evenhand.annotations.progress.cells import counted_cells
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.progress.labels_per_day import labels_by_day
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.consent import answer_consent
from evenhand.annotations.projects.projects import create_project, guideline, set_quotas
from evenhand.annotations.record.entries import RecordQuery, entries
from evenhand.annotations.record.files import record_json
from evenhand.annotations.types import Project
from evenhand.core.files.timestamps import timestamp
from evenhand.core.resources import keyword_pairs, quotas
from evenhand.core.text.keywords import find

RUNS = 7
PEOPLE = {"Ada": 0.8, "Bo": 0.7, "Chen": 0.6}  # the share that each accepts


def fill(store: Store, items: int) -> Project:
    """A project whose items are all labelled by three annotators but for the last tenth."""
    project = create_project(store, "large", annotators=PEOPLE)
    for one in annotators(store, project):
        answer_consent(store, project, one, "release", given=True)  # else a release holds no label one by one
    words = [word for pair in keyword_pairs() for word in (pair.male, pair.female)]
    with Batch.begin(store, project, "made up") as batch:
        batch.add(
            _item(f"第{n}个早上，{words[n % len(words)]}去市场买菜，又在门口坐了一会儿。", n) for n in range(items)
        )
        batch.publish()
    set_quotas(store, project, quotas("table1"))
    _label(store, project, items * 9 // 10)
    return project


def _item(text: str, line: int) -> NewItem:
    return NewItem(text, find(text)[0], "made.txt", line)


def _label(store: Store, project: Project, items: int) -> None:
    chance, version = random.Random(0), guideline(store, project).id
    people = annotators(store, project)
    begun = datetime.now(UTC) - timedelta(days=30)
    ids = [row[0] for row in store.db.execute("SELECT id FROM item ORDER BY rank LIMIT ?", (items,))]
    rows: list[tuple[object, ...]] = []
    for number, item in enumerate(ids):
        for who in people:
            choice = "accept" if chance.random() < PEOPLE[who.name] else "reject"
            moment = timestamp((begun + timedelta(days=30 * number / len(ids))).timestamp())
            seconds = round(chance.expovariate(1 / 6), 2)
            rows.append((len(rows) + 1, f"o{len(rows)}", project.id, item, who.id, version, choice, seconds, moment))
    with store.write() as db:
        db.executemany(
            "INSERT INTO label (id, op_id, project, item, annotator, guideline, choice, seconds, form_shown, desk,"
            " revision, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'masked', 'd', 1, ?)",
            rows,
        )
        db.executemany(
            "INSERT INTO assignment (item, annotator, project, state, turn, latest, blind, op_id, desk, revision)"
            " VALUES (?, ?, ?, 'labelled', ?, ?, ?, ?, 'd', 1)",
            ((item, who, project.id, label, label, label, op) for label, op, _, item, who, *_ in rows),
        )
        db.execute(
            "UPDATE item SET labels = 3, split = n BETWEEN 1 AND 2, status = iif(n = 3, 'accepted', 'rejected'),"
            " gold = iif(n = 3, 'accept', 'reject') FROM (SELECT item, sum(choice = 'accept') AS n FROM label"
            " GROUP BY item) AS counted WHERE counted.item = item.id"
        )


def timed(name: str, work: Callable[[], object]) -> None:
    """Print the median and the slowest of RUNS runs, after one that does not count."""
    work()
    spent = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        spent.append(1000 * (time.perf_counter() - start))
    print(f"{name:<44}{statistics.median(spent):>8.0f}{max(spent):>9.0f}")


def main(items: int) -> None:
    """Fill a database and time every part of the page, and an annotator's own record."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "large.db") as store:
        project = fill(store, items)
        person = annotators(store, project)[0]
        labels = store.db.execute("SELECT count(*) FROM label").fetchone()[0]
        print(f"{items:,} items, {labels:,} labels\n{'':<44}{'median':>8}{'slowest':>9}  ms")
        timed("the whole dashboard", lambda: dashboard(store, project))
        timed("- people", lambda: workers(store, project))
        timed("- labels by day", lambda: labels_by_day(store, project))
        timed("- disagreement", lambda: disagreement(store, project))
        timed("- pairs and sides", lambda: counted_cells(store, project))
        timed("own record, first page", lambda: entries(store, project, person, RecordQuery()))
        timed("own record, last page", lambda: entries(store, project, person, RecordQuery(page=items * 9 // 200)))
        timed("own record, a search", lambda: entries(store, project, person, RecordQuery(search="第777")))
        timed("own record, all of it as JSON", lambda: sum(map(len, record_json(store, project, person))))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
