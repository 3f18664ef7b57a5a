"""Jobs with real processes: progress, result, cancel, kill -9, resume, waiting in turn."""

import dataclasses
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from evenhand.annotations.database.store import Store
from evenhand.annotations.imports.run import IMPORT, Settings
from evenhand.annotations.jobs import jobs, kinds
from evenhand.annotations.jobs import process as job_process
from evenhand.commands.jobs import job as job_command
from evenhand.core.errors import BadFile, Busy, NotFound, Notice, Refused
from evenhand.core.language import translate
from evenhand.core.runs.kinds import JobKind
from tests.support import waiting as wait
from tests.support.job_kinds import BROKEN, GATED, REFUSED, WORDS, Gate, Lines, Text, add_kinds
from tests.support.projects import new_store

pytestmark = pytest.mark.early
COMMANDS = """
import click
from evenhand.commands.jobs import job
from tests.support.job_kinds import add_kinds

add_kinds()

@click.group()
def cli(): ...
cli.add_command(job)
cli()
"""


@pytest.fixture
def store(tmp_path, monkeypatch):
    script = tmp_path / "cli.py"
    script.write_text(COMMANDS, encoding="utf-8")
    monkeypatch.setattr(kinds, "KINDS", dict(kinds.KINDS))
    add_kinds()
    monkeypatch.setattr(jobs, "CLI", (str(script),))
    monkeypatch.setattr(jobs, "GRACE_S", 600.0)  # a busy machine may need long to unwind
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[3]))
    with new_store(tmp_path / "labels.db") as opened:
        yield opened
        for job in jobs.jobs(opened):
            if job.active and jobs.process_of(job):
                with suppress(Refused):  # it may have ended in the meantime
                    jobs.cancel(opened, job)
        for child in list(jobs._children.values()):
            child.wait(600)
        jobs._children.clear()


def until(store, job, wanted, limit=600.0):
    """Return the job once `wanted(job)` is true."""

    def seen():
        result = jobs.find(store, job.uid)
        return result if wanted(result) else None

    return wait.until(seen, limit, lambda: f"{jobs.find(store, job.uid)} {jobs.log_tail(store, job)}")


def process_end(job):
    if (child := jobs._children.get(job.uid)) is not None:
        child.wait(600)


def gated(store, tmp_path, name):
    gate, trace = tmp_path / f"{name}.gate", tmp_path / f"{name}.trace"
    return jobs.start(store, GATED, Gate(gate, trace), name), gate, trace


def at_gate(job):
    return job.done == 3


def child_of(trace):
    return int(trace.read_text().split()[1])


