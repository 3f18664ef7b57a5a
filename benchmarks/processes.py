"""Mining and scoring in 1 to 8 processes of Ray: `python -m benchmarks.processes [--chart FILE]`.

One Ray of this machine with room for all; each run has new actors, whose start counts. Mined is the text of
benchmarks.mining, names off; scored are its first candidates, with one thread an actor. The first row is one process
without Ray. Candidates that differ from its end the benchmark, and so do log-probabilities by more than CLOSE.
"""

import argparse
import csv
import json
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from benchmarks.mining import CORPUS, NO_NAMES, distinct
from cli import cli
from evenhand.core.cluster import joined
from evenhand.core.mining.run import mine
from evenhand.core.mining.settings import Settings

# From the processes of Ray, 0 for one without it, to the hash of what must be the same and to log-probabilities.
Run = Callable[[int], tuple[bytes, list[float]]]
NUMBERS = ("logp_male", "logp_female")
CLOSE = 1e-4  # batches of other sizes round sums otherwise


def mining(text: Path) -> Run:
    """The candidates and counts of *text*."""

    def run(processes: int) -> tuple[bytes, list[float]]:
        lines: list[Any] = []
        where = {"ray": "local", "workers": processes} if processes else {}
        report = mine([text], Settings(modes=NO_NAMES), on_candidate=lines.append, **where)
        return sha256(json.dumps([lines, report.facts()]).encode()).digest(), []

    return run


def scoring(sentences: Path, model: str) -> Run:
    """The table of *sentences*."""

    def run(processes: int) -> tuple[bytes, list[float]]:
        out = sentences.with_name("scores.csv")
        where = ["--ray", "local", "--workers", str(processes)] if processes else []
        command = ["score", str(sentences), "--model", model, "--out", str(out), "--no-cache", "--threads", "1"]
        with redirect_stdout(StringIO()):
            cli([*command, "--json", *where], standalone_mode=False)
        with out.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        texts = [(row["sentence"], row["keyword"], row["signature"], row["status"]) for row in rows]
        return sha256(repr(texts).encode()).digest(), [float(row[name]) for row in rows for name in NUMBERS]

    return run


def rows_of(name: str, run: Run, counts: list[int]) -> list[dict[str, Any]]:
    """Seconds by the clock of each number of processes. Raises ValueError where a result differs."""
    rows: list[dict[str, Any]] = []
    first: tuple[bytes, list[float]] | None = None
    for processes in (0, *counts):
        began = time.perf_counter()
        found = run(processes)
        seconds = time.perf_counter() - began
        first = first or found
        apart = max((abs(a - b) for a, b in zip(found[1], first[1], strict=True)), default=0.0)
        if found[0] != first[0] or apart > CLOSE:
            raise ValueError(f"{name} in {processes} processes gave another result.")
        rows.append({"work": name, "processes": processes, "seconds": seconds})
        gain = f"{rows[0]['seconds'] / seconds:.2f}"
        print(f"| {name} | {processes or 'without Ray'} | {seconds:.1f} | {gain} | {apart:.1g} |", flush=True)
    return rows


def drawn(rows: list[dict[str, Any]]) -> bytes:
    """Seconds over processes as SVG; a dashed line is one process without Ray."""
    import altair as alt
    import pandas as pd

    from evenhand.core.charts.export import picture
    from evenhand.core.charts.style import styled

    data = pd.DataFrame(rows)
    seconds, work = alt.Y("seconds:Q", title="time, s"), alt.Color("work:N", title="")
    numbers = sorted(set(data["processes"]) - {0})
    axis = alt.X(
        "processes:Q", title="processes of Ray", scale=alt.Scale(type="log", base=2), axis=alt.Axis(values=numbers)
    )
    lines = alt.Chart(data[data["processes"] > 0]).mark_line(point=True).encode(x=axis, y=seconds, color=work)
    alone = alt.Chart(data[data["processes"] == 0]).mark_rule(strokeDash=[4, 4]).encode(y=seconds, color=work)
    words = "Time of mining and of scoring in 1, 2, 4 and 8 processes of Ray; dashed: one process without Ray."
    return picture(styled(alt.layer(alone, lines).properties(width=340, height=260), words), "svg")


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2, 4, 8])
    parser.add_argument("--megabytes", type=float, default=240)
    parser.add_argument("--sentences", type=int, default=8000)
    parser.add_argument("--model", default="demo-zh")
    parser.add_argument("--chart", type=Path)
    asked = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(
        "| work | processes of Ray | seconds | times as fast | differs by at most |\n|---|---|---|---|---|", flush=True
    )
    with tempfile.TemporaryDirectory() as place, joined("local", max(asked.processes)):
        text, sentences = Path(place) / "text.txt", Path(place) / "sentences.txt"
        distinct(CORPUS.read_text(encoding="utf-8"), text, asked.megabytes)
        lines: list[Any] = []
        mine([text], Settings(modes=NO_NAMES), on_candidate=lines.append, limit_bytes=60_000_000)
        sentences.write_text("\n".join(line["sentence"] for line in lines[: asked.sentences]) + "\n", encoding="utf-8")
        rows = rows_of("mining", mining(text), asked.processes)
        rows += rows_of("scoring", scoring(sentences, asked.model), asked.processes)
    if asked.chart:
        asked.chart.write_bytes(drawn(rows))


if __name__ == "__main__":
    main()
