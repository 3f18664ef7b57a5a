"""Jobs: long work of a kind (`evenhand.core.runs.kinds`), run in its own process, with one row in `job`.

The process writes its own row, so a job outlives the app that started it. Its start time distinguishes it from a later
process with the same id.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import psutil

from evenhand.annotations.database.store import Store, delete_rows, insert, update_rows
from evenhand.annotations.permissions import Person, may_see_work
from evenhand.annotations.types import Project
from evenhand.core import processes
from evenhand.core.errors import N_, BadFile, NotFound, Notice, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.language import translate_stored
from evenhand.core.resources import IMPORT_FOLDER
from evenhand.core.runs.kinds import JobKind
from evenhand.core.typed_json import to_json

Settings = TypeVar("Settings")
State = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
ACTIVE: tuple[State, ...] = ("waiting", "running")
STOPPED: tuple[State, ...] = ("failed", "cancelled", "interrupted")  # may be resumed
LARGE_BYTES = 5_000_000  # a file of this size, or with more lines than LARGE_LINES, is imported as a job
LARGE_LINES = 20_000
UPLOAD_KEPT_S = 24 * 3600.0
GRACE_S = 5.0  # time for a cancelled process to clean up before it is killed
CLI = ("-m", "evenhand")  # what Python runs for a command
NO_JOB = N_("There is no job {uid}. The Jobs page and `job list` list all jobs.")
WORDED = '{"message": '  # how a title begins that is a sentence with its values
_STARTING_S = 30.0  # a row whose process has not written after so long has no process
_children: dict[str, subprocess.Popen[bytes]] = {}  # so that the app reaps them


@dataclass(frozen=True, slots=True)
class Job:
    """One row: what the job does, and its progress.

    `kind` is the name of a `JobKind`, `settings` its settings as JSON. A job that was started before version 21 of the
    database has a `command`, of which they were made (`typed_from_command`); "" if the command is none of the kinds.
    `done` of `total` in the kind's own unit (lines, sentences); `total` is None until it is known. `result` is the
    report as JSON; of a failed job it is {"error": sentence with {names}, "values": {...}}. `project`: public id of the
    one on which it works, `account`: of who started it.
    `title` is in English; `wording` is what a page shows in the reader's language (`title_in`).
    """

    uid: str
    command: tuple[str, ...]
    title: str
    state: State
    pid: int | None
    started_process: float | None
    done: int
    total: int | None
    message: str
    result: dict[str, Any] | None
    created: str
    started: str | None
    heartbeat: float | None
    finished: str | None
    project: str | None = None
    account: str | None = None
    kind: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    wording: Notice = field(default_factory=lambda: Notice(""))

    @property
    def group(self) -> str:
        """The first word of the command that does the same."""
        return self.kind.partition(" ")[0]

    @property
    def active(self) -> bool:
        """True until the job is over."""
        return self.state in ACTIVE

    @property
    def share(self) -> float | None:
        """The share done, 0 to 1; None while the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None

    def seconds(self, now: float | None = None) -> float | None:
        """Return the running time so far, or in all; None before it began."""
        if not self.started:
            return None
        end = _unix(self.finished) if self.finished else now if now is not None else time.time()
        return max(0.0, end - _unix(self.started))

    def rate(self, now: float | None = None) -> float | None:
        """Return units done per second since it began; None while nothing is done."""
        seconds = self.seconds(now)
        return self.done / seconds if seconds and self.done else None

    def seconds_left(self, now: float | None = None) -> float | None:
        """Return the time left at the rate so far; None while it is unknown or if the job is over."""
        rate = self.rate(now)
        return (self.total - self.done) / rate if rate and self.total and self.state == "running" else None

    def is_for(self, person: Person) -> bool:
        """Return whether *person* may see the job.

        A job of a project is shown to people who may see the jobs of the project, any other job to the person who
        started it (see `may_see_work`).
        """
        return may_see_work(person, self.project, self.account)


