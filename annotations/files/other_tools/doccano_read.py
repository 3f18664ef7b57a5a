"""Reading exports of doccano: classification, sequence labelling, or both; one file for all or one per annotator."""

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

LABELS = ("label", "labels", "cats")
NOTES = ("Comments", "comments")
WHO = ("annotator", "username", "user")
TEXTS = ("text", "data")  # the second in some versions


def are_tasks(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the first rows are doccano's: a text with a list of labels or entities."""
    first = list(rows)
    return bool(first) and all(_is_task(row) for row in first)


def _is_task(row: Mapping[str, Any]) -> bool:
    if not any(isinstance(row.get(key), str) for key in TEXTS):
        return False
    return any(isinstance(row.get(key), list) for key in (*LABELS, "entities")) or (
        isinstance(row.get("annotations"), list) and "annotation_approver" in row
    )


def read(values: Mapping[str, Any], column: str) -> Task:
    """The task of a line; *column* is the key of the text."""
    own = dict(values)
    text = next((own[key] for key in (column, *TEXTS) if isinstance(own.get(key), str)), "")
    data, made = _own_values(own, text)
    meta = own.get("meta")
    if isinstance(meta, dict) and "item" not in own:
        own = {key: value for key, value in own.items() if key != "meta"} | {
            key: value for key, value in meta.items() if key not in own
        }
    number = own.pop("id", None)
    if "item" not in own and isinstance(number, int | str):
        own["task_id"] = number
    names, marks = _labels(own, text)
    note = "\n".join(_notes(own)) or str(made.get("note") or "")
    by_user = _by_user(own, text)
    if data is not None:
        own = data
    if by_user:
        return Task(own, tuple(by_user))
    if not names and not marks and not note:
        return Task(own)
    said = TaskLabel(
        who="" if made else next((one for key in WHO for one in strings(own.get(key))), ""),
        names=names, marks=marks, note=note,
        flag=made["extraneous"] if isinstance(made.get("extraneous"), bool) else None,
        seconds=seconds_of(made.get("seconds")), created=moment_of(made.get("created")),
        key=str(number if isinstance(number, int | str) else ""), made=made,
    )  # fmt: skip
    return Task(own, (said,))


def _own_values(own: dict[str, Any], text: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The data of this app that doccano keeps beside the text: the item's columns and how its label was made."""
    kept = own.get(OWN)
    if isinstance(kept, dict) and isinstance(kept.get("data"), dict):
        del own[OWN]
        return kept["data"] | {str(kept.get("column") or "sentence"): text}, kept
    if isinstance(kept, dict) and "item" in own:  # the form of earlier exports
        return None, dict(own.pop(OWN))
    return None, {}


def _labels(own: dict[str, Any], text: str) -> tuple[tuple[str, ...], tuple[tuple[int, int, str], ...]]:
    """The names and the marks of a line."""
    names: list[str] = []
    marks: list[tuple[int, int, str]] = []
    for key in (*LABELS, "entities"):
        value = own.get(key)
        if key != "entities" and isinstance(value, str):
            names += strings(own.pop(key))
        elif isinstance(value, list):
            del own[key]
            names += strings(value)
            marks += [mark for one in value for mark in _mark(one, text)]
    own.pop("relations", None)
    return tuple(names), tuple(marks)


def _mark(value: Any, text: str) -> list[tuple[int, int, str]]:
    if isinstance(value, dict):
        parts = [value.get("start_offset"), value.get("end_offset"), value.get("label")]
    elif isinstance(value, list) and len(value) == 3:
        parts = value
    else:
        return []
    found = span_in_text(text, parts[0], parts[1])
    return [(*found, str(parts[2]))] if found else []


def _notes(own: dict[str, Any]) -> list[str]:
    notes: list[str] = []
    for key in NOTES:
        value = own.get(key)
        if isinstance(value, list):
            del own[key]
            notes += [text for one in value for text in strings(one.get("text") if isinstance(one, dict) else one)]
    return notes


def _by_user(own: dict[str, Any], text: str) -> list[TaskLabel]:
    """Early versions of doccano wrote `annotations`: labels by number, each with its user."""
    given = own.get("annotations")
    if not isinstance(given, list) or "annotation_approver" not in own:
        return []
    del own["annotations"]
    users: dict[str, list[dict[str, Any]]] = {}
    for one in given:
        if isinstance(one, dict):
            users.setdefault("".join(strings([one.get("user")])), []).append(one)
    return [
        TaskLabel(
            who=user,
            names=tuple(name for one in some if "start_offset" not in one for name in strings([one.get("label")])),
            marks=tuple(mark for one in some if "start_offset" in one for mark in _mark(one, text)),
            created=next((moment for one in some if (moment := moment_of(one.get("created_at")))), ""),
        )
        for user, some in users.items()
    ]
