"""Runs of inference: a classifier answers a set of probes; the table and its record are stored next to the database.

Before that, pairs with an obvious answer show whether the labels of the classifier are read in the right order.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import exp
from pathlib import Path
from typing import Any, Literal, Protocol, cast

from evenhand.core.errors import N_, Refused
from evenhand.core.models import open_classifier
from evenhand.core.nli.measure import Inference, as_json, measured
from evenhand.core.nli.sets import ProbeSet
from evenhand.core.nli.settings import AskSettings, labels_in
from evenhand.core.nli.types import LABELS, Label, Language, Prediction, Row, SentencePair
from evenhand.core.resources import table
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.runs.loop import LapTimer, Report, RunProgress, ask_models, open_table
from evenhand.core.runs.records import target_or_none, write_record
from evenhand.core.statistics import Note
from evenhand.core.typed_json import to_json
from evenhand.core.types import Score

LabelOrder = Literal["fits", "other order", "unfit"]
ENOUGH = 0.5  # share of obvious pairs that a classifier of this language gets right; guessing gives a third
LEAD = 0.25  # by how much of the pairs another order must be better


class SentencePairScorer(Protocol):
    """Anything that answers sentence pairs: a classifier here, or in the inference process."""

    def score(self, pairs: Sequence[SentencePair]) -> list[Score]:
        """Return one score per pair: log-probabilities of entailment, contradiction and neutral."""
        ...


@dataclass(frozen=True, slots=True)
class Sanity:
    """The check by obvious pairs: `right` of `pairs` with the labels as read, `best_right` with the best labels.

    `best[i]` is then the label of the output that is read as LABELS[i].
    """

    language: Language
    right: int
    pairs: int
    best: tuple[Label, Label, Label]
    best_right: int

    @property
    def verdict(self) -> LabelOrder:
        """fits; "other order" where another order is clearly better; unfit where none gets half of them right."""
        if self.best_right < ENOUGH * self.pairs:
            return "unfit"
        return "other order" if self.best_right - self.right >= LEAD * self.pairs else "fits"

    def note(self) -> Note:
        """Return the verdict in words."""
        values = {"right": self.right, "pairs": self.pairs, "language": self.language}
        if self.verdict == "fits":
            return Note(
                N_(
                    "Sanity check ({language}): {right} of {pairs} pairs are classified correctly;"
                    " the label order is correct."
                ),
                values,
            )
        if self.verdict == "unfit":
            message = N_(
                "Sanity check ({language}): only {right} of {pairs} pairs are classified correctly,"
                " and no label order reaches half of them. This classifier cannot do inference in"
                " this language; its scores are not meaningful."
            )
            return Note(message, values)
        swapped = ", ".join(f"{label} → {two}" for label, two in zip(LABELS, self.best, strict=True) if label != two)
        message = N_(
            "The labels are probably swapped: {right} of {pairs} sanity-check pairs ({language}) are"
            " correct in the present order, {best} with {swapped}."
        )
        return Note(message, values | {"best": self.best_right, "swapped": swapped})

    def as_json(self) -> dict[str, object]:
        """Return the values for records and the command."""
        return {
            "language": self.language, "right": self.right, "pairs": self.pairs, "verdict": self.verdict,
            "best": list(self.best), "best_right": self.best_right, "message": self.note().message,
            "values": self.note().values, "text": str(self.note()),
        }  # fmt: skip


@cache
def obvious(language: Language) -> tuple[tuple[SentencePair, Label], ...]:
    """Return the packaged pairs of a language with their labels."""
    return tuple(
        (SentencePair(row["premise"], row["hypothesis"]), cast(Label, row["label"]))
        for row in table("nli_sanity")
        if row["language"] == language
    )


def sanity(scorer: SentencePairScorer, language: Language) -> Sanity:
    """Ask the obvious pairs. A pair without an answer counts as wrong in every order."""
    asked = obvious(language)
    scores = scorer.score([pair for pair, _ in asked])
    said = [argmax(score) for score in scores]
    hits = Counter(zip(said, (label for _, label in asked), strict=True))

    def right(order: tuple[Label, ...]) -> int:
        return sum(hits[label, meant] for label, meant in zip(LABELS, order, strict=True))

    best = max(permutations(LABELS), key=lambda order: (right(order), order == LABELS))
    return Sanity(language, right(LABELS), len(asked), cast("tuple[Label, Label, Label]", best), right(best))


def argmax(score: Score) -> Label | None:
    """Return the most likely label; equal ones by the order entailment, contradiction, neutral. None: no answer."""
    known = [(p, -i) for i, p in enumerate(score.logprobs) if p is not None]
    return LABELS[-max(known)[1]] if len(known) == 3 else None


COLUMNS = (
    "set", "occupation", "class", "gender", "template", "premise", "hypothesis", "label", "p_entailment",
    "p_contradiction", "p_neutral", "status", "signature",
)  # fmt: skip
MIXED_UP = N_(
    "The labels are probably swapped: {right} of {pairs} sanity-check pairs ({language}) are correct"
    " in the present order, {best} with {swapped}. Give the label order, as in --labels"
    " entailment,neutral,contradiction, or use --keep-labels."
)


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a classifier: measures, obvious pairs (None: not asked), counts without an answer by reason."""

    model: str
    signature: str
    found: Inference
    sanity: Sanity | None
    undefined: dict[str, int]
    seconds: float
    loading_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NliReport(Report[Answers]):
    """The report of a run with its one model. `margin`: of the differences, a share (0 to 1)."""

    probes: ProbeSet
    margin: float | None
    out: Path | None

    @property
    def answers(self) -> Answers:
        """The answers of the model."""
        return self.models[0]

    def to_json(self) -> dict[str, object]:
        """Return the measures, the obvious pairs, times, signatures and versions."""
        answers, probes = self.answers, self.probes
        return as_json(answers.found, self.margin) | {
            "model": answers.model,
            "signature": answers.signature,
            "set": {
                "name": probes.name,
                "language": probes.language,
                "signature": probes.signature,
                "rows": probes.counts(),
            },
            "sanity": answers.sanity.as_json() if answers.sanity else None,
            **({} if answers.sanity else {"sanity_reason": "The obvious pairs were not asked."}),
            "undefined": answers.undefined,
            "seconds": round(answers.seconds, 3),
            "loading_seconds": round(answers.loading_seconds, 3),
            **out_json(self.out),
            "kind": "inference",
            "models": [{"model": answers.model, "signature": answers.signature}],
            "versions": self.versions,
            "created": self.created,
        }


