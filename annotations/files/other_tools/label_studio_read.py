"""Reading exports of Label Studio: JSON and JSON lines with tasks, JSON_MIN and CSV with one annotation per row."""

import json
from collections.abc import Mapping
from typing import Any

from evenhand.annotations.files.other_tools.tasks import (
    OWN,
    Task,
    TaskLabel,
    moment_of,
    seconds_of,
    span_in_text,
    strings,
)
from evenhand.annotations.guideline.scheme import FIRST, SECOND

ANNOTATIONS = ("annotations", "completions")  # the second until 2021
# Columns of one annotation per row, in addition to the task's data and the results.
ROW = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
# CSV sorts its columns, so only the names tell the answers. In JSON_MIN they follow the task's id.
CHOICE_COLUMNS = (
    *("choice", "choices", "label", "labels", "decision", "sentiment", "verdict", "category", "class", "answer"),
    *("reason", "reasons", "why", "extraneous"),
)
NOTE_COLUMNS = ("note", "notes", "comment", "comments", "remark", "remarks", "explanation", "备注", "说明")
MARKS = ("labels", "hypertextlabels")
READ = (
    *MARKS,
    "choices",
    "pairwise",
    "taxonomy",
    "textarea",
)  # results that are read; others (ratings, relations) are counted


def is_task(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is Label Studio's: a task with `data`, or one annotation."""
    return isinstance(row.get("data"), dict) or {"annotation_id", "lead_time"} <= row.keys()


def read(values: Mapping[str, Any], column: str) -> Task:
    """Return the task of a row; *column* is the key of the judged text, which marks point into."""
    data = values.get("data")
    if not isinstance(data, dict):
        return _row(values, column)
    text = data.get(column) if isinstance(data.get(column), str) else ""
    given: list[Any] = next((values[key] for key in ANNOTATIONS if isinstance(values.get(key), list)), [])
    labels = tuple(_annotation(entry, str(text)) for entry in given if isinstance(entry, dict))
    own = dict(data)
    if "item" not in own and isinstance(values.get("id"), int | str):
        own.setdefault("task_id", values["id"])
    counts = (len(several) if isinstance(several := values.get(key), list) else 0 for key in ("predictions", "drafts"))
    return Task(own, labels, *counts)


def _annotation(values: Mapping[str, Any], text: str) -> TaskLabel:
    given = values.get("result")
    results = [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []
    made: dict[str, Any] = {}
    if values.get("parent_annotation") is None:  # of a copy nothing
        # The data of this app: in a result, or next to the results in early exports.
        made = next((entry[OWN] for entry in (*results, values) if isinstance(entry.get(OWN), dict)), {})
    label = TaskLabel(
        who=_who(values.get("completed_by")), seconds=seconds_of(values.get("lead_time")),
        created=moment_of(values.get("created_at")), key=str(values.get("unique_id") or values.get("id") or ""),
        skipped=bool(values.get("was_cancelled") or values.get("skipped")), truth=values.get("ground_truth") is True,
        other=sum(result.get("type") not in READ for result in results), made=made,
    )  # fmt: skip
    for result in results:
        value = result.get("value")
        if not isinstance(value, dict):
            continue
        if result.get("from_name") == "extraneous" and result.get("type") == "choices":
            label.flag = {"yes": True, "no": False}.get("".join(strings(value.get("choices"))))
        else:
            label.names += _chosen(result.get("type"), value)
        label.notes += strings(value.get("text")) if result.get("type") == "textarea" else ()
        label.marks += _marks(result.get("type"), value, text)
    return label


def _chosen(kind: Any, value: Mapping[str, Any]) -> list[str]:
    """Return the choices of a result. The left text of a Pairwise is the first one of the task."""
    names = list(strings(value.get("choices")))
    taxonomy = value.get("taxonomy")
    for path in taxonomy if isinstance(taxonomy, list) else []:
        names += strings(path)[-1:]  # the last word of a path through the tree
    side = {"left": FIRST, "right": SECOND}.get(str(value.get("selected")))
    return names or ([side] if kind == "pairwise" and side else [])


def _marks(kind: Any, value: Mapping[str, Any], text: str) -> list[tuple[int, int, str]]:
    if kind not in MARKS:
        return []
    offsets = value.get("globalOffsets")
    start, end = value.get("start"), value.get("end")
    if isinstance(offsets, dict):
        start, end = offsets.get("start"), offsets.get("end")
    span = span_in_text(text, start, end, value.get("text"))
    return [(*span, name) for key in MARKS for name in strings(value.get(key))] if span else []


def _who(value: Any) -> str:
    """Return the annotator in the file: e-mail, name, or number."""
    if isinstance(value, dict):
        name = " ".join(strings([value.get("first_name"), value.get("last_name")]))
        known = (*strings(value.get("email")), name, *strings(value.get("username")), _who(value.get("id")))
        return next(filter(None, known), "")
    return "".join(strings([value])) if not isinstance(value, bool) else ""


def _row(values: Mapping[str, Any], column: str) -> Task:
    """Return the task of a row of JSON_MIN or CSV: the task's data and one annotation."""
    text = values.get(column) if isinstance(values.get(column), str) else ""
    label = TaskLabel(
        who=_who(values.get("annotator")), seconds=seconds_of(values.get("lead_time")),
        created=moment_of(values.get("created_at")), key=str(values.get("annotation_id")),
    )  # fmt: skip
    own: dict[str, Any] = {}
    answers = _answers(values)
    for key, given in values.items():
        value = _unpacked(given)
        if key == column:
            own[key] = given
        elif key == "extraneous" and value in ("yes", "no"):
            label.flag = value == "yes"
        elif isinstance(value, dict) and "choices" in value:
            label.names += strings(value["choices"])
        elif isinstance(value, list) and value and all(map(_is_mark, value)):
            label.marks += [mark for entry in value for mark in _marks("labels", entry, str(text))]
        elif key.lower() in NOTE_COLUMNS or (key in answers and isinstance(value, dict) and "text" in value):
            label.notes += strings(value.get("text") if isinstance(value, dict) else value)
        elif key.lower() in CHOICE_COLUMNS or (key in answers and isinstance(value, str)):
            label.names += strings(value)
        elif key in answers:
            label.other += 1
        elif key not in ROW:
            own[key] = given
    if isinstance(values.get("id"), int | str):
        own.setdefault("task_id", values["id"])
    return Task(own, () if values.get("annotation_id") in (None, "") else (label,))


def _answers(values: Mapping[str, Any]) -> set[str]:
    """Return the keys of JSON_MIN that are answers: those between the task's id and the annotator."""
    keys = list(values)
    if "id" not in keys or "annotator" not in keys or keys == sorted(keys):
        return set()
    return set(keys[keys.index("id") + 1 : keys.index("annotator")])


def _unpacked(value: Any) -> Any:
    """Return a cell of the CSV export with its lists and objects, which are JSON."""
    if isinstance(value, str) and value[:1] in "[{" and value[-1:] in ("]", "}"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _is_mark(value: Any) -> bool:
    return isinstance(value, dict) and "start" in value and bool(set(MARKS) & value.keys())
