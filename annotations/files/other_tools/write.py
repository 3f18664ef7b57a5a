"""Writing a project for Label Studio, as a JSON file and a labelling configuration, and for doccano, as JSON lines.

doccano reads a file as a table and refuses it if a line lacks a column. So every line has the same few keys. One of
them holds all data of the item and the label; doccano keeps and exports it.
"""

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.files.label_tables import item_object, labelled_items, origin_columns
from evenhand.annotations.files.other_tools.tasks import OWN
from evenhand.annotations.labels.checks import mark_kinds
from evenhand.annotations.labels.read import LabelRow
from evenhand.annotations.text_policy import CANARY_ID, CANARY_KEY, needs_canary
from evenhand.annotations.types import Choice, Guideline, Item, Project
from evenhand.core.files.csv_out import json_line

FLAG = {True: "yes", False: "no"}


def tasks_out(store: Store, project: Project, wish: ExportOptions) -> Iterator[str]:
    """Yield the project as an array of tasks, one per line; `data.text` is the judged text (generations: `completion`).

    Choice, reasons, note and marks of each annotator are results as Label Studio writes them. The annotator is in the
    first result under "evenhand", which Label Studio keeps. It is not in `completed_by`, because Label Studio refuses
    files with unknown users.
    """
    yield "[\n"
    before = ""
    for number, (item, labels) in enumerate(labelled_items(store, project, wish), 1):
        if before:
            yield before + ",\n"
        before = task(project, item, labels, number, item_object(item))
    if before:
        yield before + "\n"
    yield "]\n"


def task(project: Project, item: Item, labels: list[LabelRow], number: int, data: dict[str, Any]) -> str:
    """Return a task as JSON, without a separator between tasks. *number*: from 1; *data*: of `item_object`."""
    canary = {CANARY_KEY: CANARY_ID} if needs_canary(project) else {}
    if item.word is not None:  # as in the export as JSON lines, the sentence under "text"
        values = dict(data)
        clash = {"text": values.pop("text")} if "text" in values else {}
        own = {"item": values.pop("item"), "text": values.pop("sentence")}
        data = own | values | ({"extra": values.get("extra", {}) | clash} if clash else {})
    made = {
        "id": number,
        "data": data | canary,
        "annotations": [_annotation(item, row) for row in labels],
        "predictions": [],
    }
    return json_line(made).rstrip("\n")


def _annotation(item: Item, row: LabelRow) -> dict[str, Any]:
    results = [_result("choice", "choices", {"choices": [row["choice"]]})]
    if row["reasons"]:
        results.append(_result("reasons", "choices", {"choices": row["reasons"]}))
    if row["extraneous"] is not None:
        results.append(_result("extraneous", "choices", {"choices": [FLAG[row["extraneous"]]]}))
    for start, end, kind in row["spans"]:
        value = {"start": start, "end": end, "text": item.text[start:end], "labels": [kind]}
        results.append(_result("marks", "labels", value))
    if row["note"]:
        results.append(_result("note", "textarea", {"text": [row["note"]]}))
    results[0][OWN] = origin_columns(row)
    return {
        "result": [result | {"id": f"r{number}"} for number, result in enumerate(results, 1)],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": row["created"],
        "lead_time": row["seconds"],
    }


def _result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "origin": "manual", "value": value}


def labelling_config(project: Project, guideline: Guideline) -> str:
    """Return the labelling configuration (XML) that fits the file: its choices, reasons, marks and a note."""
    generations = project.kind == "generations"
    lines = ["<View>"]
    if generations:
        lines.append('  <Text name="context" value="$context"/>')
    lines.append(f'  <Text name="text" value="{"$completion" if generations else "$text"}"/>')
    if guideline.compares:
        lines.append('  <Text name="second" value="$second"/>')
    lines += _choices("choice", guideline.choices, 'choice="single" required="true" showInLine="true"')
    if guideline.beside:
        lines += _choices("reasons", guideline.beside, 'choice="multiple"')
    if generations and guideline.scheme is None:
        flag = [Choice("yes", "", "是", "yes"), Choice("no", "", "否", "no")]
        lines += _choices("extraneous", flag, 'choice="single" showInLine="true"')
    if generations and mark_kinds(guideline):
        lines.append('  <Labels name="marks" toName="text">')
        lines += [f'    <Label value="{kind}"/>' for kind in mark_kinds(guideline)]
        lines.append("  </Labels>")
    lines.append('  <TextArea name="note" toName="text" rows="2" maxSubmissions="1" editable="true"/>')
    return "\n".join([*lines, "</View>", ""])


def _choices(name: str, options: tuple[Choice, ...] | list[Choice], how: str) -> list[str]:
    # The value is the stored code, so that an import recognises it; the name is a hint.
    rows = [
        f'    <Choice value="{_attribute(option.code)}" hint="{_attribute(f"{option.zh} / {option.en}")}"/>'
        for option in options
    ]
    return [f'  <Choices name="{name}" toName="text" {how}>', *rows, "  </Choices>"]


def _attribute(text: str) -> str:
    return html.escape(text, quote=True).replace("\n", "&#10;").replace("\t", "&#9;")


UNLABELLED = "unlabelled"
_UNSAFE = re.compile(r"[^\w .@+-]")


def gold_line(project: Project, item: Item, number: int, data: dict[str, Any]) -> str:
    """Return the line of an item in one file of all: the label is the gold label, [] if there is none yet.

    *number*: of the line, from 1; *data*: of `item_object`.
    """
    return json_line(_line(project, item, number, [item.gold] if item.gold else [], None, data))


def files_out(store: Store, project: Project, wish: ExportOptions) -> dict[str, str]:
    """Return JSON lines by file name: one file per annotator, with their items, and one of unlabelled items.

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
        number, taken = 2, {text.casefold() for text in names.values()}
        name = base = safe_name(who)
        while name.casefold() in taken:
            name, number = f"{base}-{number}", number + 1
        names[who] = name
    return {f"{names[who]}.jsonl": "".join(lines) for who, lines in parts.items()} or {f"{UNLABELLED}.jsonl": ""}


def safe_name(who: str) -> str:
    """Return the name of an annotator as part of a file name."""
    return _UNSAFE.sub("_", who).strip(" .")[:80] or UNLABELLED


def _line(
    project: Project, item: Item, number: int, labels: Sequence[str | None], row: LabelRow | None, data: dict[str, Any]
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
