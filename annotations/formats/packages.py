"""A whole project as one archive: settings, guideline, items, every label, decisions; and the way back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from annotations.datasheet import datasheet
from annotations.formats.archives import Member
from annotations.formats.importing import ImportReport, examine, import_examined
from annotations.formats.labels_in import label_rows_in, open_labels
from annotations.formats.lines import json_line
from annotations.formats.objects import item_lines
from annotations.formats.readers import open_source, rows
from annotations.formats.sheets import codes_of, json_lines
from annotations.formats.wishes import Wanted
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
from annotations.returning import Returned, store_labels
from annotations.returning_decisions import each_decision, store_decisions
from annotations.store import Store
from annotations.types import Choice, Project
from core.errors import N_, BadFile, NotFound

MARK = "evenhand-package"
VERSION = 1
BEGUN = ("kind", "language", "per_item", "gold", "presentation", "seed")  # fixed when a project is made
SETTINGS = ("opinion_model", "rescue", "checked", "blur", "pause_minutes", "open_text", "doubled")


@dataclass(frozen=True, slots=True)
class Brought:
    """What a package brought into which project."""

    project: Project
    items: ImportReport | None
    labels: Returned


def package_files(store: Store, project: Project, wish: Wanted) -> dict[str, str]:
    """File name -> text: project.json, items.jsonl, labels.jsonl, decisions.jsonl, datasheet.md."""
    codes = {} if wish.names else codes_of(store, project)
    everything = Wanted("labels-jsonl", names=wish.names, history=True, locked=wish.locked)
    return {
        "project.json": json.dumps(_described(store, project, codes), ensure_ascii=False) + "\n",
        "items.jsonl": "".join(item_lines(store, project, Wanted("jsonl", locked=wish.locked))),
        "labels.jsonl": "".join(json_lines(store, project, everything)),
        "decisions.jsonl": "".join(json_line(row) for row in each_decision(store, project, codes)),
        "datasheet.md": datasheet(store, project, wish.language),
    }


def _described(store: Store, project: Project, codes: Mapping[str, str]) -> dict[str, Any]:
    people = [codes.get(one.name, one.name) for one in annotators(store, project, active=False)]
    left = {one.name for one in annotators(store, project, active=False)} - {
        one.name for one in annotators(store, project)
    }
    quotas = [[one.pair, one.side, one.quota] for one in counts(store, project).cells if one.quota is not None]
    return {
        "format": MARK,
        "v": VERSION,
        "project": {key: getattr(project, key) for key in ("name", *BEGUN, *SETTINGS)},
        "annotators": people,
        "left": sorted(codes.get(name, name) for name in left),
        "quotas": quotas,
        "guidelines": [
            {"version": one.version, "text": one.text, "choices": [asdict(c) for c in one.choices],
             "reasons": [asdict(r) for r in one.reasons], "created": one.created}
            for one in guidelines(store, project)
        ],
    }  # fmt: skip


def is_package(members: Sequence[Member]) -> bool:
    """Whether an archive is a package: it says so in its project.json."""
    return {"project.json", "items.jsonl"} <= {PurePosixPath(one.name).name for one in members}


def bring_package(store: Store, name: str, members: Sequence[Member], file: str) -> Brought:
    """Make the project *name* as the package describes it, or add to one that is there; then items, labels, decisions.

    Doing it again adds nothing. Raises BadFile where a part of the package is missing or is not what it says.
    """
    parts = {PurePosixPath(one.name).name: one for one in members}
    described = _read_description(parts, file)
    try:
        project, made = find_project(store, name), False
    except NotFound:
        project, made = _made(store, name, described, file), True
    items = examine(parts["items.jsonl"].path, format="auto", name=f"{file}: items.jsonl")
    report = import_examined(store, project, items, file=file) if items.rows else None
    labels = Returned()
    if "labels.jsonl" in parts:
        labels = bring_labels(store, project, parts["labels.jsonl"], f"{file}: labels.jsonl")
    if "decisions.jsonl" in parts:
        labels.decisions = store_decisions(store, project, _objects(parts["decisions.jsonl"], file))
    if made:  # only now: while labels came in, everybody was an annotator
        left = set(map(str, described.get("left") or ()))
        for person in [one for one in annotators(store, project) if one.name in left]:
            remove_annotator(store, project, person)
    return Brought(project, report, labels)


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


def _made(store: Store, name: str, described: Mapping[str, Any], file: str) -> Project:
    try:
        settings, versions = described["project"], sorted(described["guidelines"], key=lambda one: one["version"])
        parts = [
            (str(one["text"]), [Choice(**c) for c in one["choices"]], [Choice(**r) for r in one["reasons"]])
            for one in versions
        ]
        quotas = {(str(pair), str(side)): int(quota) for pair, side, quota in described["quotas"]}
        people, begun = [str(one) for one in described["annotators"]], {key: settings[key] for key in BEGUN}
        changed = {key: settings[key] for key in SETTINGS}
        text, choices, reasons = parts[0]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BadFile(_NO_PACKAGE, file=file) from error
    made = create_project(
        store, name, guideline_text=text, choices=choices, reasons=reasons, quotas=quotas, annotators=people, **begun
    )
    for each in parts[1:]:
        add_guideline(store, made, *each)
    return change_project(store, made, **changed)
