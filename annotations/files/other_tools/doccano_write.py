"""Writing a project as JSON lines for doccano: one file per annotator as doccano exports it, or one for all.

doccano reads a file as a table and refuses it if a line lacks a column. So every line has the same few keys. One of
them holds all data of the item and the label; doccano keeps and exports it.
"""

import re
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.files.item_lines import item_object
from evenhand.annotations.files.label_tables import labelled_items, origin_columns
from evenhand.annotations.files.other_tools.tasks import OWN
from evenhand.annotations.text_policy import CANARY_ID, CANARY_KEY, needs_canary
from evenhand.annotations.types import Item, Project
from evenhand.core.files.csv_out import json_line

UNLABELLED = "unlabelled"
_UNSAFE = re.compile(r"[^\w .@+-]")


def gold_line(project: Project, item: Item, number: int, data: dict[str, Any]) -> str:
    """The line of an item in one file of all: the label is the gold label, [] if there is none yet.

    *number*: of the line, from 1; *data*: of `item_object`.
    """
    return json_line(_line(project, item, number, [item.gold] if item.gold else [], None, data))


def files_out(store: Store, project: Project, wish: ExportOptions) -> dict[str, str]:
    """File name -> JSON lines: one file per annotator with the items that they labelled, and one of unlabelled items.

    `label` (of generations `cats`) holds the choice and the codes of the reasons, `entities` the marks, `Comments` the
    note.
    """
    parts: dict[str, list[str]] = {}
    for number, (item, labels) in enumerate(labelled_items(store, project, wish), 1):
        for row in labels:
            line = _line(project, item, number, [row["choice"], *row["reasons"]], row, item_object(item))
            parts.setdefault(row["annotator"], []).append(json_line(line))
        if not labels:
            parts.setdefault("", []).append(json_line(_line(project, item, number, [], None, item_object(item))))
    names: dict[str, str] = {}
    for who in parts:
        names[who] = _file_name(who, set(names.values()))
    return {f"{names[who]}.jsonl": "".join(lines) for who, lines in parts.items()} or {f"{UNLABELLED}.jsonl": ""}


def safe_name(who: str) -> str:
    """The name of an annotator as part of a file name."""
    return _UNSAFE.sub("_", who).strip(" .")[:80] or UNLABELLED


def _file_name(who: str, taken: set[str]) -> str:
    name = safe_name(who)
    number, base = 2, name
    while name.casefold() in {one.casefold() for one in taken}:
        name, number = f"{base}-{number}", number + 1
    return name


def _line(
    project: Project, item: Item, number: int, labels: list[str], row: dict[str, Any] | None, data: dict[str, Any]
) -> dict[str, Any]:
    generations = project.kind == "generations"
    column = "completion" if generations else "sentence"
    rest = {key: value for key, value in data.items() if key != column}  # it is a key of the line
    own = {"column": column, "data": rest} | (origin_columns(row) if row else {})
    line: dict[str, Any] = {"id": number, "text": item.text}
    if generations:
        line["context"] = item.context or ""
    # The keys of doccano's project types: text classification; "intent detection and slot filling" has marks too.
    line["cats" if generations else "label"] = labels
    if generations:
        spans = row["spans"] if row else []
        line["entities"] = [
            {"id": place, "label": kind, "start_offset": start, "end_offset": end}
            for place, (start, end, kind) in enumerate(spans, 1)
        ]
    line["Comments"] = [row["note"]] if row and row["note"] else []
    return line | ({CANARY_KEY: CANARY_ID} if needs_canary(project) else {}) | {OWN: own}
