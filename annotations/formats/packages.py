"""A whole project as one archive: settings, guideline, items, every label, decisions; and the way back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from annotations.datasheet import datasheet
from annotations.decisions import each_label_row
from annotations.formats.archives import Member
from annotations.formats.importing import ImportReport, examine, import_examined
from annotations.formats.labels_in import label_rows_in, open_labels
from annotations.formats.lines import json_line
from annotations.formats.objects import item_objects
from annotations.formats.package_records import author_codes, each_record
from annotations.formats.readers import open_source, rows
from annotations.formats.sheets import LABELS, OPERATION
from annotations.formats.wishes import Wanted
from annotations.items import items as stored_items
from annotations.projects import (
    add_guideline,
    annotators,
    change_project,
    counts,
    create_project,
    guidelines,
    remove_annotator,
)
from annotations.projects import project as find_project
from annotations.pseudonyms import pseudonyms
from annotations.returning import Returned, store_labels
from annotations.returning_decisions import each_decision, store_decisions
from annotations.returning_records import is_bare, store_records
from annotations.store import Store, timestamp
from annotations.types import Choice, Project
from core.errors import N_, BadFile, NotFound

MARK = "evenhand-package"
VERSION = 1
BEGUN = ("kind", "language", "per_item", "gold", "presentation", "seed")  # fixed when a project is made
SETTINGS = ("opinion_model", "rescue", "checked", "blur", "pause_minutes", "open_text", "doubled")
# Settings that packages hold since there is a plan of labels; an older one leaves them as a new project has them.
CURATION = ("plan", "share", "retest", "retest_hours", "licence", "source_statement")


@dataclass(frozen=True, slots=True)
class Brought:
    """What a package brought into which project."""

    project: Project
    items: ImportReport | None
    labels: Returned


def package_files(store: Store, project: Project, wish: Wanted) -> dict[str, str]:
    """File name -> text: project.json, items.jsonl, labels.jsonl, decisions.jsonl, records.jsonl, gold.jsonl,
    datasheet.md."""
    codes = {} if wish.names else author_codes(store, project, pseudonyms(store, project))
    parts = package_parts(store, project, codes, with_text=wish.with_text(project))
    texts = {name: "".join(map(json_line, rows)) for name, rows in parts.items()}
    described = json.dumps(project_description(store, project, codes), ensure_ascii=False) + "\n"
    return {"project.json": described} | texts | {"datasheet.md": datasheet(store, project, wish.language)}


def package_parts(
    store: Store, project: Project, codes: Mapping[str, str], *, with_text: bool = True, private: bool = True
) -> dict[str, Iterator[dict[str, Any]]]:
    """File name -> its rows, each read from the database when it is asked for.

    `codes`: what stands for a name, {} for the names themselves. `with_text`: notes too. `private`: drafts of the lead
    and talks between an annotator and the lead too.
    """
    return {
        "items.jsonl": item_objects(store, project),
        "labels.jsonl": _label_objects(store, project, codes, with_text),
        "decisions.jsonl": each_decision(store, project, codes, private=private),
        "records.jsonl": each_record(store, project, codes, private=private),
        "gold.jsonl": _gold_objects(store, project),
    }


def _label_objects(
    store: Store, project: Project, codes: Mapping[str, str], with_text: bool
) -> Iterator[dict[str, Any]]:
    kept = [key for key in (*LABELS, *OPERATION) if key != "text" and (with_text or key != "note")]
    for row in each_label_row(store, project, which="all"):
        yield {key: row[key] for key in kept} | {"annotator": codes.get(row["annotator"], row["annotator"])}


def _gold_objects(store: Store, project: Project) -> Iterator[dict[str, Any]]:
    for item in stored_items(store, project):
        if item.gold is not None or item.status != "pending":
            yield {"item": item.uid, "status": item.status, "gold": item.gold}


def project_description(store: Store, project: Project, codes: Mapping[str, str]) -> dict[str, Any]:
    """What project.json says: settings, people, quotas, every version of the guideline."""
    everybody, active = annotators(store, project, active=False), annotators(store, project)
    left = {one.name for one in everybody} - {one.name for one in active}
    quotas = [[one.pair, one.side, one.quota] for one in counts(store, project).cells if one.quota is not None]
    return {
        "format": MARK,
        "v": VERSION,
        "project": {key: getattr(project, key) for key in ("name", *BEGUN, *SETTINGS, *CURATION)},
        "annotators": [codes.get(one.name, one.name) for one in everybody],
        "left": sorted(codes.get(name, name) for name in left),
        "quotas": quotas,
        "guidelines": [
            {"version": one.version, "text": one.text, "choices": [asdict(c) for c in one.choices],
             "reasons": [asdict(r) for r in one.reasons], "created": one.created, "changes": one.changes}
            for one in guidelines(store, project)
        ],
    }  # fmt: skip


def is_package(members: Sequence[Member]) -> bool:
    """Whether an archive is a package, or holds one in a folder: a project.json with its items beside it."""
    return {"project.json", "items.jsonl"} <= _parts(members).keys()


def bring_package(store: Store, name: str, members: Sequence[Member], file: str) -> Brought:
    """Make the project *name* as the package describes it, or add to one that is there; then items, labels, decisions.

    Doing it again adds nothing. Raises BadFile where a part of the package is missing or is not what it says.
    """
    parts = _parts(members)
    described = _read_description(parts, file)
    try:
        project, made = find_project(store, name), False
    except NotFound:
        project, made = _made(store, name, described, file), True
    items = examine(parts["items.jsonl"].path, format="auto", name=f"{file}: items.jsonl")
    report = import_examined(store, project, items, file=file) if items.rows else None
    records = list(_objects(parts["records.jsonl"], file)) if "records.jsonl" in parts else []
    own = made or is_bare(store, project)
    if own:
        store_records(store, project, records, early=True)
    labels = Returned()
    if "labels.jsonl" in parts:
        labels = bring_labels(store, project, parts["labels.jsonl"], f"{file}: labels.jsonl")
    if "decisions.jsonl" in parts:
        labels.decisions = store_decisions(store, project, _objects(parts["decisions.jsonl"], file))
    if own:
        store_records(store, project, records, early=False)
    if made:  # only now: while labels came in, everybody was an annotator
        left = set(map(str, described.get("left") or ()))
        for person in [one for one in annotators(store, project) if one.name in left]:
            remove_annotator(store, project, person)
    return Brought(project, report, labels)


def _parts(members: Sequence[Member]) -> dict[str, Member]:
    """The files of the package by name: a release holds other files beside the folder of its package."""
    homes = [PurePosixPath(one.name).parent for one in members if PurePosixPath(one.name).name == "project.json"]
    home = homes[0] if homes else PurePosixPath()
    return {PurePosixPath(one.name).name: one for one in members if PurePosixPath(one.name).parent == home}


def bring_labels(store: Store, project: Project, member: Member, name: str) -> Returned:
    """Append the labels of one file. Raises BadFile where it is no file of labels."""
    source = open_labels(member.path, name)
    return store_labels(store, project, name, label_rows_in(source))


def _objects(member: Member, file: str) -> Iterator[dict[str, Any]]:
    for row in rows(open_source(member.path, f"{file}: {member.name}")):
        if row.problem is not None:
            raise row.problem
        yield row.values


def _read_description(parts: Mapping[str, Member], file: str) -> dict[str, Any]:
    try:
        described = json.loads(parts["project.json"].path.read_text(encoding="utf-8"))
    except (ValueError, KeyError) as error:
        raise BadFile(_NO_PACKAGE, file=file) from error
    if not isinstance(described, dict) or described.get("format") != MARK:
        raise BadFile(_NO_PACKAGE, file=file)
    if described.get("v") != VERSION:
        message = N_("{file} is a package of a later version of this app; update the app to read it.")
        raise BadFile(message, file=file)
    return described


_NO_PACKAGE = N_("{file} is no package of a project: its project.json is missing or says something else.")


def _moment(written: object) -> str | None:
    """When a version was written, as the database has moments; None where the package says no such thing."""
    try:
        return timestamp(datetime.fromisoformat(str(written)).timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def _made(store: Store, name: str, described: Mapping[str, Any], file: str) -> Project:
    try:
        settings, versions = described["project"], sorted(described["guidelines"], key=lambda one: one["version"])
        parts = [
            (
                str(one["text"]),
                [Choice(**c) for c in one["choices"]],
                [Choice(**r) for r in one["reasons"]],
                str(one.get("changes", "")),
                _moment(one.get("created")),
            )
            for one in versions
        ]
        quotas = {(str(pair), str(side)): int(quota) for pair, side, quota in described["quotas"]}
        people, begun = [str(one) for one in described["annotators"]], {key: settings[key] for key in BEGUN}
        changed = {key: settings[key] for key in SETTINGS}
        changed |= {key: settings[key] for key in CURATION if key in settings}
        text, choices, reasons, changes, written = parts[0]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BadFile(_NO_PACKAGE, file=file) from error
    made = create_project(
        store, name, guideline_text=text, choices=choices, reasons=reasons, quotas=quotas, annotators=people,
        written=written, changes=changes, **begun,
    )  # fmt: skip
    for text, choices, reasons, changes, written in parts[1:]:
        add_guideline(store, made, text, choices, reasons, changes=changes, created=written)
    return change_project(store, made, **changed)
