"""`python cli.py guideline`: versions of the guideline, and relabelling."""

import difflib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.guideline.drafts import Draft, write_version
from evenhand.annotations.guideline.import_schemes import read_any_scheme
from evenhand.annotations.guideline.relabelling import WHICH, RelabelCounts, Which, count_affected
from evenhand.annotations.guideline.scheme import OwnScheme, as_data, own_scheme
from evenhand.annotations.guideline.versions import (
    PREFERENCE,
    changed_codes,
    guideline_parts,
    guidelines,
    read_reasons,
    read_text,
)
from evenhand.annotations.pilot.start_relabelling import Settings, codes_in, run
from evenhand.annotations.projects import projects
from evenhand.annotations.types import Choice, Guideline, Project
from evenhand.commands.permissions import guarded, needs
from evenhand.commands.shared import answer, db_option, opened_project, option, settings_from
from evenhand.core.errors import N_, Refused
from evenhand.core.runs.kinds import Place
from evenhand.core.types import JsonObject

_which = option(
    "--which", type=click.Choice(WHICH), default="none",
    help="Labels of older versions: keep all, relabel those that name a changed criterion, or accepts too.",
)  # fmt: skip
_also = option("--also", default="", metavar="CODES", help="Codes whose meaning changed too, separated by commas.")
_author = option("--author", default="", help="Who does it; kept with the event.")


scheme_option = option(
    "--scheme",
    metavar="FILE",
    help="A scheme of one's own for generations: JSON, TOML, YAML, or the configuration of Label Studio (XML) or Potato"
    " (YAML); preference: which of two texts is better, for comparisons; built-in: the four labels.",
)
BUILT_IN, COMPARING = "built-in", "preference"


@click.group()
def guideline() -> None:
    """Show, compare and write versions of the guideline; send labels of older versions for relabelling."""


@guideline.command()
@click.argument("name")
@option("--version", type=int, help="An older version.")
@guarded("see_guideline", "name")
def show(name: str, version: int | None, db: str) -> None:
    """Print a version of the guideline (default: the one in use), and the changes of each version."""
    with opened_project(db, name) as (store, project):
        shown, versions = projects.guideline(store, project, version), guidelines(store, project)
    told = [
        {"version": stored_guideline.version, "created": stored_guideline.created, "changes": stored_guideline.changes}
        for stored_guideline in versions
    ]
    listed = "\n".join(f"{reason.key or '·'}  {reason.code}: {reason.en or reason.zh}" for reason in shown.reasons)
    text = "\n".join(f"version {entry['version']}, {entry['created']}: {entry['changes'] or '—'}" for entry in told)
    answer(guideline_json(shown) | {"versions": told}, f"{text}\n\n{shown.text}\n{listed}")


@guideline.command()
@click.argument("name")
@option("--text", type=click.Path(path_type=Path), help="A Markdown file with the new text.")
@option("--reasons", type=click.Path(path_type=Path), help="Criteria for a reject: TSV with code, key, zh, en.")
@scheme_option
@option("--changes", required=True, help="What changed, in a sentence, for the annotators.")
@option("--base", type=int, help="Refuse unless this is the version in use.")
@option("--dry-run", is_flag=True, help="Only count the labels that would be sent for relabelling.")
@_which
@_also
@_author
@guarded("change_projects", "name")
def new(
    name: str,
    base: int | None,
    dry_run: bool,
    which: Which,
    also: str,
    author: str,
    db: str,
    **parts: Any,
) -> None:
    """Write the next version with its changes for annotators, and send labels for relabelling."""
    with opened_project(db, name) as (store, project):
        draft = changed_draft(project, projects.guideline(store, project), **parts)
        draft = draft if base is None else replace(draft, base=base)
        counts = count_affected(store, project, draft.choices, draft.beside, codes_in(also))
        if dry_run:
            data = {"base": draft.base, "older": _counted(counts.older), "named": _counted(counts.named),
                    "all": _counted(counts.all), "stay": counts.shown, "left": counts.left}  # fmt: skip
            line = f"named: {_line(counts.named)}\nall: {_line(counts.all)}\nstay in any case: {counts.shown}"
            answer(data, line)
            return
        made, sent = write_version(store, project, draft, which=which, also=codes_in(also), author=author)
    data = {"version": made.version, "changes": made.changes, "sent_back": _counted(sent)}
    answer(data, f"Version {made.version} is written; sent for relabelling: {_line(sent)}")


