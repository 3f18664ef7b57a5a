"""Reading records of Argilla: its JSON, and the rows of its data sets on the Hugging Face hub (versions 1 and 2).

`Dataset.records.to_json` writes an object with `fields` and `responses` for each record; `to_hub` writes flat rows,
where answers are in `QUESTION.responses`, `QUESTION.responses.users` and `QUESTION.responses.status`. Version 1 wrote
flat rows with a list of answers under the name of the question, or one `annotation` with its agent.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from evenhand.annotations.files.other_tools.tasks import Task, TaskLabel, span_in_text, strings

QUESTIONS = "_questions"  # of a row from the hub: name of a question -> its type, from .argilla/settings.json
RESPONSES, SUGGESTION = ".responses", ".suggestion"
INNER = ("_server_id", "status", "vectors", "score", QUESTIONS)  # keys of a record that are not fields
EARLY = ("annotation", "annotation_agent")  # a record of the first version
EARLY_INNER = (
    *EARLY,
    "prediction",
    "prediction_agent",
    "explanation",
    "inputs",
    "metrics",
    "multi_label",
    "event_timestamp",
)
NOTES = ("note", "notes", "comment", "comments", "remark", "remarks", "explanation", "feedback", "why", "备注", "说明")
LONGEST_NAME = 80  # characters of an answer that can be a choice; a longer one is a text


def is_task(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is a record of Argilla."""
    if isinstance(row.get("fields"), dict) and isinstance(row.get("responses", {}), dict | list | None):
        return {"responses", "suggestions"} & row.keys() != set()
    if any(key.endswith(f"{RESPONSES}.users") for key in row) or QUESTIONS in row:
        return True
    if {*EARLY, "text"} <= row.keys() or {"_server_id", "status"} <= row.keys():
        return True
    if "external_id" in row and any(key.endswith("-suggestion") for key in row):
        return True
    return any(_answers_of_version_1(value) for value in row.values())


def read(values: Mapping[str, Any], column: str) -> Task:
    """Return the task of a record; *column*: the judged field, which spans point into."""
    types = values[QUESTIONS] if isinstance(values.get(QUESTIONS), dict) else {}
    if isinstance(values.get("fields"), dict):
        own = dict(values["fields"]) | _metadata(values)
        answers = _nested(values.get("responses"))
        suggestions = values.get("suggestions")
        predictions = len(suggestions) if isinstance(suggestions, dict | list) else 0
    else:
        own, answers, predictions = _flat(values)
    number = values.get("id")
    if "item" not in own and isinstance(number, int | str):
        own.setdefault("task_id", number)
    text = own.get(column)
    labels, drafts = _labels(answers, types, text if isinstance(text, str) else "", str(number or ""))
    return Task(own, labels, predictions, drafts)


Answer = tuple[str, str, Any, str]  # question, user, value, status


