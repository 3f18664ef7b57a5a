"""A run of scoring from input to table: remembered scores first, whole or not at all; many models share a cluster."""

import pickle
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from evenhand.core.models import open_scorer
from evenhand.core.runs.loop import (
    Laps,
    RunReport,
    Steps,
    Watcher,
    WriteRow,
    check_models,
    made_now,
    open_table,
    plain_settings,
)
from evenhand.core.runs.records import write_record
from evenhand.core.scoring.cache import CachedScorer
from evenhand.core.scoring.input import ScoreInput
from evenhand.core.scoring.rows import CHUNK, COLUMNS, Tally, score_items
from evenhand.core.types import Scorer


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is asked for.

    `cache`: the file of remembered scores; None remembers nothing beyond the run. `ray`: address of a cluster
    ("local" starts one here); `workers`: how many of its processors, which several models share. The other fields
    are those of `core.models.open_scorer`.
    """

    models: tuple[str, ...]
    precision: str = "fp32"
    joint: str = "independent"
    method: str = "auto"
    threads: int | None = None
    ray: str | None = None
    workers: int = 1
    cache: Path | None = None

    @property
    def at_once(self) -> int:
        """How many models are asked at the same time."""
        return 1 if self.ray is None else min(len(self.models), self.workers)

    def options(self) -> dict[str, Any]:
        """What `open_scorer` is given."""
        given = {"joint": self.joint, "method": self.method, "precision": self.precision}
        return given | ({"threads": self.threads} if self.threads is not None else {})


@dataclass(slots=True)
class ModelReport:
    """What came of one model: its tally, how its numbers were made, how long it took."""

    model: str
    signature: str
    tally: Tally
    seconds: float = 0.0
    loading_seconds: float = 0.0
    workers: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The numbers; rows = asked + remembered + saved + rows that could not be asked."""
        tally = self.tally
        undefined = [
            {"reason": reason, "rows": count}
            | dict(zip(("example_row", "status"), tally.examples[reason], strict=True))
            for reason, count in tally.undefined.most_common()
        ]
        rate = {"rate": round(tally.asked / self.seconds, 1)} if tally.asked and self.seconds else NO_RATE
        return {
            "model": self.model,
            "signature": self.signature,
            "rows": tally.rows,
            "scored": tally.scored,
            "infinite": tally.infinite,
            "undefined": undefined,
            "asked": tally.asked,
            "remembered": tally.remembered,
            "saved": tally.saved,
            "seconds": round(self.seconds, 3),
            "loading_seconds": round(self.loading_seconds, 3),
            **rate,
            **({"workers": self.workers} if self.workers else {}),
        }


NO_RATE = {"rate": None, "rate_reason": "No sentence had to be asked; everything was remembered."}


@dataclass(slots=True)
class ScoringReport(RunReport[ModelReport]):
    """What a run of scoring did."""

    source: ScoreInput
    settings: Settings
    out: Path

    def as_json(self) -> dict[str, Any]:
        """Everything that a reader needs to trust the table or to make it again."""
        tallies = [one.tally for one in self.models]
        return {
            "out": str(self.out),
            "source": self.source.facts(),
            "sentences": self.source.rows,
            "rows": sum(tally.rows for tally in tallies),
            "scored": sum(tally.scored for tally in tallies),
            "undefined": sum(tally.undefined.total() for tally in tallies),
            "asked": sum(tally.asked for tally in tallies),
            "remembered": sum(tally.remembered for tally in tallies),
            "saved": sum(tally.saved for tally in tallies),
            "seconds": round(self.seconds, 3),
            "models": [one.as_json() for one in self.models],
            "failed": self.failures,
            "notices": self.remarks,
            "settings": plain_settings(self.settings),
            **made_now(),
        }


def score_to_file(
    source: ScoreInput, settings: Settings, out: Path, *, watch: Watcher | None = None, record: bool = False
) -> ScoringReport:
    """Score *source* with every model and write the table to *out*, rows of model 1, then model 2, ...

    The table appears only when it is whole; `record` puts a file with the report beside it. A model that
    cannot be used when its turn comes is in `failed` and the others go on. Raises ModelUnavailable where no
    model could be used, BadFile where *out* cannot be written.
    """
    check_models(settings.models)
    report = ScoringReport(source, settings, out)
    with open_table(out, COLUMNS) as write_row:
        if settings.at_once > 1:
            _score_beside(report, write_row, watch)
        else:

            def ask(model: str, steps: Steps) -> ModelReport:
                return _score_with(model, report, write_row, steps)

            report.ask_models(settings.models, ask, source.rows, watch)
    if record:
        write_record(out, report.as_json())
    return report


def _score_beside(report: ScoringReport, write_row: WriteRow, watch: Watcher | None) -> None:
    """Several models at the same time, each in workers of its own; the table is the same as one after the other."""
    from evenhand.core.cluster import joined

    settings = report.settings
    with joined(settings.ray, settings.workers), ExitStack() as open_rows:
        rows: dict[str, IO[bytes]] = {
            model: open_rows.enter_context(SpooledTemporaryFile(IN_MEMORY)) for model in settings.models
        }

        def ask(model: str, steps: Steps) -> ModelReport:
            def keep(row: Iterable[Any]) -> None:
                pickle.dump(tuple(row), rows[model])

            return _score_with(model, report, keep, steps)

        report.ask_models(settings.models, ask, report.source.rows, watch, settings.at_once)
        for one in report.models:
            for row in _rows_of(rows[one.model]):
                write_row(row)


def _rows_of(rows: IO[bytes]) -> Iterator[tuple[Any, ...]]:
    rows.seek(0)
    while True:
        try:
            yield pickle.load(rows)  # noqa: S301  (written above, by this process)
        except EOFError:
            return


def _score_with(model: str, report: ScoringReport, write_row: WriteRow, steps: Steps) -> ModelReport:
    settings, lap = report.settings, Laps()
    with _opened(model, settings) as scorer, CachedScorer(scorer, settings.cache) as cached:
        found = ModelReport(model, cached.signature, Tally(), loading_seconds=lap())
        found.workers = getattr(scorer, "workers", None)
        chunk = CHUNK * max(1, found.workers or 1)  # so that every actor of a cluster has something in hand

        def say(tally: Tally) -> None:  # remembered rows count neither as done nor as to be done
            steps(tally.worked, message=model, free=tally.free)

        try:
            items = report.source.items()
            for row in score_items(items, cached, model=model, tally=found.tally, progress=say, chunk=chunk):
                write_row(row.values())
        finally:
            report.add_notices(cached.notices)
        found.seconds = lap()
    steps.finish(found.tally.worked, found.tally.free)
    return found


@contextmanager
def _opened(name: str, settings: Settings) -> Iterator[Scorer]:
    """The model in this process, or in the actors of a cluster."""
    options = {key: value for key, value in settings.options().items() if DEFAULTS.get(key) != value}
    if settings.ray is None:
        yield open_scorer(name, **options)
        return
    from evenhand.core.scoring.cluster import ClusterScorer

    workers = settings.workers // settings.at_once
    with ClusterScorer(name, options, address=settings.ray, workers=workers) as scorer:
        yield scorer


IN_MEMORY = 16_000_000  # bytes of rows of a model that wait for those before it; more of them wait on the disk
DEFAULTS = {"joint": "independent", "method": "auto", "precision": "fp32"}
