"""A run of associations from a set to a table: one model after the other; the table appears whole or not at all."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.association.corpus import Sentence, sentences
from core.association.scoring import COLUMNS, Associated, Tally, associate
from core.association.sets import AssociationSet, Attribute, Target
from core.association.table import frame_of
from core.errors import EvenhandError, ModelUnavailable, Refused
from core.files.csv_out import csv_line
from core.files.formula_cells import neutralised
from core.files.timestamps import timestamp
from core.files.whole_file import whole_file
from core.runs.records import Failure, write_record
from core.runs.scoring import Watcher, check_models, versions

TAB = ".tsv"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is asked for; `attribute` None: as the set has it."""

    models: tuple[str, ...]
    target: Target = "all"
    attribute: Attribute | None = None
    precision: str = "fp32"
    threads: int | None = None


@dataclass(slots=True)
class ModelReport:
    """What came of one model: its rows, its tally, how its numbers were made, how long it took."""

    model: str
    signature: str
    tally: Tally
    found: list[Associated]
    seconds: float
    loading_seconds: float

    def as_json(self) -> dict[str, Any]:
        """Counts for the record; passes are masked sentences that the model read."""
        tally = self.tally
        return {
            "model": self.model,
            "signature": self.signature,
            "rows": tally.sentences,
            "scored": tally.scored,
            "undefined": [{"reason": reason, "rows": count} for reason, count in tally.undefined.items()],
            "probes": tally.probes,
            "passes": tally.passes,
            "target_passes": tally.target_passes,
            "prior_passes": tally.prior_passes,
            "passes_saved": tally.saved,
            "priors_saved": tally.priors_saved,
            "seconds": round(self.seconds, 3),
            "loading_seconds": round(self.loading_seconds, 3),
        }


@dataclass(slots=True)
class RunReport:
    """What a run did; `as_json` is its record."""

    source: AssociationSet
    settings: Settings
    attribute: Attribute
    data: str
    models: list[ModelReport] = field(default_factory=list)
    failed: list[tuple[str, EvenhandError]] = field(default_factory=list)
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Everything that a reader needs to trust the table or to make it again."""
        source = self.source
        return {
            "language": source.language,
            "source": {"kind": "associations", "name": source.language, "sha256": self.data} | source.options,
            "sentences": source.sentences,
            "models": [one.as_json() for one in self.models],
            "failed": [Failure.of(name, error).as_json() for name, error in self.failed],
            "settings": {
                "target": self.settings.target,
                "attribute": self.attribute,
                "precision": self.settings.precision,
            },
            "seconds": round(self.seconds, 3),
            "versions": versions(),
            "created": timestamp(),
        }


def associations_folder(database: Path | str) -> Path:
    """Where the runs of a database lie: `<its name without ending>-associations` beside it. Not made here."""
    path = Path(database).resolve()
    return path.with_name(f"{path.stem}-associations")


def run_associations(
    source: AssociationSet,
    settings: Settings,
    out: Path | None = None,
    *,
    watch: Watcher | None = None,
    record: bool = False,
) -> RunReport:
    """Every sentence of *source* under every model; the table goes to *out* (CSV, or TSV by its ending).

    A model that cannot be used when its turn comes is in `failed`; where no model could be used its error is raised.
    Raises ModelUnavailable, Refused, BadFile.
    """
    check_models(settings.models)
    corpus = list(sentences(source))
    data = hashlib.sha256("\n".join(one.text for one in corpus).encode()).hexdigest()
    report = RunReport(source, settings, settings.attribute or source.attribute, data)
    began = time.perf_counter()
    for number, name in enumerate(settings.models):
        try:
            report.models.append(_with(name, report, corpus, _meter(watch, number, len(settings.models), name)))
        except (ModelUnavailable, Refused) as error:
            report.failed.append((name, error))
    if not report.models:
        raise report.failed[0][1]
    report.seconds = time.perf_counter() - began
    if out is not None:
        _write(out, [row for one in report.models for row in one.found])
        if record:
            write_record(out, report.as_json())
    return report


def _meter(watch: Watcher | None, number: int, models: int, name: str) -> Callable[[int, int], None]:
    def say(done: int, total: int) -> None:
        if watch is not None:
            watch(number * total + done, models * total, name)

    return say


def _with(name: str, report: RunReport, corpus: Sequence[Sentence], say: Callable[[int, int], None]) -> ModelReport:
    from core.models.association_targets import open_targets  # torch: not before a model is asked

    say(0, 2 * len(corpus))
    settings, began = report.settings, time.perf_counter()
    precision: Any = settings.precision
    scorer = open_targets(
        name, target=settings.target, attribute=report.attribute, precision=precision, threads=settings.threads
    )
    loaded, tally = time.perf_counter(), Tally()
    found = associate(corpus, scorer, model=name, attribute=report.attribute, tally=tally, progress=say)
    return ModelReport(name, scorer.signature, tally, found, time.perf_counter() - loaded, loaded - began)


def _write(out: Path, found: Sequence[Associated]) -> None:
    line = _tab_line if out.suffix.lower() == TAB else csv_line
    with whole_file(out) as write:
        write(line(COLUMNS))
        for one in found:
            write(line(one.values()))


def _tab_line(cells: Sequence[Any]) -> str:
    """A line of a TSV; no text of a set holds a tab or a line break."""
    shown = ("" if cell is None else neutralised(cell) if isinstance(cell, str) else str(cell) for cell in cells)
    return "\t".join(shown) + "\n"


__all__ = [
    "ModelReport",
    "RunReport",
    "Settings",
    "associations_folder",
    "frame_of",
    "run_associations",
]
