"""`mine` as a person, a page and a script run it; ended half-way it leaves nothing half-written."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs import jobs
from evenhand.core.mining.request import MINE, Request
from evenhand.core.mining.run import candidates_file
from evenhand.core.resources import ROOT
from tests.support.terminal import typed
from tests.support.waiting import until

pytestmark = pytest.mark.early
TEXT = "清晨的街道上没有人，她推开窗户看了很久。爸爸把旧收音机修好了，全家人围着听。短，他。\n"


def run(*arguments: str | Path, code: int = 0) -> Any:
    done = CliRunner().invoke(cli, ["mine", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_mine_writes_candidates_report_and_table(text: Path, tmp_path: Path) -> None:
    out, report, table = tmp_path / "c.jsonl", tmp_path / "r.json", tmp_path / "t.csv"
    done = run(text, "--out", out, "--report", report, "--table", table, "--json")
    answer = json.loads(done.stdout)
    assert answer["candidates"] == len(lines_of(out)) == 2
    assert answer["read"]["files"] == 1
    data = json.loads(report.read_text(encoding="utf-8"))
    assert data["signature"] == answer["signature"]
    assert data["total"]["rejected"] == {"length": 1}
    assert len(table.read_text(encoding="utf-8").splitlines()) == 33
    for_people = run(text, "--out", out).stdout
    assert "exactly one keyword: 3" in for_people
    assert "candidates: 2" in for_people


def test_the_settings_of_a_report_can_be_reused(text: Path, tmp_path: Path) -> None:
    out, report = tmp_path / "c.jsonl", tmp_path / "r.json"
    wanted = ["--names", "flag", "--set", "length=off", "--set", "他/她:length=flag", "--quotes", "complete"]
    run(text, "--out", out, "--report", report, "--length", "5-50", *wanted)
    first = json.loads(report.read_text(encoding="utf-8"))
    assert [line["flags"] for line in lines_of(out)] == [[], [], ["length"]]
    settings = tmp_path / "s.json"
    settings.write_text(json.dumps(first["settings"]), encoding="utf-8")
    again = json.loads(run(text, "--out", out, "--settings", settings, "--json").stdout)
    assert again["signature"] == first["signature"]
    whole = json.loads(run(text, "--out", out, "--settings", report, "--json").stdout)
    assert whole["signature"] == first["signature"]
    other = json.loads(run(text, "--out", out, "--settings", settings, "--names", "off", "--json").stdout)
    assert other["signature"] != first["signature"]


def test_pairs_are_read_from_a_file(text: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("male\tfemale\n爸爸\t妈妈\n", encoding="utf-8")
    out = tmp_path / "c.jsonl"
    run(text, "--out", out, "--pairs", pairs)
    assert [line["keyword"] for line in lines_of(out)] == ["爸爸"]
    pairs.write_text("male\tfemale\n爸爸\t\n", encoding="utf-8")
    done = typed("mine", text, "--out", out, "--pairs", pairs)
    assert (done.code, "line 2" in done.stderr) == (2, True), done.stderr


def command(text: Path, out: Path, *more: str) -> list[str]:
    return [sys.executable, str(ROOT / "cli.py"), "mine", str(text), "--out", str(out), *more]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--set", "height=off"], "height=off is not a valid filter and mode. Filters:"),
        (
            ["--set", "names"],
            "--set takes FILTER=MODE or PAIR:FILTER=MODE, such as names=flag or 他/她:names=reject, not",
        ),
        (["--limit", "nan"], "--limit takes a number of megabytes."),
        (["--report", "nowhere/r.json"], "nowhere/r.json cannot be written"),
        (["--set", "a/b:names=off"], "a/b is not a pair of this run. Pairs:"),
        (["--length", "ten"], "--length takes two numbers such as 9-119, not"),
        (["--pairs", "nowhere.tsv"], "nowhere.tsv cannot be read"),
        (["--settings", "nowhere.json"], "nowhere.json cannot be read"),
    ],
)
def test_wrong_options_are_refused_with_one_sentence(text: Path, tmp_path: Path, options: list[str], says: str) -> None:
    done = CliRunner().invoke(cli, ["mine", str(text), "--out", str(tmp_path / "c.jsonl"), *options])
    assert says in str(done.exception)
    assert not (tmp_path / "c.jsonl").exists()


def test_output_files_must_differ_from_input_and_each_other(text: Path, tmp_path: Path) -> None:
    out, before = tmp_path / "c.jsonl", text.read_bytes()
    for options, says in (
        (["--out", out, "--report", out], "c.jsonl is given twice as an output file; each output needs its own file."),
        (["--out", out, "--report", tmp_path / "r", "--table", tmp_path / "r"], "r is given twice as an output file"),
        (["--out", text], "text.txt is an input text; writing there would destroy it. Name another file."),
    ):
        done = CliRunner().invoke(cli, ["mine", str(text), *map(str, options)])
        assert says in str(done.exception)
    assert text.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


def test_outputs_of_an_earlier_run_are_not_read(text: Path, tmp_path: Path) -> None:
    out, report = tmp_path / "c.jsonl", tmp_path / "r.jsonl"
    first = run(tmp_path, "--out", out, "--report", report, "--json")
    again = run(tmp_path, "--out", out, "--report", report, "--json")
    assert json.loads(first.stdout)["read"] == json.loads(again.stdout)["read"]


def test_an_interrupted_run_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    out.write_text("before\n", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt), candidates_file(out) as write:
        write({"sentence": "她"})
        raise KeyboardInterrupt
    assert out.read_text(encoding="utf-8") == "before\n"
    assert [path.name for path in tmp_path.iterdir()] == ["c.jsonl"]


# Each process would load a dictionary of words for seconds.
WITHOUT_A_TAGGER = ("--set", "inside_word=off", "--set", "names=off")


def endless(tmp_path: Path) -> Path:
    """Return a text that takes much longer to mine than a test takes to end it (45 MB)."""
    path = tmp_path / "long.txt"
    path.write_text("".join(f"第{n}天她在河边的第{n * 7}棵树下等船。\n" for n in range(900_000)), encoding="utf-8")
    return path


@pytest.mark.rehearsal
def test_a_killed_run_leaves_no_file_and_the_next_is_complete(tmp_path: Path) -> None:
    text, out = endless(tmp_path), tmp_path / "c.jsonl"
    modes = [*WITHOUT_A_TAGGER, "--set", "near_duplicate=off"]
    workers = ["--workers", "2"]
    process = subprocess.Popen(command(text, out, *modes, *workers), cwd=ROOT, stdout=subprocess.DEVNULL)
    part = until(lambda: [path for path in tmp_path.glob(".c.jsonl.*.part") if path.stat().st_size], 600)[0]
    family = psutil.Process(process.pid).children(recursive=True)
    assert len(family) > 1
    process.send_signal(signal.SIGKILL)
    process.wait(600)
    assert not psutil.wait_procs(family, timeout=600)[1]  # no process waits for the run that was killed
    assert not out.exists()
    assert part.exists()
    run(text, "--out", out, "--limit", "0.5", *modes)
    assert not part.exists()  # what the killed run left is cleared up
    results = [line["sentence"] for line in lines_of(out)]
    assert len(results) == len(set(results)) > 1000


@pytest.mark.rehearsal
def test_a_cancelled_job_ends_its_workers_and_can_be_resumed(
    fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "GRACE_S", 600.0)  # a busy machine may need long to unwind
    text, out = endless(tmp_path), tmp_path / "c.jsonl"
    request = Request((str(text),), out, given=("inside_word=off", "names=off"), workers=2)
    job = jobs.start(fresh_store, MINE, request, "Mine")
    until(lambda: jobs.find(fresh_store, job.uid).done, 600)
    process = psutil.Process(jobs.find(fresh_store, job.uid).pid)
    family = [process, *process.children(recursive=True)]
    assert len(family) > 2
    jobs.cancel(fresh_store, jobs.find(fresh_store, job.uid))
    psutil.wait_procs(family, timeout=600)
    assert not [process for process in family if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]
    assert not out.exists()
    assert not list(tmp_path.glob(".c.jsonl.*.part"))
    text.write_text(TEXT, encoding="utf-8")
    jobs.resume(fresh_store, jobs.find(fresh_store, job.uid))
    done = until(lambda: not (job_ := jobs.find(fresh_store, job.uid)).active and job_, 600)
    assert (done.state, done.result["candidates"]) == ("done", 2)
    assert (done.done, done.total) == (text.stat().st_size, text.stat().st_size)
