"""Whole files from command to table: `python -m benchmarks.score_files [--full] [--model demo-zh] [--file FILE]`.

Prints, each from a process of its own: the file end to end, first asked and then remembered; 1,000, 10,000 and
with `--full` 100,000 distinct sentences with seconds, sentences a second of the model's turn and peak memory;
how fast remembered scores are read; and where the processor time goes. Without --file: sentences made
from those of the demo project. `--json` prints the numbers as one object.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from evenhand.annotations.files.project_texts import file_input
from evenhand.core.files.csv_out import csv_line
from evenhand.core.models import open_scorer
from evenhand.core.resources import ROOT, table
from evenhand.core.scoring.cache import CachedScorer
from evenhand.core.scoring.rows import CHUNK, score_items
from evenhand.core.types import MaskedSentence, Score

DEV = ROOT.parent / "shared" / "data" / "slguset" / "SlguSet_dev.csv"
QUICK, FULL = (1_000, 10_000), (1_000, 10_000, 100_000)


def sentence_file(path: Path, count: int) -> Path:
    """A file of *count* distinct sentences: those of the demo project, each after another day."""
    own = [row["text"] for row in table("demo_sentences")]
    with path.open("w", encoding="utf-8") as file:
        for i in range(count):
            file.write(f"第{i // len(own) + 1}天，{own[i % len(own)]}\n")
    return path


def scored(folder: Path, file: Path, model: str, threads: int, *options: str) -> dict[str, Any]:
    """The command in a process of its own: what it answered, wall and processor seconds, peak memory in MiB."""
    command = [sys.executable, "cli.py", "score", str(file), "--model", model, "--out", str(folder / "out.csv")]
    command += ["--threads", str(threads), "--json", *options]
    began = time.perf_counter()
    environment = os.environ | {"EVENHAND_DB": str(folder / "evenhand.db")}
    with (folder / "answer.json").open("w") as answer:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=answer, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"The command failed: {' '.join(command)}")
    found = json.loads((folder / "answer.json").read_text())
    return {
        "rows": found["rows"],
        "wall_s": round(time.perf_counter() - began, 2),
        "processor_s": round(usage.ru_utime + usage.ru_stime, 2),
        "model_s": found["models"][0]["seconds"],
        "rate": found["models"][0]["rate"],
        "peak_mib": round(usage.ru_maxrss / 1024),
        "asked": found["asked"],
        "saved": found["saved"],
        "remembered": found["remembered"],
    }


class Silent:
    """A scorer that answers at once, to measure everything but the model."""

    signature = cache_key = "masked|silent|weights:00000000|independent|fp32|v1"

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """The same for every probe."""
        return [Score((-1.25, -2.5), self.signature) for _ in probes]

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[Any]:
        """None."""
        return []


def remembering(folder: Path, count: int) -> dict[str, float]:
    """Sentences a second of processor time: look-up alone in one scorer, and the whole way from file to rows."""
    source = file_input(sentence_file(folder / "many.txt", count))
    probes = [item.probe for item in source.items() if item.probe]
    path = folder / "silent.db"
    with CachedScorer(Silent(), path) as cached:
        for i in range(0, len(probes), CHUNK):
            cached.score(probes[i : i + CHUNK])
    with CachedScorer(Silent(), path) as cached:
        looked = spent(lambda: [cached.score(probes[i : i + CHUNK]) for i in range(0, len(probes), CHUNK)])
        assert cached.misses == 0
    with CachedScorer(Silent(), path) as cached:
        whole = spent(lambda: [csv_line(row.values()) for row in score_items(source.items(), cached, model="m")])
    return {"sentences": count, "look_up_per_s": round(count / looked), "file_to_rows_per_s": round(count / whole)}


def spent(call: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    began = time.process_time()
    call()
    return time.process_time() - began


def shares(folder: Path, file: Path, model: str, count: int) -> dict[str, float]:
    """Processor seconds of one thread for *count* sentences, by what they are spent on."""
    source = file_input(file)
    items = list(islice(source.items(), count))
    found = {"reading the file": spent(lambda: list(islice(source.items(), count)))}
    scorer = open_scorer(model, threads=1)
    probes = sorted((item.probe for item in items if item.probe), key=lambda probe: len(probe.text))
    chunks = [probes[i : i + CHUNK] for i in range(0, len(probes), CHUNK)]
    scorer.score(probes[:64])  # warm
    found["the model"] = spent(lambda: [scorer.score(chunk) for chunk in chunks])
    with CachedScorer(Silent(), folder / "shares.db") as cached:
        found["remembering"] = spent(
            lambda: [cached.score(probes[i : i + CHUNK]) for i in range(0, len(probes), CHUNK)]
        )
    rows = list(score_items(iter(items), Silent(), model=model))
    found["writing the table"] = spent(lambda: [csv_line(row.values()) for row in rows])
    return {name: round(seconds, 3) for name, seconds in found.items()} | {"sentences": len(items)}


def main() -> None:
    """Run everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="demo-zh")
    parser.add_argument("--file", type=Path, default=DEV if DEV.is_file() else None)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sizes = (200, 2_000) if options.quick else FULL if options.full else QUICK
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = options.file if options.file and not options.quick else sentence_file(folder / "file.txt", sizes[-1])
        found: dict[str, Any] = {"model": options.model, "threads": options.threads, "file": file.name}
        found["end to end, asked"] = scored(folder, file, options.model, options.threads)
        found["end to end, remembered"] = scored(folder, file, options.model, options.threads)
        for size in sizes:
            many = sentence_file(folder / f"{size}.txt", size)
            found[f"{size:,} sentences"] = scored(folder, many, options.model, options.threads, "--no-cache")
        found["remembered scores"] = remembering(folder, 5_000 if options.quick else 50_000)
        found["where the time goes"] = shares(folder, file, options.model, 200 if options.quick else 2_000)
    if options.json:
        print(json.dumps(found, ensure_ascii=False))
        return
    for key, value in found.items():
        print(f"{key}: {value}" if not isinstance(value, dict) else f"{key}\n  {json.dumps(value, ensure_ascii=False)}")


if __name__ == "__main__":
    main()
