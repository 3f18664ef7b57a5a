"""The format of a file, by its columns, and the column that holds the sentence."""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn

from evenhand.annotations.files.columns import Columns, checked_columns, guess_columns, is_complete
from evenhand.annotations.files.columns import list_columns as _listed_columns
from evenhand.annotations.files.other_tools.detect import task_keys
from evenhand.annotations.files.other_tools.tasks import TASKS
from evenhand.annotations.items.batch import NewItem
from evenhand.annotations.types import Kind
from evenhand.core.errors import N_, BadFile, BadLine
from evenhand.core.files.readers import Row, Source
from evenhand.core.text.keywords import SpanStatus

Format = Literal["slguset", "sentences", "candidates", "generations", "label-studio", "doccano", "argilla"]
FORMATS: tuple[Format, ...] = ("slguset", "sentences", "candidates", "generations")  # beside those in tasks.TASKS

SLGUSET = ("句子", "关键词位置", "原始关键词", "对立关键词")
SENTENCE_COLUMNS = ("sentence", "text", "句子", "文本")
# The keys of an item in an export as JSON lines; imported columns of the same name are in `extra`.
SPAN_KEYS = ("start", "end", "stem_start", "stem_end", "keyword", "counterpart", "pair")
ITEM_KEYS = ("item", "sentence", *SPAN_KEYS, "side", "status", "file", "line", "extra")
CANDIDATE = ("sentence", *SPAN_KEYS)
MINED = ("source", "flags")  # further columns of `mine`; a file with them and without an id is a mined one
GENERATION = ("context", "completion")
# "canary": the column that asks to keep a file out of training data; never part of an item
GENERATION_KEYS = ("item", *GENERATION, "second", "status", "file", "line", "extra", "canary")
# Of a decision of the adjudicator that is in force: that there is one, and of a generation the flag and the marks.
DECISION = ("adjudicated", "gold_extraneous", "gold_spans")
GOLD_KEYS = ("gold", *DECISION)  # of a generation in an export; imported columns of the same name are in `extra`
UID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the rows of a file are read: the format and the column that holds the sentence.

    `columns`: for generations, which column holds what. `compares`: they go into a project of comparisons.
    """

    format: Format
    column: str
    columns: Columns | None = None
    compares: bool = False

    @property
    def kind(self) -> Kind:
        """The kind of project for such rows."""
        return "sentences" if self.columns is None else "generations"


@dataclass(frozen=True, slots=True)
class Usable:
    """A row that becomes an item; `span`: how its published position compared, None without one."""

    item: NewItem
    span: SpanStatus | None = None


def detect_layout(
    source: Source, format: str = "auto", column: str | None = None, wished: Columns | None = None
) -> Layout:
    """The layout of *source*; "auto" goes by the columns: the released four, context and completion, mined, a sentence.

    `wished`: the meaning of columns of a file of generations that their names do not tell. Raises BadFile if a column
    that the format needs is missing; the message lists the columns of the file.
    """
    if format in TASKS:
        return detect_task_layout(source, format, column, wished)
    if format not in ("auto", *FORMATS):
        message = N_("There is no import format {format}. Formats: {formats}.")
        raise BadFile(message, format=format, formats=", ".join((*FORMATS, *TASKS)))
    columns = set(source.columns)
    # An exported item may have imported columns of another format; it is still a sentence.
    plain = column is not None or set(SPAN_KEYS) <= columns
    if format == "slguset" or (format == "auto" and set(SLGUSET) <= columns and not plain):
        return _with(source, "slguset", SLGUSET, SLGUSET[0])
    if format == "generations" or (format == "auto" and not plain and (wished or _are_generations(source))):
        found = checked_columns(source, wished or Columns())
        return Layout("generations", found.named.get("completion") or found.named["generation"], found)
    if format == "candidates" or (format == "auto" and {*CANDIDATE, *MINED} <= columns and "item" not in columns):
        return _with(source, "candidates", CANDIDATE, CANDIDATE[0])
    return Layout("sentences", _sentence_column(source, column))


def detect_task_layout(source: Source, format: str, column: str | None, wished: Columns | None) -> Layout:
    """The layout of a file of another labelling program: its texts are generations if they have a context.

    `wished` not None: they are generations; `column` (of the text) not None: they are sentences. Raises BadFile if no
    text is found.
    """
    chosen: Format = next(one for one in TASKS if one == format)
    whole = replace(source, columns=task_keys(source, chosen, "completion"))
    # An exported sentence may have imported columns of a generation; it is still a sentence.
    plain = column is not None or set(SPAN_KEYS) <= set(whole.columns)
    if wished is not None or (not plain and _are_generations(whole)):
        found = checked_columns(whole, wished or Columns())
        return Layout(chosen, found.named.get("completion") or found.named["generation"], found)
    return Layout(chosen, _sentence_column(replace(source, columns=task_keys(source, chosen)), column))


def _are_generations(source: Source) -> bool:
    if set(GENERATION) <= set(source.columns):
        return True
    return not set(SENTENCE_COLUMNS) & set(source.columns) and is_complete(guess_columns(source.columns))


def _with(source: Source, format: Format, needed: tuple[str, ...], column: str) -> Layout:
    if not set(needed) <= set(source.columns):
        message = N_("{file} does not have the format {format}, which needs the columns {needed}. It has {found}.")
        raise BadFile(message, file=source.name, format=format, needed=", ".join(needed), found=_column_list(source))
    return Layout(format, column)


def _sentence_column(source: Source, column: str | None) -> str:
    if source.shape == "text":
        return "sentence"
    if column is not None:
        if column not in source.columns and source.columns:
            message = N_("{file} has no column named {column}. It has {found}.")
            raise BadFile(message, file=source.name, column=column, found=_column_list(source))
        return column
    known = next((name for name in SENTENCE_COLUMNS if name in source.columns), None)
    if known is None and source.columns:
        message = N_(
            "{file}: which column holds the sentences? It has {found}. "
            "Choose one (on the command line: --column NAME), or name it sentence."
        )
        raise BadFile(message, file=source.name, found=_column_list(source))
    return known or SENTENCE_COLUMNS[0]


def _column_list(source: Source) -> str:
    return _listed_columns(source.columns)


def bad(reason: str, message: str, **values: Any) -> NoReturn:
    """Refuse a row; `read_row` adds file and line."""
    raise BadLine("", 0, reason, message, **values)


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of an item, and its public id if the row is from an export."""

    file: str
    line: int
    uid: str | None
    extra: dict[str, Any]


def origin_of(source: Source, row: Row, exported: tuple[str, ...], read: tuple[str, ...]) -> Origin:
    """The origin of *row* and the columns that stay with its item.

    A row of an export keeps its id, file and line and loses the columns in *exported*, which are computed again. Any
    other row comes from *source* and loses the columns in *read*.
    """
    values = row.values
    match values:
        case {"item": str(uid), "file": str(file), "line": int(line)} if UID.fullmatch(uid) and 0 < line < 1 << 53:
            extra = {name: value for name, value in values.items() if name not in exported}
            clashing = values.get("extra", {})
            extra |= clashing if isinstance(clashing, dict) else {"extra": clashing}
            return Origin(file, line, uid, extra)
        case _:
            return Origin(source.name, row.line, None, {k: v for k, v in values.items() if k not in read})
