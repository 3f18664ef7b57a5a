"""What people and jobs wait for in a large project, and how it grows: `python -m benchmarks.large_project [OPTIONS]`.

For each of --items a project of made-up sentences is filled, nine tenths of it labelled by three people over a month.
Every piece of work is done in a process of its own, forked from this one, with the database opened there: what a server
or a job does first. Printed are seconds (of what is done many times the median) and the most memory of that process;
`--chart FILE` draws both, on logarithmic axes. Filling a million items takes five minutes: `--keep FOLDER` keeps each
project there, by its size and the version of its tables, and works on a copy.
"""

import json
import os
import random
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from benchmarks.measuring import Spent, load, options
from benchmarks.store import labels, made_up
from evenhand.annotations.agreement.disagreements import differing_items, disagreements_of
from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.browse.search import Filters, search_items
from evenhand.annotations.database import migrations
from evenhand.annotations.database.store import Store
from evenhand.annotations.describe.project_description import describe_project, usual_vocabulary
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import examine, import_examined
from evenhand.annotations.forecast.work import forecast
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.progress.annotators import workers
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.consent import answer_consent
from evenhand.annotations.projects.projects import change_project, create_project, guideline, set_quotas
from evenhand.annotations.projects.projects import project as project_named
from evenhand.annotations.quality.retest_agreement import quality
from evenhand.annotations.record.entries import RecordQuery, entries
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.release.stored_releases import release
from evenhand.annotations.release.verify import verify
from evenhand.annotations.types import Project
from evenhand.core.files.timestamps import timestamp
from evenhand.core.resources import keyword_pairs, quotas
from evenhand.core.text.keywords import find
from evenhand.core.types import JsonObject

Work = Callable[[Store, Project, Path], object]  # a float is its seconds, where they are not those of the whole call
RUNS = 21  # of what is repeated
PEOPLE = {"Ada": 0.8, "Bo": 0.7, "Chen": 0.6}  # the share that each accepts
DRAWN = ("next eight items", "a label", "browse, two words", "dashboard", "agreement", "export, JSON lines", "release")


def fill(store: Store, items: int) -> Project:
    """Make a project whose items are all labelled by three annotators but for the last tenth."""
    project = create_project(store, "large", annotators=PEOPLE)
    for person in annotators(store, project):
        answer_consent(store, project, person, "release", given=True)  # else a release holds no label one by one
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


def _desk(kind: int, store: Store, project: Project, _: Path) -> float:
    """Return the median of claims of eight items (0) or of labels (1)."""
    return statistics.median(labels(store, project, annotators(store, project)[0], 80)[kind]) / 1000


def _search(filters: Filters, store: Store, project: Project, _: Path) -> float:
    """Return the median of searches as the page makes them: the database is opened each time."""
    spent = [Spent() for _run in range(RUNS)]
    for run in spent:
        with run.more(), Store.open(store.path) as opened:
            search_items(opened, project, filters)
    return statistics.median(run.wall for run in spent)


def _record(query: RecordQuery, store: Store, project: Project, _: Path) -> None:
    entries(store, project, annotators(store, project)[0], query)


def _described(accepted: bool, store: Store, project: Project, _: Path) -> None:
    describe_project(store, project, usual_vocabulary("zh"), accepted=accepted)


def _import(store: Store, project: Project, folder: Path) -> float:
    """Import as many lines as the project has items into another one; the file is not counted."""
    path, count = folder / "lines.txt", store.db.execute("SELECT count(*) FROM item").fetchone()[0]
    path.write_text("".join(made_up(count)), encoding="utf-8")
    with (spent := Spent()).more():
        import_examined(store, create_project(store, "imported"), examine(path))
    return spent.wall


def _written(store: Store, project: Project, folder: Path) -> None:
    write_release(store, project, release(store, project, "1.0"), folder / "release")


def _verified(store: Store, project: Project, folder: Path) -> None:
    verify(folder / "release", store=store, release=release(store, project, "1.0"))


