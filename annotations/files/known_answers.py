"""A file of known answers: one row an item, by its id or its text, with the choice that is right."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotations.database.store import Store
from annotations.items.batch import item as one_item
from annotations.quality.known_answers import set_known
from annotations.types import Item, Project
from core.errors import N_, BadFile, BadLine, EvenhandError
from core.files.readers import Source, open_source, rows
from core.text.sentences import text_hash

TEXT_COLUMNS = ("text", "sentence", "句子", "文本")
CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class KnownReport:
    """How many items of a file got a known answer, and the rows that could not be used."""

    file: str
    marked: int
    problems: tuple[BadLine, ...]


def import_known_answers(
    store: Store, project: Project, path: Path | str, *, name: str | None = None, author: str = ""
) -> KnownReport:
    """Make every row of a file a known answer: column `choice`, and `item` (public id) or, for sentences, `text`.

    `why` may explain the answer. CSV, TSV, JSON lines or a workbook. A row that cannot be used is reported; the others
    are imported. Raises BadFile if columns are missing or the file cannot be read.
    """
    source = open_source(path, name)
    _check(source, project)
    marked, problems = 0, []
    for row in rows(source):
        try:
            if row.problem is not None:
                raise row.problem
            uid = _item(store, project, row.values)
            choice = _text_value(row.values, CHOICE)
            if not choice:
                raise BadLine(source.name, row.line, "choice", N_("The row has no choice."))
            set_known(store, project, uid, choice, why=_text_value(row.values, "why"), author=author)
            marked += 1
        except EvenhandError as error:
            problems.append(BadLine(source.name, row.line, "known", error.message, **error.values))
    return KnownReport(source.name, marked, tuple(problems))


def _check(source: Source, project: Project) -> None:
    named = {"item"} | (set(TEXT_COLUMNS) if project.kind == "sentences" else set())
    if CHOICE in source.columns and named & set(source.columns):
        return
    wanted = "item" if project.kind == "generations" else "item / text"
    message = N_("{file} contains no known answers: it needs the columns {wanted} and choice. It has {found}.")
    raise BadFile(message, file=source.name, wanted=wanted, found=", ".join(source.columns[:20]) or "–")


def find_item(store: Store, project: Project, asked: str) -> Item | None:
    """The item with that public id or, for sentences, with exactly that text; or None."""
    query = (
        "SELECT uid FROM published_item AS item"
        " WHERE item.project = :project AND (uid = :asked OR (:sentences AND hash = :hash))"
    )
    values = {"project": project.id, "asked": asked, "sentences": project.kind == "sentences", "hash": text_hash(asked)}
    found = store.db.execute(query, values).fetchone()
    return None if found is None else one_item(store, project, found[0])


def _item(store: Store, project: Project, values: Mapping[str, Any]) -> str:
    """The public id of the item that a row names."""
    if uid := _text_value(values, "item"):
        return uid
    text = next((values[key] for key in TEXT_COLUMNS if isinstance(values.get(key), str) and values[key]), "")
    if project.kind != "sentences" or not text.strip():
        raise BadFile(N_("The row does not name an item."))
    found = find_item(store, project, text) or find_item(store, project, text.strip())
    if found is None:
        raise BadFile(N_("This project has no item with this text."))
    return found.uid


def _text_value(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)
