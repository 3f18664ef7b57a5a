"""A package that comes a second time into one database, as another project.

Public ids are unique in a database. So the items and operations of the second project get ids of their own, made from
the id of the project and the id in the package: the same import, repeated or continued, makes the same ones.
"""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.annotations.types import Project
from evenhand.core.files.archives import Member
from evenhand.core.files.csv_out import json_line

FILES = ("items.jsonl", "labels.jsonl", "decisions.jsonl", "records.jsonl", "gold.jsonl")
# The keys that hold the id of an item, of an operation or of a retest, and the one that holds a list of them.
KEYS = ("item", "op_id", "base", "latest", "blind", "first", "after", "uid", "retest", "judge")
LIST = "seen"


def with_new_ids(parts: Mapping[str, Member], project: Project, folder: Path) -> dict[str, Member]:
    """The files of a package with ids for *project*, written into *folder*; lines that are no JSON object stay."""
    found = dict(parts)
    for name in FILES:
        if name not in parts:
            continue
        path = folder / name
        with (
            parts[name].path.open(encoding="utf-8-sig", errors="surrogateescape") as source,
            path.open("w", encoding="utf-8", errors="surrogateescape") as out,
        ):
            out.writelines(_lines(source, project))
        found[name] = Member(path, parts[name].name)
    return found


def _lines(source: Iterable[str], project: Project) -> Iterator[str]:
    for line in source:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        yield json_line(_renamed(row, project)) if isinstance(row, dict) else line


def _renamed(row: dict[str, Any], project: Project) -> dict[str, Any]:
    changed: dict[str, Any] = {key: new_id(row[key], project) for key in KEYS if isinstance(row.get(key), str)}
    if isinstance(row.get(LIST), list):
        changed[LIST] = [new_id(one, project) if isinstance(one, str) else one for one in row[LIST]]
    return row | changed


def new_id(old: str, project: Project) -> str:
    """The id in *project* of what has the id *old* in the package; "" stays."""
    return uuid.uuid5(uuid.UUID(project.uid), old).hex if old else old
