"""Rows of files: the format, the meaning of columns (guessed by name, chosen by a person, remembered), bad lines."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NoReturn

from evenhand.annotations.files.other_tools import argilla_read, doccano_read, label_studio_read
from evenhand.annotations.files.other_tools.tasks import PROGRAMS, TASKS, Task
from evenhand.annotations.items.batch import NewItem
from evenhand.annotations.types import Kind
from evenhand.core.errors import N_, BadFile, BadLine
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.files.readers import Row, Source, rows
from evenhand.core.text.keywords import SpanStatus
from evenhand.core.typed_json import from_json
from evenhand.core.types import Problem

LOOKED_AT = 10  # first rows, for the program that wrote a file
# In the order in which a file is tried.
READERS: dict[str, tuple[ModuleType, tuple[str, ...]]] = {
    "label-studio": (label_studio_read, ("jsonl", "json", "csv", "tsv")),
    "argilla": (argilla_read, ("jsonl", "json")),
    "doccano": (doccano_read, ("jsonl", "json")),
}


def task_format(source: Source) -> str | None:
    """Return the program whose export *source* is, by its first rows; None for another file."""
    try:
        first = [row.values for row in islice(rows(source), LOOKED_AT)]
    except BadFile:
        return None  # reading it later reports what is wrong with it
    for program, (reader, shapes) in READERS.items():
        if first and source.shape in shapes and all(map(reader.is_task, first)):
            return program
    return None


def task_keys(source: Source, format: str, column: str = "text") -> tuple[str, ...]:
    """Return the keys of the first tasks, without annotations."""
    tasks = [read_task(format, row.values, column) for row in islice(rows(source), LOOKED_AT)]
    return tuple(dict.fromkeys(key for task in tasks for key in task.values))


def read_task(format: str, values: Mapping[str, Any], column: str) -> Task:
    """Return the task in a row; *column*: the key of the judged text, which marks point into.

    With a context, "completion" finds the key "text" too: doccano requires that name.
    """
    task: Task = READERS[format][0].read(values, column)
    if column == "completion" and {"context", "text"} <= task.values.keys() and "completion" not in task.values:
        task.values["completion"] = task.values.pop("text")
    return task


def text_key(source: Source, format: str) -> str | None:
    """Return the key of the text in tasks of a project of sentences, if its name is known."""
    keys = task_keys(source, format)
    return next((key for key in SENTENCE_COLUMNS if key in keys), None)


# What a generation has; "generation" is context and completion in one text, as the published samples have it. "second"
# is the other text of a comparison.
KEYS = (
    *("context", "completion", "generation", "name", "pronouns", "dataset", "setting", "model", "index", "template"),
    *("second", "second_model"),
)
FIXED = ("name", "pronouns", "dataset", "setting", "model", "second_model")  # which may be one value for a whole file
# What comes before A and B, or 1 and 2, in the names of the columns of a comparison.
_SIDES = ("completion", "continuation", "response", "output", "text", "answer")
# Names in lower case, letters and digits only; the first that a file has is used.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "context": ("context", "prompt", "prefix", "input", "上文", "语境", "提示", "提示词"),
    "completion": (
        *("completion", "continuation", "response", "output", "generatedtext", "续文", "续写", "回答", "输出"),
        *("first", "firsttext", "firstcompletion", *(f"{word}{end}" for end in ("a", "1") for word in _SIDES)),
        *("第一篇", "文本一", "回答一"),
    ),
    "generation": ("randompregen", "randompostgen", "randomgen", "generation", "fulltext", "generations"),
    "name": ("name", "who", "target", "targetname", "person", "referent", "antecedent", "ante", "姓名", "指称对象"),
    "pronouns": ("pronouns", "pronoun", "pronounset", "pronounsets", "declaredpronouns", "代词", "代词组"),
    "dataset": ("dataset", "benchmark", "数据集"),
    "setting": ("setting", "condition", "设置", "条件"),
    "model": ("model", "modelname", "modelid", "模型", "firstmodel", "modela", "model1", "第一篇模型"),
    "index": ("index", "generationindex", "sample", "sampleindex", "k", "序号", "编号"),
    "template": ("template", "templateid", "templateidx", "模板"),
    "second": (
        *("second", "secondtext", "secondcompletion", *(f"{word}{end}" for end in ("b", "2") for word in _SIDES)),
        *("第二篇", "文本二", "回答二"),
    ),
    "second_model": ("secondmodel", "modelb", "model2", "第二篇模型"),
}
# Enough to separate context and completion. A generation may or may not repeat its context; comparisons need none.
WHOLE = ({"context", "completion"}, {"context", "generation"}, {"generation", "template"}, {"completion", "second"})
FILE = "-columns.json"  # next to the database: its stem, then this
MOST = 500


@dataclass(frozen=True, slots=True)
class Columns:
    """Where each value comes from: `named[key]` is a column of the file, `fixed[key]` one value for all its rows."""

    named: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)


def bare_name(name: str) -> str:
    """Return the name of a column in lower case, letters and digits only: "pronounset" for "Pronoun set"."""
    return "".join(sign for sign in name.lower() if sign.isalnum())


def guess_columns(columns: Sequence[str]) -> Columns:
    """Guess the columns by telling names; a template with its generation is read as the published layout."""
    known = {bare_name(name): name for name in reversed(columns)}
    named = {
        key: next(known[word] for word in words if word in known)
        for key, words in SYNONYMS.items()
        if any(word in known for word in words)
    }
    if {"context", "completion"} <= named.keys():
        named.pop("generation", None)
    return Columns(named)


def checked_columns(source: Source, wished: Columns) -> Columns:
    """Return *wished*, completed by the guess; "" in *wished* means no column.

    Raises BadFile if a column is missing or named twice, or if neither context and completion nor a generation is
    named.
    """
    for key in {*wished.named, *wished.fixed} - set(KEYS):
        raise BadFile(N_("A generation has no field {key}; its fields are {keys}."), key=key, keys=", ".join(KEYS))
    for key, column in wished.named.items():
        if column and column not in source.columns:
            message = N_("{file} has no column {column} for {key}. Its columns: {found}.")
            raise BadFile(message, file=source.name, column=column, key=key, found=list_columns(source.columns))
    taken = {column for column in wished.named.values() if column}
    guessed = {k: c for k, c in guess_columns(source.columns).named.items() if k not in wished.named and c not in taken}
    guessed = {key: column for key, column in guessed.items() if key not in wished.fixed}
    named = {key: column for key, column in (guessed | dict(wished.named)).items() if column}
    if {"context", "completion"} <= named.keys():
        named.pop("generation", None)
    twice = next((column for column in named.values() if list(named.values()).count(column) > 1), None)
    if twice is not None:
        raise BadFile(
            N_("The column {column} cannot serve two purposes; choose another for one of them."), column=twice
        )
    columns = Columns({key: named[key] for key in KEYS if key in named}, dict(wished.fixed))
    if is_complete(columns):
        return columns
    message = N_(
        "{file} lacks the columns context and completion. Its columns: {found}. Choose them (on the"
        " command line: --map context=COLUMN --map completion=COLUMN), or rename them; a published sample"
        " needs template and random_pre_gen or random_post_gen."
    )
    raise BadFile(message, file=source.name, found=list_columns(source.columns))


def is_complete(columns: Columns) -> bool:
    """Tell whether *columns* is enough to read a context and a completion."""
    return any(pair <= columns.named.keys() for pair in WHOLE)


def list_columns(columns: Sequence[str]) -> str:
    """Return the first twenty columns, long names cut."""
    shown = [name if len(name) <= 40 else name[:39] + "…" for name in columns[:20]]
    return ", ".join(shown) + (" …" if len(columns) > 20 else "") if shown else "—"


def memory_path(database: Path) -> Path:
    """Return the path of the file of remembered columns, in the folder of the database."""
    return database.with_name(database.stem + FILE)


def recall_columns(database: Path, columns: Sequence[str]) -> Columns | None:
    """Return the last choice for a file with these columns in any order, or None.

    A stored choice that cannot be read is ignored: the guess replaces it.
    """
    try:
        kept = from_json(Columns, _remembered(memory_path(database))[_header(columns)])
    except (KeyError, BadFile):
        return None
    named, fixed = ({key: text for key, text in part.items() if key in KEYS} for part in (kept.named, kept.fixed))
    return Columns(named, fixed) if {column for column in named.values() if column} <= set(columns) else None


def remember_columns(database: Path, columns: Sequence[str], chosen: Columns) -> None:
    """Remember the choice for files with these columns; the oldest of more than 500 is dropped."""
    path = memory_path(database)
    kept = _remembered(path)
    kept.pop(_header(columns), None)
    kept[_header(columns)] = asdict(Columns(dict(chosen.named), dict(chosen.fixed)))
    last = dict(list(kept.items())[-MOST:])
    with whole_file(path) as write:
        write(json.dumps(last, ensure_ascii=False, indent=1) + "\n")


def _header(columns: Sequence[str]) -> str:
    return json.dumps(sorted(columns), ensure_ascii=False)


def _remembered(path: Path) -> dict[str, object]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


SETTING = re.compile(r"\b(pre|post)[\s_-]*\[?mask\]?\b|^(pre|post)$", re.I)


def setting_of(text: str) -> str:
    """Return "pre" or "post" for every spelling (pre-[MASK], post_mask); any other text unchanged."""
    match = SETTING.search(text.strip().replace("_", "-"))
    return (match[1] or match[2]).lower() if match else text.strip()


Format = Literal["slguset", "sentences", "candidates", "generations", "label-studio", "doccano", "argilla"]
FORMATS: tuple[Format, ...] = ("slguset", "sentences", "candidates", "generations")  # TASKS has others

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
    """Return the layout of *source*; "auto" decides by the columns.

    Layouts are the released four columns, context and completion, mined, a sentence. Texts of another labelling program
    are generations if they have a context. `wished`: the meaning of columns of a file of generations with other names.
    Raises BadFile if a column that the format needs is missing; the message lists the columns of the file.
    """
    auto, chosen = format == "auto", next((one for one in (*FORMATS, *TASKS) if one == format), None)
    if not auto and chosen is None:
        message = N_("There is no import format {format}. Formats: {formats}.")
        raise BadFile(message, format=format, formats=", ".join((*FORMATS, *TASKS)))
    task = format in TASKS
    whole = replace(source, columns=task_keys(source, format, "completion")) if task else source
    columns = set(whole.columns)
    # An exported item may have imported columns of another format; it is still a sentence.
    plain = column is not None or set(SPAN_KEYS) <= columns
    if format == "slguset" or (auto and set(SLGUSET) <= columns and not plain):
        return _with(source, "slguset", SLGUSET)
    two = set(GENERATION) <= columns or (
        not set(SENTENCE_COLUMNS) & columns and is_complete(guess_columns(whole.columns))
    )
    wanted = (wished is not None and (task or not plain)) or (two and not plain)
    if format == "generations" or ((auto or task) and wanted):
        chosen_columns = checked_columns(whole, wished or Columns())
        return Layout(
            chosen or "generations",
            chosen_columns.named.get("completion") or chosen_columns.named["generation"],
            chosen_columns,
        )
    if format == "candidates" or (auto and {*CANDIDATE, *MINED} <= columns and "item" not in columns):
        return _with(source, "candidates", CANDIDATE)
    if task:
        source = replace(source, columns=task_keys(source, format))
    return Layout(chosen or "sentences", _sentence_column(source, column))


def _with(source: Source, format: Format, needed: tuple[str, ...]) -> Layout:
    if not set(needed) <= set(source.columns):
        message = N_("{file} does not have the format {format}, which needs the columns {needed}. It has {found}.")
        columns = list_columns(source.columns)
        raise BadFile(message, file=source.name, format=format, needed=", ".join(needed), found=columns)
    return Layout(format, needed[0])


def _sentence_column(source: Source, column: str | None) -> str:
    if source.shape == "text":
        return "sentence"
    if column is not None:
        if column not in source.columns and source.columns:
            message = N_("{file} has no column named {column}. It has {found}.")
            raise BadFile(message, file=source.name, column=column, found=list_columns(source.columns))
        return column
    known = next((name for name in SENTENCE_COLUMNS if name in source.columns), None)
    if known is None and source.columns:
        message = N_(
            "{file}: which column holds the sentences? It has {found}. "
            "Choose one (on the command line: --column NAME), or name it sentence."
        )
        raise BadFile(message, file=source.name, found=list_columns(source.columns))
    return known or SENTENCE_COLUMNS[0]


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
    """Return the origin of *row* and the columns that are stored with its item.

    A row of an export keeps its id, file and line, without the columns in *exported*, which are computed again. Any
    other row comes from *source*, without the columns in *read*.
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


