"""The short ratios, compared with the committed ones: `make bench`, or `python -m benchmarks.ratios [NAME ...]`.

Each compares two ways of the same work in the same run, mostly by processor time, so that the machine matters little;
larger is better. The committed table is benchmarks/ratios.tsv; `--write` writes it again. The exit status is 1 where
a ratio fell by more than a fifth.
"""

import csv
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median

import click
import torch

from benchmarks import generating, mining, scoring, store
from benchmarks.mining import seconds
from benchmarks.scoring import base_sized
from benchmarks.store import made_up
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import examine, import_examined
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, create_project, project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Operation
from evenhand.core.misgendering.probability import judge
from evenhand.core.misgendering.template_files import built_in, instances
from evenhand.core.models.continuations import open_perplexity
from evenhand.core.resources import ROOT, table
from evenhand.core.text.keywords import find, probe

COMMITTED = Path(__file__).with_suffix(".tsv")
FALL = 0.8  # of the committed ratio: below it is said, and fails
ROWS = 20_000
LABELS = 900


def engine_against_pipeline(folder: Path) -> float:
    """Sentences a second through a BERT of base size, against transformers' fill-mask pipeline at batch 32."""
    texts = [row["text"] for row in table("demo_sentences")]
    probes = [probe(candidates[0]) for text in texts if len(candidates := find(text)) == 1]
    base_sized(folder)
    return float(scoring.compare(folder, probes[:96], "cpu", with_minicons=False)["times_pipeline_cpu"])


def generation_against_transformers(_folder: Path) -> float:
    """Tokens a second of demo-en-causal, against `generate`."""
    ways = generating.measure("demo-en-causal", 96, 1, 1)["ways"]
    mine, theirs = (ways[name]["tokens_a_cpu_second"] for name in ("this app", "transformers generate"))
    return float(mine / theirs)


def shared_beginnings(_folder: Path) -> float:
    """Misgendering by probability: beginnings read once, against each text alone."""
    scorer = open_perplexity("demo-en-causal", threads=1)
    some = instances(built_in(), limit=100)
    list(judge(some[:20], scorer, scorer.read))
    spent = []
    for shared in (True, False):
        scorer.continuations.shared = shared
        spent.append(seconds(lambda: list(judge(some, scorer, scorer.read))))
    return spent[1] / spent[0]


def corpus() -> str:
    """Chinese text that everybody has: the sentences of the demo among those of the catalogues."""
    messages = "\n".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "locale" / "zh").glob("*.po")))
    words = re.findall(r'^msgstr(?:\[0\])? "(.+)"$', messages, re.M)
    return "\n".join([*words, *(row["text"] for row in table("demo_sentences"))])


def mining_against_naive(folder: Path) -> float:
    """Mining without names, against splitting, tagging every sentence with jieba and the rules."""
    text = folder / "text.txt"
    mining.distinct(corpus(), text, 0.15)
    mining.run(text, mining.NO_NAMES)  # loads dictionaries
    mining.naive("他来了。")
    read = text.read_text(encoding="utf-8")
    return seconds(lambda: mining.naive(read)) / seconds(lambda: mining.run(text, mining.NO_NAMES), 3)


def mining_against_its_floor(folder: Path) -> float:
    """Decode and split alone, against mining without names."""
    text = folder / "text.txt"
    mining.distinct(corpus(), text, 4)
    return seconds(lambda: mining.floor(text), 3) / seconds(lambda: mining.run(text, mining.NO_NAMES), 3)


def next_items_in_a_large_project(folder: Path) -> float:
    """The next 40 of 1,000 items, against those of 200,000 of which 60,000 are labelled."""
    middle = []
    for items, labelled in ((1_000, 0), (200_000, 60_000)):
        store.build(folder / f"{items}.db", items, labelled)
        with Store.open(folder / f"{items}.db") as opened:
            middle.append(median(cpu for _, cpu in store.next_items(opened, 60)))
    return middle[0] / middle[1]


