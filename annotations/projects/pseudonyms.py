"""Codes of annotators' names in files: A1, A2, ..., the same in every release of a project."""

import json
import re
from collections.abc import Mapping

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.types import Annotator, Project

CODE = re.compile(r"A[1-9]\d{0,5}")


def pseudonyms(store: Store, project: Project) -> dict[str, str]:
    """Name -> code of all present and former annotators.

    Annotators of a release keep its codes, also after a change of the name. A name that is a code already (of an
    imported release) is its own code. The others get the next numbers, in the order of joining the database.
    """
    people = annotators(store, project, active=False)
    known = released_codes(store, project)
    codes = {one.id: known[one.uid] for one in people if one.uid in known}
    taken = set(known.values())
    for one in people:
        if one.id not in codes and CODE.fullmatch(one.name) and one.name not in taken:
            codes[one.id] = one.name
            taken.add(one.name)
    number = 0
    for one in people:
        if one.id not in codes:
            number = _next_free(number, taken)
            codes[one.id] = f"A{number}"
    return {one.name: codes[one.id] for one in people}


def _next_free(number: int, taken: set[str]) -> int:
    number += 1
    while f"A{number}" in taken:
        number += 1
    return number


def released_codes(store: Store, project: Project) -> dict[str, str]:
    """Public id of an annotator -> code, from the newest complete release; empty before the first."""
    row = store.db.execute(
        "SELECT facts FROM frozen_release WHERE project = ? ORDER BY id DESC LIMIT 1", (project.id,)
    ).fetchone()
    found = json.loads(row[0]).get("codes", {}) if row else {}
    return {str(uid): str(code) for uid, code in found.items()}


def coded_file(file: str | None, codes: Mapping[str, str]) -> str | None:
    """The name of a file with codes in place of the names of annotators: doccano names its files after them."""
    for name in sorted(codes, key=len, reverse=True):
        if file and not CODE.fullmatch(name):
            file = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", codes[name], file, flags=re.I)
    return file


def by_uid(people: list[Annotator], codes: dict[str, str]) -> dict[str, str]:
    """The codes by public id, as a release stores them."""
    return {one.uid: codes[one.name] for one in people}
