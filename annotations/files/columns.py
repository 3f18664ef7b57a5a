"""The meaning of the columns of a file of generations: guessed by name, chosen by a person, remembered."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from evenhand.core.errors import N_, BadFile
from evenhand.core.files.readers import Source
from evenhand.core.files.whole_file import whole_file

# What a generation has; "generation" is context and completion in one text, as the published samples have it. "second"
# is the other text of a comparison.
KEYS = (
    *("context", "completion", "generation", "name", "pronouns", "dataset", "setting", "model", "index", "template"),
    *("second", "second_model"),
)
FIXED = ("name", "pronouns", "dataset", "setting", "model", "second_model")  # which may be one value for a whole file
# What stands before A and B, or 1 and 2, in the names of the columns of a comparison.
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
FILE = "-columns.json"  # beside the database: its stem, then this
MOST = 500


@dataclass(frozen=True, slots=True)
class Columns:
    """Where each value comes from: `named[key]` is a column of the file, `fixed[key]` one value for all its rows."""

    named: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)


def bare_name(name: str) -> str:
    """The name of a column in lower case, letters and digits only: "Pronoun set" and "pronoun_set" are the same."""
    return "".join(sign for sign in name.lower() if sign.isalnum())


def guess_columns(columns: Sequence[str]) -> Columns:
    """The columns with telling names; a template with its generation is read as the published layout."""
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
    """*wished*, completed by the guess; "" in *wished* means no column.

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
    found = Columns({key: named[key] for key in KEYS if key in named}, dict(wished.fixed))
    if is_complete(found):
        return found
    message = N_(
        "{file}: which columns hold the context and the completion? Its columns: {found}. Choose them (on"
        " the command line: --map context=COLUMN --map completion=COLUMN), or rename them; a published"
        " sample needs template and random_pre_gen or random_post_gen."
    )
    raise BadFile(message, file=source.name, found=list_columns(source.columns))


def is_complete(found: Columns) -> bool:
    """Whether *found* is enough to read a context and a completion."""
    return any(pair <= found.named.keys() for pair in WHOLE)


def list_columns(columns: Sequence[str]) -> str:
    """The first twenty columns, long names cut."""
    shown = [name if len(name) <= 40 else name[:39] + "…" for name in columns[:20]]
    return ", ".join(shown) + (" …" if len(columns) > 20 else "") if shown else "—"


def memory_path(database: Path) -> Path:
    """The file of remembered columns, beside the database."""
    return database.with_name(database.stem + FILE)


def recall_columns(database: Path, columns: Sequence[str]) -> Columns | None:
    """The last choice for a file with these columns in any order, or None.

    A file that cannot be read is ignored: there is the guess.
    """
    kept = _remembered(memory_path(database)).get(_header(columns))
    if not isinstance(kept, dict):
        return None
    parts = [kept.get("named"), kept.get("fixed")]
    if not all(isinstance(part, dict) and all(isinstance(text, str) for text in part.values()) for part in parts):
        return None
    named, fixed = ({key: text for key, text in part.items() if key in KEYS} for part in parts if part is not None)
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
    """ "pre" or "post" for every spelling (pre-[MASK], post_mask); anything else unchanged."""
    found = SETTING.search(text.strip().replace("_", "-"))
    return (found[1] or found[2]).lower() if found else text.strip()
