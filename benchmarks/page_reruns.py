"""How long every page takes to run again: `python -m benchmarks.page_reruns [ITEMS] [--runs N] [--only PAGE ...]`.

A project with ITEMS made-up sentences (100,000), nine tenths of them labelled by three people, and a finished run that
scored as many sentences with two models. Each page is opened by AppTest, in one process and without a browser, in the
order of the navigation: the first run, then N more of the same (7), as after a click that changes nothing. Printed are
seconds of the first run, median and slowest of the others in milliseconds, and the memory that the process has then.
"""

import json
import os
import statistics
import tempfile
from pathlib import Path

import psutil

from benchmarks.measuring import Spent, options


def main() -> None:
    """Fill a database, open each page, print a row for each."""
    from tests.support.pages import TITLES

    arguments = options(__doc__, "items", items=100_000, runs=7, only=list(TITLES))
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "large.db"
        os.environ["EVENHAND_DB"] = str(database)
        _prepare(database, arguments.items)
        print(f"| {arguments.items:,} items | first run, s | again, p50 ms | slowest ms | memory, MB |")
        print("|---|---|---|---|---|", flush=True)
        for page in arguments.only:
            _print_row(page, TITLES[page], arguments.runs)


def _prepare(database: Path, items: int) -> None:
    from benchmarks.large_project import write_project
    from evenhand.core.runs.records import runs_folder
    from tests.support.made_up_scores import write

    write_project(database, items)
    runs = runs_folder(database, "scores")
    runs.mkdir()
    write(runs / "big.csv", items, 2)
    models = [{"model": f"made-up-{number}", "scored": items} for number in (1, 2)]
    record = {"sentences": items, "models": models, "created": "2026-01-01T00:00:00Z"}
    (runs / "big.json").write_text(json.dumps(record))


def _print_row(page: str, title: str, runs: int) -> None:
    from tests.support.pages import open_page

    first, *others = (Spent() for _ in range(runs + 1))
    with first.more():
        app = open_page(page, project="large")
    for other in others:
        with other.more():
            app.run()
    took, memory = [1000 * other.wall for other in others], psutil.Process().memory_info().rss / 1e6
    print(
        f"| {title} | {first.wall:.2f} | {statistics.median(took):.0f} | {max(took):.0f} | {memory:.0f} |", flush=True
    )


if __name__ == "__main__":
    main()
