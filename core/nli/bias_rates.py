"""The comparison of measures over bias rates: train the classifier for each r, measure, correlate.

See docs/nli.md#bias-rates.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, ModelUnavailable, Refused
from evenhand.core.models import open_classifier
from evenhand.core.nli.measure import Inference
from evenhand.core.nli.run import measured_scores, out_json
from evenhand.core.nli.sets import RATES, Labelled, controlled, packaged, spearman
from evenhand.core.nli.settings import RateSettings, labels_in
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.runs.loop import LapTimer, Report, RunProgress, ask_models, open_table
from evenhand.core.runs.records import target_or_none, write_record
from evenhand.core.typed_json import to_json

MEASURES = ("s", "one_minus_fn", "directional", "not_neutral_ns")
COLUMNS = (
    "r",
    *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")),
    "order",
    "seconds",
    "signature",
)


@dataclass(frozen=True, slots=True)
class RatePoint:
    """The answers of the classifier trained at one bias rate, on the down-sampled sets."""

    rate: float
    found: Inference
    signature: str
    seconds: float

    def cells(self) -> list[Any]:
        """Return the cells of a row of the table."""
        numbers = [
            value
            for name in MEASURES
            for value in (self.found[name].value, self.found[name].low, self.found[name].high)
        ]
        return [self.rate, *numbers, self.found.order, round(self.seconds, 2), self.signature]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateReport(Report[list[RatePoint]]):
    """The points of one model in the order of the rates, and how each measure goes with r."""

    settings: RateSettings
    out: Path | None
    training: str

    @property
    def points(self) -> list[RatePoint]:
        """The results of the classifier after each training."""
        return self.models[0]

    def correlation(self, name: str) -> Mapping[str, Any]:
        """Return Spearman's rho of a measure with r; null with a reason where undefined."""
        rates = [point.rate for point in self.points]
        value, reason = spearman(rates, [point.found[name].value for point in self.points])
        return {"rho": value} | ({"rho_reason": str(reason)} if reason else {})

    def to_json(self) -> dict[str, object]:
        """Return the record, which is what the command prints."""
        settings = self.settings
        return {
            "kind": "rates",
            "model": settings.model,
            "language": settings.language,
            "order_of_words": settings.order,
            "training": self.training,
            "spearman": {name: self.correlation(name) for name in MEASURES},
            "points": [dict(zip(COLUMNS, point.cells(), strict=True)) for point in self.points],
            "seconds": round(self.seconds, 2),
            **out_json(self.out),
            "models": [{"model": settings.model, "signature": point.signature} for point in self.points[:1]],
            "versions": self.versions,
            "created": self.created,
        }


def run_rates(settings: RateSettings, place: Place) -> RateReport:
    """Train for each rate from the same start, measure on the sample of 200 / 200 / 200, write table and record.

    Raises Refused for rates that are none, ModelUnavailable, BadFile.
    """
    if settings.model.startswith("planted:"):
        raise ModelUnavailable(
            N_("{name} is a planted classifier and cannot be trained. Choose another classifier."), name=settings.model
        )
    rates = settings.rates or RATES
    if len(set(rates)) < len(rates):
        raise Refused(N_("Give every bias rate only once."))
    out, is_run = target_or_none(place.database, "nli", settings.out, settings.run_name)
    sets = [controlled(settings.language, rate, settings.order) for rate in rates]
    training = ""
    with open_table(out, COLUMNS) as write_row:

        def ask(model: str, steps: RunProgress) -> list[RatePoint]:
            nonlocal training
            scorer = open_classifier(model, labels=labels_in(settings.labels), threads=settings.threads)
            points = list[RatePoint]()
            for rate, rows in zip(rates, sets, strict=True):
                point, training = _at(scorer, rate, rows, settings, steps)
                points.append(point)
                write_row(point.cells())
                steps.finish(settings.epochs * len(rows))
            return points

        models = ask_models((settings.model,), ask, settings.epochs * sum(map(len, sets)), place.progress)
    report = RateReport(models=models.models, seconds=models.seconds, settings=settings, out=out, training=training)
    if is_run and out is not None:
        write_record(out, report)
    return report


def _at(
    scorer: Any, rate: float, rows: list[Labelled], settings: RateSettings, steps: RunProgress
) -> tuple[RatePoint, str]:
    from evenhand.core.models.classifier import Classifier, FineTuning, fine_tuned

    lap, how = LapTimer(), FineTuning(settings.epochs, settings.chosen_rate, settings.batch, settings.seed)
    pairs = [(row.row.pair, row.label) for row in rows]
    trained = Classifier(
        fine_tuned(scorer.loaded, pairs, how, lambda read: steps(read, message=settings.model))
    )  # fmt: skip
    probes = packaged(settings.language, sample=True)
    inference = measured_scores(probes, trained.score([row.pair for row in probes.rows]))
    return RatePoint(rate, inference, trained.signature, lap()), how.signature


def table_of(out: Path) -> list[dict[str, str]]:
    """Return the rows of a table of rates, as text."""
    return list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))


NLI_RATES = JobKind("nli rates", RateSettings, dict, lambda settings, place: to_json(run_rates(settings, place)))
