"""How fast the store is: the next items, a label, a label during an import. `python -m benchmarks.store [--items N]`.

Builds its databases by direct SQL in a temporary folder (or --folder, where
they are kept and used again). Prints milliseconds; run it on a quiet machine.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.read import own_decisions, own_progress
from evenhand.annotations.projects.projects import annotators, counts, create_project, project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Operation, Project
from evenhand.core.resources import keyword_pairs

ROOT = Path(__file__).resolve().parents[1]
SMALL, LARGE, LABELLED = 1_000, 1_000_000, 300_000
IMPORT_ROWS = 100_000


def sentence(number: int) -> str:
    """An own sentence with one keyword, the pairs and sides in turn."""
    pair = keyword_pairs()[number // 2 % len(keyword_pairs())]
    return f"第{number}封信是{pair.word('male' if number % 2 else 'female')}上个月寄来的。"


ENDINGS = ("在河边修理一辆旧自行车。", "把写好的信交给了邻居，然后慢慢走回家。", "说明天还会来，请大家不要等。")


def made_up(lines: int) -> Iterator[str]:
    """Yield different sentences with one keyword each, a line each."""
    words = [word for pair in keyword_pairs() for word in (pair.male, pair.female)]
    for number in range(lines):
        yield f"第{number}天，{words[number % len(words)]}{ENDINGS[number % len(ENDINGS)]}\n"


def build(path: Path, items: int, labelled: int) -> None:
    """A project "made" with *items* items, of which its first annotator has labelled the first *labelled* in order."""
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
    """What an import would have stored, the pairs and sides in turn, by direct SQL."""
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
    """What the queue would have left behind: labels, assignments and how far Ada has walked, by direct SQL."""
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


def timed(what: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    begin = time.perf_counter()
    what()
    return 1000 * (time.perf_counter() - begin)


def spread(values: list[float]) -> str:
    """p10, p50 and p95 of a list of milliseconds; on a busy machine p10 is what the work itself costs."""
    ordered = sorted(values)
    p10, p50, p95 = (ordered[int(share * len(ordered))] for share in (0.1, 0.5, 0.95))
    return f"p10 {p10:7.2f}   p50 {p50:7.2f}   p95 {p95:7.2f} ms   n {len(ordered)}"


def next_items(store: Store, rounds: int) -> list[tuple[float, float]]:
    """Wall-clock and processor times of claiming 40 items; each round is undone, so all start from the same state."""
    made = project(store, "made")
    ada = annotators(store, made)[0]
    times = []
    for _ in range(rounds):
        store.db.execute("SAVEPOINT round")
        begin, worked = time.perf_counter(), time.process_time()
        with _inside(store):
            assert len(claim(store, made, ada)) == 40
        times.append((1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - worked)))
        store.db.execute("ROLLBACK TO round")
        store.db.execute("RELEASE round")
    return times


class _inside:
    """Lets `claim` run inside a savepoint: its own BEGIN and COMMIT are left out, so nothing of it stays."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __enter__(self) -> None:
        from contextlib import contextmanager

        @contextmanager
        def write():  # type: ignore[no-untyped-def]
            yield self.store.db

        self.store.write = write  # type: ignore[method-assign]

    def __exit__(self, *_: object) -> None:
        del self.store.write  # type: ignore[method-assign]


def labels(store: Store, made: Project, person: Annotator, number: int) -> tuple[list[float], list[float]]:
    """Times of claiming items as a desk does (eight at a time) and of storing one label."""
    claims: list[float] = []
    appends: list[float] = []
    for n in range(number // 8):
        begin = time.perf_counter()
        items = claim(store, made, person, want=8)
        claims.append(1000 * (time.perf_counter() - begin))
        for item in items:
            choice = random.choice(("accept", "reject"))
            operation = Operation(
                uuid.uuid4().hex, item.uid, choice, "bench", n, reasons=("name",), form_shown="masked"
            )
            appends.append(timed(lambda operation=operation: store_operations(store, made, person, [operation])))  # type: ignore[misc]
    return claims, appends


IMPORT = f"""
import sys
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.projects.projects import project
from evenhand.annotations.database.store import Store
from benchmarks.store import sentence
from evenhand.core.text.keywords import find
with Store.open(sys.argv[1]) as store, Batch.begin(store, project(store, "made"), "import.txt") as batch:
    numbers = range(10_000_000, 10_000_000 + {IMPORT_ROWS})
    batch.add(NewItem(sentence(n), find(sentence(n))[0], "import.txt", n) for n in numbers)
    batch.publish()
"""


def during_import(path: Path) -> None:
    """Labels of one person, eight at a time with a short pause, while another process imports."""
    with Store.open(path) as store:
        made = project(store, "made")
        person = annotators(store, made)[1]
        importing = subprocess.Popen([sys.executable, "-c", IMPORT, str(path)], cwd=ROOT)
        begin = time.monotonic()
        times: list[float] = []
        while importing.poll() is None:
            times += labels(store, made, person, 8)[1]
            time.sleep(0.05)
        seconds = time.monotonic() - begin
        assert importing.returncode == 0
        print(f"label while {IMPORT_ROWS:,} rows come in ({seconds:.0f} s)   {spread(times)}")


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=LARGE)
    parser.add_argument("--labelled", type=int, default=LABELLED)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        small, large = folder / "small.db", folder / f"large-{options.items}.db"
        build(small, SMALL, 0)
        build(large, options.items, options.labelled)
        measure(small, large, options)


def measure(small: Path, large: Path, options: argparse.Namespace) -> None:
    """Print the figures; the two sizes take turns, so that both see the same machine."""
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; open: {_opening(large)}")
    few: list[tuple[float, float]] = []
    many: list[tuple[float, float]] = []
    with Store.open(small) as one, Store.open(large) as other:
        for _ in range(options.rounds // 10):
            few += next_items(one, 10)
            many += next_items(other, 10)
        for kind, name in enumerate(("wall clock", "processor")):
            pair = [[times[kind] for times in both] for both in (few, many)]
            print(f"next 40 of {SMALL:,}, {name}: {spread(pair[0])}")
            print(f"next 40 of {options.items:,}, {options.labelled:,} labelled, {name}: {spread(pair[1])}")
            print(f"ratio of medians, {name}: {statistics.median(pair[1]) / statistics.median(pair[0]):.2f}")
        made = project(other, "made")
        person = annotators(other, made)[0]
        claims, appends = labels(other, made, person, 800)
        print(f"next 8 in the large project, committed           {spread(claims)}")
        print(f"one label in the large project, committed        {spread(appends)}")
        print(f"own progress  {spread([timed(lambda: own_progress(other, made, person)) for _ in range(50)])}")
        print(f"counts        {spread([timed(lambda: counts(other, made)) for _ in range(50)])}")
        print(f"last ten      {spread([timed(lambda: own_decisions(other, made, person)) for _ in range(50)])}")
        slow = timed(lambda: own_decisions(other, made, person, search="没有这样的句子"))
        print(f"search of own labels that finds nothing {slow:.0f} ms")
    during_import(small)


def _opening(path: Path) -> str:
    return spread([timed(lambda: Store.open(path).close()) for _ in range(50)])


if __name__ == "__main__":
    main()