def test_a_job_reports_progress_then_its_result(store, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # of the app; a job gets one
    job, gate, _ = gated(store, tmp_path, "one")
    seen = until(store, job, at_gate)
    assert (seen.state, seen.share, seen.total) == ("running", 0.3, 10)
    assert seen.rate() > 0 and seen.seconds_left() > 0
    process = jobs.process_of(seen)
    assert process.nice() >= job_process.NICE
    ended_first = Path(f"/proc/{seen.pid}/oom_score_adj")  # of Linux
    assert not ended_first.exists() or int(ended_first.read_text(encoding="ascii")) == job_process.OOM
    group = Path(f"/proc/{seen.pid}/autogroup")  # of Linux; "/autogroup-9 nice 19"
    assert not group.exists() or group.read_text().split()[-1:] in ([], [str(job_process.NICE)])
    assert os.getpgid(seen.pid) == seen.pid != os.getpgid(0)
    assert process.environ()["OMP_NUM_THREADS"] == "1"
    gate.touch()
    over = until(store, job, lambda one: not one.active)
    assert (over.state, over.result, over.share) == ("done", {"lines": 10, "name": "甲"}, 1.0)
    assert over.seconds_left() is None and over.finished
    assert "reading" in jobs.log_tail(store, over)
    with pytest.raises(Refused):
        jobs.cancel(store, over)
    with pytest.raises(Refused):
        jobs.resume(store, over)


def test_cancelling_ends_the_process_group_and_unwinds(store, tmp_path):
    job, _, trace = gated(store, tmp_path, "one")
    seen = until(store, job, at_gate)
    jobs.cancel(store, seen)
    assert jobs.find(store, job.uid).state == "cancelled"
    assert jobs.process_of(seen) is None
    assert trace.read_text().splitlines()[1:] == ["unwound"]
    assert not psutil.pid_exists(child_of(trace)) or psutil.Process(child_of(trace)).status() == "zombie"


@pytest.mark.rehearsal
def test_a_killed_job_is_marked_interrupted_and_resumes(store, tmp_path):
    job, gate, trace = gated(store, tmp_path, "one")
    seen = until(store, job, at_gate)
    os.killpg(seen.pid, signal.SIGKILL)
    process_end(job)
    assert jobs.find(store, job.uid).state == "running"
    assert jobs.mark_interrupted(store) == 1
    lost = jobs.find(store, job.uid)
    assert lost.state == "interrupted" and lost.finished
    assert jobs.mark_interrupted(store) == 0

    again = jobs.resume(store, lost)
    assert (again.uid, again.done, again.result) == (job.uid, 0, None)
    gate.touch()
    over = until(store, job, lambda one: not one.active)
    assert (over.state, over.result["lines"]) == ("done", 10)
    assert trace.read_text().count("begun") == 2


def test_a_living_job_is_not_marked_interrupted(store, tmp_path):
    job, gate, _ = gated(store, tmp_path, "one")
    until(store, job, at_gate)
    child = jobs._children.pop(job.uid)  # as after a restart of the app: only pid and start time are known
    assert jobs.mark_interrupted(store) == 0
    gate.touch()
    assert until(store, job, lambda one: not one.active).state == "done"
    assert child.wait(600) == 0


def test_a_process_with_a_reused_pid_is_not_the_job(store):
    with store.write() as db:
        db.execute(
            "INSERT INTO job (uid, command, title, state, pid, started_process, created) "
            "VALUES ('u', '[]', 't', 'running', ?, ?, '2020-01-01T00:00:00.000Z')",
            (os.getpid(), psutil.Process().create_time() - 60),
        )
    assert jobs.process_of(jobs.find(store, "u")) is None
    jobs.cancel(store, jobs.find(store, "u"))  # must not end this process
    assert jobs.find(store, "u").state == "cancelled"


@pytest.mark.parametrize(("age", "lost"), [(5, 0), (3600, 1)])
def test_a_row_without_a_process_is_lost_after_a_while(store, age, lost):
    with store.write() as db:
        db.execute(
            "INSERT INTO job (uid, command, title, state, created) VALUES ('u', '[]', 't', 'waiting', ?)",
            ("2020-01-01T00:00:00.000Z",),
        )
    created = jobs._unix("2020-01-01T00:00:00.000Z")
    assert jobs.mark_interrupted(store, now=created + age) == lost


def test_a_third_job_waits_for_a_free_place(store, tmp_path):
    first, second = gated(store, tmp_path, "a"), gated(store, tmp_path, "b")
    until(store, first[0], at_gate)
    until(store, second[0], at_gate)
    third = gated(store, tmp_path, "c")
    waiting = until(store, third[0], lambda one: one.pid is not None)
    assert waiting.state == "waiting" and waiting.seconds() is None
    first[1].touch()
    assert until(store, third[0], at_gate).state == "running"
    for _, gate, _ in (second, third):
        gate.touch()
    assert until(store, third[0], lambda one: not one.active).state == "done"


def test_a_job_ends_after_cancellation_in_the_database(store, tmp_path):
    job, _, trace = gated(store, tmp_path, "one")
    until(store, job, at_gate)
    with store.write() as db:
        db.execute("UPDATE job SET state = 'cancelled' WHERE uid = ?", (job.uid,))
    process_end(job)
    assert trace.read_text().splitlines()[1:] == ["unwound"]
    assert jobs.find(store, job.uid).state == "cancelled"


def test_a_waiting_job_can_be_cancelled(store, tmp_path):
    blocking = [gated(store, tmp_path, name) for name in "ab"]
    for job, _, _ in blocking:
        until(store, job, at_gate)
    job, _, trace = gated(store, tmp_path, "c")
    jobs.cancel(store, jobs.find(store, job.uid))
    assert jobs.find(store, job.uid).state == "cancelled"
    process_end(job)
    assert not trace.exists()


def test_a_known_error_becomes_a_sentence_with_its_values(store):
    over = until(store, jobs.start(store, REFUSED, Text(), "x"), lambda one: not one.active)
    assert (over.state, over.message) == ("failed", "a<b>.csv is no table.")
    assert over.result == {"error": "{file} is no table.", "values": {"file": "a<b>.csv"}}


def test_an_unexpected_error_is_in_message_and_log(store):
    over = until(store, jobs.start(store, BROKEN, Text(), "x"), lambda one: not one.active)
    assert over.state == "failed" and "no such luck" in over.message
    assert "Traceback" in jobs.log_tail(store, over, 200)


def test_a_job_of_an_unknown_kind_fails_with_a_sentence(store):
    later = JobKind("later", Text, Lines, BROKEN.run)
    over = until(store, jobs.start(store, later, Text(), "x"), lambda one: not one.active)
    assert (over.state, over.message) == ("failed", "There is no kind of job named later.")


def test_the_end_of_a_job_waits_for_a_busy_database(store, monkeypatch):
    with store.write() as db:
        db.execute(
            "INSERT INTO job (uid, command, title, state, pid, started, created) "
            "VALUES ('u', '[]', 't', 'running', 1, '2020-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z')"
        )
    write, refused = Store.write, iter((True, True, False))

    def busy_twice(self):
        if next(refused):
            raise Busy("busy")
        return write(self)

    monkeypatch.setattr(Store, "write", busy_twice)
    job_process._write_end(store, "u", "done", {"lines": 3}, "", job_process.Progress())
    assert (jobs.find(store, "u").state, jobs.find(store, "u").result) == ("done", {"lines": 3})
    monkeypatch.setattr(job_process, "PATIENCE_S", -1.0)
    refused = iter((True,))
    with pytest.raises(Busy):
        job_process._write_end(store, "u", "done", None, "", job_process.Progress())
    monkeypatch.setattr(Store, "write", write)


def test_a_job_cancelled_while_its_end_waits_just_ends(store, monkeypatch):
    with store.write() as db:
        db.execute("INSERT INTO job (uid, command, title, state, created) VALUES ('u', '[]', 't', 'waiting', '2020')")

    def cancelled(*_given):
        job_process._end_now(signal.SIGTERM, None)

    monkeypatch.setattr(job_process, "_stand_back", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda _number, _do: None)
    monkeypatch.setattr(job_process, "_write_end", cancelled)
    called = []
    job_process.perform(store, "u", lambda job, progress: called.append(job.uid) or {})
    assert called == ["u"]


def test_an_upload_is_deleted_when_its_job_is_done(store):
    path = jobs.keep_upload(store, "../夜<b>.txt", "好".encode())
    assert path.name == "夜<b>.txt" and path.parent.parent == jobs.folder(store)
    over = until(store, jobs.start(store, WORDS, Text(str(path)), "x"), lambda one: not one.active)
    assert (over.state, over.result) == ("done", {"lines": 0, "name": "好"})
    process_end(over)
    assert not path.parent.exists()


def test_an_upload_is_kept_when_its_job_failed(store):
    path = jobs.keep_upload(store, "a.txt", b"\xff")
    over = until(store, jobs.start(store, WORDS, Text(str(path)), "x"), lambda one: not one.active)
    assert over.state == "failed" and path.exists()


@pytest.mark.parametrize("name", ["", "..", "a/..", "x" * 300, "a\0b"])
def test_an_upload_needs_a_file_name(store, name):
    with pytest.raises(BadFile):
        jobs.keep_upload(store, name, b"")


def test_a_job_is_found_by_the_beginning_of_its_id(store):
    with store.write() as db:
        for uid in ("aa1", "aa2"):
            db.execute(
                "INSERT INTO job (uid, command, title, state, created) VALUES (?, '[]', 't', 'done', '')", (uid,)
            )
    assert jobs.find(store, "aa1").uid == "aa1"
    for unknown in ("aa", "b", "", "%"):
        with pytest.raises(NotFound):
            jobs.find(store, unknown)


@pytest.mark.parametrize(
    ("data", "large"), [(b"a\n" * 20_000, False), (b"a\n" * 20_001, True), (b"a" * 5_000_001, True), (b"", False)]
)
def test_large_files_are_recognised_by_lines_or_bytes(tmp_path, data, large):
    (tmp_path / "a.csv").write_bytes(data)
    assert jobs.is_large(tmp_path / "a.csv") is large


def test_jobs_are_listed_shown_and_cancelled_by_command(store, tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.commands.jobs.words_of", lambda name, settings: [name])
    job, _, _ = gated(store, tmp_path, "标题")
    until(store, job, at_gate)
    runner, db = CliRunner(), ["--db", str(store.path)]
    listed = json.loads(runner.invoke(job_command, ["list", *db, "--json"]).stdout)["jobs"]
    assert [(job_["title"], job_["state"], job_["done"]) for job_ in listed] == [("标题", "running", 3)]
    assert "reading" in runner.invoke(job_command, ["log", job.uid[:8], *db]).stdout
    ended = json.loads(runner.invoke(job_command, ["cancel", job.uid[:8], *db, "--json"]).stdout)
    assert ended["state"] == "cancelled"
    resumed = runner.invoke(job_command, ["resume", job.uid, *db])
    assert resumed.exit_code == 0 and "标题" in resumed.stdout
    until(store, job, at_gate)
    assert sys.executable in jobs.process_of(jobs.find(store, job.uid)).cmdline()[0]


@pytest.mark.long
def test_an_import_that_is_killed_is_resumed_without_loss(tmp_path):
    """The real command line: kill -9 in the middle of an import, then resume: every sentence is there once."""
    from evenhand.annotations.items.batch import items
    from evenhand.annotations.projects.projects import create_project, projects

    lines = 20_000
    path = tmp_path / "big.txt"
    path.write_text("".join(f"他在第{n}站下了车，把行李放在长椅旁边。\n" for n in range(lines)), encoding="utf-8")
    with Store.open(tmp_path / "real.db") as opened:
        create_project(opened, "--all")
        job = jobs.start(opened, IMPORT, Settings("--all", path), "import")
        seen = until(opened, job, lambda one: one.done > 0 or not one.active, limit=120)
        assert seen.state == "running" and seen.done < lines
        os.killpg(seen.pid, signal.SIGKILL)
        process_end(job)
        assert jobs.mark_interrupted(opened) == 1
        result = projects(opened)[0]
        assert list(items(opened, result)) == []  # nothing of it was published
        jobs.resume(opened, jobs.find(opened, job.uid))
        over = until(opened, job, lambda one: not one.active, limit=240)
        assert (over.state, over.result["imported"], over.result["duplicates"]) == ("done", lines, 0)
        assert len({item.text for item in items(opened, result)}) == lines
        process_end(job)


def test_dismissing_a_job_deletes_log_and_upload(store, tmp_path):
    job, gate, _trace = gated(store, tmp_path, "one")
    until(store, job, at_gate)
    with pytest.raises(Refused, match="Cancel it first"):
        jobs.dismiss(store, jobs.find(store, job.uid))
    gate.touch()
    over = until(store, job, lambda one: not one.active)
    upload = jobs.keep_upload(store, "a.csv", b"text\n")
    jobs.dismiss(store, dataclasses.replace(over, settings={"text": str(upload)}))
    assert [job_.uid for job_ in jobs.jobs(store)] == []
    assert not jobs.log_path(store, job.uid).exists() and not upload.exists()


@pytest.mark.parametrize(
    ("title", "english", "chinese"),
    [
        ("{a} as it stands", "{a} as it stands", "{a} as it stands"),
        (
            Notice("Score {source} with {models}", {"source": "<b>{x}.csv", "models": ["m", "n"]}),
            "Score <b>{x}.csv with m, n",
            "用 m、n 给 <b>{x}.csv 打分",
        ),
        (
            Notice(
                "Generate with {model} from {source}",
                {"model": "m", "source": {"message": "built-in set", "values": {}}},
            ),
            "Generate with m from built-in set",
            "用 m 续写 内置数据",
        ),
    ],
)  # fmt: skip
def test_a_title_is_shown_in_the_language_of_the_reader(store, monkeypatch, title, english, chinese):
    monkeypatch.setattr(jobs, "_spawn", lambda *_: None)
    result = jobs.start(store, WORDS, Text(), title)
    assert result.title == english
    assert jobs.title_in(result.wording, lambda text: translate(text, "zh")) == chinese
