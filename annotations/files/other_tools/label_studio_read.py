"""Reading exports of Label Studio: JSON and JSON lines with tasks, JSON_MIN and CSV with one annotation per row."""

import json
from collections.abc import Iterable, Mapping
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
# Columns of one annotation per row beside the task's data and the results.
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


def are_tasks(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the first rows are Label Studio's: tasks with `data`, or one annotation per row."""
    first = list(rows)
    tasks = [row for row in first if isinstance(row.get("data"), dict)]
    flat = [row for row in first if {"annotation_id", "lead_time"} <= row.keys()]
    return bool(first) and (len(tasks) == len(first) or len(flat) == len(first))


def read(values: Mapping[str, Any], column: str) -> Task:
    """The task of a row; *column* is the key of the text that is judged, which marks point into."""
    data = values.get("data")
    if not isinstance(data, dict):
        return _row(values, column)
    text = data.get(column) if isinstance(data.get(column), str) else ""
    given: list[Any] = next((values[key] for key in ANNOTATIONS if isinstance(values.get(key), list)), [])
    labels = tuple(_annotation(one, str(text)) for one in given if isinstance(one, dict))
    own = dict(data)
    if "item" not in own and isinstance(values.get("id"), int | str):
        own.setdefault("task_id", values["id"])
    return Task(own, labels, _number(values.get("predictions")), _number(values.get("drafts")))


def _number(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _annotation(values: Mapping[str, Any], text: str) -> TaskLabel:
    given = values.get("result")
    results = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    made = _operation_values(values, results)
    names: list[str] = []
    notes: list[str] = []
    marks: list[tuple[int, int, str]] = []
    flag = None
    other = sum(one.get("type") not in READ for one in results)
    for one in results:
        value = one.get("value")
        if not isinstance(value, dict):
            continue
        if one.get("from_name") == "extraneous" and one.get("type") == "choices":
            flag = {"yes": True, "no": False}.get("".join(strings(value.get("choices"))))
        else:
            names += _chosen(value) or _preferred(one.get("type"), value)
        notes += strings(value.get("text")) if one.get("type") == "textarea" else ()
        marks += _marks(one.get("type"), value, text)
    return TaskLabel(
        who=_who(values.get("completed_by")),
        names=tuple(names),
        marks=tuple(marks),
        note="\n".join(notes),
        flag=flag,
        seconds=seconds_of(values.get("lead_time")),
        created=moment_of(values.get("created_at")),
        key=str(values.get("unique_id") or values.get("id") or ""),
        skipped=bool(values.get("was_cancelled") or values.get("skipped")),
        truth=values.get("ground_truth") is True,
        other=other,
        made=made,
    )


def _operation_values(values: Mapping[str, Any], results: list[dict[str, Any]]) -> dict[str, Any]:
    """The data of this app: in a result, or beside the results in early exports; nothing for a copy."""
    if values.get("parent_annotation") is not None:
        return {}
    return next((one[OWN] for one in (*results, values) if isinstance(one.get(OWN), dict)), {})


def _chosen(value: Mapping[str, Any]) -> list[str]:
    names = list(strings(value.get("choices")))
    taxonomy = value.get("taxonomy")
    for path in taxonomy if isinstance(taxonomy, list) else []:
        names += strings(path)[-1:]  # the last word of a path through the tree
    return names


def _preferred(kind: Any, value: Mapping[str, Any]) -> list[str]:
    """What a Pairwise says: its left text is the first one of the task."""
    side = {"left": FIRST, "right": SECOND}.get(str(value.get("selected")))
    return [side] if kind == "pairwise" and side else []


def _marks(kind: Any, value: Mapping[str, Any], text: str) -> list[tuple[int, int, str]]:
    if kind not in MARKS:
        return []
    offsets = value.get("globalOffsets")
    start, end = value.get("start"), value.get("end")
    if isinstance(offsets, dict):
        start, end = offsets.get("start"), offsets.get("end")
    found = span_in_text(text, start, end, value.get("text"))
    return [(*found, name) for key in MARKS for name in strings(value.get(key))] if found else []


def _who(value: Any) -> str:
    """The annotator in the file: e-mail, name, or number."""
    if isinstance(value, dict):
        name = " ".join(strings([value.get("first_name"), value.get("last_name")]))
        known = (*strings(value.get("email")), name, *strings(value.get("username")), _who(value.get("id")))
        return next(filter(None, known), "")
    return "".join(strings([value])) if not isinstance(value, bool) else ""


def _row(values: Mapping[str, Any], column: str) -> Task:
    """A row of JSON_MIN or CSV: the task's data and one annotation."""
    text = values.get(column) if isinstance(values.get(column), str) else ""
    names: list[str] = []
    notes: list[str] = []
    marks: list[tuple[int, int, str]] = []
    own: dict[str, Any] = {}
    flag, other = None, 0
    answers = _answers(values)
    for key, given in values.items():
        value = _unpacked(given)
        if key == column:
            own[key] = given
        elif key == "extraneous" and value in ("yes", "no"):
            flag = value == "yes"
        elif isinstance(value, dict) and "choices" in value:
            names += strings(value["choices"])
        elif _are_marks(value):
            marks += [mark for one in value for mark in _marks("labels", one, str(text))]
        elif key.lower() in NOTE_COLUMNS or (key in answers and isinstance(value, dict) and "text" in value):
            notes += strings(value.get("text") if isinstance(value, dict) else value)
        elif key.lower() in CHOICE_COLUMNS or (key in answers and isinstance(value, str)):
            names += strings(value)
        elif key in answers:
            other += 1
        elif key not in ROW:
            own[key] = given
    if isinstance(values.get("id"), int | str):
        own.setdefault("task_id", values["id"])
    if values.get("annotation_id") in (None, ""):
        return Task(own)
    one = TaskLabel(
        who=_who(values.get("annotator")), names=tuple(names), marks=tuple(marks), note="\n".join(notes), flag=flag,
        seconds=seconds_of(values.get("lead_time")), created=moment_of(values.get("created_at")),
        key=str(values["annotation_id"]), other=other,
    )  # fmt: skip
    return Task(own, (one,))


def _answers(values: Mapping[str, Any]) -> set[str]:
    """The keys of JSON_MIN that are answers: those between the task's id and the annotator."""
    keys = list(values)
    if "id" not in keys or "annotator" not in keys or keys == sorted(keys):
        return set()
    return set(keys[keys.index("id") + 1 : keys.index("annotator")])


def _unpacked(value: Any) -> Any:
    """A cell of the CSV export holds lists and objects as JSON."""
    if isinstance(value, str) and value[:1] in "[{" and value[-1:] in ("]", "}"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _are_marks(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and "start" in one and set(MARKS) & one.keys() for one in value)
    )