SEARCHES = {
    "everything": Filters(), "one character": Filters(text="的"), "two words": Filters(text="菜市场 777"),
    "a quotation": Filters(text='"去菜市场"'), "pair and side": Filters(pair="他/她", side="male"),
    "labels differ": Filters(flag="split"), "rejected by Ada": Filters(annotator="Ada", choice="reject"),
    "word, pair, rejected by Ada": Filters(text="门口", pair="他/她", annotator="Ada", choice="reject"),
}  # fmt: skip
WORK: dict[str, Work] = {
    "next eight items": partial(_desk, 0),
    "a label": partial(_desk, 1),
    **{f"browse, {name}": partial(_search, filters) for name, filters in SEARCHES.items()},
    "dashboard": lambda store, project, _: dashboard(store, project),
    "people": lambda store, project, _: workers(store, project),
    "own record": partial(_record, RecordQuery()),
    "own record, a search": partial(_record, RecordQuery(search="第777")),
    "agreement": lambda store, project, _: agreement(store, project),
    "disagreements": lambda store, project, _: disagreements_of(store, differing_items(store, project)[:20]),
    "statistics of the kept sentences": partial(_described, True),
    "statistics of all": partial(_described, False),
    "forecast of both plans": lambda store, project, _: forecast(store, project),
    "quality": lambda store, project, _: quality(store, project),
    "import": _import,
    "export, JSON lines": lambda store, project, folder: export_file(
        store, project, folder / "export.jsonl", format="jsonl"
    ),
    "release": lambda store, project, _: make_release(store, project, "1.0"),
    "release written to a folder": _written,  # the release of the line before
    "release verified": _verified,
    "a fourth label wanted of each": lambda store, project, _: change_project(store, project, per_item=4),
    "two in a hundred come again": lambda store, project, _: change_project(store, project, retest=0.02),
}


def apart(call: Callable[[], object]) -> tuple[float, float]:
    """Return what *call* gives, else its seconds, and the most MB of the forked process in which it is made."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            began = time.perf_counter()
            own = call()
            spent = own if isinstance(own, float) else time.perf_counter() - began
            os.write(into, json.dumps([spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]).encode())
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as answer:
        result = answer.read()
    os.waitpid(child, 0)
    if not result:
        raise RuntimeError("The process of a piece of work failed.")
    spent, most = json.loads(result)
    return spent, most


def write_project(database: Path, items: int) -> None:
    """Write a project of *items* items, with what a release needs to know, as *database*."""
    with Store.open(database) as store:
        change_project(store, fill(store, items), licence="CC BY 4.0", source_statement="Made up.")


def _prepare(database: Path, items: int, keep: Path | None) -> None:
    """Write a project of *items* items as *database*; a copy of the one in *keep*, which is filled there once."""
    if keep is None:
        write_project(database, items)
        return
    path = keep / f"{items}-v{int(migrations.MIGRATIONS[-1].__name__[1:4])}.db"
    if not path.exists():
        write_project(database, items)
        keep.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        shutil.copyfile(database, part)
        part.replace(path)  # whole or not at all
    else:
        shutil.copyfile(path, database)


def rows_of(items: int, folder: Path, names: Sequence[str], keep: Path | None = None) -> list[JsonObject]:
    """Measure pieces of work on a project of *items* items; *keep*: where filled databases are kept."""
    database = folder / f"{items}.db"

    def done(name: str) -> float:
        with Store.open(database) as store:
            project, began = project_named(store, "large"), time.perf_counter()
            own = WORK[name](store, project, folder)
            return own if isinstance(own, float) else time.perf_counter() - began

    apart(lambda: _prepare(database, items, keep))
    rows = []
    for name in names:
        spent, most = apart(lambda name=name: done(name))  # type: ignore[misc]
        rows.append({"items": items, "work": name, "seconds": spent, "memory": most})
        print(f"| {name} | {items:,} | {spent:.3g} | {most:.0f} |", flush=True)
    database.unlink()
    return rows


def drawn(rows: list[JsonObject]) -> bytes:
    """Draw two charts as SVG: seconds, and MB."""
    import altair as alt
    import pandas as pd

    from evenhand.core.charts.style import picture, styled

    data, parts = pd.DataFrame([row for row in rows if row["work"] in DRAWN]), []
    sizes, tens = sorted(set(data["items"])), [10.0**power for power in range(-4, 6)]
    for field, title in (("seconds", "time, s"), ("memory", "memory of the process, MB")):
        parts.append(
            alt.Chart(data, width=300, height=280)
            .mark_line(point=True)
            .encode(
                x=alt.X(
                    "items:Q", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", title="items", values=sizes)
                ),
                y=alt.Y(
                    f"{field}:Q", scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", title=title, values=tens)
                ),
                color=alt.Color("work:N", title="", sort=list(DRAWN)),
            )
        )
    words = "Time and memory of seven pieces of work for projects of growing size."
    return picture(styled(alt.hconcat(*parts), words), "svg")


def main() -> None:
    """Measure every size, print, draw."""
    arguments = options(__doc__, items=[100_000], only=list(WORK), keep=Path, chart=Path)
    rows = report(arguments.items, arguments.only, arguments.keep)
    if arguments.chart:
        arguments.chart.write_bytes(drawn(rows))


def report(sizes: Sequence[int], names: Sequence[str], keep: Path | None = None) -> list[JsonObject]:
    """Measure and print pieces of work in projects of these sizes."""
    print(f"load of the machine: {load()}\n")
    print("| work | items | seconds | MB |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        return [row for items in sizes for row in rows_of(items, Path(folder), names, keep)]


if __name__ == "__main__":
    main()
