"""The project of a package: reads and checks project.json, and creates the project in one step.

A package is imported in many transactions. Two events mark the beginning and the end, so that a repeated import
continues an interrupted one: {"package": hash of project.json, "made": whether the package created the project}.

Public ids are unique in a database. So where a package comes a second time into one, as another project, its items and
operations get ids of their own, made from the id of the project and the id in the package: the same import, repeated or
continued, makes the same ones.
"""

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from evenhand.annotations.database.events import PACKAGE_BEGUN, PACKAGE_DONE, Event, events, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_labels import NOT_TAKEN
from evenhand.annotations.guideline.scheme import more_in
from evenhand.annotations.guideline.versions import add_guideline
from evenhand.annotations.projects.projects import create_project, write_changes
from evenhand.annotations.types import Choice, Project, Scheme
from evenhand.core.errors import N_, BadFile
from evenhand.core.files.archives import Member
from evenhand.core.files.csv_out import json_line
from evenhand.core.files.timestamps import moment

MARK = "evenhand-package"
VERSIONS = (1, 2)
# Of a package with generations: until 1 its gold.jsonl said "accepted" of what has a gold label, as of a sentence.
VERSION_OF = {"sentences": 1, "generations": 2}
BEGUN = ("kind", "language", "per_item", "gold", "presentation", "seed")  # fixed when a project is created
SETTINGS = ("opinion_model", "rescue", "checked", "blur", "pause_minutes", "open_text", "doubled")
# Settings that older packages lack; then the defaults of a new project apply.
CURATION = ("plan", "share", "retest", "retest_hours", "licence", "source_statement")
Stage = Literal["new", "begun", "made", "done"]

_NO_PACKAGE = N_("{file} is not a project package: its project.json is missing or invalid.")
# The errors that values of another type raise, here or in the database.
_WRONG = (*NOT_TAKEN, IndexError, RecursionError)


def read_description(parts: Mapping[str, Member], file: str) -> dict[str, Any]:
    """Return the content of project.json, with its hash as `digest`. Raises BadFile if it is invalid."""
    with _naming_file(file):
        written = parts["project.json"].path.read_bytes()
        described = json.loads(written.decode("utf-8"))
        if described["format"] != MARK or not isinstance(described.get("left") or [], list):
            raise ValueError("another format")
    if described.get("v") not in VERSIONS:
        message = N_("{file} was written by a newer version of Evenhand; update to read it.")
        raise BadFile(message, file=file)
    description: dict[str, Any] = described | {"digest": hashlib.sha256(written).hexdigest()}
    return description


@contextmanager
def _naming_file(file: str) -> Iterator[None]:
    try:
        yield
    except _WRONG as error:
        raise BadFile(_NO_PACKAGE, file=file) from error


def make_project(store: Store, name: str, described: Mapping[str, Any], file: str) -> Project:
    """Create the project of a package: settings, annotators, all versions of the guideline. All or nothing.

    Raises BadFile for an invalid value, Refused and NotAllowed as `create_project`.
    """
    with _naming_file(file):
        settings, versions = described["project"], sorted(described["guidelines"], key=lambda one: one["version"])
        parts = [_version(version) for version in versions]
        quotas = {(str(pair), str(side)): int(quota) for pair, side, quota in described["quotas"]}
        people, begun = [str(entry) for entry in described["annotators"]], {key: settings[key] for key in BEGUN}
        changed = {key: settings[key] for key in SETTINGS}
        changed |= {key: settings[key] for key in CURATION if key in settings}
        text, choices, reasons, changes, written, scheme = parts[0]

        def rest(made: Project) -> None:
            for words, offered, criteria, said, when, more in parts[1:]:
                add_guideline(store, made, words, offered, criteria, changes=said, created=when, scheme=more)
            write_changes(store, made, changed, logged=False)
            record(store, made, PACKAGE_BEGUN, package=described["digest"], made=True)

        return create_project(
            store, name, guideline_text=text, choices=choices, reasons=reasons, quotas=quotas, annotators=people,
            written=written, changes=changes, scheme=scheme, then=rest, **begun,
        )  # fmt: skip


def _version(one: Mapping[str, Any]) -> tuple[str, list[Choice], list[Choice], str, str | None, Scheme | None]:
    choices, reasons = ([Choice(**option) for option in one[key]] for key in ("choices", "reasons"))
    scheme = None if one.get("scheme") is None else more_in(one["scheme"])
    spans = () if scheme is None else scheme.spans
    words = [
        word for choice in (*choices, *reasons, *spans) for word in (choice.code, choice.key, choice.zh, choice.en)
    ]
    if not all(isinstance(word, str) for word in words):
        raise ValueError("a choice is made of words")
    return str(one["text"]), choices, reasons, str(one.get("changes", "")), moment(one.get("created")), scheme


def stage(store: Store, project: Project, described: Mapping[str, Any]) -> Stage:
    """Return the state of this package's import: "new", interrupted ("made" if it created the project), or "done"."""
    last = _last(store, project, described)
    if last is None or last.action == PACKAGE_DONE:
        return "new" if last is None else "done"
    return "made" if last.data.get("made") else "begun"


def begun_at(store: Store, project: Project, described: Mapping[str, Any]) -> str | None:
    """Return the time at which the running import of this package began; None if none is running."""
    last = _last(store, project, described)
    return last.created if last is not None and last.action == PACKAGE_BEGUN else None


def _last(store: Store, project: Project, described: Mapping[str, Any]) -> Event | None:
    result = [
        event
        for action in (PACKAGE_BEGUN, PACKAGE_DONE)
        for event in events(store, project, action=action)
        if event.data.get("package") == described["digest"]
    ]
    return max(result, key=lambda one: one.id, default=None)


def mark(store: Store, project: Project, described: Mapping[str, Any], action: str) -> None:
    """Record that the import of a package into an existing project begins, or has ended."""
    with store.write():
        record(store, project, action, package=described["digest"], made=False)


FILES = ("items.jsonl", "labels.jsonl", "decisions.jsonl", "records.jsonl", "gold.jsonl")
# The keys that hold the id of an item, of an operation or of a retest, and the one that holds a list of them.
KEYS = ("item", "op_id", "base", "latest", "blind", "first", "after", "uid", "retest", "judge")
LIST = "seen"


def with_new_ids(parts: Mapping[str, Member], project: Project, folder: Path) -> dict[str, Member]:
    """Write the files of a package into *folder* with ids for *project*; lines that are not JSON objects stay."""
    result = dict(parts)
    for name in FILES:
        if name not in parts:
            continue
        path = folder / name
        with (
            parts[name].path.open(encoding="utf-8-sig", errors="surrogateescape") as source,
            path.open("w", encoding="utf-8", errors="surrogateescape") as out,
        ):
            out.writelines(_lines(source, project))
        result[name] = Member(path, parts[name].name)
    return result


def _lines(source: Iterable[str], project: Project) -> Iterator[str]:
    for line in source:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            yield line
            continue
        row |= {key: new_id(row[key], project) for key in KEYS if isinstance(row.get(key), str)}
        if isinstance(row.get(LIST), list):
            row[LIST] = [new_id(entry, project) if isinstance(entry, str) else entry for entry in row[LIST]]
        yield json_line(row)


def new_id(old: str, project: Project) -> str:
    """Return the id in *project* of an object with the id *old* in the package; "" stays."""
    return uuid.uuid5(uuid.UUID(project.uid), old).hex if old else old
