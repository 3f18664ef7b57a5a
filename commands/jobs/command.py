"""`job list|log|cancel|resume|dismiss`: long work that runs in processes of its own."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs import jobs, process
from evenhand.annotations.jobs.kinds import kind_named, settings_of
from evenhand.commands.jobs.words import read_words, words_of
from evenhand.commands.permissions import acting_person, enter_job, needs
from evenhand.commands.shared import answer, db_option, environment_password, existing_store, json_option
from evenhand.commands.tables import table
from evenhand.core.errors import NotFound
from evenhand.core.runs.kinds import Place
from evenhand.core.typed_json import to_json


@click.group()
def job() -> None:
    """Work in the background: list, follow, cancel, resume and dismiss jobs."""


def _opened(db: str) -> Store:
    """Open the database; jobs without a process are marked as interrupted, those of earlier versions have settings."""
    store = existing_store(db)
    jobs.typed_from_command(store, read_words)
    jobs.mark_interrupted(store)
    return store


def _own(store: Store, uid: str) -> jobs.Job:
    """A job that whoever acts may see. Raises NotFound."""
    found = jobs.find(store, uid)
    if not found.is_for(acting_person()):
        raise NotFound(jobs.NO_JOB, uid=uid)
    return found


def _row(one: jobs.Job) -> dict[str, Any]:
    hidden = {"pid", "started_process"}
    row = {key: value for key, value in asdict(one).items() if key not in hidden}
    command = words_of(one.kind, one.settings) if one.kind else list(one.command)
    return row | {"command": command, "seconds": one.seconds(), "seconds_left": one.seconds_left()}


def _text(shown: Sequence[jobs.Job]) -> str:
    return table(
        (
            one.uid[:8],
            one.state,
            f"{one.share:.0%}" if one.share is not None else one.done or "",
            one.title,
            one.message,
        )
        for one in shown
    )


@job.command("list")
@db_option
@json_option
@needs("see_jobs")
def list_jobs(db: str, as_json: bool) -> None:
    """Every job, the newest first."""
    with _opened(db) as store:
        found = [one for one in jobs.jobs(store) if one.is_for(acting_person())]
    answer(
        {"jobs": [_row(one) for one in found]},
        _text(found) or "There are no jobs.",
        as_json=as_json,
    )


@job.command()
@click.argument("uid")
@click.option("--lines", default=20, show_default=True, help="How many of the last lines.")
@db_option
@needs("see_jobs")
def log(db: str, uid: str, lines: int) -> None:
    """Print the output of a job."""
    with existing_store(db) as store:
        click.echo(jobs.log_tail(store, _own(store, uid), lines))


@job.command()
@click.argument("uid")
@db_option
@json_option
@needs("start_jobs")
def cancel(db: str, uid: str, as_json: bool) -> None:
    """End a job with its child processes (UID: its id, or the beginning of it)."""
    with _opened(db) as store:
        jobs.cancel(store, _own(store, uid))
        ended = jobs.find(store, uid)
    answer(_row(ended), _text([ended]), as_json=as_json)


@job.command()
@click.argument("uid")
@db_option
@json_option
@needs("start_jobs")
def resume(db: str, uid: str, as_json: bool) -> None:
    """Run a failed, cancelled or interrupted job again."""
    with _opened(db) as store:
        started = jobs.resume(store, _own(store, uid))
    answer(_row(started), _text([started]), as_json=as_json)


@job.command()
@click.argument("uid")
@db_option
@json_option
@needs("start_jobs")
def dismiss(db: str, uid: str, as_json: bool) -> None:
    """Take a job that is over off the list, with its log; what it made stays."""
    with _opened(db) as store:
        found = _own(store, uid)
        jobs.dismiss(store, found)
    answer(_row(found), f"{found.uid[:8]}  dismissed  {found.title}", as_json=as_json)


@job.command(hidden=True)
@click.argument("uid")
@db_option
@needs("see_jobs", opens=False)
def run(db: str, uid: str) -> None:
    """The process of a job, started by `job resume` and the pages."""

    def work(job: jobs.Job, progress: process.Progress) -> dict[str, Any]:
        kind, settings = kind_named(job.kind), settings_of(job)
        with existing_store(db) as own:
            who = enter_job(own, job)
        if who and hasattr(settings, "author"):
            settings = replace(settings, author=who)
        report: dict[str, Any] = to_json(kind.run(settings, Place(Path(db), progress, environment_password())))
        return report

    with existing_store(db) as store:
        process.perform(store, uid, work)
