"""A run of associations from a set to a table: one model after the other; the table appears whole or not at all."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from evenhand.core.association.builtin import (
    Choices,
    Determiners,
    Files,
    Language,
    Spelling,
    Wife,
    association_set,
)
from evenhand.core.association.corpus import Sentence, sentences
from evenhand.core.association.scoring import COLUMNS, Associated, Tally, associate
from evenhand.core.association.sets import AssociationSet, Attribute, Target
from evenhand.core.files.csv_out import data_line
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.runs.loop import Laps, Report, Steps, ask_models, check_models, open_table
from evenhand.core.runs.records import target_or_none, write_record
from evenhand.core.runs.scored_rows import ScoredRows

TAB = ".tsv"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is asked for, as parameters of the command; `attribute` None: as the set has it."""

    language: Language
    models: tuple[str, ...]
    out: Path | None = None
    run_name: str | None = None
    templates: Path | None = None
    persons: Path | None = None
    professions: Path | None = None
    spelling: Spelling = "corrected"
    an: bool = False
    ergative: bool = False
    determiners: Determiners | None = None
    wife: Wife = "mujer"
    target: Target = "all"
    attribute: Attribute | None = None
    precision: str = "fp32"
    threads: int | None = None


def set_of(settings: Settings) -> AssociationSet:
    """Return the set that is asked about. Raises BadFile for a list that cannot be used."""
    choices = Choices(settings.spelling, settings.an, settings.ergative, settings.determiners, settings.wife)
    files = Files(settings.templates, settings.persons, settings.professions)
    return association_set(settings.language, choices, files)


@dataclass(frozen=True, slots=True)
class ModelReport:
    """What came of one model: its rows, its tally, how its numbers were made, how long it took."""

    model: str
    signature: str
    tally: Tally
    found: list[Associated]
    seconds: float
    loading_seconds: float
    json_names: ClassVar = {"tally": "", "found": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationReport(Report[ModelReport]):
    """What a run of associations did."""

    language: Language
    source: dict[str, Any]
    sentences: int
    settings: dict[str, Any]
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

        def ask(model: str, steps: Steps) -> ModelReport:
            found = _associate_with(model, settings, attribute, corpus, steps)
            for row in found.found:
                write_row(row.values())
            return found

        asked = ask_models(settings.models, ask, 2 * len(corpus), place.progress)
    digest = hashlib.sha256("\n".join(sentence.text for sentence in corpus).encode()).hexdigest()
    report = AssociationReport(
        models=asked.models, failed=asked.failed, seconds=asked.seconds, language=settings.language, out=out,
        source={"kind": "associations", "name": source.language, "sha256": digest} | source.options,
        sentences=source.sentences,
        settings={"target": settings.target, "attribute": attribute, "precision": settings.precision},
    )  # fmt: skip
    if is_run and out is not None:
        write_record(out, report)
    return report


def _associate_with(
    model: str, settings: Settings, attribute: Attribute, corpus: Sequence[Sentence], steps: Steps
) -> ModelReport:
    from evenhand.core.models.association_targets import open_targets  # torch: not before a model is asked

    lap, tally = Laps(), Tally()
    precision: Any = settings.precision
    scorer = open_targets(
        model, target=settings.target, attribute=attribute, precision=precision, threads=settings.threads
    )
    loading_seconds = round(lap(), 3)

    def say(done: int, total: int) -> None:
        steps(done, total, model)

    found = associate(corpus, scorer, model=model, attribute=attribute, tally=tally, progress=say)
    steps.finish(2 * len(corpus))
    return ModelReport(model, scorer.signature, tally, found, round(lap(), 3), loading_seconds)


def _tab_line(cells: Iterable[Any]) -> str:
    """A line of a TSV; no text of a set holds a tab or a line break."""
    return "\t".join("" if cell is None else str(cell) for cell in cells) + "\n"


ASSOCIATION = JobKind(
    "association",
    Settings,
    ScoredRows,
    lambda settings, place: run(settings, place).scored_rows,
    lambda rows: rows.notices,
)
