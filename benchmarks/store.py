"""How fast the store is: the next items and a label. `python -m benchmarks.store [--items N] [--rounds N]`.

Builds its databases by direct SQL in a temporary folder (or --folder, where they are kept and used again). Prints
milliseconds; the two sizes take turns, so that both see the same machine.
"""

import argparse
import random
import statistics
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measuring import Spent, load, options
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, create_project, project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Operation, Project
from evenhand.core.resources import keyword_pairs

ENDINGS = ("在河边修理一辆旧自行车。", "把写好的信交给了邻居，然后慢慢走回家。", "说明天还会来，请大家不要等。")


def made_up(lines: int) -> Iterator[str]:
    """Yield different sentences with one keyword each, a line each."""
    words = [word for pair in keyword_pairs() for word in (pair.male, pair.female)]
    for number in range(lines):
        yield f"第{number}天，{words[number % len(words)]}{ENDINGS[number % len(ENDINGS)]}\n"


def build(path: Path, items: int, labelled: int) -> None:
    """Write a project "made" with *items* items, of which its first annotator has labelled the first *labelled*."""
    if path.exists():
        return
    draft = path.with_suffix(".part")
    with Store.open(draft) as store:
        made = create_project(store, "made", annotators=("Ada", "Bo", "Chen"), seed=1)
        with Batch.begin(store, made, "made.txt") as batch:
            _fill(store, batch, items)
            batch.publish()
        if labelled:
            _label(store, made, labelled)
        store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    draft.rename(path)


def _fill(store: Store, batch: Batch, items: int) -> None:
    """Store what an import would have stored, the pairs and sides in turn, by direct SQL."""
    with store.write() as db:
        db.execute("CREATE TEMP TABLE word (n INTEGER PRIMARY KEY, cell INTEGER, keyword TEXT, counterpart TEXT)")
        for n, (pair, side) in enumerate((pair, side) for pair in keyword_pairs() for side in ("male", "female")):
            cell = batch._cell(pair.name, side)
            other = pair.word("female" if side == "male" else "male")  # type: ignore[arg-type]
            db.execute("INSERT INTO word VALUES (?, ?, ?, ?)", (n, cell, pair.word(side), other))  # type: ignore[arg-type]
        db.execute(
            "WITH RECURSIVE count(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM count WHERE n + 1 < :items)"
            " INSERT INTO item (uid, project, batch, cell, rank, hash, text, start, stop, stem_start, stem_stop,"
            " keyword, counterpart, file, line, wanted) SELECT lower(hex(randomblob(16))), :project, :batch, cell,"
            " abs(random() / 4), randomblob(16), '信是' || keyword || '上个月寄来的，编号' || count.n || '。',"
            " 2, 2 + length(keyword), 2, 3, keyword, counterpart, 'made.txt', count.n + 1, 3"
            " FROM count JOIN word ON word.n = count.n % (SELECT count(*) FROM word)",
            {"items": items, "project": batch.project.id, "batch": batch.id},
        )


def _label(store: Store, made: Project, labelled: int) -> None:
    """Store what the queue would have left behind: labels, assignments and how far Ada has walked, by direct SQL."""
    ada = annotators(store, made)[0]
    with store.write() as db:
        db.execute(
            "CREATE TEMP TABLE first AS SELECT id, batch, cell, rank, row_number() OVER (ORDER BY rank) AS turn"
            " FROM item ORDER BY rank LIMIT ?",
            (labelled,),
        )
        guideline = db.execute("SELECT id FROM guideline").fetchone()[0]
        db.execute(
            "INSERT INTO label"
            " (op_id, project, item, annotator, guideline, choice, form_shown, desk, revision, created)"
            " SELECT 'op-' || id, ?, id, ?, ?, iif(turn % 3, 'accept', 'reject'), 'masked', 'made', turn,"
            " '2026-01-05T08:00:00.000Z' FROM first ORDER BY turn",
            (made.id, ada.id, guideline),
        )
        db.execute(
            "INSERT INTO assignment (item, annotator, project, state, turn, latest, blind, op_id, desk, revision)"
            " SELECT item, annotator, project, 'labelled', revision, id, id, op_id, desk, revision FROM label"
        )
        db.execute("UPDATE item SET labels = 1 WHERE id IN (SELECT id FROM first)")
        db.execute(
            "INSERT INTO progress SELECT ?, batch, cell, max(rank), 0 FROM first GROUP BY batch, cell", (ada.id,)
        )
        db.execute("UPDATE member SET turn = ? WHERE annotator = ?", (labelled, ada.id))


