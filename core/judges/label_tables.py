"""Tables of labels: `item, annotator, label` of people, `item, label` of a judge."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, BadFile, BadLine
from evenhand.core.files.readers import Source, open_source, rows
from evenhand.core.statistics.prediction_powered import Labels

NO_COLUMN = N_("{file} has no column {column}; it needs {needed}.")
NO_ROWS = N_("{file} contains no usable line.")
EMPTY = N_("{name}, line {number}: column {column} is empty.")
NO_RATE = N_("{name}, line {number}: {value} cannot be used for a rate; use 0 or 1.")
NO_PROBABILITY = N_("{name}, line {number}: {value} is not a probability; use a number above 0 and at most 1.")
AGAIN = N_("{name}, line {number}: item {item} appears twice; the first label counts.")


@dataclass
class Table:
    """The rows of a table by item, and the lines that could not be used."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: list[BadLine] = field(default_factory=list)


@dataclass
class Given:
    """The input of `estimate`: labels, the number of items labelled by people but not by the judge, and bad lines."""

    labels: Labels
    without_judge: int
    errors: list[BadLine]


def read_rates(people: Path, judge: Path, clusters: str | None = None, inclusion: str | None = None) -> Given:
    """Read labels 0 and 1 of people and of a judge; *clusters* and *inclusion* name columns.

    Both tables have the column *clusters*; the table of people has the column *inclusion* (probabilities). Raises
    BadFile where a table or a column is missing. Unusable lines are left out and reported.
    """
    ours = _table(people, ("item", "label", *filter(None, (clusters, inclusion))), inclusion)
    theirs = _table(judge, ("item", "label", *filter(None, (clusters,))))
    both = [item for item in ours.rows if item in theirs.rows]
    rest = [item for item in theirs.rows if item not in ours.rows]
    labels = Labels(
        [ours.rows[item]["label"] for item in both],
        [theirs.rows[item]["label"] for item in both],
        [theirs.rows[item]["label"] for item in rest],
        [ours.rows[item][clusters] for item in both] if clusters else None,
        [theirs.rows[item][clusters] for item in rest] if clusters else None,
        [ours.rows[item][inclusion] for item in both] if inclusion else None,
    )
    return Given(labels, len(ours.rows) - len(both), [*ours.errors, *theirs.errors])


def read_people(path: Path) -> tuple[list[tuple[str, str, str]], list[BadLine]]:
    """Read (item, annotator, label) of each line, and the lines that cannot be used."""
    result: list[tuple[str, str, str]] = []
    errors: list[BadLine] = []
    for row in _rows(open_source(path), ("item", "annotator", "label"), errors):
        result.append((row["item"], row["annotator"], row["label"]))
    _refuse_none(path, result, errors)
    return result, errors


def read_judge(path: Path) -> tuple[dict[str, str], list[BadLine]]:
    """Read the label of each item (the first one of an item counts), and the lines that cannot be used."""
    table = _table(path, ("item", "label"), rates=False)
    return {item: row["label"] for item, row in table.rows.items()}, table.errors


def _table(path: Path, columns: tuple[str, ...], inclusion: str | None = None, *, rates: bool = True) -> Table:
    """Return the first row of each item; *rates*: labels are 0 or 1, others cannot be used."""
    table, source = Table(), open_source(path)
    for row in _rows(source, columns, table.errors):
        line = row["line"]
        if row["item"] in table.rows:
            table.errors.append(_bad(source, line, "again", AGAIN, item=row["item"]))
            continue
        if rates:
            if row["label"] not in ("0", "1", "0.0", "1.0"):
                table.errors.append(_bad(source, line, "label", NO_RATE, value=row["label"]))
                continue
            row["label"] = float(row["label"])
        if inclusion is not None:
            drawn = _number(row[inclusion])
            if drawn is None or not 0 < drawn <= 1:
                table.errors.append(_bad(source, line, inclusion, NO_PROBABILITY, value=row[inclusion]))
                continue
            row[inclusion] = drawn
        table.rows[row["item"]] = row
    _refuse_none(path, table.rows, table.errors)
    return table


def _rows(source: Source, columns: tuple[str, ...], errors: list[BadLine]) -> Iterator[dict[str, Any]]:
    """Yield the cells of *columns* of each good row, as text without blanks, and its `line`."""
    if source.shape == "text":
        raise BadFile(NO_COLUMN, file=source.name, column="item", needed=", ".join(columns))
    for row in rows(source):
        cells = {name.strip().lower(): value for name, value in row.values.items()}
        missing = [name for name in columns if name.lower() not in cells]
        if row.problem is None and missing and source.shape not in ("jsonl", "json"):
            raise BadFile(NO_COLUMN, file=source.name, column=missing[0], needed=", ".join(columns))
        values = {name: _text(cells.get(name.lower())) for name in columns}
        empty = [name for name in columns if not values[name]]
        if row.problem is not None or empty:
            errors.append(row.problem or _bad(source, row.line, empty[0], EMPTY, column=empty[0]))
            continue
        yield values | {"line": row.line}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None or isinstance(value, (list, dict)) else str(value).strip()


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _bad(source: Source, line: int, reason: str, message: str, **values: Any) -> BadLine:
    return BadLine(source.name, line, reason, message, name=source.name, number=line, **values)


def _refuse_none(path: Path, found: Any, errors: list[BadLine]) -> None:
    if not found:
        raise errors[0] if errors else BadFile(NO_ROWS, file=path.name)
