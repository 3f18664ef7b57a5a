"""The cells of a source (model, pronoun set, data set, setting) as rows for charts, tables and files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.misgendering.metrics import Metrics
from evenhand.core.report.numbers import interval
from evenhand.core.statistics import Estimate
from evenhand.core.text.pronouns import sets
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import note_text
from evenhand.pages.ui.sentences import setting_name

PRONOUNS = tuple(sets("own"))


@dataclass(frozen=True)
class Cell:
    """One cell: its heading (the model), its row under it (pronouns, and what else tells cells apart), its measures."""

    key: dict[str, str]
    group: str
    label: str
    metrics: Metrics

    def row(self, **more: Any) -> dict[str, Any]:
        """The start of a row of a chart or a file."""
        return {"group": self.group, "label": self.label, **more}


def table_of(found: Sequence[tuple[dict[str, str], Metrics]], name: str) -> list[Cell]:
    """The cells, models in the table's order, pronouns as he, she, they, xe; *name* stands where no model is told."""
    several = varying([key for key, _metrics in found])
    cells = [Cell(key, key.get("model") or name, label_of(key, several), metrics) for key, metrics in found]
    models = list(dict.fromkeys(cell.group for cell in cells))
    return sorted(cells, key=lambda cell: (models.index(cell.group), _place(cell.key.get("pronoun", ""))))


def _place(pronouns: str) -> int:
    """The usual four first, others after them."""
    return PRONOUNS.index(pronouns) if pronouns in PRONOUNS else len(PRONOUNS)


def varying(keys: Sequence[dict[str, str]]) -> set[str]:
    """What tells cells apart beside model and pronouns: data set and setting, where there are several."""
    return {name for name in ("dataset", "setting") if len({key.get(name) for key in keys}) > 1}


def label_of(key: dict[str, str], several: set[str]) -> str:
    """The pronouns of a cell and what else tells it apart."""
    parts = [key.get("pronoun") or _("all")]
    if "dataset" in several:
        parts.append(key.get("dataset", ""))
    if "setting" in several:
        parts.append(setting_name(key.get("setting", "")))
    return " · ".join(part for part in parts if part)


def numbers(estimate: Estimate, *, signed: bool = False) -> dict[str, Any]:
    """A number for a chart and a file: value, low, high, the interval in words, why there is none."""
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "interval": interval(estimate.low, estimate.high, signed=signed) or note_text(estimate.note or estimate.reason),
        "units": estimate.units,
        "method": estimate.method,
        "reason": note_text(estimate.reason),
        "note": note_text(estimate.note),
    }