def _unix(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


_COLUMNS = tuple(name for name in Job.__dataclass_fields__ if name != "wording")
_OWNERS = {name: f"(SELECT uid FROM {name} WHERE id = job.{name})" for name in ("project", "account")}
_LISTED = ", ".join(_OWNERS.get(name, name) for name in _COLUMNS)


def _job(row: Sequence[Any]) -> Job:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["command"] = tuple(json.loads(values["command"]))
    values["kind"] = values["kind"] or ""
    values["settings"] = json.loads(values["settings"]) if values["settings"] else {}
    values["result"] = json.loads(values["result"]) if values["result"] else None
    stored, plain = str(values["title"]), Notice("{title}", {"title": values["title"]})
    values["wording"] = Notice(**json.loads(stored)) if stored.startswith(WORDED) else plain
    values["title"] = title_in(values["wording"], str)
    return Job(**values)


def title_in(wording: Notice, say: Callable[[str], str]) -> str:
    """Return the title of a job in a language: *say* translates.

    A value may be a list, or a sentence with its own values.
    """
    values = {}
    for name, value in wording.values.items():
        if isinstance(value, list):
            values[name] = say(", ").join(str(_value_in(part, say)) for part in value)
        else:
            values[name] = _value_in(value, say)
    return say(wording.message).format(**values) if values else translate_stored(wording.message, say)


def _value_in(value: Any, say: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        value = Notice(**value)
    return title_in(value, say) if isinstance(value, Notice) else value


def jobs(store: Store) -> list[Job]:
    """Return every job, the newest first."""
    return _jobs(store, "true ORDER BY id DESC")


def _jobs(store: Store, which: str, *values: str) -> list[Job]:
    """Return the jobs for which an SQL condition holds, which may end with their order."""
    return [_job(row) for row in store.db.execute(f"SELECT {_LISTED} FROM job WHERE {which}", values).fetchall()]


def typed_from_command(store: Store, read: Callable[[Sequence[str]], tuple[str, dict[str, Any]]]) -> None:
    """Store kind and settings of jobs of earlier versions, which have a command; *read* makes them of its words."""
    if store.frozen:
        return
    for uid, words in store.db.execute("SELECT uid, command FROM job WHERE kind IS NULL").fetchall():
        kind, settings = read(json.loads(words))
        with store.write() as db:
            stored = json.dumps(settings, ensure_ascii=False)
            update_rows(db, "job", {"kind": kind, "settings": stored}, uid=uid)


def find(store: Store, uid: str) -> Job:
    """Return the job of that id, or of the only id with that beginning. Raises NotFound."""
    alike = _jobs(store, "substr(uid, 1, length(?)) = ? LIMIT 2", uid, uid) if uid else []
    if len(alike) != 1:
        raise NotFound(NO_JOB, uid=uid)
    return alike[0]


def folder(store: Store) -> Path:
    """Return the folder of logs and uploaded files of jobs, next to the database and private to its owner."""
    place = store.path.resolve().with_name(store.path.name + "-jobs")
    place.mkdir(mode=0o700, exist_ok=True)
    return place


def keep_upload(store: Store, name: str, data: bytes) -> Path:
    """Store an uploaded file under its own name for a job; it is deleted at the end of the job.

    Raises BadFile if the name is not a file name.
    """
    bare = Path(name.replace("\\", "/")).name
    if bare in ("", "..") or "\0" in bare or len(bare.encode()) > 200:
        raise BadFile(N_("The file name is empty, invalid or longer than 200 bytes. Rename the file and try again."))
    _forget_uploads(store)
    place = folder(store) / uuid.uuid4().hex
    place.mkdir(mode=0o700)
    path = place / bare
    path.write_bytes(data)
    return path


def drop_upload(store: Store, path: Path) -> None:
    """Delete a file of `keep_upload`; any other file is left alone."""
    if path.parent.parent == folder(store) and path.is_file():
        shutil.rmtree(path.parent)


def _forget_uploads(store: Store) -> None:
    """Delete uploads older than a day that no unfinished job needs."""
    needed = {path.parent for job in jobs(store) if job.state != "done" for path in _paths(job)}
    for place in folder(store).iterdir():
        if place.is_dir() and place not in needed and place.stat().st_mtime < time.time() - UPLOAD_KEPT_S:
            shutil.rmtree(place, ignore_errors=True)


def _paths(job: Job) -> list[Path]:
    """Return every text that a job was given, as a path."""
    texts: list[Any] = [*job.command, *job.settings.values()]
    return [Path(text) for value in texts for text in (value if isinstance(value, list) else [value])
            if isinstance(text, str)]  # fmt: skip


def drop_uploads(store: Store, job: Job) -> None:
    """Delete the files of `keep_upload` that a job was given."""
    for path in _paths(job):
        drop_upload(store, path)


def is_large(path: Path) -> bool:
    """Return whether a file should be imported as a job rather than while the page waits."""
    return path.stat().st_size > LARGE_BYTES or path.read_bytes().count(b"\n") > LARGE_LINES


def start(
    store: Store,
    kind: JobKind[Settings, Any],
    settings: Settings,
    title: str | Notice,
    *,
    secrets: Mapping[str, str] | None = None,
    project: Project | None = None,
    account: str | None = None,
) -> Job:
    """Run *kind* with *settings* in a process of its own and return at once.

    A *title* with values is stored unchanged, and read in the reader's language. Paths in *settings* must be absolute.
    `project`: on which it works; `account`: public id of who starts it. `secrets` go into the
    environment of the process only. They are not stored, so a resumed job lacks them.
    """
    uid, stored = uuid.uuid4().hex, json.dumps(to_json(settings), ensure_ascii=False)
    if isinstance(title, Notice):
        title = json.dumps(asdict(title), ensure_ascii=False)
    with store.write() as db:
        insert(db, "job", {
            "uid": uid, "kind": kind.name, "settings": stored, "command": "[]", "title": title, "state": "waiting",
            "created": timestamp(), "project": project and project.id,
            "account": store.value("SELECT id FROM account WHERE uid = ?", (account,)),
        })  # fmt: skip
    _spawn(store, uid, secrets or {})
    return find(store, uid)


def _spawn(store: Store, uid: str, secrets: Mapping[str, str]) -> None:
    _reap()
    environment = os.environ | {
        **secrets,
        "EVENHAND_DB": str(store.path.resolve()),
        # Models of a job get one thread, because the app shares the machine.
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    with log_path(store, uid).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *CLI, "job", "run", uid],
            cwd=IMPORT_FOLDER,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    if (before := _children.pop(uid, None)) is not None:
        with suppress(subprocess.TimeoutExpired):
            before.wait(10)  # killed before this job was resumed; its threads may still be ending
    _children[uid] = process
    began = processes.start_of(process.pid)
    with store.write() as db:
        update_rows(db, "job", {"pid": process.pid, "started_process": began}, uid=uid)


def _reap() -> None:
    for uid, child in list(_children.items()):
        if child.poll() is not None:
            _children.pop(uid, None)


def process_of(job: Job) -> psutil.Process | None:
    """Return the process of a job, if it is still alive."""
    _reap()
    return processes.process_of(job.pid, job.started_process)


def mark_interrupted(store: Store, now: float | None = None) -> int:
    """Mark jobs without a process as interrupted; returns how many. Cheap: call it at start and when listing."""
    moment = time.time() if now is None else now
    lost = [
        job
        for job in jobs(store)
        if job.active and process_of(job) is None and (job.pid or moment - _unix(job.created) > _STARTING_S)
    ]
    for job in lost:
        with store.write() as db:
            # The process may have stored its end since the row was read.
            lost_now = {"state": "interrupted", "finished": timestamp()}
            update_rows(db, "job", lost_now, uid=job.uid, pid=job.pid, state=ACTIVE)
    return len(lost)


def cancel(store: Store, job: Job) -> None:
    """End a job with all its child processes. What it had published stays; the rest is deleted.

    Raises Refused if it is over already.
    """
    with store.write() as db:
        if update_rows(db, "job", {"state": "cancelled", "finished": timestamp()}, uid=job.uid, state=ACTIVE) != 1:
            raise Refused(N_("This job has ended; there is nothing to cancel."))
    if (process := process_of(job)) is not None:
        _end(process)


def _end(process: psutil.Process) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(GRACE_S)
        except psutil.TimeoutExpired:
            continue
        except (ProcessLookupError, psutil.NoSuchProcess):
            return
        else:
            return


def resume(store: Store, job: Job) -> Job:
    """Run a failed, cancelled or interrupted job again. An import adds only what is missing.

    Raises Refused if it is running or done.
    """
    with store.write() as db:
        empty = ("pid", "started_process", "total", "result", "started", "heartbeat", "finished")
        fresh = dict.fromkeys(empty) | {"state": "waiting", "done": 0, "message": "", "created": timestamp()}
        if update_rows(db, "job", fresh, uid=job.uid, state=STOPPED) != 1:
            raise Refused(N_("Only a job that failed, was cancelled or interrupted can be resumed."))
    _spawn(store, job.uid, {})
    return find(store, job.uid)


def dismiss(store: Store, job: Job) -> None:
    """Remove a finished job from the list, with its log and its input files; its results stay.

    Raises Refused while it is running.
    """
    with store.write() as db:
        if delete_rows(db, "job", uid=job.uid, state=("done", *STOPPED)) != 1:
            raise Refused(N_("This job is running. Cancel it first."))
    log_path(store, job.uid).unlink(missing_ok=True)
    drop_uploads(store, job)


def log_path(store: Store, uid: str) -> Path:
    """Return the file with the output of a job."""
    return folder(store) / f"{uid}.log"


def log_tail(store: Store, job: Job, lines: int = 20) -> str:
    """Return the last lines of a job's log; "" if it wrote nothing."""
    path = log_path(store, job.uid)
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65_536))
        text = file.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-lines:])


@dataclass(frozen=True, slots=True)
class Counts:
    """Stored labels (all revisions), annotators with a lease, and jobs by state."""

    labels: int
    desks: int
    jobs: dict[str, int]


def counts_of(store: Store) -> Counts:
    """Count the rows of the database. Raises sqlite3.Error if it cannot be read."""
    jobs = dict(store.db.execute("SELECT state, count(*) FROM job GROUP BY state"))
    return Counts(store.count("label"), store.count("member WHERE seen > ?", (time.time(),)), jobs)
