"""The comparison of measures over bias rates: train the classifier for each r, measure, correlate (SPEC 3.3)."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, ModelUnavailable, Refused
from evenhand.core.models import fine_tune, open_classifier
from evenhand.core.nli.biased_training_sets import RATES, Labelled, WordOrder, controlled, spearman
from evenhand.core.nli.measure import Inference, measured
from evenhand.core.nli.sanity import argmax
from evenhand.core.nli.sets import packaged
from evenhand.core.nli.types import Language, Prediction
from evenhand.core.runs.loop import Laps, RunReport, Steps, Watcher, made_now, open_table
from evenhand.core.runs.records import write_record

BUILT_IN_RATE, USUAL_RATE = 1e-3, 2e-5  # learning rates: of the small built-in classifier; of the paper
MEASURES = ("s", "one_minus_fn", "directional", "not_neutral_ns")
COLUMNS = (
    "r",
    *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")),
    "order",
    "seconds",
    "signature",
)


@dataclass(frozen=True, slots=True)
class RateSettings:
    """What is asked for: the classifier, the language, which rates, how it is trained."""

    model: str
    language: Language
    rates: tuple[float, ...] = RATES
    order: WordOrder = "female-first"
    epochs: int = 3
    learning_rate: float | None = None
    batch: int = 32
    seed: int = 0
    labels: tuple[str, ...] | None = None
    threads: int | None = None

    @property
    def chosen_rate(self) -> float:
        """The learning rate: as asked, else the paper's, or a larger one for the built-in classifier."""
        if self.learning_rate is not None:
            return self.learning_rate
        return BUILT_IN_RATE if self.model.startswith("demo-") else USUAL_RATE


@dataclass(slots=True)
class RatePoint:
    """What the classifier trained at one bias rate answers on the down-sampled sets."""

    rate: float
    found: Inference
    signature: str
    seconds: float

    def cells(self) -> list[Any]:
        """The row of the table."""
        numbers = [
            value
            for name in MEASURES
            for value in (self.found[name].value, self.found[name].low, self.found[name].high)
        ]
        return [self.rate, *numbers, self.found.order, round(self.seconds, 2), self.signature]


@dataclass(slots=True)
class RateReport(RunReport[list[RatePoint]]):
    """The points of one model in the order of the rates, and how each measure goes with r."""

    settings: RateSettings
    out: Path | None = None
    training: str = ""
    training_seconds: float = 0.0

    @property
    def points(self) -> list[RatePoint]:
        """What the classifier answers after each training."""
        return self.models[0]

    def correlation(self, name: str) -> dict[str, Any]:
        """Spearman's rho of a measure with r; null with a reason where undefined."""
        rates = [point.rate for point in self.points]
        value, reason = spearman(rates, [point.found[name].value for point in self.points])
        return {"rho": value} | ({"rho_reason": str(reason)} if reason else {})

    def as_json(self) -> dict[str, Any]:
        """The record and what the command prints."""
        asked = self.settings
        return {
            "kind": "rates",
            "model": asked.model,
            "language": asked.language,
            "order_of_words": asked.order,
            "training": self.training,
            "spearman": {name: self.correlation(name) for name in MEASURES},
            "points": [dict(zip(COLUMNS, point.cells(), strict=True)) for point in self.points],
            "seconds": round(self.training_seconds, 2),
            "out": str(self.out) if self.out else None,
            **({} if self.out else {"out_reason": "No file was asked for."}),
            "models": [{"model": asked.model, "signature": point.signature} for point in self.points[:1]],
            **made_now(),
        }


def run_rates(
    settings: RateSettings, out: Path | None, *, watch: Watcher | None = None, record: bool = False
) -> RateReport:
    """Train for each rate from the same start, measure on the sample of 200 / 200 / 200, write table and record.

    Raises Refused for rates that are none, ModelUnavailable, BadFile.
    """
    if settings.model.startswith("planted:"):
        raise ModelUnavailable(
            N_("{name} is a planted classifier and cannot be trained. Choose another classifier."), name=settings.model
        )
    if not settings.rates or len(set(settings.rates)) < len(settings.rates):
        raise Refused(N_("Give every bias rate only once."))
    sets = [controlled(settings.language, rate, settings.order) for rate in settings.rates]
    report = RateReport(settings, out)
    with open_table(out, COLUMNS) as write_row:

        def ask(model: str, steps: Steps) -> list[RatePoint]:
            scorer = open_classifier(model, labels=settings.labels, threads=settings.threads)
            lap, points = Laps(), list[RatePoint]()
            for rate, rows in zip(settings.rates, sets, strict=True):
                point, report.training = _at(scorer, rate, rows, settings, steps)
                points.append(point)
                write_row(point.cells())
                steps.finish(settings.epochs * len(rows))
            report.training_seconds = lap()
            return points

        report.ask_models((settings.model,), ask, settings.epochs * sum(map(len, sets)), watch)
    if record and out is not None:
        write_record(out, report.as_json())
    return report


def _at(scorer: Any, rate: float, rows: list[Labelled], settings: RateSettings, steps: Steps) -> tuple[RatePoint, str]:
    lap = Laps()
    pairs = [(one.row.pair, one.label) for one in rows]
    trained, how = fine_tune(
        scorer, pairs, epochs=settings.epochs, rate=settings.chosen_rate, batch=settings.batch, seed=settings.seed,
        progress=lambda read: steps(read, message=settings.model),
    )  # fmt: skip
    probes = packaged(settings.language, sample=True)
    labels = [argmax(score) for score in trained.score([row.pair for row in probes.rows])]
    answers = [
        Prediction(row.set, label, row.occupation)
        for row, label in zip(probes.rows, labels, strict=True)
        if label is not None
    ]
    found = measured(answers)
    return RatePoint(rate, found, trained.signature, lap()), how


def table_of(out: Path) -> list[dict[str, str]]:
    """The rows of a table of rates, as text."""
    return list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))