# In the order in which they are offered. A format that is missing here cannot be chosen anywhere.
FORMAT_NAMES: Mapping[str, str] = {
    "auto": N_("Detect automatically"),
    "slguset": N_("SlguSet release format"),
    "sentences": N_("Sentences"),
    "candidates": N_("Mined candidates"),
    "generations": N_("Generations"),
    "labels": N_("Labels exported by this app"),
    "package": N_("Project package"),
    **PROGRAMS,
}


LISTED = 10_000  # problems listed in a report; others are only counted, to bound the memory


@dataclass(slots=True, kw_only=True)
class Rejections:
    """The lines that could not be used: their number, how many for each reason code, and the first 10,000."""

    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    errors: list[Problem] = field(default_factory=list)

    def note(self, problem: Problem) -> None:
        """Count a line that could not be used."""
        self.rejected += 1
        self.reasons[problem.reason] += 1
        if len(self.errors) < LISTED:
            self.errors.append(problem)

    def errors_json(self) -> list[dict[str, Any]]:
        """Return the listed lines as `import --json` prints them; messages are English."""
        return [
            {"file": error.file, "line": error.line, "reason": error.reason, "message": english_problem(error)}
            for error in self.errors
        ]


def problem_of(error: BadLine, **more: Any) -> Problem:
    """Return the facts of an error; *more*: further values."""
    return Problem(error.file, error.line, error.reason, error.message, error.values | more)


def english_problem(problem: Problem) -> str:
    """Return the sentence of a problem in English; `values` may hold more than the sentence uses."""
    return problem.message.format(**problem.values) if problem.values else problem.message
