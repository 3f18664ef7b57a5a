"""Writing a project as a JSON file for Label Studio, with a labelling configuration."""

import html
from collections.abc import Iterator
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.files.item_lines import item_object
from evenhand.annotations.files.label_tables import labelled_items, origin_columns
from evenhand.annotations.files.other_tools.tasks import OWN
from evenhand.annotations.labels.checks import mark_kinds
from evenhand.annotations.text_policy import CANARY_ID, CANARY_KEY, needs_canary
from evenhand.annotations.types import Choice, Guideline, Item, Project
from evenhand.core.files.csv_out import json_line

FLAG = {True: "yes", False: "no"}


def tasks_out(store: Store, project: Project, wish: ExportOptions) -> Iterator[str]:
    """The project as an array of tasks, a task a line; `data.text` is what is judged (generations: `completion`).

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


def task(project: Project, item: Item, labels: list[dict[str, Any]], number: int, data: dict[str, Any]) -> str:
    """A task as JSON, without what stands between tasks. *number*: from 1; *data*: of `item_object`."""
    canary = {CANARY_KEY: CANARY_ID} if needs_canary(project) else {}
    made = {
        "id": number,
        "data": _data_of(item, data) | canary,
        "annotations": [_annotation(item, row) for row in labels],
        "predictions": [],
    }
    return json_line(made).rstrip("\n")


def _data_of(item: Item, data: dict[str, Any]) -> dict[str, Any]:
    """The item as in the export as JSON lines, the sentence under "text"."""
    if item.word is None:
        return data
    values = dict(data)
    clash = {"text": values.pop("text")} if "text" in values else {}
    own = {"item": values.pop("item"), "text": values.pop("sentence")}
    extra = {"extra": values.get("extra", {}) | clash} if clash else {}
    return own | values | extra


def _annotation(item: Item, row: dict[str, Any]) -> dict[str, Any]:
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
        "result": [one | {"id": f"r{number}"} for number, one in enumerate(results, 1)],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": row["created"],
        "lead_time": row["seconds"],
    }


def _result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "origin": "manual", "value": value}


def labelling_config(project: Project, guideline: Guideline) -> str:
    """The labelling configuration (XML) that fits the file: its choices, reasons, marks and a note."""
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
        f'    <Choice value="{_attribute(one.code)}" hint="{_attribute(f"{one.zh} / {one.en}")}"/>' for one in options
    ]
    return [f'  <Choices name="{name}" toName="text" {how}>', *rows, "  </Choices>"]


def _attribute(text: str) -> str:
    return html.escape(text, quote=True).replace("\n", "&#10;").replace("\t", "&#9;")