def next_items(store: Store, rounds: int) -> list[tuple[float, float]]:
    """Return clock and processor times (ms) of claiming 40 items; each round is undone, so all begin alike."""
    made = project(store, "made")
    ada = annotators(store, made)[0]
    times = []
    for _ in range(rounds):
        store.db.execute("SAVEPOINT round")
        spent = Spent()
        with spent.more(), _inside(store):
            assert len(claim(store, made, ada)) == 40
        times.append((1000 * spent.wall, 1000 * spent.cpu))
        store.db.execute("ROLLBACK TO round")
        store.db.execute("RELEASE round")
    return times


@contextmanager
def _inside(store: Store) -> Iterator[None]:
    """Let `claim` run inside a savepoint: its own BEGIN and COMMIT are left out, so nothing of it stays."""

    @contextmanager
    def write() -> Iterator[Any]:
        yield store.db

    store.write = write  # type: ignore[method-assign]
    try:
        yield
    finally:
        del store.write  # type: ignore[method-assign]


def labels(store: Store, made: Project, person: Annotator, number: int) -> tuple[list[float], list[float]]:
    """Return times (ms) of claiming items as a desk does (eight at a time) and of storing one label."""
    claims: list[float] = []
    appends: list[float] = []
    for n in range(number // 8):
        with (claiming := Spent()).more():
            items = claim(store, made, person, want=8)
        claims.append(1000 * claiming.wall)
        for item in items:
            choice = random.choice(("accept", "reject"))
            operation = Operation(
                uuid.uuid4().hex, item.uid, choice, "bench", n, reasons=("name",), form_shown="masked"
            )
            with (storing := Spent()).more():
                store_operations(store, made, person, [operation])
            appends.append(1000 * storing.wall)
    return claims, appends


def spread(values: list[float]) -> str:
    """Return p10, p50 and p95 of milliseconds; on a busy machine p10 is what the work itself costs."""
    p10, p50, p95 = (sorted(values)[int(share * len(values))] for share in (0.1, 0.5, 0.95))
    return f"p10 {p10:7.2f}   p50 {p50:7.2f}   p95 {p95:7.2f} ms   n {len(values)}"


def measure(small: Path, large: Path, arguments: argparse.Namespace) -> None:
    """Print the times of both projects."""
    print(f"load of the machine: {load()}")
    few, many = list[tuple[float, float]](), list[tuple[float, float]]()
    with Store.open(small) as store, Store.open(large) as other:
        for _ in range(arguments.rounds // 10):
            few += next_items(store, 10)
            many += next_items(other, 10)
        for kind, name in enumerate(("wall clock", "processor")):
            pair = [[times[kind] for times in both] for both in (few, many)]
            print(f"next 40 of 1,000, {name}: {spread(pair[0])}")
            print(f"next 40 of {arguments.items:,}, {arguments.labelled:,} labelled, {name}: {spread(pair[1])}")
            print(f"ratio of medians, {name}: {statistics.median(pair[1]) / statistics.median(pair[0]):.2f}")
        made = project(other, "made")
        claims, appends = labels(other, made, annotators(other, made)[0], 800)
        print(f"next 8 in the large project, committed           {spread(claims)}")
        print(f"one label in the large project, committed        {spread(appends)}")


def main() -> None:
    """Build, measure, print."""
    arguments = options(__doc__, items=1_000_000, labelled=300_000, rounds=200, folder=Path)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        small, large = folder / "small.db", folder / f"large-{arguments.items}.db"
        build(small, 1_000, 0)
        build(large, arguments.items, arguments.labelled)
        measure(small, large, arguments)


if __name__ == "__main__":
    main()
