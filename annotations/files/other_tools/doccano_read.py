"""Reading exports of doccano: classification, sequence labelling, or both; one file for all or one per annotator."""

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

LABELS = ("label", "labels", "cats")
NOTES = ("Comments", "comments")
WHO = ("annotator", "username", "user")
TEXTS = ("text", "data")  # the second in some versions


def is_task(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is doccano's: a text with a list of labels or entities."""
    if not any(isinstance(row.get(key), str) for key in TEXTS):
        return False
    return any(isinstance(row.get(key), list) for key in (*LABELS, "entities")) or (
        isinstance(row.get("annotations"), list) and "annotation_approver" in row
    )


def read(values: Mapping[str, Any], column: str) -> Task:
    """Return the task of a line; *column* is the key of the text."""
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
    label = _label(own, text)
    if not label.notes and made.get("note"):
        label.notes = [str(made["note"])]
    labels = _by_user(own, text)
    if not labels and (label.names or label.marks or label.notes):
        label.who = "" if made else next((string for key in WHO for string in strings(own.get(key))), "")
        label.flag = made["extraneous"] if isinstance(made.get("extraneous"), bool) else None
        label.seconds, label.created = seconds_of(made.get("seconds")), moment_of(made.get("created"))
        label.key, label.made = str(number if isinstance(number, int | str) else ""), made
        labels = [label]
    return Task(own if data is None else data, tuple(labels))


def _own_values(own: dict[str, Any], text: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the item's columns in *own* (None: an earlier export) and how its label was made."""
    kept = own.get(OWN)
    if isinstance(kept, dict) and isinstance(kept.get("data"), dict):
        del own[OWN]
        return kept["data"] | {str(kept.get("column") or "sentence"): text}, kept
    if isinstance(kept, dict) and "item" in own:  # the form of earlier exports
        return None, dict(own.pop(OWN))
    return None, {}


def _label(own: dict[str, Any], text: str) -> TaskLabel:
    """Take the names, the marks and the notes out of a line."""
    label = TaskLabel()
    for key in (*LABELS, "entities", *NOTES):
        value = own.get(key)
        if key in LABELS and isinstance(value, str):
            label.names += strings(own.pop(key))
        elif isinstance(value, list):
            del own[key]
            if key in NOTES:
                label.notes += [
                    t for entry in value for t in strings(entry.get("text") if isinstance(entry, dict) else entry)
                ]
            else:
                label.names += strings(value)
                label.marks += [mark for entry in value for mark in _mark(entry, text)]
    own.pop("relations", None)
    return label


def _mark(value: Any, text: str) -> list[tuple[int, int, str]]:
    if isinstance(value, dict):
        parts = [value.get("start_offset"), value.get("end_offset"), value.get("label")]
    elif isinstance(value, list) and len(value) == 3:
        parts = value
    else:
        return []
    span = span_in_text(text, parts[0], parts[1])
    return [(*span, str(parts[2]))] if span else []


def _by_user(own: dict[str, Any], text: str) -> list[TaskLabel]:
    """Read `annotations` of early versions of doccano: labels by number, each with its user."""
    given = own.get("annotations")
    if not isinstance(given, list) or "annotation_approver" not in own:
        return []
    del own["annotations"]
    users: dict[str, TaskLabel] = {}
    for entry in given:
        if isinstance(entry, dict):
            who = "".join(strings([entry.get("user")]))
            label = users.setdefault(who, TaskLabel(who))
            if "start_offset" in entry:
                label.marks += _mark(entry, text)
            else:
                label.names += strings([entry.get("label")])
            label.created = label.created or moment_of(entry.get("created_at"))
    return list(users.values())
