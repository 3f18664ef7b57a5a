"""A run of associations from a set to a table: one model after the other; the table appears whole or not at all.

association = ln(P_T / P_prior): P_T is the probability of the person word where the profession is given (TM), P_prior
where it is hidden too (TAM). Natural logarithm (Kurita et al. 2019; Bartl et al. 2020). Above 0: the profession makes
the person word more likely. Range (-inf, inf).
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from evenhand.core.association.corpus import Sentence, sentences
from evenhand.core.association.sets import (
    AssociationSet,
    Attribute,
    Choices,
    Language,
    Target,
    association_set,
)
from evenhand.core.errors import N_
from evenhand.core.files.csv_out import data_line
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.runs.loop import LapTimer, Report, RunProgress, ScoredRows, ask_models, check_models, open_table
from evenhand.core.runs.records import target_or_none, write_record
from evenhand.core.types import JsonObject, MaskedSentence, Score

if TYPE_CHECKING:
    from evenhand.core.models.masked import TargetScorer

CHUNK = 1_024  # probes per batch; equal masked sentences stay in one batch
OK = "ok"
NO_PRIOR = N_("The model gives this word probability 0 when the profession is masked, so the ratio is undefined.")
NO_TARGET = N_("The model gives this word probability 0 when the profession is visible, so the logarithm is undefined.")

COLUMNS = (
    *("row", "sentence", "template", "person", "person_key", "pair", "person_gender", "profession", "profession_key"),
    *("class", "field", "women", "model", "logp_target", "logp_prior", "p_target", "p_prior", "association"),
    *("pieces", "masks", "status", "signature"),
)

Progress = Callable[[int, int], object]  # probes done, of how many


def association(logp_target: float | None, logp_prior: float | None) -> tuple[float | None, str | None]:
    """Return ln(P_T / P_prior) from natural-log probabilities; None and the reason if one is missing or P is 0."""
    if logp_target is None or logp_prior is None:
        return None, None
    if logp_prior == -math.inf:
        return None, NO_PRIOR
    if logp_target == -math.inf:
        return None, NO_TARGET
    return logp_target - logp_prior, None


@dataclass(frozen=True, slots=True)
class Associated:
    """One sentence with what one model says: natural-log probabilities, None where undefined.

    `pieces` of the person word; `masks` in the sentence with both hidden. `status` is "ok" or the reason.
    """

    row: int
    sentence: Sentence
    model: str
    signature: str
    logp_target: float | None
    logp_prior: float | None
    pieces: int
    masks: int | None
    status: str

    @property
    def value(self) -> float | None:
        """The association; None where undefined."""
        return association(self.logp_target, self.logp_prior)[0]

    def values(self) -> tuple[Any, ...]:
        """Return the cells in the order of COLUMNS; None where undefined."""
        sentence, person, profession = self.sentence, self.sentence.person, self.sentence.profession
        form = sentence.text[slice(*sentence.profession_at)]
        probabilities = (None if p is None else math.exp(p) for p in (self.logp_target, self.logp_prior))
        return (
            *(
                self.row,
                sentence.text,
                sentence.template.name,
                sentence.noun,
                person.key,
                person.pair,
                person.gender,
                form,
            ),
            *(profession.name, profession.kind, profession.field, profession.women, self.model),
            *(_finite(self.logp_target), _finite(self.logp_prior), *probabilities, self.value),
            *(self.pieces, self.masks, self.status, self.signature),
        )


def _finite(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None


@dataclass(slots=True)
class Tally:
    """The passes that a run needed, and those that it saved.

    `sentences` have two probes each. `target_passes`, `prior_passes`: distinct masked sentences that the model read
    for them; the rest of the probes were answered by the same pass as another one.
    """

    sentences: int = 0
    scored: int = 0
    target_passes: int = 0
    prior_passes: int = 0
    undefined: dict[str, int] = field(default_factory=dict)
    json_names: ClassVar = {"sentences": "rows", "undefined": None, "undefined_rows": "undefined"}
    also_in_json: ClassVar = ("undefined_rows", "probes", "passes", "passes_saved", "priors_saved")

    @property
    def undefined_rows(self) -> list[JsonObject]:
        """The number of sentences without an association, by reason."""
        return [{"reason": reason, "rows": rows} for reason, rows in self.undefined.items()]

    @property
    def probes(self) -> int:
        """The number of probes: two per sentence."""
        return 2 * self.sentences

    @property
    def passes(self) -> int:
        """The number of sentences that the model read."""
        return self.target_passes + self.prior_passes

    @property
    def passes_saved(self) -> int:
        """Passes saved by reading equal masked sentences once."""
        return self.probes - self.passes

    @property
    def priors_saved(self) -> int:
        """The number of passes saved because sentences share a prior."""
        return self.sentences - self.prior_passes

    def count(self, one: Associated) -> None:
        """Count a finished sentence."""
        self.scored += one.status == OK
        if one.status != OK:
            self.undefined[one.status] = self.undefined.get(one.status, 0) + 1


def associate(
    corpus: Sequence[Sentence],
    scorer: "TargetScorer",
    *,
    model: str,
    attribute: Attribute = "word",
    tally: Tally | None = None,
    progress: Progress = lambda done, total: None,
) -> list[Associated]:
    """Return every sentence of *corpus* with its association under *scorer*, in order.

    The priors of all professions with equally many masks are one masked sentence for a template and determiner, and
    so are the targets of all person words with one determiner: each is read once, and all words are looked up there.
    """
    counted = tally if tally is not None else Tally()
    counted.sentences += len(corpus)
    targets = [sentence.target_probe() for sentence in corpus]
    priors = [sentence.prior_probe(attribute) for sentence in corpus]
    before = scorer.passes
    with_profession = _answers(scorer, targets, [sentence.tm for sentence in corpus], progress)
    between = scorer.passes
    without = _answers(
        scorer, priors, [sentence.tam for sentence in corpus], lambda done, n: progress(done + n // 2, n)
    )
    counted.target_passes += between - before
    counted.prior_passes += scorer.passes - between
    masks: dict[tuple[str, str], int | None] = {}
    result = []
    for row, (sentence, target, prior) in enumerate(zip(corpus, with_profession, without, strict=True), 1):
        probe, seen = targets[row - 1], (sentence.tam, sentence.noun)
        if attribute == "piece" or seen not in masks:
            masks[seen] = scorer.masks(priors[row - 1])
        logps = (target.logprobs[0], prior.logprobs[0])
        reason = target.reason or prior.reason or association(*logps)[1]
        associated = Associated(
            row, sentence, model, target.signature, *logps, scorer.pieces(probe), masks[seen], reason or OK
        )
        counted.count(associated)
        result.append(associated)
    return result


def _answers(
    scorer: "TargetScorer", probes: Sequence[MaskedSentence], masked: Sequence[str], progress: Progress
) -> list[Score]:
    """Return one score per probe, in order, asked in chunks; equal *masked* sentences stay together, as one pass."""
    order = sorted(range(len(probes)), key=masked.__getitem__)
    result: dict[int, Score] = {}
    while len(result) < len(order):
        end = min(len(result) + CHUNK, len(order))
        while end < len(order) and masked[order[end]] == masked[order[end - 1]]:
            end += 1
        part = order[len(result) : end]
        result.update(zip(part, scorer.score([probes[i] for i in part]), strict=True))
        progress(len(result), 2 * len(probes))
    return [result[i] for i in range(len(probes))]


TAB = ".tsv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Choices):
    """The settings of a run, as parameters of the command; `attribute` None: that of the set."""

    language: Language
    models: tuple[str, ...]
    out: Path | None = None
    run_name: str | None = None
    target: Target = "all"
    attribute: Attribute | None = None
    precision: str = "fp32"
    threads: int | None = None


def set_of(settings: Settings) -> AssociationSet:
    """Return the set that is asked about. Raises BadFile for a list that cannot be used."""
    return association_set(settings.language, settings)


@dataclass(frozen=True, slots=True)
class ModelReport:
    """The result of one model: rows, tally, signature and times."""

    model: str
    signature: str
    tally: Tally
    found: list[Associated]
    seconds: float
    loading_seconds: float
    json_names: ClassVar = {"tally": "", "found": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationReport(Report[ModelReport]):
    """The report of a run of associations."""

    language: Language
    source: JsonObject
    sentences: int
    settings: JsonObject
    out: Path | None
    json_names: ClassVar = {"out": None}

    @property
    def scored_rows(self) -> ScoredRows:
        """The rows of all models."""
        rows = sum(model.tally.sentences for model in self.models)
        scored = sum(model.tally.scored for model in self.models)
        reasons = Counter[str]()
        for model in self.models:
            reasons |= Counter(model.tally.undefined)
        return ScoredRows(rows, scored, rows - scored, reasons=reasons)


def run(settings: Settings, place: Place) -> AssociationReport:
    """Ask every model about every sentence of the set, and write the table (CSV, or TSV by its ending).

    A model that cannot be used when its turn comes is in `failed`; where no model could be used its error is raised.
    Raises ModelUnavailable, Refused, BadFile.
    """
    source = set_of(settings)
    out, is_run = target_or_none(place.database, "associations", settings.out, settings.run_name)
    check_models(settings.models)
    corpus, attribute = list(sentences(source)), settings.attribute or source.attribute
    line = _tab_line if out is not None and out.suffix.lower() == TAB else data_line
    with open_table(out, COLUMNS, line) as write_row:

        def ask(model: str, steps: RunProgress) -> ModelReport:
            found = _associate_with(model, settings, attribute, corpus, steps)
            for row in found.found:
                write_row(row.values())
            return found

        models = ask_models(settings.models, ask, 2 * len(corpus), place.progress)
    digest = hashlib.sha256("\n".join(sentence.text for sentence in corpus).encode()).hexdigest()
    report = AssociationReport(
        models=models.models, failed=models.failed, seconds=models.seconds, language=settings.language, out=out,
        source={"kind": "associations", "name": source.language, "sha256": digest} | source.options,
        sentences=source.sentences,
        settings={"target": settings.target, "attribute": attribute, "precision": settings.precision},
    )  # fmt: skip
    if is_run and out is not None:
        write_record(out, report)
    return report


def _associate_with(
    model: str, settings: Settings, attribute: Attribute, corpus: Sequence[Sentence], steps: RunProgress
) -> ModelReport:
    from evenhand.core.models.masked import open_targets  # torch: not before a model is asked

    lap, tally = LapTimer(), Tally()
    precision: Any = settings.precision
    scorer = open_targets(
        model, target=settings.target, attribute=attribute, precision=precision, threads=settings.threads
    )
    loading_seconds = round(lap(), 3)

    def say(done: int, total: int) -> None:
        steps(done, total, model)

    result = associate(corpus, scorer, model=model, attribute=attribute, tally=tally, progress=say)
    steps.finish(2 * len(corpus))
    return ModelReport(model, scorer.signature, tally, result, round(lap(), 3), loading_seconds)


def _tab_line(cells: Iterable[Any]) -> str:
    """Return a line of a TSV; no text of a set contains a tab or a line break."""
    return "\t".join("" if cell is None else str(cell) for cell in cells) + "\n"


ASSOCIATION = JobKind(
    "association",
    Settings,
    ScoredRows,
    lambda settings, place: run(settings, place).scored_rows,
    lambda rows: rows.notices,
)