def scheme_of(file: str) -> OwnScheme:
    """Return the scheme of a file, or COMPARING; print the parts that a scheme cannot have. Raises BadFile, Refused."""
    if file == COMPARING:
        return PREFERENCE
    other_scheme = read_any_scheme(Path(file))
    for notice in other_scheme.left_out:
        click.echo(notice.text, err=True)
    return other_scheme.scheme


def changed_draft(
    project: Project, now: Guideline, text: Path | None, reasons: Path | None, changes: str, scheme: str | None = None
) -> Draft:
    """Return the version *now* with text, reasons or a scheme from a file; *scheme* may be BUILT_IN. Raises BadFile."""
    said = read_text(text) if text else now.text
    choices, flags, more = now.choices, now.reasons, now.scheme
    if scheme == BUILT_IN:
        _, built, tags = guideline_parts(project.kind, project.language, None, None, None)
        choices, flags, more = tuple(built), tuple(tags), None
    elif scheme:
        own = scheme_of(scheme)
        choices, flags, more = own.choices, own.flags, own.more
    return Draft(now.version, said, choices, read_reasons(reasons) if reasons else flags, changes, scheme=more)


@guideline.command("scheme")
@click.argument("name")
@option("--version", type=int, help="An older version.")
@db_option
@needs("see_guideline", "name")
def show_scheme(name: str, version: int | None, db: str) -> None:
    """Print the scheme of a project of generations as JSON for --scheme: choices, flags, kinds of spans."""
    with opened_project(db, name) as (store, project):
        own = own_scheme(projects.guideline(store, project, version))
    if own is None:
        raise Refused(N_("{project} has the built-in scheme, which has no file."), project=project.name)
    click.echo(json.dumps(as_data(own), ensure_ascii=False, indent=2))


@guideline.command("send-back")
@click.argument("name")
@option("--version", type=int, help="Labels of versions before this one (default: the one in use).")
@_which
@_also
@_author
@guarded("change_projects", "name")
def send(db: str, **options: Any) -> None:
    """Send labels of older versions back to their annotators for relabelling. Idempotent."""
    done = run(settings_from(Settings, options), Place(Path(db)))
    text = f"Sent for relabelling: {_line(done.sent_back)}"
    answer({"version": done.version, "sent_back": _counted(done.sent_back)}, text)


@guideline.command()
@click.argument("name")
@click.argument("old", type=int)
@click.argument("newer", type=int, required=False)
@guarded("see_guideline", "name")
def diff(name: str, old: int, newer: int | None, db: str) -> None:
    """Show the differences between two versions (default: an old one and the one in use)."""
    with opened_project(db, name) as (store, project):
        first, second = projects.guideline(store, project, old), projects.guideline(store, project, newer)
    names = (f"version {first.version}", f"version {second.version}")
    lines = [_lines(stored_guideline) for stored_guideline in (first, second)]
    text = "\n".join(difflib.unified_diff(lines[0], lines[1], *names, lineterm=""))
    codes = changed_codes((*first.choices, *first.beside), (*second.choices, *second.beside))
    data = {"old": first.version, "new": second.version, **codes._asdict(), "diff": text}
    answer(data, text or "Nothing differs.")


def _lines(stored_guideline: Guideline) -> list[str]:
    return [*stored_guideline.text.splitlines(), "", *map(_option, stored_guideline.options)]


def _option(choice: Choice) -> str:
    return f"{choice.key or '·'}  {choice.code}: {choice.zh} / {choice.en}"


def _counted(counts: RelabelCounts) -> JsonObject:
    return {"labels": counts.labels, "items": counts.items, "annotators": counts.annotators}


def _line(counts: RelabelCounts) -> str:
    return f"{counts.labels:,} labels on {counts.items:,} items"


def guideline_json(stored_guideline: Guideline) -> JsonObject:
    """Return a version as --json prints it."""
    data = asdict(stored_guideline)
    del data["id"], data["scheme"]
    own = own_scheme(stored_guideline)
    return data if own is None else data | {"scheme": as_data(own)}
