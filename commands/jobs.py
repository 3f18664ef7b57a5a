"""`job list|log|cancel|resume|dismiss`: long work in processes of its own, and the command that does the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs import jobs, process
from evenhand.annotations.jobs.kinds import KINDS, kind_named, settings_of
from evenhand.commands.main import cli
from evenhand.commands.permissions import acting_person, enter_job, guarded, needs
from evenhand.commands.shared import (
    answer,
    db_option,
    environment_password,
    existing_store,
    option,
    settings_from,
    table,
)
from evenhand.core.errors import BadFile, NotFound
from evenhand.core.runs.kinds import Place
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject


def words_of(name: str, settings: Mapping[str, Any]) -> list[str]:
    """Return the words behind `python cli.py` that do the same as a job: those that differ from the defaults.

    *name*: of the kind, which is that of the command. *settings*: as JSON.
    """
    command, options, arguments = _command(name), list[str](), list[str]()
    defaults = to_json(command.make_context(name, [], resilient_parsing=True).params)
    for param in command.params:
        value = settings.get(param.name or "")
        if value is None or value == defaults[param.name]:
            continue
        if isinstance(param, click.Argument):
            arguments += map(str, value if isinstance(value, list) else [value])
        elif isinstance(param, click.Option) and not param.hidden:
            options += _option_words(param, value)
    return [*name.split(), *options, *(["--", *arguments] if arguments else [])]


def _command(name: str) -> click.Command:
    command: click.Command = cli
    for word in name.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None, name
        command = found
    return command


def _option_words(option: click.Option, value: Any) -> Iterator[str]:
    if option.is_flag:
        yield from option.opts[:1] if value else option.secondary_opts[:1]
        return
    for part in value if option.multiple else [value]:
        yield option.opts[0]
        yield from map(str, part if option.nargs != 1 else [part])


def read_words(words: Sequence[str]) -> tuple[str, JsonObject]:
    """Return the kind and the settings, as JSON, of a job that was stored as the words of a command.

    What cannot be read has its default; "" if the command is none of the kinds, or lacks a setting.
    """
    command, names, rest = cast(click.Command, cli), list[str](), list(words)
    while isinstance(command, click.Group) and rest:
        found = command.get_command(click.Context(command), rest[0])
        if found is None:
            return "", {}
        command, names, rest = found, [*names, rest[0]], rest[1:]
    name = " ".join(names)
    if name not in KINDS:
        return "", {}
    options = command.make_context(name, rest, resilient_parsing=True).params
    try:
        return name, to_json(settings_from(kind_named(name).settings, options))
    except BadFile:
        return "", {}


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
    """Return a job that the acting person may see. Raises NotFound."""
    stored_job = jobs.find(store, uid)
    if not stored_job.is_for(acting_person()):
        raise NotFound(jobs.NO_JOB, uid=uid)
    return stored_job


def _row(stored_job: jobs.Job) -> JsonObject:
    hidden = {"pid", "started_process"}
    row = {key: value for key, value in asdict(stored_job).items() if key not in hidden}
    command = words_of(stored_job.kind, stored_job.settings) if stored_job.kind else list(stored_job.command)
    return row | {"command": command, "seconds": stored_job.seconds(), "seconds_left": stored_job.seconds_left()}


def _text(shown: Sequence[jobs.Job]) -> str:
    return table(
        (
            stored_job.uid[:8],
            stored_job.state,
            f"{stored_job.share:.0%}" if stored_job.share is not None else stored_job.done or "",
            stored_job.title,
            stored_job.message,
        )
        for stored_job in shown
    )


@job.command("list")
@guarded("see_jobs")
def list_jobs(db: str) -> None:
    """List the jobs, the newest first."""
    with _opened(db) as store:
        stored_jobs = [stored_job for stored_job in jobs.jobs(store) if stored_job.is_for(acting_person())]
    answer({"jobs": [_row(stored_job) for stored_job in stored_jobs]}, _text(stored_jobs) or "There are no jobs.")


@job.command()
@click.argument("uid")
@option("--lines", default=20, help="Number of last lines to print.")
@db_option
@needs("see_jobs")
def log(db: str, uid: str, lines: int) -> None:
    """Print the output of a job."""
    with existing_store(db) as store:
        click.echo(jobs.log_tail(store, _own(store, uid), lines))


@job.command()
@click.argument("uid")
@guarded("start_jobs")
def cancel(db: str, uid: str) -> None:
    """End a job with its child processes (UID: its id, or the beginning of it)."""
    with _opened(db) as store:
        jobs.cancel(store, _own(store, uid))
        ended = jobs.find(store, uid)
    answer(_row(ended), _text([ended]))


@job.command()
@click.argument("uid")
@guarded("start_jobs")
def resume(db: str, uid: str) -> None:
    """Run a failed, cancelled or interrupted job again."""
    with _opened(db) as store:
        started = jobs.resume(store, _own(store, uid))
    answer(_row(started), _text([started]))


@job.command()
@click.argument("uid")
@guarded("start_jobs")
def dismiss(db: str, uid: str) -> None:
    """Take a job that is over off the list, with its log; what it made stays."""
    with _opened(db) as store:
        stored_job = _own(store, uid)
        jobs.dismiss(store, stored_job)
    answer(_row(stored_job), f"{stored_job.uid[:8]}  dismissed  {stored_job.title}")


@job.command(hidden=True)
@click.argument("uid")
@db_option
@needs("see_jobs", opens=False)
def run(db: str, uid: str) -> None:
    """Run the process of a job, as `job resume` and the pages start it."""

    def work(job: jobs.Job, progress: process.Progress) -> object:
        kind, settings = kind_named(job.kind), settings_of(job)
        with existing_store(db) as own:
            who = enter_job(own, job)
        if who and hasattr(settings, "author"):
            settings = replace(settings, author=who)
        return kind.run(settings, Place(Path(db), progress, environment_password()))

    with existing_store(db) as store:
        process.perform(store, uid, work)
