"""The built-in guidelines: the two published versions of the criteria (docs/methods.md#criteria), in our own words.

"journal" asks that both words fit with the keyword masked and leaves names to
a filter; "conference" has the name rule and keeps metaphors. "generations" is
for what language models write (docs/human_vs_rule.md#labels-of-generations). The texts are Markdown files in
this folder, in both languages of the interface. Projects store the text they were
made with: `editions` keeps every text that shipped before the present one, so a
stored guideline is recognised and shown without a change, in both languages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Literal

from evenhand.core.resources import read_table

Version = Literal["journal", "conference"]
VERSIONS: tuple[Version, ...] = ("journal", "conference")  # of sentences
BuiltInName = Literal["journal", "conference", "generations"]
BUILT_IN: tuple[BuiltInName, ...] = (*VERSIONS, "generations")

COMPARED = 500  # lines between the first and the last that differ; of more, all are removed and added

_FOLDER = Path(__file__).resolve().parent
_EDITIONS = _FOLDER / "editions"  # a folder for each set of texts that shipped before, by number


@dataclass(frozen=True, slots=True)
class Option:
    """A choice or a reject reason: labels store `code`; `key` is only how it is typed; `zh`, `en` are its labels."""

    code: str
    key: str
    zh: str
    en: str


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A guideline as it ships: Markdown text, choices, and reject reasons in the order of their keys."""

    version: BuiltInName
    language: str
    text: str
    choices: tuple[Option, ...]
    reasons: tuple[Option, ...]


@cache
def builtin(version: Version = "journal", language: str = "zh") -> BuiltIn:
    """Return the built-in guideline of a version; the text is Chinese for "zh" and English for every other language.

    Reasons 1 to 5 bear the number of their criterion in that version, 6 to 9
    are further reasons that both versions share (docs/methods.md#criteria).
    """
    written = "zh" if language == "zh" else "en"
    text = (_FOLDER / f"{version}.{written}.md").read_text(encoding="utf-8")
    choices = tuple(Option(**row) for row in read_table(_FOLDER / "choices.tsv"))
    rows = [row for row in read_table(_FOLDER / "reasons.tsv") if row[version] != "-"]
    reasons = sorted((Option(row["code"], row[version], row["zh"], row["en"]) for row in rows), key=lambda o: o.key)
    return BuiltIn(version, written, text, choices, tuple(reasons))


@cache
def generations(language: str = "zh") -> BuiltIn:
    """Return the guideline for generations: four labels and, as reasons, the tags that a label may have.

    See docs/human_vs_rule.md#labels-of-generations.
    """
    written = "zh" if language == "zh" else "en"
    text = (_FOLDER / f"generations.{written}.md").read_text(encoding="utf-8")
    choices = tuple(Option(**row) for row in read_table(_FOLDER / "generations_choices.tsv"))
    tags = tuple(Option(**row) for row in read_table(_FOLDER / "generations_reasons.tsv"))
    return BuiltIn("generations", written, text, choices, tags)


@cache
def preference(language: str = "zh") -> str:
    """Return the text of a guideline for comparisons: which of two texts is better."""
    return (_FOLDER / f"preference.{'zh' if language == 'zh' else 'en'}.md").read_text(encoding="utf-8")


def recognise(text: str) -> BuiltInName | None:
    """Return the built-in guideline that *text* is or once was, in either language; None for an edited or own text."""
    result = _shipped().get(_bare(text))
    return result[0] if result else None


def in_language(text: str, language: str) -> str:
    """Return a built-in text in the reader's language and in its own edition; any other text unchanged."""
    bare = _bare(text)
    if bare in (_bare(preference("zh")), _bare(preference("en"))):
        return preference(language)
    found = _shipped().get(bare)
    if found is None:
        return text
    name, folder = found
    return _texts_of(folder)[name, "zh" if language == "zh" else "en"]


def _bare(text: str) -> str:
    """Return *text* without additions of files and forms: other line ends, trailing spaces, empty lines around it."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


@cache
def _shipped() -> dict[str, tuple[BuiltInName, Path]]:
    """Return for every text that ever shipped, bare, its name and the folder of its latest edition."""
    folders = (*sorted(_EDITIONS.iterdir()), _FOLDER)
    return {_bare(text): (name, folder) for folder in folders for (name, _), text in _texts_of(folder).items()}


@cache
def _texts_of(folder: Path) -> dict[tuple[BuiltInName, str], str]:
    return {
        (name, language): (folder / f"{name}.{language}.md").read_text(encoding="utf-8")
        for name in BUILT_IN
        for language in ("zh", "en")
    }


def changed_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the lines of both texts in order, each after a sign: " " for both, "-" for the old, "+" for the new one.

    Whole lines are compared. More than 500 changed lines are replaced in one step, as the work grows with their square.
    """
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    before, after = old[first : len(old) - last], new[first : len(new) - last]
    yield from (f" {line}" for line in old[:first])
    few = max(len(before), len(after)) <= COMPARED
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if few else []
    for kind, start, end, start_new, end_new in steps or [("replace", 0, len(before), 0, len(after))]:
        if kind == "equal":
            yield from (f" {line}" for line in before[start:end])
        else:
            yield from (f"-{line}" for line in before[start:end])
            yield from (f"+{line}" for line in after[start_new:end_new])
    yield from (f" {line}" for line in old[len(old) - last :])
