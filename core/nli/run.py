"""Runs of inference: a classifier answers a set of probes; the table and its record lie beside the database."""

from collections import Counter
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, Refused
from evenhand.core.models import open_classifier
from evenhand.core.nli.measure import Inference, as_json, measured
from evenhand.core.nli.sanity import Sanity, argmax, sanity
from evenhand.core.nli.sets import ProbeSet
from evenhand.core.nli.types import Prediction, Row
from evenhand.core.runs.loop import Laps, RunReport, Steps, Watcher, made_now, open_table
from evenhand.core.runs.records import write_record
from evenhand.core.types import Score

COLUMNS = (
    "set", "occupation", "class", "gender", "template", "premise", "hypothesis", "label", "p_entailment",
    "p_contradiction", "p_neutral", "status", "signature",
)  # fmt: skip
MIXED_UP = N_(
    "The labels are probably swapped: {right} of {pairs} sanity-check pairs ({language}) are right in the"
    " present order, {best} with {swapped}. Give the label order, as in --labels"
    " entailment,neutral,contradiction, or use --keep-labels."
)


@dataclass(frozen=True, slots=True)
class Answers:
    """What a classifier answered: measures, the obvious pairs (None: not asked), how many have no answer, by reason."""

    model: str
    signature: str
    found: Inference
    sanity: Sanity | None
    undefined: dict[str, int]
    seconds: float
    loading_seconds: float


@dataclass(slots=True)
class NliReport(RunReport[Answers]):
    """What a run did; a run of inference has one model."""

    probes: ProbeSet
    out: Path | None = None

    @property
    def answers(self) -> Answers:
        """What the model answered."""
        return self.models[0]

    def as_json(self) -> dict[str, Any]:
        """The measures, the obvious pairs, times, signatures and versions."""
        one = self.answers
        return as_json(one.found) | {
            "model": one.model,
            "signature": one.signature,
            "set": {
                "name": self.probes.name,
                "language": self.probes.language,
                "signature": self.probes.signature,
                "rows": self.probes.counts(),
            },
            "sanity": one.sanity.as_json() if one.sanity else None,
            **({} if one.sanity else {"sanity_reason": "The obvious pairs were not asked."}),
            "undefined": one.undefined,
            "seconds": round(one.seconds, 3),
            "loading_seconds": round(one.loading_seconds, 3),
            "out": str(self.out) if self.out else None,
            **({} if self.out else {"out_reason": "No file was asked for."}),
            "kind": "inference",
            "models": [{"model": one.model, "signature": one.signature}],
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
    report = NliReport(probes, out)
    with open_table(out, COLUMNS) as write_row:

        def ask(model: str, steps: Steps) -> Answers:
            lap = Laps()
            scorer = open_classifier(model, labels=labels, threads=threads)
            loading_seconds = lap()
            checked = None if model.startswith("planted:") else sanity(scorer, probes.language)
            if checked is not None and checked.verdict == "other order" and not keep_labels:
                raise Refused(MIXED_UP, **checked.note().values)
            scores = scorer.score([row.pair for row in probes.rows], lambda done: steps(done, message=model))
            for row, score in zip(probes.rows, scores, strict=True):
                write_row(_cells(row, score))
            undefined = dict(Counter(score.reason for score in scores if score.reason is not None))
            found = _measured(probes, scores)
            return Answers(model, scorer.signature, found, checked, undefined, lap(), loading_seconds)

        report.ask_models((model,), ask, len(probes.rows), watch)
    if record and out is not None:
        write_record(out, report.as_json())
    return report


def _measured(probes: ProbeSet, scores: list[Score]) -> Inference:
    labels = [(row, argmax(score)) for row, score in zip(probes.rows, scores, strict=True)]
    return measured([Prediction(row.set, label, row.occupation) for row, label in labels if label is not None])


def _cells(row: Row, score: Score) -> list[Any]:
    shares = [None if p is None else exp(p) for p in score.logprobs]
    words = [row.set, row.occupation, row.kind, row.gender, row.template, row.premise, row.hypothesis]
    return [*words, argmax(score), *shares, score.reason or "ok", score.signature]
