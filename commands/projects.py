"""`project create|list|show|change|archive|quota|guideline|annotators` and `demo`."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.audit import follow_up
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import NAME as GENERATIONS
from evenhand.annotations.demo.generation_texts import make_generations_demo
from evenhand.annotations.demo.sentences import NAME as DEMO
from evenhand.annotations.demo.sentences import ensure_demo, make_demo
from evenhand.annotations.guideline.drafts import write_version
from evenhand.annotations.guideline.versions import built_in, read_reasons, read_text
from evenhand.annotations.plan.recount import correct_derived
from evenhand.annotations.projects import preregistration, projects
from evenhand.annotations.text_policy import text_or_reference
from evenhand.annotations.types import Project
from evenhand.commands.guideline import BUILT_IN, changed_draft, guideline_json, scheme_of, scheme_option
from evenhand.commands.permissions import guarded, own_new_project, own_projects
from evenhand.commands.shared import answer, existing_store, opened_project, option, say_unsettled, table
from evenhand.core.errors import N_, Refused
from evenhand.core.guidelines import VERSIONS, Version
from evenhand.core.language import Language
from evenhand.core.resources import Preset, quotas
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject


@click.group()
def project() -> None:
    """Manage projects: a guideline with its sentences and annotators."""


def _names(text: str) -> list[str]:
    return [name for name in (part.strip() for part in text.replace("，", ",").split(",")) if name]


def _described(store: Store, stored_project: Project) -> dict[str, Any]:
    say_unsettled(store, stored_project)
    shown = asdict(stored_project) | {
        "annotators": [person.name for person in projects.annotators(store, stored_project)],
        "guideline": projects.guideline(store, stored_project).version,
        "counts": to_json(projects.counts(store, stored_project)),
    }
    del shown["id"]
    return shown


def _line(shown: JsonObject) -> str:
    counts, people = shown["counts"], ", ".join(shown["annotators"]) or "no annotators"
    put_away = " (archived)" if shown["archived"] else ""
    states = f"{counts['accepted']} accepted, {counts['rejected']} rejected, {counts['pending']} pending"
    if shown["kind"] == "generations":
        states = f"{counts['accepted']} with a gold label, {counts['pending']} pending"
    return f"{shown['name']}{put_away}: {counts['items']} items, {states}; {shown['per_item']} labels each by {people}"


@project.command()
@click.argument("name")
@option("--kind", type=click.Choice(["sentences", "generations"]), default="sentences")
@option("--language", default="zh", help="The language of the sentences and of the built-in guideline.")
@option("--annotators", default="", help="Names, separated by commas.")
@option("--per-item", default=3, help="How many annotators label each item.")
@option("--gold", type=click.Choice(["unanimous", "majority"]), default="unanimous")
@option("--presentation", type=click.Choice(["masked", "original"]), default="masked")
@option("--criteria", type=click.Choice(VERSIONS), default="journal")
@option("--guideline", type=click.Path(path_type=Path), help="A Markdown file instead of the built-in text.")
@option("--reasons", type=click.Path(path_type=Path), help="Reject reasons: TSV with code, key, zh, en.")
@scheme_option
@option("--quotas", "preset", type=click.Choice(["none", "table1", "released"]), default="none")
@option("--seed", default=0, help="Fixes the order of the items.")
@guarded("create_projects")
def create(
    name: str, annotators: str, criteria: Version, guideline: Path | None, reasons: Path | None, scheme: str | None,
    preset: str, db: str, **settings: Any,
) -> None:  # fmt: skip
    """Make a project; the guideline defaults to the journal version of the criteria."""
    values = _guideline_of(settings["kind"], criteria, settings["language"], guideline, reasons) | _scheme_of(scheme)
    people, quotas_asked = _names(annotators), _preset(preset)
    with Store.open(db) as store:
        made = projects.create_project(store, name, annotators=people, quotas=quotas_asked, **values, **settings)
        own_new_project(store, made)
        shown = _described(store, made)
    answer(shown, _line(shown))


def _guideline_of(
    kind: str, criteria: Version, language: str, guideline: Path | None, reasons: Path | None
) -> dict[str, Any]:
    """Return the parts of the guideline for create_project; missing ones use its defaults."""
    built = built_in(criteria, language) if kind == "sentences" else None
    values = {"guideline_text": built.text, "choices": built.choices, "reasons": built.reasons} if built else {}
    return (
        values
        | ({"guideline_text": read_text(guideline)} if guideline else {})
        | ({"reasons": read_reasons(reasons)} if reasons else {})
    )


def _scheme_of(scheme: str | None) -> dict[str, Any]:
    """Return choices, flags and the rest of an own scheme for create_project; nothing for the built-in one."""
    if scheme in (None, BUILT_IN):
        return {}
    own = scheme_of(str(scheme))
    return {"choices": own.choices, "reasons": own.flags, "scheme": own.more}


def _preset(name: str) -> dict[tuple[str, str], int]:
    presets: dict[str, Preset] = {"table1": "table1", "released": "released"}
    return quotas(presets[name]) if name in presets else {}


@project.command("list")
@option("--archived", is_flag=True, help="The archived ones instead.")
@guarded("see_projects")
def list_projects(archived: bool, db: str) -> None:
    """List the projects with their counts."""
    with existing_store(db) as store:
        shown = [
            _described(store, stored_project)
            for stored_project in own_projects(projects.projects(store, archived=archived), "see_names")
        ]
    answer({"projects": shown}, "\n".join(map(_line, shown)) or "There are no projects.")


@project.command()
@click.argument("name")
@guarded("see_names", "name")
def show(name: str, db: str) -> None:
    """Print the settings of a project, its annotators, and its counts by keyword pair and side."""
    with opened_project(db, name) as (store, stored_project):
        shown = _described(store, stored_project)
    done = "accepted" if shown["kind"] == "sentences" else "with a gold label"
    cells = [
        (cell["pair"], cell["side"], cell["items"], cell["accepted"], "" if cell["quota"] is None else cell["quota"])
        for cell in shown["counts"]["cells"]
    ]
    heads = ["pair", "side", "items", done, "wanted"]
    answer(shown, [_line(shown), table(cells, heads, indent="  ") if cells else ""])


@project.command()
@click.argument("name")
@option("--name", "new_name", help="A new name.")
@option("--per-item", type=int)
@option("--gold", type=click.Choice(["unanimous", "majority"]))
@option("--presentation", type=click.Choice(["masked", "original"]))
@option("--opinion-model", help="The model whose opinion the desk may show after a label; 'none' for no model.")
@option("--author", default="", help="Who changes them; kept with the event.")
@guarded("change_projects", "name")
def change(name: str, new_name: str | None, opinion_model: str | None, author: str, db: str, **settings: Any) -> None:
    """Change settings of a project; labels stay, gold is recounted."""
    values = settings | {"name": new_name}
    fields = {field: value for field, value in values.items() if value is not None}
    if opinion_model is not None:
        fields["opinion_model"] = None if opinion_model == "none" else opinion_model
    with opened_project(db, name) as (store, stored_project):
        shown = _described(store, projects.change_project(store, stored_project, author=author, **fields))
    answer(shown, _line(shown))


@project.command()
@click.argument("name")
@option("--undo", is_flag=True, help="Unarchive it.")
@guarded("change_projects", "name")
def archive(name: str, undo: bool, db: str) -> None:
    """Archive a project: nothing is deleted, no items are handed out."""
    with opened_project(db, name) as (store, stored_project):
        shown = _described(store, projects.archive(store, stored_project, archived=not undo))
    answer(shown, _line(shown))


@project.command()
@click.argument("name")
@option("--author", default="", help="Who does it; stored with the event.")
@guarded("change_projects", "name")
def recount(name: str, author: str, db: str) -> None:
    """Correct gold labels and counts that do not follow from labels and decisions.

    Use it for a database that was changed outside the app (`log verify` and `doctor` name the items). An event stores
    the items and their former values.
    """
    with opened_project(db, name) as (store, stored_project):
        items = correct_derived(store, stored_project, author=author)
    answer({"project": name, "corrected": items}, f"{items:,} items corrected.")


@project.command()
@click.argument("name")
@option(
    "--preset",
    type=click.Choice(["none", "table1", "released"]),
    help="Begin with these quotas (default: the present ones).",
)
@option("--set", "changes", multiple=True, metavar="PAIR:SIDE=N", help="For example 他/她:male=3000.")
@guarded("change_projects", "name")
def quota(name: str, preset: str | None, changes: tuple[str, ...], db: str) -> None:
    """Show or set how many accepted sentences are wanted per keyword pair and side."""
    with opened_project(db, name) as (store, stored_project):
        cells = projects.counts(store, stored_project).cells
        wanted = {(cell.pair, str(cell.side)): cell.quota for cell in cells if cell.quota is not None}
        if preset is not None or changes:
            wanted = (wanted if preset is None else _preset(preset)) | dict(map(_quota, changes))
            projects.set_quotas(store, stored_project, wanted)
    rows = [{"pair": pair, "side": side, "quota": number} for (pair, side), number in wanted.items()]
    total = sum(wanted.values())
    text = table([*((pair, side, number) for (pair, side), number in wanted.items()), ("total", "", total)])
    answer({"quotas": rows, "total": total}, text)


def _quota(change: str) -> tuple[tuple[str, str], int]:
    where, _, number = change.rpartition("=")
    pair, _, side = where.rpartition(":")
    if not pair or side not in ("male", "female") or not number.isdecimal():
        raise Refused(N_("{change} is not a quota; write it as 他/她:male=3000."), change=change)
    return (pair, side), int(number)


@project.command()
@click.argument("name")
@option("--version", type=int, help="An older version.")
@option("--set", "file", type=click.Path(path_type=Path), help="Store this Markdown file as the next version.")
@option("--reasons", type=click.Path(path_type=Path), help="Reject reasons for it: TSV with code, key, zh, en.")
@option("--changes", default="", help="With --set or --reasons: what changed, for the annotators.")
@guarded("change_projects", "name")
def guideline(name: str, version: int | None, file: Path | None, reasons: Path | None, changes: str, db: str) -> None:
    """Show the guideline of a project, or store a new version of its text (as `guideline new` does)."""
    with opened_project(db, name) as (store, stored_project):
        if file or reasons or changes:
            write_version(
                store,
                stored_project,
                changed_draft(stored_project, projects.guideline(store, stored_project), file, reasons, changes),
            )
        shown = projects.guideline(store, stored_project, version)
    listed = "\n".join(f"{reason.key}  {reason.code}: {reason.en}" for reason in shown.reasons)
    answer(guideline_json(shown), f"version {shown.version}\n\n{shown.text}\n{listed}")


@project.command()
@click.argument("name")
@option("--add", default="", help="Names, separated by commas.")
@option("--remove", default="", help="Names of those who leave; their labels stay.")
@guarded("change_projects", "name")
def annotators(name: str, add: str, remove: str, db: str) -> None:
    """Show, add or deactivate annotators of a project."""
    with opened_project(db, name) as (store, stored_project):
        leaving = [projects.annotator(store, stored_project, text) for text in _names(remove)]
        if add:
            projects.add_annotators(store, stored_project, _names(add))
        for person in leaving:
            projects.remove_annotator(store, stored_project, person)
        people = [person.name for person in projects.annotators(store, stored_project)]
    answer({"annotators": people}, "\n".join(people) or "No annotators yet.")


@project.command("preregister")
@click.argument("name")
@click.argument("sheet", type=click.Path(dir_okay=False, path_type=Path), required=False)
@option("--form", "language", type=click.Choice(["en", "zh"]), help="Print an empty sheet instead.")
@option("--late", is_flag=True, help="Record it although labels exist; their number is noted with it.")
@option("--author", default="", help="Who writes it; stays in the database.")
@guarded("change_projects", "name")
def preregister(name: str, sheet: Path | None, language: Language | None, late: bool, author: str, db: str) -> None:
    """Write a pre-registration SHEET (Markdown) into the log, before labels; without one, list the existing ones.

    Its sections: hypotheses, measures, margins, stopping rule. A release compares them with what was done.
    """
    if language is not None:
        click.echo(preregistration.form(language), nl=False)
        return
    with opened_project(db, name) as (store, stored_project):
        if sheet is not None:
            preregistration.preregister(store, stored_project, read_text(sheet), author=author, late=late)
        written = preregistration.sheets(store, stored_project)
    data = [
        {key: getattr(stored_sheet, key) for key in ("written", "labels", "sha256", "seal", "text")}
        for stored_sheet in written
    ]
    lines = [
        (stored_sheet.written, f"after {stored_sheet.labels:,} labels", f"sha256 {stored_sheet.sha256}")
        for stored_sheet in written
    ]
    answer({"sheets": data}, table(lines) or "There is no pre-registration.")


@project.command("followup")
@click.argument("parent")
@click.argument("name", required=False)
@option("--kept", type=click.IntRange(1), default=50, help="Accepted sentences to draw.")
@option("--rejected", type=click.IntRange(0), default=50, help="Rejected ones among them.")
@option("--annotators", "people", default="", help="Names, separated by commas, none of them of PARENT.")
@option("--per-item", type=click.IntRange(1, 100), default=3, help="Labels per sentence.")
@option("--seed", default=0, help="Start of the random draw and order.")
@option("--guideline", "language", type=click.Choice(["zh", "en"]), default="zh")
@guarded("release", "parent")
def followup(parent: str, name: str | None, people: str, db: str, **options: Any) -> None:
    """Test whether accepted sentences of PARENT are neutral: make the project NAME of a sample for people outside.

    The sample has accepted and rejected sentences. Without NAME, print the results of the follow-up samples of PARENT,
    which its data sheet contains too.
    """
    with opened_project(db, parent) as (store, stored_project):
        if name is not None:
            own_new_project(store, follow_up.create_follow_up(store, stored_project, name, _names(people), **options))
        samples = follow_up.follow_ups(store, stored_project)
    data = [_follow_up(sample) for sample in samples]
    strata = [
        (sample.project.name, part, judged.drawn, judged.judged, judged.neutral, (judged.share, ".1%"))
        for sample in samples
        for part, judged in sample.strata.items()
    ]
    heads = ["", "", "drawn", "judged", "neutral to everybody", "share"]
    lines = [table(strata, heads) if samples else "There is no follow-up sample."]
    lines += [
        f"{sample.project.name}: {sample.left_out} labels do not count: {sample.elsewhere} not made at a desk"
        f" of this database, {sample.left_out - sample.elsewhere} of people of {parent}"
        for sample in samples
        if sample.left_out
    ]
    answer({"follow_ups": data}, lines)


def _follow_up(one: follow_up.FollowUp) -> dict[str, Any]:
    strata: JsonObject = {
        part: {"drawn": found.drawn, "judged": found.judged, "neutral": found.neutral, "share": found.share.to_json()}
        for part, found in one.strata.items()
    }
    counts = {
        key: getattr(one, key)
        for key in ("seed", "from_kept", "from_rejected", "per_item", "people", "left_out", "elsewhere")
    }
    return {"project": one.project.name, **counts, **strata, "method": follow_up.METHOD}


@project.command("aside")
@click.argument("name")
@option("--bring-back", "uid", metavar="UID", help="Hand this item out again.")
@option("--all", "everything", is_flag=True, help="Hand all of them out again.")
@guarded("change_projects", "name")
def set_aside(name: str, uid: str | None, everything: bool, db: str) -> None:
    """Show items that all annotators skipped, or hand them out again."""
    with opened_project(db, name) as (store, stored_project):
        back = (
            [item.uid for item in projects.set_aside_items(store, stored_project)]
            if everything
            else [uid]
            if uid
            else []
        )
        for word in back:
            projects.return_to_queue(store, stored_project, word)
        waiting = [
            {"item": item.uid, "text": text_or_reference(stored_project, item)}
            for item in projects.set_aside_items(store, stored_project)
        ]
    text = table([(entry["item"], entry["text"]) for entry in waiting]) or "No items are set aside."
    answer({"aside": waiting, "brought_back": back}, text)


@click.command()
@guarded("create_projects")
def demo(db: str) -> None:
    """Make the demo projects: sentences and generations of our own, labelled by three made-up annotators.

    Existing ones stay unchanged.
    """
    made = ensure_demo(db)  # all or nothing; only if no database exists yet
    with Store.open(db) as store:
        if not made:
            known = {
                stored_project.name
                for stored_project in (*projects.projects(store), *projects.projects(store, archived=True))
            }
            for name, make in ((DEMO, make_demo), (GENERATIONS, make_generations_demo)):
                if name not in known:
                    make(store)
        shown = _described(store, projects.project(store, DEMO))
        other = _described(store, projects.project(store, GENERATIONS))
    answer(shown | {"generations": other}, f"{_line(shown)}\n{_line(other)}")
