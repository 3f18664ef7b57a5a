"""The texts of a run: how repetitive they are, and how many name nobody by a pronoun (SPEC 4.3, 4.10)."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.errors import N_, BadFile
from evenhand.core.human_vs_rule.apply_rule import apply_rule
from evenhand.core.misgendering.variation import mean_by_units
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.units import clusters_of
from evenhand.core.text.repetition import Repeated, full_text, repetitiveness, summary

NO_TEXT = Note(N_("There is no text."))
KEYS = ("dataset", "setting", "model", "pronouns")


@dataclass(frozen=True, slots=True)
class Texts:
    """The figures of the texts of one model and pronoun set.

    `published`, `completion`: repetition (0 to 1) of context and completion together, as published, and of the
    completion alone; `without`: share of texts without a pronoun, 0 to 1, over templates and names; `n` texts.
    """

    key: dict[str, str]
    published: Repeated
    completion: Repeated
    without: Estimate
    n: int


def read_texts(path: Path | str, skipped: list[int]) -> list[dict[str, Any]]:
    """The lines of a file of generations (JSONL with context, completion, pronouns ...).

    A line that is none is left out, its number goes to *skipped*. Raises BadFile where no line is one.
    """
    place, rows = Path(path), list[dict[str, Any]]()
    with place.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, dict) and isinstance(row.get("completion"), str):
                rows.append(row)
            else:
                skipped.append(number)
    if skipped and not rows:
        message = N_("{file}, line {line} is not a generation; each line is an object with a completion.")
        raise BadFile(message, file=place.name, line=skipped[0])
    return rows


def texts_by_cell(rows: Sequence[dict[str, Any]]) -> Iterator[Texts]:
    """Repetition and absence of pronouns for each data set, setting, model and pronoun set, in the file's order."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(_as_text(row, key) for key in KEYS), []).append(row)
    for key, some in groups.items():
        yield _texts(dict(zip(KEYS, key, strict=True)), some)


def _as_text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    return " + ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _texts(key: dict[str, str], rows: Sequence[dict[str, Any]]) -> Texts:
    frame = pd.DataFrame(
        [
            {"template": str(row.get("template") or row.get("context") or ""), "name": _as_text(row, "name")}
            for row in rows
        ]
    )
    absent = np.array([apply_rule(row).pronoun is None for row in rows], dtype=float)
    return Texts(
        {"pronoun": key["pronouns"], **{name: key[name] for name in KEYS[:3]}},
        summary(repetitiveness(full_text(str(row.get("context") or ""), row["completion"]))[0] for row in rows),
        summary(repetitiveness(row["completion"])[0] for row in rows),
        mean_by_units(absent, clusters_of(frame), NO_TEXT),
        len(rows),
    )
