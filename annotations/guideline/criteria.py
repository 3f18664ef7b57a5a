"""The guideline of a new project: a built-in one or the user's files."""

from dataclasses import dataclass
from pathlib import Path

from evenhand.annotations.types import Choice, Scheme
from evenhand.core.errors import N_, BadFile
from evenhand.core.guidelines import Option, Version, builtin, generations
from evenhand.core.resources import read_table
from evenhand.core.text.sentences import decode

LARGEST_BYTES = 200_000  # people have to read it


@dataclass(frozen=True, slots=True)
class Criteria:
    """The parts of a guideline before it is stored with a version: Markdown text, choices, reject reasons.

    `scheme`: what an own scheme has beside them.
    """

    text: str
    choices: tuple[Choice, ...]
    reasons: tuple[Choice, ...]
    scheme: Scheme | None = None


def built_in(version: Version = "journal", language: str = "zh") -> Criteria:
    """A built-in guideline (SPEC 1.4) as a project stores it."""
    guideline = builtin(version, language)
    return Criteria(guideline.text, _choices(guideline.choices), _choices(guideline.reasons))


def generations_criteria(language: str = "zh") -> Criteria:
    """The built-in guideline for generations (SPEC 4.9); the reasons are tags that a label may carry."""
    guideline = generations(language)
    return Criteria(guideline.text, _choices(guideline.choices), _choices(guideline.reasons))


def _choices(options: tuple[Option, ...]) -> tuple[Choice, ...]:
    return tuple(Choice(one.code, one.key, one.zh, one.en) for one in options)


def read_text(path: Path) -> str:
    """A guideline from a Markdown file. Raises BadFile where it cannot be read or is too long for people."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadFile(N_("{file} cannot be read ({why})."), file=path.name, why=error.strerror or "") from error
    if len(data) > LARGEST_BYTES:
        raise BadFile(N_("{file} is too long for a guideline; the limit is 200 kB."), file=path.name)
    return decode(data, path.name).text


def read_reasons(path: Path) -> tuple[Choice, ...]:
    """Reject reasons from a TSV file with the columns code, key, zh, en. Raises BadFile where it is not such a file."""
    read_text(path)  # raises BadFile with the problem of the file
    try:
        rows = read_table(path)
    except UnicodeDecodeError as error:
        raise BadFile(N_("{file} is not UTF-8 text; save it as UTF-8."), file=path.name) from error
    if not rows or set(rows[0]) != {"code", "key", "zh", "en"}:
        raise BadFile(N_("{file} needs a header line with the columns code, key, zh, en."), file=path.name)
    return tuple(Choice(**row) for row in rows)
