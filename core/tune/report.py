"""What a run of tuning reports: the record of the model, from which its card and the pages are written."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.core.files.timestamps import timestamp
from evenhand.core.models.tuning.settings import HeldOut, Tuning
from evenhand.core.runs.loop import versions
from evenhand.core.typed_json import from_json, to_json

RECORD = "tuning.json"
STOPPED_EARLY = N_(
    "Stopped early at step {steps} of {of}: {checks} checks in a row without progress on held-out text. The result is"
    " the model of step {best}."
)


@dataclass(frozen=True, slots=True)
class Base:
    """The model that was changed. `weights`: their SHA-256; `licence`: None where its card states none."""

    name: str = ""
    weights: str = ""
    licence: str | None = None


@dataclass(frozen=True, slots=True)
class SwapFacts:
    """How the texts were swapped: the pairs, those left out, and how many texts had such words or were refused."""

    mode: str = "none"
    language: str | None = None
    pairs: tuple[str, ...] = ()
    swapped: int = 0
    left: int = 0
    refused: int = 0
    substituted: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextFacts:
    """The texts. `trained`, `untouched`: on either side; `sha256`: of all in their order; `lines`: after the swap."""

    name: str = ""
    texts: int = 0
    trained: int = 0
    untouched: int = 0
    sha256: str = ""
    share: float = 0.0
    swap: SwapFacts = SwapFacts()
    lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneReport:
    """What a run did to a model. `folder`: where the model is; `method_text`: the change in English.

    `held_out`: how well the model predicted held-out text "before" and "after".
    """

    name: str = ""
    base: Base = Base()
    source: TextFacts = TextFacts()
    method: str = ""
    method_text: str = ""
    held_out: dict[str, HeldOut] = field(default_factory=dict)
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=lambda: versions())
    created: str = field(default_factory=timestamp)
    folder: Path = Path()

    @property
    def record(self) -> dict[str, Any]:
        """The report as JSON without the folder, which may be moved."""
        return {key: value for key, value in to_json(self).items() if key != "folder"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingReport(TuneReport):
    """A model that was trained. `best_step`: whose weights are the result, None: the last. `resumed_at`: the step at
    which the run continued. `curve`: a point a look at held-out text. `memory`: in bytes, as forecast and as used."""

    tuning: Tuning = field(default_factory=Tuning)
    steps: int = 0
    best_step: int | None = None
    stopped_early: bool = False
    resumed_at: int = 0
    curve: tuple[dict[str, Any], ...] = ()
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionReport(TuneReport):
    """A model of which `directions` were taken out, found in `pairs` of sentences and counterfactuals. `probe`: how
    well a linear classifier told the side "before" and "after"."""

    directions: int = 0
    pairs: int = 0
    probe: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_report(record: object) -> TuneReport | None:
    """Return the report of a record; None for one that holds none."""
    method = record.get("method") if isinstance(record, dict) else None
    kind = {None: TuneReport, "training": TrainingReport}.get(method, ProjectionReport)
    try:
        return from_json(kind, record)
    except EvenhandError:
        return None


def tuned_model(folder: Path | str) -> TuneReport | None:
    """Return the report of a folder with a tuned model; None for another folder, or the name of a model."""
    place = Path(folder)
    try:
        report = read_report(json.loads((place / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None
    return replace(report, folder=place) if report else None


def stopped_early(report: TuneReport | None) -> Notice | None:
    """Return that a run ended before its last step, and why; None where it did not."""
    if not isinstance(report, TrainingReport) or not report.stopped_early:
        return None
    best = report.steps if report.best_step is None else report.best_step
    values = {"steps": report.steps, "of": report.tuning.steps, "checks": report.tuning.patience, "best": best}
    return Notice(STOPPED_EARLY, {name: f"{number:,}" for name, number in values.items()})
