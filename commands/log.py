"""`log [verify|show|head]`: the log of everything that changes labels, settings and people."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import click

from evenhand.annotations.database.hash_chain import daily_heads
from evenhand.annotations.database.hash_chain import head as last_head
from evenhand.annotations.database.migrations import Differences, different_triggers
from evenhand.annotations.database.store import Store
from evenhand.annotations.log.verify import Derived, entries, verify_derived, verify_project
from evenhand.annotations.log.verify import verify as verify_log
from evenhand.annotations.projects import projects
from evenhand.annotations.release.stored_releases import releases
from evenhand.annotations.release.verify import Verification, verify_frozen
from evenhand.annotations.types import Project
from evenhand.commands.permissions import guarded
from evenhand.commands.release import check_lines, checks_json
from evenhand.commands.shared import answer, existing_store, option, table
from evenhand.core.errors import N_, Refused
from evenhand.core.types import JsonObject

SHOWN = 20  # items in the text; JSON has all


@click.group("log")
def log() -> None:
    """Show and check the log, a chain of hashes that reveals every later change."""


@log.command()
@click.argument("name", metavar="PROJECT", required=False)
@option("--all", "everything", is_flag=True, help="Check without naming a project.")
@guarded("see_all_labels", "name", without="server")
def verify(name: str | None, everything: bool, db: str) -> None:
    """Check every entry against the tables, every row against the log, and what follows from the rows.

    The log is one chain through all projects, so all of it is checked; with PROJECT it also prints how many labels of
    this project are in the log. The first invalid row ends the check with one sentence and exit code 2. Then gold
    label, status and split of each item (of PROJECT only, if it is named) are decided again from labels and decisions,
    the triggers of the database are compared with the schema, and the releases (of PROJECT only) are checked as
    `release --verify` checks them: exit code 1 if anything differs, with the differences.
    """
    if (name is None) != everything:
        raise Refused(N_("Name a project or use --all."))
    with existing_store(db) as store:
        data: JsonObject = {}
        text, place = "", None
        if name is None:
            verified = verify_log(store)
        else:
            place = projects.project(store, name)
            verified, labels = verify_project(store, place.uid)
            data, text = {"project": place.name, "labels": labels}, f" {labels:,} labels of {place.name} are in it."
        derived, triggers = verify_derived(store, place), different_triggers(store.db)
        frozen = _frozen_releases(store, place)
        older = last_head(store.db)
    holds = all(result.holds for result in derived) and not triggers and all(one.intact for _, one in frozen)
    data |= {
        "holds": holds,
        "entries": verified.entries,
        "kinds": verified.kinds,
        "head": verified.head,
        "at": older.at,
    }
    data |= {"derived": [_derived_row(result) for result in derived], "triggers": asdict(triggers)}
    data["releases"] = [
        {"project": of, "version": one.version, "whole": one.intact, "checks": checks_json(one)} for of, one in frozen
    ]
    data["triggers_restored"] = [{"entry": entry, "names": names} for entry, names in verified.restored.items()]
    lines = [
        f"The log is valid: {verified.entries:,} entries.{text}",
        f"Head: {verified.head}",
        *_derived_lines(derived),
    ]
    for of, one in frozen:
        lines += [f"{of}, release {one.version}:", *(f"  {line}" for line in check_lines(one))]
    answer(data, lines + _trigger_lines(triggers, verified.restored))
    if not holds:
        sys.exit(1)


def _frozen_releases(store: Store, only: Project | None) -> list[tuple[str, Verification]]:
    """Return the checks of every release of one project or of all, by the name of the project."""
    every = [only] if only else [*projects.projects(store), *projects.projects(store, archived=True)]
    return [(each.name, verify_frozen(store, release)) for each in every for release in releases(store, each)]


def _derived_row(result: Derived) -> JsonObject:
    items = [
        {"item": state.item, "stored": state.stored._asdict(), "recounted": state.recounted._asdict()}
        for state in result.items
    ]
    return {
        "project": result.project, "recounting": result.recounting, "stale": len(items), "items": items,
        "counts": result.counts,
    }  # fmt: skip


def _derived_lines(results: Sequence[Derived]) -> list[str]:
    """Return what was found of the derived state, a line for each of the first items of a project."""
    lines = []
    for result in results:
        if result.recounting:
            lines.append(f"{result.project} is being recounted after a change of settings: check it again afterwards.")
        if result.items:
            lines.append(
                f"{result.project}: the stored gold label or status of {len(result.items):,} items does not follow from"
                " their labels and decisions. Restore a backup, or run `project recount`."
            )
        for state in result.items[:SHOWN]:
            stored, due = (f"{values.gold or 'no gold'}, {values.status}" for values in (state.stored, state.recounted))
            lines.append(f"  {state.item}: stored {stored}; from the labels {due}")
        if len(result.items) > SHOWN:
            lines.append(f"  and {len(result.items) - SHOWN:,} more (--json lists all)")
        for name, rows in result.counts.items():
            lines.append(f"{result.project}: {rows:,} rows of the count {name} are wrong. Run `project recount`.")
    return lines or ["The gold label and status of every item follow from its labels and decisions."]


def _trigger_lines(triggers: Differences, restored: Mapping[int, list[str]]) -> list[str]:
    lines = [
        f"Triggers of the database that are {state}: {', '.join(names)}."
        for state, names in asdict(triggers).items()
        if names
    ]
    return lines + [
        f"Triggers were missing or changed until entry {entry}, when the app restored them: {', '.join(names)}."
        for entry, names in restored.items()
    ]


@log.command()
@option("--kind", help="Only entries about this table, for instance label or account_role.")
@option("--last", type=click.IntRange(1), default=20, help="Number of newest entries to print.")
@guarded("see_names", "server")
def show(kind: str | None, last: int, db: str) -> None:
    """Print the newest entries, the oldest of them first."""
    with existing_store(db) as store:
        rows = entries(store, kind=kind, last=last)
    lines = [(str(row.entry), row.at, row.kind, str(row.row), row.body or "") for row in rows]
    answer({"entries": [asdict(row) for row in rows]}, table(lines) or "No such entry.")


@log.command()
@option("--days", is_flag=True, help="Also print the head of each UTC day that is over.")
@guarded("see_agreement")
def head(days: bool, db: str) -> None:
    """Print the hash of the last entry. Note it elsewhere: the owner of the database cannot change your note."""
    with existing_store(db) as store:
        now, earlier = last_head(store.db), daily_heads(store.db) if days else []
    lines = [(log_head.day, f"entry {log_head.entry}", log_head.hash) for log_head in earlier]
    lines.append((now.at, f"entry {now.entry}", now.hash))
    data = asdict(now) | ({"days": [asdict(log_head) for log_head in earlier]} if days else {})
    answer(data, table(lines))
