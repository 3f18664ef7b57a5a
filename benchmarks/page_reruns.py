"""How long every page takes to run again: `python -m benchmarks.page_reruns [ITEMS] [--runs N] [--only PAGE ...]`.

A project with ITEMS made-up sentences (100,000), nine tenths of them labelled by three people, and a finished run that
scored as many sentences with two models. Each page is opened by AppTest, in one process and without a browser, in the
order of the navigation: the first run, then N more of the same (7), as after a click that changes nothing. Printed are
seconds of the first run, median and slowest of the others in milliseconds, and the memory that the process has then.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

import psutil


def main() -> None:
    """Fill a database, open each page, print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("items", type=int, nargs="?", default=100_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", nargs="*", default=())
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "large.db"
        os.environ["EVENHAND_DB"] = str(database)
        _prepare(database, asked.items)
        from tests.support.pages import TITLES

        print(f"| {asked.items:,} items | first run, s | again, p50 ms | slowest ms | memory, MB |")
        print("|---|---|---|---|---|", flush=True)
        for page, title in TITLES.items():
            if not asked.only or page in asked.only:
                _print_row(page, title, asked.runs)


def _prepare(database: Path, items: int) -> None:
    from benchmarks.large_project import fill
    from evenhand.annotations.database.store import Store
    from evenhand.annotations.projects.projects import change_project
    from evenhand.core.runs.records import runs_folder
    from tests.support.made_up_scores import write

    with Store.open(database) as store:
        change_project(store, fill(store, items), licence="CC BY 4.0", source_statement="Made up.")
        runs = runs_folder(store.path, "scores")
    runs.mkdir()
    write(runs / "big.csv", items, 2)
    models = [{"model": f"made-up-{number}", "scored": items} for number in (1, 2)]
    record = {"sentences": items, "models": models, "created": "2026-01-01T00:00:00Z"}
    (runs / "big.json").write_text(json.dumps(record))


def _print_row(page: str, title: str, runs: int) -> None:
    from tests.support.pages import open_page

    began = time.perf_counter()
    app = open_page(page, project="large")
    first = time.perf_counter() - began
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        app.run()
        took.append(1000 * (time.perf_counter() - began))
    memory = psutil.Process().memory_info().rss / 1e6
    print(
        f"| {title} | {first:.2f} | {statistics.median(took):.0f} | {max(took):.0f} | {memory:.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
