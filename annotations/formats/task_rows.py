"""Which labelling program wrote a file, and the tasks in its rows."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from annotations.formats import doccano_in, label_studio_in
from annotations.formats.readers import Source, rows
from annotations.formats.tasks import Task, TaskFormat
from core.errors import BadFile

LOOKED_AT = 10


def task_format(source: Source) -> TaskFormat | None:
    """The program whose export *source* looks like by its first rows; None where it is another file."""
    try:
        first = [row.values for row in islice(rows(source), LOOKED_AT)]
    except BadFile:
        return None  # what is wrong with it is told when it is read as what it is
    if source.shape in ("jsonl", "json", "csv", "tsv") and label_studio_in.are_tasks(first):
        return "label-studio"
    if source.shape in ("jsonl", "json") and doccano_in.are_tasks(first):
        return "doccano"
    return None


def read_task(format: str, values: Mapping[str, Any], column: str) -> Task:
    """The task in a row; *column*: the key of the text that is judged, which marks point into.

    A text beside a context, as this app writes generations, is found as "completion" too.
    """
    task = label_studio_in.read(values, column) if format == "label-studio" else doccano_in.read(values, column)
    if "context" in task.values and "text" in task.values and "completion" not in task.values:
        task.values["completion"] = task.values.pop("text")
    return task