def label_against_a_commit(folder: Path) -> float:
    """A bare INSERT that is committed to the disk, against a label with its checks, tallies, gold and log."""
    store.build(folder / "labels.db", 1_000, 0)
    spent, least = list[float](), list[float]()
    with Store.open(folder / "labels.db") as opened, closing(_bare_table(folder / "bare.db")) as bare:
        made = project(opened, "made")
        ada = annotators(opened, made)[0]
        while len(spent) < LABELS:
            for item in claim(opened, made, ada):
                operation = Operation(uuid.uuid4().hex, item.uid, "accept", "bench", len(spent), form_shown="original")
                spent.append(seconds(partial(store_operations, opened, made, ada, [operation])))
                row = uuid.uuid4().hex, "one"
                least.append(seconds(partial(bare.execute, "INSERT INTO label VALUES (?, ?)", row)))
    return median(least) / median(spent)


def _bare_table(path: Path) -> sqlite3.Connection:
    bare = sqlite3.connect(path, isolation_level=None)
    bare.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE label (op TEXT, item TEXT)")
    return bare


def import_against_bare_rows(folder: Path) -> float:
    """Lines put into a table by `executemany`, against their import: examined, hashed, checked, logged."""
    file = folder / "lines.txt"
    file.write_text("".join(made_up(ROWS)), encoding="utf-8")

    def bare() -> None:
        with sqlite3.connect(folder / f"{uuid.uuid4().hex}.db") as db:
            db.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT UNIQUE)")
            with file.open(encoding="utf-8") as lines:
                db.executemany("INSERT INTO item (text) VALUES (?)", ((line,) for line in lines))

    with Store.open(folder / "import.db") as opened:
        made = create_project(opened, "import")
        spent = seconds(lambda: import_examined(opened, made, examine(file)))
    return seconds(bare, 3) / spent


def export_against_json(folder: Path) -> float:
    """`json.dumps` of the same lines, against their export from the database."""
    with Store.open(folder / "import.db") as opened:
        file = folder / "items.jsonl"
        spent = seconds(lambda: export_file(opened, project(opened, "import"), file, format="jsonl"))
    values = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return seconds(lambda: [json.dumps(value, ensure_ascii=False) for value in values], 3) / spent


def help_against_an_empty_program(_folder: Path) -> float:
    """Python that does nothing, against `python cli.py --help`, by the clock."""
    least = []
    for program in (["-c", "pass"], ["cli.py", "--help"]):
        times = []
        for _ in range(7):
            began = time.perf_counter()
            subprocess.run([sys.executable, *program], cwd=ROOT, check=True, capture_output=True)
            times.append(time.perf_counter() - began)
        least.append(min(times))
    return least[0] / least[1]


RATIOS: dict[str, Callable[[Path], float]] = {
    one.__name__: one
    for one in (
        engine_against_pipeline, generation_against_transformers, shared_beginnings, mining_against_naive,
        mining_against_its_floor, next_items_in_a_large_project, label_against_a_commit, import_against_bare_rows,
        export_against_json, help_against_an_empty_program,
    )
}  # fmt: skip


def committed() -> dict[str, float]:
    """The ratios of benchmarks/ratios.tsv."""
    if not COMMITTED.exists():
        return {}
    with COMMITTED.open(encoding="utf-8", newline="") as file:
        return {row["name"]: float(row["ratio"]) for row in csv.DictReader(file, delimiter="\t")}


def write(found: dict[str, float]) -> None:
    """Write the table, with what each ratio is."""
    with COMMITTED.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter="\t", lineterminator="\n")
        rows.writerow(("name", "ratio", "what"))
        for name, ratio in found.items():
            rows.writerow((name, f"{ratio:.3g}", str(RATIOS[name].__doc__).strip()))


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(RATIOS)))
@click.option("--write", "keep", is_flag=True, help="Make these the committed ratios.")
def main(names: tuple[str, ...], keep: bool) -> None:
    """Measure the ratios, print them next to the committed ones, and report which fell by more than a fifth."""
    torch.set_num_threads(1)
    known, values, fallen = committed(), dict[str, float](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for name in names or RATIOS:
            began = time.perf_counter()
            values[name] = RATIOS[name](Path(folder))
            before = known.get(name)
            if before and values[name] < FALL * before:
                fallen.append(name)
            text = "new" if before is None else f"{before:8.3g}" + ("  FELL" if name in fallen else "")
            print(f"{name:<34}{values[name]:>8.3g}  was {text}  ({time.perf_counter() - began:.0f} s)", flush=True)
    if keep:
        write(known | values)
    elif fallen:
        raise SystemExit(f"Fell by more than a fifth: {', '.join(fallen)}.")


if __name__ == "__main__":
    main()