def _nested(given: Any) -> list[Answer]:
    """Read answers of JSON.

    Version 2: {question: [{value, user_id}]}. Version 1: [{user_id, status, values: {question: {value}}}].
    """
    if isinstance(given, dict):
        several = [(key, entry, entry) for key, told in given.items() if isinstance(told, list) for entry in told]
    else:
        told = [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []
        values = [(entry, entry["values"]) for entry in told if isinstance(entry.get("values"), dict)]
        several = [(key, one, value) for one, inner in values for key, value in inner.items()]
    return [
        (str(question), _text(one.get("user_id")), value.get("value"), _text(one.get("status")))
        for question, one, value in several
        if isinstance(one, dict) and isinstance(value, dict)
    ]


def _flat(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[Answer], int]:
    """Return fields and metadata, answers and the number of suggestions of a row."""
    own: dict[str, Any] = {}
    answers: list[Answer] = []
    predictions = 0
    early = {*EARLY, "text"} <= values.keys()
    for key, value in values.items():
        if key.endswith(RESPONSES):
            answers += _columns(key.removesuffix(RESPONSES), values)
        elif f"{RESPONSES}." in key or f"{SUGGESTION}." in key or key in INNER or key == "id":
            continue
        elif key.endswith((SUGGESTION, "-suggestion")):
            predictions += value is not None
        elif key.endswith("-suggestion-metadata") or (early and key in EARLY_INNER):
            continue
        elif (told := _answers_of_version_1(value)) is not None:
            answers += [(key, user, one, status) for user, one, status in told]
        elif key == "metadata":
            own |= _metadata(values)
        elif value == [] and f"{key}-suggestion" in values:
            continue  # a question without an answer
        else:
            own[key] = value
    if early and values.get("annotation") is not None:
        answers.append(("label", _text(values["annotation_agent"]), values["annotation"], _text(values.get("status"))))
    return own, answers, predictions


def _columns(question: str, values: Mapping[str, Any]) -> list[Answer]:
    told = values[question + RESPONSES]
    if not isinstance(told, list):
        return []
    users, states = (values.get(f"{question}{RESPONSES}.{name}") for name in ("users", "status"))
    users = users if isinstance(users, list) else []
    states = states if isinstance(states, list) else []
    return [
        (question, _text(users[n] if n < len(users) else ""), value, _text(states[n] if n < len(states) else ""))
        for n, value in enumerate(told)
    ]


def _answers_of_version_1(value: Any) -> list[tuple[str, Any, str]] | None:
    """Return user, value and status of each answer of a column of version 1; None for another column."""
    if isinstance(value, dict) and {"user_id", "value", "status"} <= value.keys():  # as early `datasets` turned lists
        columns = [value[key] for key in ("user_id", "value", "status")]
        if all(isinstance(column, list) for column in columns):
            return [(_text(user), one, _text(status)) for user, one, status in zip(*columns, strict=False)]
    wanted = {"user_id", "value", "status"}
    if isinstance(value, list) and value and all(isinstance(entry, dict) and wanted <= entry.keys() for entry in value):
        return [(_text(entry["user_id"]), entry["value"], _text(entry["status"])) for entry in value]
    return None


def _metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    metadata = values.get("metadata")
    if isinstance(metadata, str):  # version 1 wrote it as JSON
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError):
            return {"metadata": metadata}
    return (
        {str(key): value for key, value in metadata.items() if value is not None} if isinstance(metadata, dict) else {}
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _labels(
    answers: Iterable[Answer], types: Mapping[str, Any], text: str, key: str
) -> tuple[tuple[TaskLabel, ...], int]:
    """Return one label per user from all submitted answers, and the number of users who have only drafts."""
    by_user: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_user[answer[1]].append(answer)
    labels: list[TaskLabel] = []
    drafts = 0
    for user, told in by_user.items():
        sent = [row for row in told if row[3].lower() not in ("draft", "pending", "discarded")]
        if not sent and any(row[3].lower() == "discarded" for row in told):
            labels.append(TaskLabel(who=user, key=key, skipped=True))
        elif not sent:
            drafts += 1
        else:
            labels.append(_label(user, sent, types, text, key))
    return tuple(labels), drafts


def _label(user: str, told: Iterable[Answer], types: Mapping[str, Any], text: str, key: str) -> TaskLabel:
    label = TaskLabel(who=user, key=key)
    for question, _user, value, _status in told:
        kind = types.get(question)
        is_long = isinstance(value, str) and (len(value) > LONGEST_NAME or "\n" in value)
        spans = _spans(value, text)
        if spans is not None:
            label.marks += spans
        elif isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, dict) for one in value)):
            label.other += 1  # a ranking
        elif kind == "text" or question.lower() in NOTES or (kind is None and is_long):
            label.notes += strings(value)
        else:
            label.names += strings([value] if isinstance(value, int) and not isinstance(value, bool) else value)
    return label


def _spans(value: Any, text: str) -> list[tuple[int, int, str]] | None:
    """Return marked places of a question of spans; None for another answer."""
    if not isinstance(value, list) or not value or not all(isinstance(entry, dict) for entry in value):
        return None
    if not all({"start", "end", "label"} <= entry.keys() for entry in value):
        return None
    result = [(span_in_text(text, entry["start"], entry["end"]), str(entry["label"])) for entry in value]
    return [(*place, name) for place, name in result if place is not None]
