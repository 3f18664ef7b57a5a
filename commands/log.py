"""`log [verify|show|head]`: the log of everything that changes labels, settings and people."""

from dataclasses import asdict

import click

from annotations.database.chain import daily_heads
from annotations.database.chain import head as last_head
from annotations.log.show import entries
from annotations.log.verify import verify as verify_log
from annotations.log.verify import verify_project
from annotations.projects import projects
from commands.shared import answer, db_option, existing_store, json_option
from core.errors import N_, Refused


@click.group("log")
def log() -> None:
    """The log: a chain of hashes in which every change is found."""


@log.command()
@click.argument("name", metavar="PROJECT", required=False)
@click.option("--all", "everything", is_flag=True, help="Without naming a project.")
@db_option
@json_option
def verify(name: str | None, everything: bool, db: str, as_json: bool) -> None:
    """Check every entry against the tables, and every row against the log.

    The log is one chain through all projects, so it is checked whole; with PROJECT it also says how many labels of this
    project it has. Ends with exit code 2 and one sentence on the first row that does not hold.
    """
    if (name is None) != everything:
        raise Refused(N_("Name a project or use --all."))
    with existing_store(db) as store:
        data: dict[str, object] = {}
        text = ""
        if name is None:
            found = verify_log(store)
        else:
            place = projects.project(store, name)
            found, labels = verify_project(store, place.uid)
            data, text = {"project": place.name, "labels": labels}, f" {labels:,} labels of {place.name} are in it."
        older = last_head(store.db)
    data |= {"holds": True, "entries": found.entries, "kinds": found.kinds, "head": found.head, "at": older.at}
    answer(data, f"The log holds: {found.entries:,} entries.{text}\nHead: {found.head}", as_json=as_json)


@log.command()
@click.option("--kind", help="Only entries about this table, for instance label or account_role.")
@click.option("--last", type=click.IntRange(1), default=20, show_default=True, help="So many of the newest.")
@db_option
@json_option
def show(kind: str | None, last: int, db: str, as_json: bool) -> None:
    """The newest entries, the oldest of them first."""
    with existing_store(db) as store:
        rows = entries(store, kind=kind, last=last)
    lines = [f"{one.entry}  {one.at}  {one.kind} {one.row}  {one.body or ''}".rstrip() for one in rows]
    answer({"entries": [asdict(one) for one in rows]}, "\n".join(lines) or "No such entry.", as_json=as_json)


@log.command()
@click.option("--days", is_flag=True, help="The head of each UTC day that is over, too.")
@db_option
@json_option
def head(days: bool, db: str, as_json: bool) -> None:
    """The hash of the last entry. Keep it elsewhere: whoever owns the database cannot change what you noted."""
    with existing_store(db) as store:
        now, earlier = last_head(store.db), daily_heads(store.db) if days else []
    lines = [f"{one.day}  entry {one.entry}  {one.hash}" for one in earlier]
    lines.append(f"{now.at}  entry {now.entry}  {now.hash}")
    data = asdict(now) | ({"days": [asdict(one) for one in earlier]} if days else {})
    answer(data, "\n".join(lines), as_json=as_json)