def out_json(out: Path | None) -> dict[str, str | None]:
    """Return the file that a run wrote, or why there is none, for its report."""
    return {"out": str(out)} if out else {"out": None, "out_reason": "No file was asked for."}


def run(settings: AskSettings, place: Place) -> NliReport:
    """Ask the model every probe, write the table (whole or not at all), measure.

    The obvious pairs of the language come first: where another order of the labels fits them clearly better, the run
    is refused (Refused) unless the labels are to be kept. Raises ModelUnavailable, BadFile.
    """
    probes = settings.probe_set()
    out, is_run = target_or_none(place.database, "nli", settings.out, settings.run_name)
    with open_table(out, COLUMNS) as write_row:

        def ask(model: str, steps: RunProgress) -> Answers:
            lap = LapTimer()
            scorer = open_classifier(model, labels=labels_in(settings.labels), threads=settings.threads)
            loading_seconds = lap()
            checked = None if model.startswith("planted:") else sanity(scorer, probes.language)
            if checked is not None and checked.verdict == "other order" and not settings.keep_labels:
                raise Refused(MIXED_UP, **checked.note().values)
            scores = scorer.score([row.pair for row in probes.rows], lambda done: steps(done, message=model))
            for row, score in zip(probes.rows, scores, strict=True):
                write_row(_cells(row, score))
            undefined = dict(Counter(score.reason for score in scores if score.reason is not None))
            found = measured_scores(probes, scores)
            return Answers(model, scorer.signature, found, checked, undefined, lap(), loading_seconds)

        models = ask_models((settings.model,), ask, len(probes.rows), place.progress)
    report = NliReport(models=models.models, seconds=models.seconds, probes=probes, margin=settings.margin, out=out)
    if is_run and out is not None:
        write_record(out, report)
    return report


def measured_scores(probes: ProbeSet, scores: Sequence[Score]) -> Inference:
    """Return the measures of the most likely labels; a row without an answer is left out."""
    labels = [(row, argmax(score)) for row, score in zip(probes.rows, scores, strict=True)]
    return measured(
        [Prediction(row.set, label, row.occupation, row.stereotype) for row, label in labels if label is not None]
    )


def _cells(row: Row, score: Score) -> list[Any]:
    shares = [None if p is None else exp(p) for p in score.logprobs]
    words = [row.set, row.occupation, row.kind, row.gender, row.template, row.premise, row.hypothesis]
    return [*words, argmax(score), *shares, score.reason or "ok", score.signature]


NLI_ASK = JobKind("nli ask", AskSettings, dict, lambda settings, place: to_json(run(settings, place)))
