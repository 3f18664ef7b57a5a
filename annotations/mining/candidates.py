"""Import of mined candidates into a project: only new ones, one file at a time."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import detect_layout
from evenhand.annotations.files.import_items import ImportReport, Progress, examine, import_examined, read_row
from evenhand.annotations.items.batch import item_hash, items, stored_hashes
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.types import Project
from evenhand.core.concordance import Passage
from evenhand.core.errors import BadLine
from evenhand.core.files.display_paths import Places, without_folders
from evenhand.core.files.readers import open_source, rows

PATIENCE_S = 3600.0  # how long a job waits for another import into the same project
ASKED_AT_ONCE = 400  # hashes per query
Cell = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Stock:
    """The counts of a project and a candidates file, by (pair, side).

    `accepted`, `rejected`: decided items of the project; `pending`: its open ones; `new`: candidates of the file that
    the project lacks.
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
    """Add the candidates of *file* (as `mine` writes it) that *project* lacks.

    All or nothing. It waits for another import into the same project, so that two jobs at once store every sentence
    once. Flagged candidates come last in their pair and side. Raises BadFile for another kind of file; Refused if the
    project is archived, holds generations, or is busy for longer than *patience_s* seconds.
    """
    examined = examine(file, format="candidates")
    return import_examined(store, project, examined, progress=progress, patience_s=patience_s)


def stock(store: Store, project: Project, file: Path | str) -> Stock:
    """Count what *project* has and what *file* would add, without storing anything."""
    result = Stock()
    for cell in counts(store, project).cells:
        where = (cell.pair, str(cell.side))
        result.accepted[where], result.rejected[where] = cell.accepted, cell.rejected
        result.pending[where] = cell.pending
        if cell.quota is not None:
            result.quotas[where] = cell.quota
    result.new.update(_new(store, project, Path(file)))
    return result


def _new(store: Store, project: Project, file: Path) -> Counter[Cell]:
    result: Counter[Cell] = Counter()
    seen: set[bytes] = set()
    remaining = _identities(file)
    while chunk := list(islice(remaining, ASKED_AT_ONCE)):
        there = stored_hashes(store, project, [identity for _, identity in chunk])
        for cell, identity in chunk:
            if identity not in there and identity not in seen:
                result[cell] += 1
                seen.add(identity)
    return result


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
    """Yield the sentences of *project* by document: their source document if mined, else their file."""
    places = Places()
    result = sorted((_origin(item.extra, item.file, places), item.line, item.text) for item in items(store, project))
    return (Passage(document, line, text) for document, line, text in result)


def _origin(extra: dict[str, Any], file: str, places: Places) -> str:
    source = without_folders(extra, shortened=places).get("source")
    if isinstance(source, dict):
        named = [str(source[key]) for key in ("file", "name", "date") if source.get(key)]
        return " ".join(named) or file
    return source if isinstance(source, str) and source else file
