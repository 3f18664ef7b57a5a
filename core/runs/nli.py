"""Runs of inference: a classifier answers a set of probes; the table and its record lie beside the database."""

import time
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from typing import Any

from core.errors import N_, Refused
from core.files.csv_out import csv_line
from core.files.whole_file import whole_file
from core.models import open_classifier
from core.nli.files import Predictions, read_predictions
from core.nli.measure import Inference, as_json, measured
from core.nli.sanity import Sanity, argmax, sanity
from core.nli.sets import ProbeSet
from core.nli.types import Prediction, Row
from core.runs.loop import Watcher, made_now
from core.runs.records import write_record
from core.statistics import Resampling
from core.types import Score

COLUMNS = (
    "set", "occupation", "class", "gender", "template", "premise", "hypothesis", "label", "p_entailment",
    "p_contradiction", "p_neutral", "status", "signature",
)  # fmt: skip
MIXED_UP = N_(
    "The labels are probably mixed up: {right} of {pairs} obvious pairs ({language}) are right as they are read, "
    "{best} with {swapped}. Name them in order, as in --labels entailment,neutral,contradiction (or --keep-labels)."
)


@dataclass(slots=True)
class NliReport:
    """What a run did; `as_json` is its record and what the command prints."""

    model: str
    probes: ProbeSet
    signature: str
    found: Inference
    sanity: Sanity | None
    undefined: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    loading_seconds: float = 0.0
    out: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """The measures, the obvious pairs, times, signatures and versions."""
        return as_json(self.found) | {
            "model": self.model,
            "signature": self.signature,
            "set": {
                "name": self.probes.name,
                "language": self.probes.language,
                "signature": self.probes.signature,
                "rows": self.probes.counts(),
            },
            "sanity": self.sanity.as_json() if self.sanity else None,
            **({} if self.sanity else {"sanity_reason": "The obvious pairs were not asked."}),
            "undefined": self.undefined,
            "seconds": round(self.seconds, 3),
            "loading_seconds": round(self.loading_seconds, 3),
            "out": str(self.out) if self.out else None,
            **({} if self.out else {"out_reason": "No file was asked for."}),
            "kind": "inference",
            "models": [{"model": self.model, "signature": self.signature}],
            **made_now(),
        }


def run(
    model: str,
    probes: ProbeSet,
    out: Path | None,
    *,
    labels: tuple[str, ...] | None = None,
    keep_labels: bool = False,
    threads: int | None = None,
    watch: Watcher | None = None,
    record: bool = False,
) -> NliReport:
    """Ask *model* every probe, write the table to *out* (whole or not at all), measure.

    The obvious pairs of the language come first: where another order of the labels fits them clearly better, the run
    is refused (Refused) unless *keep_labels*. Raises ModelUnavailable, BadFile.
    """
    began = time.perf_counter()
    scorer = open_classifier(model, labels=labels, threads=threads)
    loading, began = time.perf_counter() - began, time.perf_counter()
    checked = None if model.startswith("planted:") else sanity(scorer, probes.language)
    if checked is not None and checked.verdict == "other order" and not keep_labels:
        raise Refused(MIXED_UP, **checked.note().values)
    pairs = [row.pair for row in probes.rows]
    scores = scorer.score(pairs, None if watch is None else lambda done: watch(done, len(pairs), model))
    report = NliReport(model, probes, scorer.signature, _measured(probes, scores), checked)
    report.seconds, report.loading_seconds, report.out = time.perf_counter() - began, loading, out
    for score in scores:
        if score.reason is not None:
            report.undefined[score.reason] = report.undefined.get(score.reason, 0) + 1
    if out is not None:
        _write(out, probes, scores)
        if record:
            write_record(out, report.as_json())
    return report


def _measured(probes: ProbeSet, scores: list[Score]) -> Inference:
    labels = [(row, argmax(score)) for row, score in zip(probes.rows, scores, strict=True)]
    return measured([Prediction(row.set, label, row.occupation) for row, label in labels if label is not None])


def _write(out: Path, probes: ProbeSet, scores: list[Score]) -> None:
    with whole_file(out) as write:
        write(csv_line(COLUMNS))
        for row, score in zip(probes.rows, scores, strict=True):
            write(csv_line(_cells(row, score)))


def _cells(row: Row, score: Score) -> list[Any]:
    shares = [None if p is None else exp(p) for p in score.logprobs]
    words = [row.set, row.occupation, row.kind, row.gender, row.template, row.premise, row.hypothesis]
    return [*words, argmax(score), *shares, score.reason or "ok", score.signature]


def measured_file(
    named: list[str] | tuple[str, ...], resampling: Resampling | None = None
) -> tuple[Inference, Predictions]:
    """The measures of files of predictions, and what was read. Raises BadFile."""
    found = read_predictions(named)
    return measured(found.rows, resampling), found
