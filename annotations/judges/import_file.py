"""Labels of a judge from a file: a row an item, `item` (its public id) and `label`.

Optional columns: `extraneous` (0 or 1), `spans` (JSON: [[start, end, "pronoun" or "extraneous"], ...], code points),
`shares` (JSON: a share from 0 to 1 for each choice).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.judges import (
    LABELLED,
    Judge,
    Spec,
    add_judge,
    choices_of,
    labelled_items,
    store_labels,
)
from evenhand.annotations.labels.checks import check_flag, check_marks, mark_kinds, parse_marks
from evenhand.annotations.types import Guideline, Project
from evenhand.core.errors import N_, BadFile, BadLine, EvenhandError
from evenhand.core.files.readers import Row, Source, file_sha256, open_source, rows
from evenhand.core.judges.prompts import JudgeLabel

NEEDED = ("item", "label")
LISTED = 10_000  # bad lines of a report
FLAGS = {"0": False, "1": True, "false": False, "true": True, "0.0": False, "1.0": True}


@dataclass(slots=True)
class JudgeImport:
    """The report: `imported` are new, `duplicates` are of items that this judge had labelled."""

    rows: int = 0
    imported: int = 0
    duplicates: int = 0
    rejected: int = 0
    errors: list[BadLine] = field(default_factory=list)

    def note(self, error: BadLine) -> None:
        """Count a line that could not be used; the first 10,000 are listed."""
        self.rejected += 1
        if len(self.errors) < LISTED:
            self.errors.append(error)


def import_judge(
    store: Store, project: Project, file: Path, name: str, *, version: int | None = None, author: str = ""
) -> tuple[Judge, JudgeImport]:
    """Append the labels of *file* to the judge *name*, which is added if it is not there.

    A further file under the same name adds what is missing; an item that is labelled stays as it is. *version*: of the
    guideline whose choices the labels are; None: the newest. Raises BadFile where the file or a column is missing.
    """
    source = open_source(file)
    columns = {one.strip().lower() for one in source.columns}
    if source.shape == "text" or not set(NEEDED) <= columns:
        missing = next((one for one in NEEDED if one not in columns), NEEDED[0])
        message = N_("{file} has no column {column}; it needs {needed}.")
        raise BadFile(message, file=source.name, column=missing, needed=", ".join(NEEDED))
    guideline = choices_of(store, project, version)
    spec = Spec("file", guideline.version, f"file|{name.strip()}|guideline={guideline.version}", model=name.strip())
    found = add_judge(store, project, name, spec, author=author)
    report = JudgeImport()
    reader = _Reader(store, project, source, guideline, found, report)
    report.imported = store_labels(store, found, reader.labels())
    with store.write():
        record(
            store, project, LABELLED, author=author, judge=found.name, file=source.name, sha256=file_sha256(file),
            labels=report.imported,
        )  # fmt: skip
    return found, report


class _Reader:
    """The rows of a file as labels; those that are none are noted."""

    def __init__(
        self, store: Store, project: Project, source: Source, guideline: Guideline, found: Judge, report: JudgeImport
    ) -> None:
        self.items = {item.uid: (item.id, len(item.text)) for item in items(store, project)}
        self.source, self.guideline, self.report = source, guideline, report
        self.choices = {one.code for one in guideline.choices}
        self.there = labelled_items(store, found)

    def labels(self) -> Iterator[JudgeLabel]:
        for row in rows(self.source):
            self.report.rows += 1
            try:
                if row.problem is not None:
                    raise row.problem
                label = self._label(row)
            except BadLine as error:
                self.report.note(error)
                continue
            except EvenhandError as error:  # of a mark
                self.report.note(BadLine(self.source.name, row.line, "spans", error.message, **error.values))
                continue
            if label.item in self.there:
                self.report.duplicates += 1
                continue
            self.there.add(label.item)
            yield label

    def _label(self, row: Row) -> JudgeLabel:
        cells = {name.strip().lower(): value for name, value in row.values.items()}
        uid, choice = (str(cells.get(name) or "").strip() for name in NEEDED)
        if uid not in self.items:
            raise self._bad(row, "no_item", N_("This project has no item {item}."), item=uid[:40])
        if choice not in self.choices:
            message = N_("{label} is not a choice of this guideline. Choices: {choices}.")
            raise self._bad(row, "label", message, label=choice[:40], choices=", ".join(sorted(self.choices)))
        item, length = self.items[uid]
        spans = parse_marks(self._json(row, cells, "spans") or [])
        check_marks(spans, length, mark_kinds(self.guideline))
        flag = str(cells.get("extraneous") if cells.get("extraneous") is not None else "").strip().lower()
        if flag and flag not in FLAGS:
            raise self._bad(row, "extraneous", N_("{value} is not a flag; use 0 or 1."), value=flag[:40])
        check_flag(self.guideline, FLAGS.get(flag))
        marks = tuple((one.start, one.end, str(one.kind)) for one in spans)
        return JudgeLabel(item, choice, FLAGS.get(flag), marks, self._shares(row, cells))

    def _shares(self, row: Row, cells: dict[str, Any]) -> dict[str, float] | None:
        found = self._json(row, cells, "shares")
        if found is None:
            return None
        if not isinstance(found, dict) or not all(
            key in self.choices and isinstance(value, int | float) and 0 <= value <= 1 for key, value in found.items()
        ):
            raise self._bad(row, "shares", N_("Shares are a JSON object: a number from 0 to 1 for each choice."))
        return {key: float(value) for key, value in found.items()}

    def _json(self, row: Row, cells: dict[str, Any], name: str) -> Any:
        """The value of a cell that may hold JSON, in a table as text; None for an empty one."""
        value = cells.get(name)
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise self._bad(row, name, N_("The value in column {column} is not JSON."), column=name) from error

    def _bad(self, row: Row, reason: str, message: str, **values: Any) -> BadLine:
        return BadLine(self.source.name, row.line, reason, message, **values)
