"""One row to one item, whatever the format; and what a report quotes of a row."""

import json
from dataclasses import replace

from annotations.files.detect import Layout, Usable
from annotations.files.generations import generation
from annotations.files.other_tools.detect import read_task
from annotations.files.other_tools.tasks import TASKS, Task
from annotations.files.sentences import checked_text, mined, released, sentence
from annotations.items.items import NewItem
from core.errors import BadLine
from core.files.paths import without_folders
from core.files.readers import Row, Source
from core.text.keywords import find


def read_row(source: Source, layout: Layout, row: Row) -> Usable:
    """The item of *row*. Raises BadLine with file, line and a reason code where the row cannot be used.

    A path in a column that names a file is shortened: where a text lies on a server is nobody else's business. Two
    places whose short paths are the same are numbered.
    """
    try:
        if row.problem is not None:
            raise row.problem
        usable = _usable(source, layout, row)
    except BadLine as error:
        raise BadLine(source.name, row.line, error.reason, error.message, **error.values) from None
    item, places = usable.item, source.places
    extra = without_folders(item.extra, shortened=places)
    return replace(usable, item=replace(item, file=places(item.file), extra=extra))


def _usable(source: Source, layout: Layout, row: Row) -> Usable:
    match layout.format:
        case "slguset":
            return released(source, row)
        case "generations":
            return generation(source, layout, row)
        case "candidates":
            return mined(source, row)
        case "sentences":
            return sentence(source, layout, row)
        case "label-studio" | "doccano":
            return _task_item(source, layout, row)


def sentence_of(layout: Layout, row: Row) -> str:
    """The sentence of *row* as far as it can be told."""
    values = task_of(layout, row).values if layout.format in TASKS else row.values
    value = values.get(layout.column, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def task_of(layout: Layout, row: Row) -> Task:
    """The task of *row*, of a file of another labelling program."""
    return read_task(layout.format, row.values, layout.column)


def _task_item(source: Source, layout: Layout, row: Row) -> Usable:
    task = task_of(layout, row)
    if layout.columns is not None:
        return generation(source, layout, replace(row, values=task.values))
    values, column = task.values, layout.column
    if "sentence" not in values and column in values:  # as the export as JSON lines has it
        values, column = {key: value for key, value in values.items() if key != column}, "sentence"
        values["sentence"] = task.values[layout.column]
    try:
        return sentence(source, Layout("sentences", column), replace(row, values=values))
    except BadLine as error:
        marked = _marked_word(task, layout) if error.reason == "several_keywords" else None
        if marked is None:
            raise
        extra = {name: value for name, value in values.items() if name != column}
        return Usable(replace(marked, file=source.name, line=row.line, extra=extra))


def _marked_word(task: Task, layout: Layout) -> NewItem | None:
    """Of several keywords, the one that somebody marked, if it is one."""
    text = checked_text(task.values.get(layout.column))
    found = [one for one in find(text) if (one.start, one.end) in task.words]
    return NewItem(text, found[0], "", 0) if len(found) == 1 else None
