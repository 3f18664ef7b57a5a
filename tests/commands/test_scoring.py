"""`score` as a person types it and as a job: the table, several models, what goes wrong, killed and resumed."""

import csv
import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner
from transformers import BertModel

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.scoring_input import SCORING
from evenhand.annotations.jobs import jobs
from evenhand.commands.shared import Meter, rate_line
from evenhand.core.errors import EvenhandError
from evenhand.core.model_bias.score_files import read_scores
from evenhand.core.models import open_scorer
from evenhand.core.runs.records import runs_folder, runs_in
from evenhand.core.scoring.rows import COLUMNS
from evenhand.core.scoring.settings import Settings
from evenhand.core.sentence_bias.model_answer import read
from tests.conftest import ROOT, SENTENCES, SHARED_DATA
from tests.support import tiny_models
from tests.support.waiting import until

pytestmark = pytest.mark.early

LINES = [*SENTENCES, "今天下雨。", SENTENCES[0].replace("他", "她")]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sentences.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def score(*arguments, ok=True):
    done = CliRunner().invoke(cli, ["score", *map(str, arguments)])
    if ok and done.exception:
        raise done.exception
    return done


def table(path):
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_a_table_of_two_models_is_written(tmp_path, file):
    out = tmp_path / "scores.csv"
    answer = json.loads(score(file, "--model", "known", "--model", "random-zh", "--out", out, "--json").stdout)
    rows = table(out)
    assert tuple(rows[0]) == COLUMNS
    assert [(row["model"], row["row"]) for row in rows] == [
        (model, str(i)) for model in ("known", "random-zh") for i in range(1, 11)
    ]
    assert [row["sentence"] for row in rows[:10]] == LINES
    for model, some in (("known", rows[:10]), ("random-zh", rows[10:])):
        scorer = open_scorer(model)
        for row in some:
            if row["status"] != "ok":
                assert row["bias_log10"] == row["p_male"] == row["logp_male"] == row["pair"] == ""
                continue
            alone = read(row["sentence"], scorer)
            assert float(row["bias_log10"]) == pytest.approx(alone.bias_log10, abs=1e-5)
            assert float(row["pair_mass"]) == pytest.approx(alone.pair_mass, rel=1e-4)
            assert row["signature"] == alone.signature
    assert rows[8]["status"] == "The sentence contains no word of any keyword pair."
    # The card of `known`: 他 has twice the probability of 她.
    assert float(rows[0]["bias_log10"]) == pytest.approx(math.log10(2), abs=1e-6)
    known = answer["models"][0]
    assert (known["rows"], known["scored"], known["asked"], known["saved"], known["remembered"]) == (10, 9, 8, 1, 0)
    assert known["undefined"][0]["reason"] == "no_keyword"
    assert answer["source"]["rows"] == 10
    assert not list(tmp_path.glob(".*part"))
    assert not (tmp_path / "scores.json").exists()  # a record belongs to a run


def test_a_second_run_reads_the_cache_and_writes_equal_bytes(tmp_path, file):
    outs = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    first = json.loads(score(file, "--model", "known", "--out", outs[0], "--json").stdout)
    second = json.loads(score(file, "--model", "known", "--out", outs[1], "--json").stdout)
    third = json.loads(score(file, "--model", "known", "--out", outs[2], "--no-cache", "--json").stdout)
    assert [row["asked"] for row in (first, second, third)] == [8, 0, 8]
    assert (second["remembered"], second["saved"]) == (8, 1)
    assert second["models"][0]["rate"] is None
    assert second["models"][0]["rate_reason"]
    assert outs[0].read_bytes() == outs[1].read_bytes() == outs[2].read_bytes()
    assert (tmp_path / "scores.db").exists()


def test_a_run_with_a_name_is_listed_with_its_record(tmp_path, file):
    score(file, "--model", "known", "--run", "第一次")
    [run] = runs_in(runs_folder(tmp_path / "evenhand.db", "scores"))
    assert (run.name, run.models, run.sentences, run.scored) == ("第一次", ("known",), 10, 9)
    assert run.source["sha256"]
    assert run.record["versions"]["torch"]
    assert run.signatures[0].startswith("masked|known|")
    assert len(table(run.table)) == 10
    with pytest.raises(EvenhandError, match=r"A run named 第一次 already exists\. Choose another name\."):
        score(file, "--model", "known", "--run", "第一次")


