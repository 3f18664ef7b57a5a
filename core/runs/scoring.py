"""A run of scoring from input to table: one model after the other, remembered scores first, whole or not at all."""

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from core.errors import N_, EvenhandError, ModelUnavailable, Notice, Refused
from core.files.csv_out import csv_line
from core.files.timestamps import timestamp
from core.files.whole_file import whole_file
from core.models import open_scorer
from core.models.catalogue import BUILTIN
from core.models.fetching import HUB_NAME, locate
from core.runs.records import Failure, write_record
from core.scoring.cache import CachedScorer
from core.scoring.input import ScoreInput
from core.scoring.rows import CHUNK, COLUMNS, ScoredRow, Tally, score_items
from core.types import Scorer
from core.version import VERSION

PACKAGES = ("torch", "transformers", "tokenizers")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is asked for.

    `cache`: the file of remembered scores; None remembers nothing beyond the run. `ray`: address of a cluster
    ("local" starts one here); `workers`: how many of its processors. The other fields are those of
    `core.models.open_scorer`.
    """

    models: tuple[str, ...]
    precision: str = "fp32"
    joint: str = "independent"
    method: str = "auto"
    threads: int | None = None
    ray: str | None = None
    workers: int = 1
    cache: Path | None = None

    def options(self) -> dict[str, Any]:
        """What `open_scorer` is given."""
        given = {"joint": self.joint, "method": self.method, "precision": self.precision}
        return given | ({"threads": self.threads} if self.threads is not None else {})


class Watcher(Protocol):
    """Where a run says how far it is: `annotations.jobs.process.Progress`, or a line on a terminal."""

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        """`done` of `total` rows that a model has to be asked for; what is remembered is in neither."""
        ...


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
class RunReport:
    """What a run did; `as_json` is its record and what the command prints."""

    source: ScoreInput
    settings: Settings
    out: Path
    models: list[ModelReport] = field(default_factory=list)
    failed: list[tuple[str, EvenhandError]] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    seconds: float = 0.0

    def note(self, notices: list[Notice]) -> None:
        """Keep what is new of these notices."""
        self.notices += [notice for notice in notices if notice not in self.notices]

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
            "failed": [Failure.of(name, error).as_json() for name, error in self.failed],
            "notices": [{"message": one.message, "values": one.values, "text": one.text} for one in self.notices],
            "settings": _plain(asdict(self.settings)),
            "versions": versions(),
            "created": timestamp(),
        }


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: value.name if isinstance(value, Path) else value for key, value in settings.items()}


def versions() -> dict[str, str]:
    """Evenhand, Python and the packages that models run on; read without importing them."""
    return {"evenhand": VERSION, "python": platform.python_version()} | {
        name: metadata.version(name) for name in PACKAGES
    }


def check_models(names: tuple[str, ...], *, fetch: bool = True) -> None:
    """Refuse a list with a name that is no model before anything is scored. Raises ModelUnavailable, Refused.

    A model of the hub that is not here is fetched; without *fetch* it is left to the run.
    """
    if not names:
        raise Refused(N_("Name at least one model."))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Refused(N_("{name} is named twice; once is enough."), name=twice)
    for name in names:
        on_hub = HUB_NAME.fullmatch(name) and name not in BUILTIN and not Path(name).exists()
        if fetch or not on_hub:
            locate(name)


def score_to_file(
    source: ScoreInput, settings: Settings, out: Path, *, watch: Watcher | None = None, record: bool = False
) -> RunReport:
    """Score *source* with every model and write the table to *out*, rows of model 1, then model 2, ...

    The table appears only when it is whole; `record` puts a file with the report beside it. A model that
    cannot be used when its turn comes is in `failed` and the others go on. Raises ModelUnavailable where no
    model could be used, BadFile where *out* cannot be written.
    """
    check_models(settings.models)
    report, began = RunReport(source, settings, out), time.perf_counter()
    meter = _Meter(watch, source.rows * len(settings.models))
    with whole_file(out) as write:
        write(csv_line(COLUMNS))
        for name in settings.models:
            meter.say(Tally(), name)  # loading a model takes seconds
            try:
                _score_with(name, report, write, meter)
            except (ModelUnavailable, Refused) as error:
                report.failed.append((name, error))
                meter.leave_out(source.rows)
        if not report.models:
            raise report.failed[0][1]
        report.seconds = time.perf_counter() - began
    if record:
        write_record(out, report.as_json())
    return report


class _Meter:
    """Adds up what the models of a run have done and still have to do; remembered rows count in neither."""

    def __init__(self, watch: Watcher | None, rows: int) -> None:
        self._watch, self._total, self._done = watch, rows, 0

    def leave_out(self, rows: int) -> None:
        """These rows will not be asked."""
        self._total -= rows

    def finished(self, tally: Tally) -> None:
        """One model is through."""
        self._done += tally.worked
        self._total -= tally.free

    def say(self, tally: Tally, model: str) -> None:
        """Tell how far the run is, in the middle of a model."""
        if self._watch is not None:
            self._watch(self._done + tally.worked, max(1, self._total - tally.free), model)


def _score_with(name: str, report: RunReport, write: Callable[[str], object], meter: _Meter) -> None:
    settings, began = report.settings, time.perf_counter()
    with _opened(name, settings) as scorer, CachedScorer(scorer, settings.cache) as cached:
        mine = ModelReport(name, cached.signature, Tally(), loading_seconds=time.perf_counter() - began)
        mine.workers = getattr(scorer, "workers", None)
        began = time.perf_counter()
        try:
            for row in _rows(name, report, mine, cached, meter):
                write(csv_line(row.values()))
        finally:
            report.note(cached.notices)
        mine.seconds = time.perf_counter() - began
    meter.finished(mine.tally)
    report.models.append(mine)


def _rows(name: str, report: RunReport, mine: ModelReport, cached: CachedScorer, meter: _Meter) -> Iterator[ScoredRow]:
    items = report.source.items()
    chunk = CHUNK * max(1, mine.workers or 1)  # so that every actor of a cluster has something in hand

    def say(tally: Tally) -> None:
        meter.say(tally, name)

    return score_items(items, cached, model=name, tally=mine.tally, progress=say, chunk=chunk)


@contextmanager
def _opened(name: str, settings: Settings) -> Iterator[Scorer]:
    """The model in this process, or in the actors of a cluster."""
    options = {key: value for key, value in settings.options().items() if DEFAULTS.get(key) != value}
    if settings.ray is None:
        yield open_scorer(name, **options)
        return
    from core.scoring.cluster import ClusterScorer

    with ClusterScorer(name, options, address=settings.ray, workers=settings.workers) as scorer:
        yield scorer


DEFAULTS = {"joint": "independent", "method": "auto", "precision": "fp32"}


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
