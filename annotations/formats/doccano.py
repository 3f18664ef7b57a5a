"""doccano: a project as its JSON lines, one file for each annotator as doccano itself exports, or all in one."""

import re
from collections.abc import Iterator
from typing import Any

from annotations.formats.label_studio import data_of
from annotations.formats.labelled import MADE, labelled_items
from annotations.formats.lines import json_line
from annotations.formats.tasks import OWN
from annotations.formats.wishes import Wanted
from annotations.leaving import CANARY_ID, CANARY_KEY, needs_canary
from annotations.store import Store
from annotations.types import Item, Project

UNLABELLED = "unlabelled"
_UNSAFE = re.compile(r"[^\w .@+-]")


def lines_out(store: Store, project: Project, wish: Wanted) -> Iterator[str]:
    """All items in one file, a line each: `label` is the choice that counts (gold), [] where there is none yet."""
    for number, (item, _labels) in enumerate(labelled_items(store, project, wish), 1):
        yield json_line(_line(project, item, number, [item.gold] if item.gold else [], [], ""))


def files_out(store: Store, project: Project, wish: Wanted) -> dict[str, str]:
    """File name -> JSON lines: one file per annotator with what this one labelled, and one of what nobody has.

    `label` holds the choice and the codes of the reasons, `entities` the marks, `Comments` the note.
    """
    parts: dict[str, list[str]] = {}
    for number, (item, labels) in enumerate(labelled_items(store, project, wish), 1):
        for row in labels:
            line = _line(project, item, number, [row["choice"], *row["reasons"]], row["spans"], row["note"])
            parts.setdefault(row["annotator"], []).append(_with_origin(line, row))
        if not labels:
            parts.setdefault("", []).append(json_line(_line(project, item, number, [], [], "")))
    names: dict[str, str] = {}
    for who in parts:
        names[who] = _file_name(who, set(names.values()))
    return {f"{names[who]}.jsonl": "".join(lines) for who, lines in parts.items()} or {f"{UNLABELLED}.jsonl": ""}


def _file_name(who: str, taken: set[str]) -> str:
    name = _UNSAFE.sub("_", who).strip(" .")[:80] or UNLABELLED
    number = 2
    base = name
    while name.casefold() in {one.casefold() for one in taken}:
        name, number = f"{base}-{number}", number + 1
    return name


def _line(
    project: Project, item: Item, number: int, labels: list[str], spans: list[list[Any]], note: str
) -> dict[str, Any]:
    values = data_of(item)
    text = values.pop("completion" if item.word is None else "text")
    line: dict[str, Any] = {"id": number, "text": text, "label": labels}
    if project.kind == "generations":
        line["entities"] = [
            {"id": place, "label": kind, "start_offset": start, "end_offset": end}
            for place, (start, end, kind) in enumerate(spans, 1)
        ]
    line["Comments"] = [note] if note else []
    canary = {CANARY_KEY: CANARY_ID} if needs_canary(project) else {}
    clash = {key: values.pop(key) for key in list(values) if key in line or key == OWN}
    extra = {"extra": values.pop("extra", {}) | clash} if clash else {}
    return line | values | extra | canary


def _with_origin(line: dict[str, Any], row: dict[str, Any]) -> str:
    origin = {"annotator": row["annotator"]} | {key: row[key] for key in (*MADE, "extraneous", "seconds", "created")}
    return json_line(line | {OWN: origin})
