"""How fast files go in and out, and how much memory that takes.

    python -m benchmarks.files [--lines 1000000]

Every step runs in a process of its own, so that its peak memory is its own;
"wait" is time the process did not compute: pauses between commits, the disk,
other programs.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import examine, import_examined
from evenhand.annotations.projects.projects import create_project, project
from evenhand.core.files import bounded
from evenhand.core.files.readers import open_source, rows
from evenhand.core.resources import keyword_pairs

DEV_FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "slguset" / "SlguSet_dev.csv"
ENDINGS = ("在河边修理一辆旧自行车。", "把写好的信交给了邻居，然后慢慢走回家。", "说明天还会来，请大家不要等。")


def made_up(lines: int) -> Iterator[str]:
    """Different sentences with one keyword each."""
    words = [word for pair in keyword_pairs() for word in (pair.male, pair.female)]
    for number in range(lines):
        yield f"第{number}天，{words[number % len(words)]}{ENDINGS[number % len(ENDINGS)]}\n"


def one_step(step: str, db: str, name: str, file: str) -> dict[str, object]:
    """Run one step in this process and measure it."""
    began, computed = time.perf_counter(), time.process_time()
    if step == "examine":
        examined = examine(file)
        result: dict[str, object] = {"rows": examined.rows}
    else:
        with Store.open(db) as store:
            if step == "import":
                report = import_examined(store, create_project(store, name), examine(file))
                result = {key: value for key, value in report.as_json().items() if key not in ("errors", "reasons")}
            elif step == "import again":
                report = import_examined(store, project(store, name), examine(file))
                result = {"rows": report.rows, "imported": report.imported, "duplicates": report.duplicates}
            else:
                result = {"rows": export_file(store, project(store, name), file, format=step.split()[1]).rows}
    seconds, cpu = time.perf_counter() - began, time.process_time() - computed
    return result | {"seconds": round(seconds, 2), "cpu": round(cpu, 2), "peak_mib": peak_mib()}


def peak_mib() -> int:
    """The most memory this process ever held; not `ru_maxrss`, which a child inherits from its parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def measured(step: str, db: Path, name: str, file: Path) -> dict[str, object]:
    """`one_step` in a process of its own, printed."""
    command = [sys.executable, "-m", "benchmarks.files", "--step", step, str(db), name, str(file)]
    result: dict[str, object] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    rows, seconds, cpu = float(str(result["rows"])), float(str(result["seconds"])), float(str(result["cpu"]))
    print(
        f"{step:<15} {rows:>10,.0f} rows {seconds:8.2f} s (computing {cpu:.2f}, wait {seconds - cpu:.2f})"
        f" {rows / seconds:>10,.0f} rows/s  peak {result['peak_mib']} MiB",
        flush=True,
    )
    return result


def beside(lines: int, folder: Path) -> None:
    """What it costs that a server reads tables in children: opening and reading one, the first and later ones."""
    path = folder / "upload.csv"
    path.write_text("sentence\n" + "".join(made_up(lines)), encoding="utf-8")
    for there in (False, True):
        bounded.read_in_children(there)
        times = []
        for _ in range(12):
            began = time.perf_counter()
            for _row in rows(open_source(path)):
                pass
            times.append((time.perf_counter() - began) * 1000)
        where = "in a child" if there else "here"
        print(f"table of {lines:,} lines read {where}: {median(times[1:]):.1f} ms, the first time {times[0]:.1f} ms")


@click.command()
@click.option("--children", is_flag=True, help="Only what it costs to read uploads in children.")
@click.option("--lines", default=1_000_000, show_default=True, help="Length of the made-up file.")
@click.option("--step", nargs=4, type=str, help="Used by itself: one step in a process of its own.")
def main(lines: int, step: tuple[str, str, str, str] | None, children: bool) -> None:
    """Print the figures of docs/benchmarks.md on files."""
    if step:
        print(json.dumps(one_step(*step)))
        return
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        if children:
            beside(300, there)
            beside(100_000, there)
            return
        if DEV_FILE.exists():
            print(DEV_FILE.name)
            report = measured("import", there / "dev.db", "dev", DEV_FILE)
            print(" ", report)
            measured("import again", there / "dev.db", "dev", DEV_FILE)
            measured("export slguset", there / "dev.db", "dev", there / "dev.csv")
            measured("export jsonl", there / "dev.db", "dev", there / "dev.jsonl")
            for name in ("dev.csv", "dev.jsonl"):
                measured("import", there / f"{name}.db", "again", there / name)
                measured(
                    f"export {'jsonl' if name == 'dev.jsonl' else 'slguset'}",
                    there / f"{name}.db",
                    "again",
                    there / f"again {name}",
                )
                same = (there / name).read_bytes() == (there / f"again {name}").read_bytes()
                print(f"  {name} imported and exported again: {'identical bytes' if same else 'DIFFERENT'}")
        print(f"{lines:,} made-up lines of plain text (this process, which stored nothing: {peak_mib()} MiB)")
        with (there / "large.txt").open("w", encoding="utf-8") as file:
            file.writelines(made_up(lines))
        measured("examine", there / "large.db", "large", there / "large.txt")
        measured("import", there / "large.db", "large", there / "large.txt")
        measured("export jsonl", there / "large.db", "large", there / "large.jsonl")


if __name__ == "__main__":
    main()