def test_a_project_is_scored(tmp_path, sample_project):
    score("project:sample", "--model", "known", "--out", tmp_path / "s.csv")
    assert [row["sentence"] for row in table(tmp_path / "s.csv")] == list(SENTENCES)


# What goes wrong


def headless(folder):
    BertModel(tiny_models.config()).save_pretrained(folder)
    tiny_models.tokenizer_files(folder)


def with_nan(folder):
    import torch

    model = tiny_models.bert(folder)
    with torch.no_grad():
        next(model.parameters())[0, 0] = math.nan
    model.save_pretrained(folder)


def without_weights(folder):
    tiny_models.bert(folder)
    (folder / "model.safetensors").unlink()


def cut_off(folder):
    tiny_models.bert(folder)
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:2000])


UNUSABLE = {
    "no head": (headless, "has no masked-language-modelling head; its scores would be random."),
    "NaN": (with_nan, "contain NaN or infinite values."),
    "no weights": (without_weights, "no weights that load without running code"),
    "cut off": (cut_off, "file is damaged"),
    "nothing there": (lambda folder: None, "model"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_unusable_model_is_one_sentence_and_no_table(tmp_path, file, name):
    make, words = UNUSABLE[name]
    make(tmp_path / "model")
    done = score(file, "--model", tmp_path / "model", "--out", tmp_path / "s.csv", ok=False)
    assert isinstance(done.exception, EvenhandError)
    assert words in str(done.exception)
    assert not (tmp_path / "s.csv").exists()
    assert not list(tmp_path.glob(".*part"))


def test_a_failing_model_does_not_stop_others(tmp_path, file):
    headless(tmp_path / "model")
    arguments = ["--model", tmp_path / "model", "--model", "known", "--out", tmp_path / "s.csv", "--json"]
    done = score(file, *arguments)
    answer = json.loads(done.stdout)
    assert [model["model"] for model in answer["models"]] == ["known"]
    assert "has no masked-language-modelling head; its scores would be random." in answer["failed"][0]["text"]
    assert "has no masked-language-modelling head; its scores would be random." in done.stderr
    assert {row["model"] for row in table(tmp_path / "s.csv")} == {"known"}


REFUSED = {
    "no target": ([], "Give an output for the table: --out FILE or --run NAME."),
    "two targets": (["--out", "x.csv", "--run", "x"], "Give an output for the table: --out FILE or --run NAME."),
    "twice": (["--out", "x.csv", "--model", "known"], "is given twice; give each model once."),
    "a name that is none": (
        ["--run", "a/b"],
        'is not a valid run name. Use at most 120 bytes, no slash, none of < > : "',
    ),
    "a folder that is a file": (["--out", "sentences.txt/x.csv"], "cannot be written"),
    "its own input": (["--out", "sentences.txt"], "cannot be both input and output."),
    "labels as cache": (
        ["--out", "x.csv", "--cache", "evenhand.db"],
        "is the label database. Use another file for the score cache.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_options_are_refused_before_scoring(tmp_path, file, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    arguments, words = REFUSED[name]
    done = score("sentences.txt", "--model", "known", *arguments, ok=False)
    assert isinstance(done.exception, EvenhandError)
    assert words in str(done.exception)
    assert {path.name for path in tmp_path.iterdir()} <= {"sentences.txt"}
    assert file.read_text(encoding="utf-8").splitlines() == LINES


def test_an_unavailable_model_is_left_out(tmp_path, file):
    done = score(file, "--model", "known", "--model", "no such/model here", "--out", tmp_path / "x.csv")
    assert "no such/model here" in done.output
    rows = csv.DictReader((tmp_path / "x.csv").read_text(encoding="utf-8-sig").splitlines())
    assert {row["model"] for row in rows} == {"known"}


def test_a_missing_file_is_one_sentence_and_exit_code_2(tmp_path):
    command = [sys.executable, "cli.py", "score", "nothing.csv", "--model", "known", "--out", str(tmp_path / "s.csv")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "nothing.csv cannot be read: No such file or directory.\n"


def test_a_damaged_cache_is_reported_and_the_table_written(tmp_path, file):
    score(file, "--model", "known", "--out", tmp_path / "a.csv")
    for left in tmp_path.glob("scores.db*"):
        left.write_bytes(b"no database" * 1000)
    done = score(file, "--model", "known", "--out", tmp_path / "b.csv", "--json")
    [notice] = json.loads(done.stdout)["notices"]
    assert "was damaged. The damaged file is kept as" in notice["text"]
    assert notice["text"] in done.stderr
    assert (tmp_path / notice["values"]["aside"]).exists()
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_the_spreadsheet_copy_contains_no_formulas(tmp_path):
    texts = ['=HYPERLINK("x")他来了。', "'-她走了。", "@他在家。", "他在家。"]
    path = tmp_path / "t.txt"
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    score(path, "--model", "known", "--out", tmp_path / "s.csv", "--spreadsheet", tmp_path / "copy.csv")
    rows = table(tmp_path / "s.csv")
    assert [row["sentence"] for row in rows] == texts
    assert all(row["sentence"][int(row["start"]) : int(row["end"])] == row["keyword"] for row in rows)
    copy = (tmp_path / "copy.csv").read_text(encoding="utf-8-sig")
    assert "'=HYPERLINK" in copy and "''-她走了" in copy and "'@他" in copy
    assert ",'-" not in copy  # numbers stay numbers
    assert read_scores(tmp_path / "s.csv")["sentence"].tolist() == texts


def test_the_joint_option_is_in_the_signature(tmp_path, file):
    out = tmp_path / "s.csv"
    score(file, "--model", "known", "--joint", "geometric_mean", "--out", out)
    assert {row["signature"].split("|")[3] for row in table(out)} == {"geometric_mean"}


def test_bf16_is_signed_and_close_to_fp32(tmp_path, file):
    """Every row is signed bf16, none was scored in fp32 instead; Bias_c of `known` moves by hundredths."""
    out, exact = tmp_path / "bf16.csv", tmp_path / "fp32.csv"
    answer = json.loads(score(file, "--model", "known", "--precision", "bf16", "--out", out, "--json").stdout)
    score(file, "--model", "known", "--out", exact)
    assert answer["models"][0]["rows"] == len(table(out)) == 10
    assert {row["signature"].split("|")[4] for row in table(out)} == {"bf16"}
    pairs = [(row["bias_log10"], other["bias_log10"]) for row, other in zip(table(out), table(exact), strict=True)]
    defined = [(float(rough), float(value)) for rough, value in pairs if value]
    assert len(defined) == sum(bool(rough) for rough, _ in pairs) == 9
    assert [rough for rough, _ in defined] == pytest.approx([value for _, value in defined], abs=0.02)
    assert defined != [(value, value) for _, value in defined]


# Killed, cancelled, resumed, two at once: real processes; the model is replaced by one that waits at a gate.

GATED = """
import os, sys, time
from pathlib import Path
from evenhand.core.scoring import run as score_runs
from evenhand.core.types import Score

class Gated:
    signature = cache_key = "fake|m|weights:0|independent|fp32|v1"
    def score(self, probes):
        trace, gate = Path(os.environ["TRACE"]), Path(os.environ["GATE"])
        asked = int(trace.read_text() or 0) if trace.exists() else 0
        while asked >= 2000 and not gate.exists():
            time.sleep(0.02)
        trace.write_text(str(asked + len(probes)))
        return [Score((-float(len(p.text)), -2.0), self.signature) for p in probes]
    def fillers(self, probe, *, top=10, words=()):
        return []

score_runs.open_scorer = lambda name, **options: Gated()
score_runs.check_models = lambda names: None
import cli
cli.main()
"""


@pytest.fixture
def gated(tmp_path, monkeypatch):
    script = tmp_path / "gated" / "cli_of_a_test.py"
    script.parent.mkdir()
    script.write_text(GATED, encoding="utf-8")
    monkeypatch.setattr(jobs, "CLI", (str(script),))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("TRACE", str(tmp_path / "asked"))
    monkeypatch.setenv("GATE", str(tmp_path / "gate"))
    lines = tmp_path / "many.txt"
    lines.write_text("".join(f"他在第{i}天来了。\n" for i in range(5000)), encoding="utf-8")
    with Store.open(tmp_path / "evenhand.db") as store:
        yield store
        for job in jobs.jobs(store):
            if job.active and (process := jobs.process_of(job)):
                process.kill()


def started(store, tmp_path, name="run"):
    return jobs.start(store, SCORING, Settings(str(tmp_path / "many.txt"), ("m",), run_name=name), "Score")


@pytest.mark.rehearsal
@pytest.mark.parametrize("how", ["kill -9", "cancel"])
def test_an_interrupted_run_is_resumed(tmp_path, gated, how):
    store = gated
    job = started(store, tmp_path)
    until(lambda: jobs.find(store, job.uid).done >= 2000)
    half = jobs.find(store, job.uid)
    assert half.total == 5000
    if how == "cancel":
        jobs.cancel(store, half)
    else:
        os.kill(half.pid, signal.SIGKILL)
    until(lambda: jobs.process_of(half) is None)
    jobs.mark_interrupted(store)
    assert jobs.find(store, job.uid).state == ("cancelled" if how == "cancel" else "interrupted")
    folder = runs_folder(store.path, "scores")
    assert not list(folder.glob("*.csv"))
    calls = int((tmp_path / "asked").read_text())
    (tmp_path / "gate").touch()
    jobs.resume(store, jobs.find(store, job.uid))
    until(lambda: not jobs.find(store, job.uid).active)
    done = jobs.find(store, job.uid)
    assert done.state == "done", jobs.log_tail(store, done)
    assert done.result["remembered"] == calls
    assert done.result["asked"] == 5000 - calls
    assert [path.name for path in sorted(folder.iterdir())] == ["run.csv", "run.json"]
    assert [row["row"] for row in table(folder / "run.csv")] == [str(i) for i in range(1, 5001)]


def test_two_simultaneous_jobs_write_equal_numbers(tmp_path, gated):
    (tmp_path / "gate").touch()
    both = [started(gated, tmp_path, name) for name in ("one", "two")]
    until(lambda: not any(jobs.find(gated, job.uid).active for job in both))
    ended = [jobs.find(gated, job.uid) for job in both]
    assert [job.state for job in ended] == ["done", "done"], [jobs.log_tail(gated, job) for job in ended]
    assert [job.result["notices"] for job in ended] == [[], []]
    first, second = (runs_folder(gated.path, "scores") / f"{name}.csv" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    db = sqlite3.connect(tmp_path / "scores.db")
    assert db.execute("SELECT count(*) FROM score").fetchone()[0] == 5000
    db.close()


# What a user sees in the meantime


def test_progress_is_printed_in_one_line():
    assert rate_line(500, 2000, 10.0, "m") == "500 of 2,000 rows, 50 a second, about 30 s left (m)"
    assert rate_line(1, 100_000, 1.0, "m").endswith("about 27.8 h left (m)")
    assert rate_line(50, 50_050, 10, "m").endswith("about 2.8 h left (m)")
    assert rate_line(10, 6010, 10, "m").endswith("about 100 min left (m)") or "1.7 h" in rate_line(10, 6010, 10, "m")
    assert rate_line(0, 10, 0.0, "m") == "0 of 10 rows (m)"
    assert rate_line(12_000_000, 200_000_000, 1.0, unit="MB").startswith(
        "12.0 of 200.0 MB, 12.0 MB a second, about 16 s"
    )
    assert rate_line(90, 100, 1.0, "m", unit="texts", before=80) == "90 of 100 texts, 10 a second, about 1 s left (m)"


def test_progress_in_a_log_has_few_lines(capsys, monkeypatch):
    moment = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    with Meter() as meter:
        for done in range(0, 1000, 10):
            meter(done, 1000, "m")
            moment[0] += 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0] == "300 of 1,000 rows, 10 a second, about 70 s left (m)"


@pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="../shared/data is not here: needs the released development file")
def test_the_first_rows_of_the_development_file_are_scored(tmp_path):
    whole = (SHARED_DATA / "slguset" / "SlguSet_dev.csv").read_text(encoding="utf-8-sig").splitlines(keepends=True)
    (tmp_path / "dev.csv").write_text("".join(whole[:601]), encoding="utf-8")
    score(tmp_path / "dev.csv", "--model", "known", "--out", tmp_path / "s.csv")
    rows = table(tmp_path / "s.csv")
    assert [row["row"] for row in rows] == [str(i) for i in range(1, 601)]
    assert not [row for row in rows if row["start"] == ""]
