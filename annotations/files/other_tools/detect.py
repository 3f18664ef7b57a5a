"""The labelling program that wrote a file, and the tasks in its rows."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from evenhand.annotations.files.other_tools import argilla_read, doccano_read, label_studio_read
from evenhand.annotations.files.other_tools.tasks import Task, TaskFormat
from evenhand.core.errors import BadFile
from evenhand.core.files.readers import Source, rows

LOOKED_AT = 10
TEXT_KEYS = ("sentence", "text", "句子", "文本")


def task_format(source: Source) -> TaskFormat | None:
    """The program whose export *source* is, by its first rows; None for another file."""
    try:
        first = [row.values for row in islice(rows(source), LOOKED_AT)]
    except BadFile:
        return None  # reading it later reports what is wrong with it
    if source.shape in ("jsonl", "json", "csv", "tsv") and label_studio_read.are_tasks(first):
        return "label-studio"
    if source.shape in ("jsonl", "json") and argilla_read.are_tasks(first):
        return "argilla"
    if source.shape in ("jsonl", "json") and doccano_read.are_tasks(first):
        return "doccano"
    return None


def task_keys(source: Source, format: str, column: str = "text") -> tuple[str, ...]:
    """The keys of the first tasks, without annotations."""
    tasks = [read_task(format, row.values, column) for row in islice(rows(source), LOOKED_AT)]
    return tuple(dict.fromkeys(key for task in tasks for key in task.values))


def read_task(format: str, values: Mapping[str, Any], column: str) -> Task:
    """The task in a row; *column*: the key of the text that is judged, which marks point into.

    With a context, "completion" finds the key "text" too: doccano requires that name.
    """
    reader = {"label-studio": label_studio_read, "argilla": argilla_read}.get(format, doccano_read)
    task: Task = reader.read(values, column)
    if column == "completion" and {"context", "text"} <= task.values.keys() and "completion" not in task.values:
        task.values["completion"] = task.values.pop("text")
    return task


def text_key(source: Source, format: str) -> str | None:
    """The key of the text in tasks of a project of sentences, if its name is known."""
    keys = task_keys(source, format)
    return next((key for key in TEXT_KEYS if key in keys), None)
