"""The way out: a release in the published layout, everything as JSON lines, or the labels. Nothing half-written."""

import csv
import io
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

from annotations.decisions import each_label_row
from annotations.formats.cells import neutralised
from annotations.formats.layouts import GENERATION_KEYS, ITEM_KEYS, SLGUSET, SPAN_KEYS
from annotations.items import items as stored_items
from annotations.projects import annotators
from annotations.store import Store
from annotations.types import Item, Project
from core.errors import N_, BadFile, Refused

ExportFormat = Literal["slguset", "jsonl", "labels"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = ("slguset", "jsonl", "labels")
ENDING: dict[ExportFormat, str] = {"slguset": ".csv", "jsonl": ".jsonl", "labels": ".csv"}
LABELS = (
    *("item", "annotator", "choice", "reasons", "extraneous", "spans", "note", "seconds", "guideline"),
    *("after_reveal", "form_shown", "text", "op_id", "created"),
)
HISTORY = (*LABELS, "base", "superseded")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an export should hold.

    `items`: all, or only accepted ones (what a release uses). For labels:
    `names` writes the annotators' names instead of A1, A2, ...; `history`
    writes every operation, the replaced and taken-back ones too.
    """

    format: ExportFormat
    items: Literal["all", "accepted"] = "all"
    names: bool = False
    history: bool = False


@dataclass(frozen=True, slots=True)
class ExportReport:
    """How many rows (without the header) an export wrote."""

    rows: int


def wanted(format: str, *, items: str = "all", names: bool = False, history: bool = False) -> Wanted:
    """The wish as a value. Raises BadFile for a format or a choice of items that does not exist."""
    if format not in EXPORT_FORMATS or items not in ("all", "accepted"):
        message = N_("There is no export {format} of {items} items; formats are {formats}, items all or accepted.")
        raise BadFile(message, format=format, items=items, formats=", ".join(EXPORT_FORMATS))
    return Wanted(format, "accepted" if items == "accepted" else "all", names, history)


def export_file(
    store: Store,
    project: Project,
    out: Path | str,
    *,
    format: str,
    items: str = "all",
    names: bool = False,
    history: bool = False,
) -> ExportReport:
    """Write *project* to *out* and say how many rows it has.

    `slguset`: the published four columns with the stems and the position of
    the word; `jsonl`: everything about the items, importing it gives the same
    items with the same ids; `labels`: one row per item and annotator. The
    file appears under its name only when it is whole. Raises BadFile where it
    cannot be written, Refused where the project is of another kind.
    """
    wish = wanted(format, items=items, names=names, history=history)
    with _whole(Path(out)) as file:
        written = sum(1 for line in lines(store, project, wish) if file.write(line))
    return ExportReport(written - (wish.format != "jsonl"))


def export_preview(store: Store, project: Project, wish: Wanted, *, limit: int = 10) -> str:
    """The file as it will begin: the header, if the format has one, and the first *limit* rows."""
    return "".join(islice(lines(store, project, wish), limit + (wish.format != "jsonl")))


def lines(store: Store, project: Project, wish: Wanted) -> Iterator[str]:
    """The export line by line, header first; one item or label a line (a note may hold line breaks)."""
    if wish.format == "labels":
        yield from _label_lines(store, project, wish)
    elif wish.format == "slguset":
        if project.kind != "sentences":
            message = N_("{project} holds generations; SlguSet is a format of sentences. Use jsonl or labels.")
            raise Refused(message, project=project.name)
        yield _csv_line(SLGUSET)
        for item in stored_items(store, project, accepted_only=wish.items == "accepted"):
            yield _csv_line(_released_row(item))
    else:
        for item in stored_items(store, project, accepted_only=wish.items == "accepted"):
            yield json.dumps(_object(item), ensure_ascii=False, allow_nan=False) + "\n"


@contextmanager
def _whole(path: Path) -> Iterator[IO[str]]:
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with part.open("x", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        message = N_("{file} cannot be written: {why}.")
        raise BadFile(message, file=path.name or str(path), why=error.strerror or error) from error
    finally:
        part.unlink(missing_ok=True)


def _csv_line(cells: Any) -> str:
    line = io.StringIO()
    # \r\n as the released file has it; it also makes every Python quote a bare \r.
    csv.writer(line, lineterminator="\r\n").writerow([neutralised(str(cell)) for cell in cells])
    return line.getvalue()


def _stems(item: Item) -> tuple[str, str]:
    word, stem, counterpart = item.word or (0, 0), item.stem or (0, 0), item.counterpart or ""
    before, after = stem[0] - word[0], word[1] - stem[1]
    return item.text[slice(*stem)], counterpart[before : len(counterpart) - after]


def _released_row(item: Item) -> tuple[str, str, str, str]:
    stem, counter_stem = _stems(item)
    return item.text, json.dumps(item.word), stem, counter_stem


def _object(item: Item) -> dict[str, Any]:
    place = {"status": item.status, "file": item.file, "line": item.line}
    if item.word is None or item.stem is None:
        own = {"item": item.uid, "context": item.context, "completion": item.text} | place
    else:
        spans = (*item.word, *item.stem, item.keyword, item.counterpart, item.pair)
        own = {"item": item.uid, "sentence": item.text, **dict(zip(SPAN_KEYS, spans, strict=True)), "side": item.side}
        own |= place
    reserved = GENERATION_KEYS if item.word is None else ITEM_KEYS
    clashing = {name: value for name, value in item.extra.items() if name in reserved}
    free = {name: value for name, value in item.extra.items() if name not in reserved}
    return own | free | ({"extra": clashing} if clashing else {})


def _label_lines(store: Store, project: Project, wish: Wanted) -> Iterator[str]:
    header = HISTORY if wish.history else LABELS
    yield _csv_line(header)
    codes = {one.name: f"A{number}" for number, one in enumerate(annotators(store, project, active=False), 1)}
    accepted = None
    if wish.items == "accepted":
        accepted = {item.uid for item in stored_items(store, project, accepted_only=True)}
    for row in each_label_row(store, project, which="all" if wish.history else "latest"):
        if accepted is None or row["item"] in accepted:
            if not wish.names:
                row = row | {"annotator": codes.setdefault(row["annotator"], f"A{len(codes) + 1}")}
            yield _csv_line([_cell(key, row.get(key)) for key in header])


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if key == "reasons":
        return ";".join(value)
    return json.dumps(value) if isinstance(value, list | tuple) else str(value)
