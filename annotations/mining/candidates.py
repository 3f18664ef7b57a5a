"""Mined candidates on their way into a project: only what is new goes in, one after the other."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from annotations.database.store import Store
from annotations.files.detect import detect_layout
from annotations.files.import_items import ImportReport, Progress, examine, import_examined, read_row
from annotations.items.batch import item_hash, items
from annotations.projects.projects import counts
from annotations.types import Project
from core.concordance import Passage
from core.errors import BadLine
from core.files.paths import Places, without_folders
from core.files.readers import open_source, rows

PATIENCE_S = 3600.0  # how long a job waits while another file goes into the same project
ASKED_AT_ONCE = 400  # hashes in one question to the database
Cell = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Stock:
    """What a project and a candidates file hold together, by (pair, side).

    `accepted`, `rejected`: decided items of the project; `pending`: its open
    ones; `new`: candidates of the file that the project has not got yet.
    """

    accepted: dict[Cell, int] = field(default_factory=dict)
    rejected: dict[Cell, int] = field(default_factory=dict)
    pending: dict[Cell, int] = field(default_factory=dict)
    new: dict[Cell, int] = field(default_factory=dict)
    quotas: dict[Cell, int] = field(default_factory=dict)


def add_candidates(
    store: Store,
    project: Project,
    file: Path | str,
    *,
    progress: Progress | None = None,
    patience_s: float = PATIENCE_S,
) -> ImportReport:
    """Put the candidates of *file* (as `mine` writes it) into *project*: those that it has not got yet.

    All or nothing. While another file goes into the same project this one
    waits its turn, so two jobs at once end with every sentence there once.
    Flagged candidates come last in their pair and side. Raises BadFile where
    *file* is something else; Refused where the project is archived, holds
    generations, or is kept busy for longer than *patience_s* seconds.
    """
    examined = examine(file, format="candidates")
    return import_examined(store, project, examined, progress=progress, patience_s=patience_s)


def stock(store: Store, project: Project, file: Path | str) -> Stock:
    """What *project* has and what *file* would add, counted without storing anything."""
    found = Stock()
    for cell in counts(store, project).cells:
        where = (cell.pair, str(cell.side))
        found.accepted[where], found.rejected[where] = cell.accepted, cell.rejected
        found.pending[where] = cell.pending
        if cell.quota is not None:
            found.quotas[where] = cell.quota
    found.new.update(_new(store, project, Path(file)))
    return found


def _new(store: Store, project: Project, file: Path) -> Counter[Cell]:
    found: Counter[Cell] = Counter()
    seen: set[bytes] = set()
    remaining = _identities(file)
    while chunk := list(islice(remaining, ASKED_AT_ONCE)):
        marks = ", ".join("?" * len(chunk))
        # What was taken back comes in again when it is imported again.
        query = (
            f"SELECT hash FROM item WHERE project = ? AND hash IN ({marks})"
            " AND batch NOT IN (SELECT id FROM batch WHERE withdrawn = 1)"
        )
        there = {row[0] for row in store.db.execute(query, (project.id, *(identity for _, identity in chunk)))}
        for cell, identity in chunk:
            if identity not in there and identity not in seen:
                found[cell] += 1
                seen.add(identity)
    return found


def _identities(file: Path) -> Iterator[tuple[Cell, bytes]]:
    source = open_source(file)
    chosen = detect_layout(source, "candidates")
    for row in rows(source):
        try:
            item = read_row(source, chosen, row).item
        except BadLine:
            continue
        if item.candidate is not None:
            yield (item.candidate.pair.name, item.candidate.side), item_hash(item)


def passages_of(store: Store, project: Project) -> Iterator[Passage]:
    """The sentences of *project*, text by text: where they were mined, else the file they came in."""
    places = Places()
    found = sorted((_origin(item.extra, item.file, places), item.line, item.text) for item in items(store, project))
    return (Passage(document, line, text) for document, line, text in found)


def _origin(extra: dict[str, Any], file: str, places: Places) -> str:
    source = without_folders(extra, shortened=places).get("source")
    if isinstance(source, dict):
        named = [str(source[key]) for key in ("file", "name", "date") if source.get(key)]
        return " ".join(named) or file
    return source if isinstance(source, str) and source else file
