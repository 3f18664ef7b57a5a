"""Verdicts of both ways as a table: one row an instance, read from a file and checked.

See docs/misgendering.md#the-table-of-verdicts.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evenhand.core.errors import N_, BadFile
from evenhand.core.files.csv_out import is_guarded, restored
from evenhand.core.misgendering.slots import text_file
from evenhand.core.statistics.resampling import Numbers

GEN = re.compile(r"gen(\d+)")
NONE = re.compile(r"none(\d+)")  # whether the text of a generation has no pronoun
PROB = re.compile(r"prob(\d+)")  # TANGO: one verdict per template
TOLD = ("dataset", "model", "pronoun", "setting", "template", "name")  # what says which instance a row is
VERDICTS = {"": np.nan, "0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0}


def read_verdicts(path: Path | str, *, generations: bool = True) -> pd.DataFrame:
    """Read a CSV or TSV with the columns instance, prob, gen1, gen2, ... ; verdicts are 0, 1 or empty.

    Columns prob1, prob2, ... have a verdict per template (TANGO); prob is then the first and may be left out. Columns
    none1, none2, ... are 1 where the text of gen1, gen2, ... has no pronoun. All other columns are kept as text, such
    as dataset, model, pronoun, setting, template, name. *generations*: whether columns gen1, ... are required. Raises
    BadFile, with the line, where a column is missing, a cell is not a verdict, or an instance is a duplicate.
    """
    place = Path(path)
    header, lines = _lines(place)
    verdicts = _verdict_columns(place, header, generations)
    rows: list[dict[str, object]] = []
    read = restored if is_guarded(cell for _, cells in lines for cell in cells) else str
    for number, cells in lines:
        texts = {name: read(cell) for name, cell in zip(header, cells, strict=True)}
        rows.append({**texts, **{name: _verdict(place, number, name, texts[name]) for name in verdicts}})
    frame = pd.DataFrame(rows, columns=header)
    if "prob" not in frame:
        frame["prob"] = frame[_numbered(header, PROB)[0]]
    frame = frame.astype(dict.fromkeys((*verdicts, "prob"), float))
    _refuse_twice(place, frame, [number for number, _ in lines])
    return frame


def _lines(place: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    if not place.is_file():
        raise BadFile(N_("There is no file {path}."), path=place)
    with text_file(place):
        text = place.read_text(encoding="utf-8-sig")
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.reader(text.splitlines(), delimiter=delimiter)
    try:
        result = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        raise BadFile(N_("{file} cannot be read as CSV: {problem}"), file=place.name, problem=error) from error
    if not result:
        raise BadFile(N_("{file} is empty."), file=place.name)
    header = result[0][1]
    twice = next((name for name, times in Counter(header).items() if times > 1), None)
    if twice is not None:
        raise BadFile(N_("{file} has the column {column} twice."), file=place.name, column=twice)
    for number, cells in result[1:]:
        if len(cells) != len(header):
            message = N_("{file}, line {line}: {found} columns where the header has {expected}")
            raise BadFile(message, file=place.name, line=number, found=len(cells), expected=len(header))
    if len(result) == 1:
        raise BadFile(N_("{file} has a header but no rows."), file=place.name)
    return header, result[1:]


def _verdict_columns(place: Path, header: Sequence[str], generations: bool) -> list[str]:
    prob, gen = _numbered(header, PROB), _numbered(header, GEN)
    lacking = [] if "instance" in header else ["instance"]
    lacking += [] if prob or "prob" in header else ["prob"]
    lacking += ["gen1"] if generations and not gen else []
    if lacking:
        message = N_(
            "{file} lacks the columns {columns}. A table of verdicts has instance, prob and gen1, gen2, … with 0 or 1."
        )
        raise BadFile(message, file=place.name, columns=", ".join(lacking))
    known = ("prob", "prob_sum", *prob, *gen, *_numbered(header, NONE))
    return [name for name in header if name in known]


def _numbered(header: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    return sorted((n for n in header if pattern.fullmatch(n)), key=lambda n: int(re.sub(r"\D", "", n)))


def _verdict(place: Path, line: int, column: str, cell: str) -> float:
    if cell not in VERDICTS:
        message = N_(
            "{file}, line {line}: {cell} in the column {column} is not a verdict; use 1 (right), 0 (wrong)"
            " or leave it empty."
        )
        raise BadFile(message, file=place.name, line=line, column=column, cell=cell)
    return VERDICTS[cell]


def _refuse_twice(place: Path, frame: pd.DataFrame, lines: Sequence[int]) -> None:
    key = ["instance", *(name for name in TOLD if name in frame)]
    twice = frame.duplicated(key)
    if bool(twice.any()):
        number = int(np.flatnonzero(twice.to_numpy())[0])
        message = N_("{file}, line {line}: the instance {instance} appears twice and would be counted twice.")
        raise BadFile(message, file=place.name, line=lines[number], instance=frame["instance"].iloc[number])


def generations_of(frame: pd.DataFrame) -> Numbers:
    """Return the verdicts of gen1, gen2, ... in their order, rows x generations; NaN is missing."""
    return _values(frame, _numbered(list(frame.columns), GEN))


def without_pronoun(frame: pd.DataFrame) -> Numbers | None:
    """Return whether each generation has no pronoun (1 or 0), rows x generations; None where the table lacks that."""
    columns = [name.replace("gen", "none") for name in _numbered(list(frame.columns), GEN)]
    return _values(frame, columns) if columns and set(columns) <= set(frame.columns) else None


def templates_of(frame: pd.DataFrame) -> Numbers:
    """Return the verdicts of prob1, prob2, ... (TANGO: one per template), else of prob alone; rows x templates."""
    return _values(frame, _numbered(list(frame.columns), PROB) or ["prob"])


def has_templates(frame: pd.DataFrame) -> bool:
    """Tell if the probability-based way has several verdicts per instance."""
    return len(_numbered(list(frame.columns), PROB)) > 1


def _values(frame: pd.DataFrame, columns: Sequence[str]) -> Numbers:
    return frame[list(columns)].to_numpy(dtype=float) if columns else np.empty((len(frame), 0))


def row_means(verdicts: Numbers) -> Numbers:
    """Return the share of right verdicts of each row (generations or templates), 0 to 1; NaN without verdicts."""
    known = np.isfinite(verdicts)
    count = known.sum(axis=1)
    means: Numbers = np.divide(np.nansum(verdicts, axis=1), count, out=np.full(len(verdicts), np.nan), where=count > 0)
    return means


def cell_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that split the table into cells: model, pronoun, dataset, setting, if present."""
    return [name for name in ("dataset", "setting", "model", "pronoun") if name in frame]
