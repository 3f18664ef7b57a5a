"""A file of known answers: one row an item, by its id or its text, with the choice that is right."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import guess_columns
from evenhand.annotations.files.label_files import text_value
from evenhand.annotations.items.batch import item as one_item
from evenhand.annotations.items.batch import items, uid_of_hash
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import N_, BadFile, BadLine, EvenhandError, NotFound
from evenhand.core.files.readers import Source, open_source, rows
from evenhand.core.text.sentences import text_hash

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
    """Make every row of a file a known answer: column `choice`, and `item` (public id) or `text`.

    The text of a generation may be its completion, or its context and completion in one; a column `context` tells equal
    texts apart. `why` may explain the answer. CSV, TSV, JSON lines or a workbook. A row that cannot be used is
    reported; the others are imported. Raises BadFile if columns are missing or the file cannot be read.
    """
    source = open_source(path, name)
    finder, marked, problems = _ItemFinder(store, project, source), 0, []
    for row in rows(source):
        try:
            if row.problem is not None:
                raise row.problem
            uid = finder.item(row.values)
            choice = text_value(row.values, CHOICE)
            if not choice:
                raise BadLine(source.name, row.line, "choice", N_("The row has no choice."))
            set_known(store, project, uid, choice, why=text_value(row.values, "why"), author=author)
            marked += 1
        except EvenhandError as error:
            problems.append(BadLine(source.name, row.line, "known", error.message, **error.values))
    return KnownReport(source.name, marked, tuple(problems))


class _ItemFinder:
    """Finds the item that a row names by its id or its text."""

    def __init__(self, store: Store, project: Project, source: Source) -> None:
        """Raise BadFile if *source* lacks the columns of known answers."""
        self.store, self.project = store, project
        self.texts = [name for name in TEXT_COLUMNS if name in source.columns]
        self.context: str | None = None
        if project.kind == "generations":
            named = guess_columns(source.columns).named
            self.texts += [named[key] for key in ("completion", "generation") if key in named]
            self.context = named.get("context")
        if CHOICE not in source.columns or not ("item" in source.columns or self.texts):
            message = N_("{file} contains no known answers: it needs the columns {wanted} and choice. It has {found}.")
            columns = ", ".join(source.columns[:20]) or "–"
            raise BadFile(message, file=source.name, wanted="item / text", found=columns)

    def item(self, values: Mapping[str, Any]) -> str:
        """Return the public id of the item that a row names. Raises BadFile if it names none, or several."""
        if uid := text_value(values, "item"):
            return uid
        text = next((values[key] for key in self.texts if isinstance(values.get(key), str) and values[key].strip()), "")
        if not text:
            raise BadFile(N_("The row does not name an item."))
        if self.project.kind == "generations":
            return self._generation(text, text_value(values, self.context or ""))
        found = find_item(self.store, self.project, text) or find_item(self.store, self.project, text.strip())
        if found is None:
            raise BadFile(N_("This project has no item with this text."))
        return found.uid

    def _generation(self, text: str, context: str) -> str:
        found = self._generations.get(text.strip(), {})
        if context:
            found = {uid: of for uid, of in found.items() if of == context}
        if not found:
            raise BadFile(N_("This project has no item with this text."))
        if len(found) > 1:
            message = N_("{number} items have this text. Name the item by its id, or add the column context.")
            raise BadFile(message, number=len(found))
        return next(iter(found))

    @cached_property
    def _generations(self) -> Mapping[str, Mapping[str, str]]:
        """Text of a completion, or context and completion -> public id and context of each item with that text."""
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for item in items(self.store, self.project):
            context = item.context or ""
            for text in (item.text, context + item.text):
                found[text.strip()][item.uid] = context.strip()
        return found


def find_item(store: Store, project: Project, asked: str) -> Item | None:
    """The item with that public id or, for sentences, with exactly that text; or None."""
    by_text = uid_of_hash(store, project, text_hash(asked)) if project.kind == "sentences" else None
    try:
        return one_item(store, project, by_text or asked)
    except NotFound:
        return None
