"""How time and memory grow with a project: `python -m benchmarks.growth [--items N ...] [--only WORK ...]`.

For each size a project as benchmarks.dashboard writes it, nine tenths of it labelled by three people. Every piece of
work is done once in a process of its own, forked from this one, with the database opened there: what a server or a job
does first. Printed are seconds and the most memory of that process; `--chart FILE` draws both, on logarithmic axes.
Filling a million items takes five minutes: `--keep FOLDER` keeps each project there, by its size and the version of its
tables, and works on a copy.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.dashboard import fill
from benchmarks.store import labels
from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.browse.search import Filters, search_items
from evenhand.annotations.database import migrations
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.projects.projects import project as project_named
from evenhand.annotations.release import make_release
from evenhand.annotations.types import Project

Work = Callable[[Store, Project, Path], object]  # a float is its seconds, where they are not those of the whole call


def _desk(kind: int) -> Work:
    """The median of claims of eight items (0) or of labels (1)."""

    def work(store: Store, project: Project, _: Path) -> float:
        return statistics.median(labels(store, project, annotators(store, project)[0], 80)[kind]) / 1000

    return work


def _browse(store: Store, project: Project, _: Path) -> None:
    search_items(store, project, Filters(text="菜市场 777"))


def _export(store: Store, project: Project, folder: Path) -> None:
    export_file(store, project, folder / "export.jsonl", format="jsonl")


def _release(store: Store, project: Project, _: Path) -> None:
    make_release(store, project, "1.0")


WORK: dict[str, Work] = {
    "next eight items": _desk(0),
    "a label": _desk(1),
    "browse, two words": _browse,
    "dashboard": lambda store, project, _: dashboard(store, project),
    "agreement": lambda store, project, _: agreement(store, project),
    "export, JSON lines": _export,
    "release": _release,
}


def apart(call: Callable[[], object]) -> tuple[float, float]:
    """What *call* gives, else its seconds, and the most MB of the forked process in which it is made."""
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
        said = answer.read()
    os.waitpid(child, 0)
    if not said:
        raise RuntimeError("The process of a piece of work failed.")
    spent, most = json.loads(said)
    return spent, most


def _fill(database: Path, items: int) -> None:
    with Store.open(database) as store:
        change_project(store, fill(store, items), licence="CC BY 4.0", source_statement="Made up.")


def _prepare(database: Path, items: int, keep: Path | None) -> None:
    """A project of *items* items as *database*; a copy of the one in *keep*, which is filled there once."""
    if keep is None:
        _fill(database, items)
        return
    kept = keep / f"{items}-v{int(migrations.MIGRATIONS[-1].__name__[1:4])}.db"
    if not kept.exists():
        _fill(database, items)
        keep.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(".part")
        shutil.copyfile(database, part)
        part.replace(kept)  # whole or not at all
    else:
        shutil.copyfile(kept, database)


def rows_of(items: int, folder: Path, names: Sequence[str], keep: Path | None = None) -> list[dict[str, Any]]:
    """Pieces of work on a project of *items* items; *keep*: where filled databases are kept."""
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


def drawn(rows: list[dict[str, Any]]) -> bytes:
    """Two charts beside each other as SVG: seconds, and MB."""
    import altair as alt
    import pandas as pd

    from evenhand.core.charts.export import picture
    from evenhand.core.charts.style import styled

    data, parts = pd.DataFrame(rows), []
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
                color=alt.Color("work:N", title="", sort=list(WORK)),
            )
        )
    words = "Time and memory of seven pieces of work for projects of growing size."
    return picture(styled(alt.hconcat(*parts), words), "svg")


def main() -> None:
    """Measure every size, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--only", nargs="*", choices=list(WORK), default=list(WORK))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--chart", type=Path)
    asked = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| work | items | seconds | MB |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for items in asked.items for row in rows_of(items, Path(folder), asked.only, asked.keep)]
    if asked.chart:
        asked.chart.write_bytes(drawn(rows))


if __name__ == "__main__":
    main()
