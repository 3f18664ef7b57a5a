"""A user's own lists as TSV: templates, person words, professions. Every refusal names the file and the line."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from evenhand.core.association.sets import CLASSES, GENDERS, Person, Profession, Template, check_template
from evenhand.core.errors import N_, BadFile

COLUMNS = {
    "templates": (("template",), ("name",)),
    "persons": (("person", "gender"), ("determiner", "pair")),
    "professions": (("profession",), ("female", "class", "field", "women")),
}
LARGEST = 5_000_000  # bytes; the longest list anybody needs has a few hundred lines
LONGEST = 300  # characters of a cell


def read_templates(path: Path) -> tuple[Template, ...]:
    """Templates from a TSV with the column `template`, and `name` where wanted (else the number of the line)."""
    found: list[Template] = []
    for line, row in _rows(path, "templates"):
        check_template(row["template"], path.name, line)
        found.append(Template(row["name"] or str(len(found) + 1), row["template"]))
    _refuse_twice(path, [one.name for one in found])
    _refuse_twice(path, [one.text for one in found])
    return tuple(found)


def read_persons(path: Path) -> tuple[Person, ...]:
    """Person words from a TSV with the columns `person` and `gender` (male, female, neutral); `determiner`, `pair`.

    Male and female words stand before neutral ones in the result, in the order of the file.
    """
    found = []
    for line, row in _rows(path, "persons"):
        gender = next((one for one in GENDERS if one == row["gender"]), None)
        if gender is None:
            message = N_("{file}, line {line}: gender is {found}; it must be male, female or neutral.")
            raise BadFile(message, file=path.name, line=line, found=row["gender"] or "''")
        found.append(Person(row["person"], gender, row["determiner"], row["pair"]))
    _refuse_twice(path, [f"{one.key} ({one.gender})" for one in found])
    _refuse_odd_pairs(path, found)
    return tuple(sorted(found, key=lambda one: GENDERS.index(one.gender)))


def read_professions(path: Path) -> tuple[Profession, ...]:
    """Professions from a TSV with the column `profession`; `female` (form beside a female word), `class`, `field`,
    `women` (per cent).
    """
    found = []
    for line, row in _rows(path, "professions"):
        if row["class"] not in (*CLASSES, ""):
            message = N_("{file}, line {line}: class is {found}; it must be male, female, balanced or empty.")
            raise BadFile(message, file=path.name, line=line, found=row["class"])
        name, women = row["profession"], _share(row["women"], path, line)
        found.append(Profession(name, name, row["female"] or name, row["class"], row["field"], women))
    _refuse_twice(path, [one.name for one in found])
    order = list(dict.fromkeys(one.kind for one in found))
    return tuple(sorted(found, key=lambda one: order.index(one.kind)))


def _share(text: str, path: Path, line: int) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        message = N_("{file}, line {line}: women is {found}; it must be a percentage from 0 to 100, or empty.")
        raise BadFile(message, file=path.name, line=line, found=text)
    return value


def _refuse_twice(path: Path, names: list[str]) -> None:
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        message = N_("{file}: {name} appears twice. Words that are spelled the same must belong to different pairs.")
        raise BadFile(message, file=path.name, name=twice)


def _refuse_odd_pairs(path: Path, persons: list[Person]) -> None:
    """A pair is one male and one female word."""
    pairs: dict[str, list[str]] = {}
    for one in persons:
        if one.pair:
            pairs.setdefault(one.pair, []).append(one.gender)
    for pair, found in pairs.items():
        genders = sorted(found)
        if genders != ["female", "male"]:
            message = N_("{file}: the pair {pair} must be one male and one female word; it has {found}.")
            raise BadFile(message, file=path.name, pair=pair, found=", ".join(genders))


def _rows(path: Path, part: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows with the number of their line; missing columns of choice are empty. Lines with '#' are comments."""
    required, others = COLUMNS[part]
    numbered = [
        (n, line) for n, line in enumerate(_text(path).splitlines(), 1) if line.strip() and not line.startswith("#")
    ]
    if not numbered:
        raise BadFile(N_("{file} is empty. It needs a header line with the columns {columns}."),
                      file=path.name, columns=", ".join(required))  # fmt: skip
    header = [name.strip() for name in numbered[0][1].split("\t")]
    missing = [name for name in required if name not in header]
    if missing:
        message = N_("{file} lacks the column {missing}. The header has {found}; columns are separated by tabs.")
        raise BadFile(message, file=path.name, missing=", ".join(missing), found=", ".join(header))
    for line, text in numbered[1:]:
        cells = [cell.strip() for cell in text.split("\t")]
        if len(cells) > len(header):
            message = N_("{file}, line {line}: {found} columns where the header has {expected}")
            raise BadFile(message, file=path.name, line=line, found=len(cells), expected=len(header))
        row = dict.fromkeys((*required, *others), "") | dict(zip(header, cells, strict=False))
        _refuse_cells(path, line, row, required)
        yield line, row


def _refuse_cells(path: Path, line: int, row: dict[str, str], required: tuple[str, ...]) -> None:
    empty = next((name for name in required if not row[name]), None)
    if empty is not None:
        raise BadFile(N_("{file}, line {line}: {column} is empty."), file=path.name, line=line, column=empty)
    for column, cell in row.items():
        if len(cell) > LONGEST or any(ord(character) < 32 for character in cell):
            message = N_(
                "{file}, line {line}: {column} is longer than {most} characters or contains control characters."
            )
            raise BadFile(message, file=path.name, line=line, column=column, most=LONGEST)
        if column != "template" and ("[MASK]" in cell or "{" in cell):
            message = N_("{file}, line {line}: {column} must not contain a mask or braces.")
            raise BadFile(message, file=path.name, line=line, column=column)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise BadFile(N_("{file} is larger than {most} MB, too large for a word list."), file=path.name, most=5)
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        message = N_("{file} cannot be read: {why}.")
        raise BadFile(message, file=path.name or str(path), why=error.strerror or error) from None
    except UnicodeDecodeError:
        raise BadFile(N_("{file} is not text in UTF-8. Save it as UTF-8 and try again."), file=path.name) from None
