"""The loop of every kind of run: models one after the other, progress, failures, and the common part of a record.

A kind of run (`core.scoring.run`, `core.nli.run`, ...) adds its questions to a model, the rows of its table and the
facts of its record.
"""

import platform
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, TypeVar

from evenhand.core.errors import LINE_REASONS, N_, ModelUnavailable, Notice, Refused
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.files.csv_out import data_line
from evenhand.core.files.timestamps import timestamp
from evenhand.core.language import Count
from evenhand.core.models.catalogue import BUILTIN, HUB_NAME, locate
from evenhand.core.runs.kinds import Progress
from evenhand.core.runs.records import Failure
from evenhand.core.types import JsonObject
from evenhand.core.version import VERSION

PACKAGES = ("torch", "transformers", "tokenizers")
Answer = TypeVar("Answer")
Line = Callable[[Iterable[Any]], str]
WriteRow = Callable[[Iterable[Any]], object]


class RunProgress:
    """The progress of a run over all its parts; it is called as the watcher of the current part."""

    def __init__(self, watch: Progress | None, total: int) -> None:
        self._watch, self._before, self._total = watch, 0, total

    def __call__(self, done: int, total: int | None = None, message: str = "", *, free: int = 0) -> None:
        """Report *done* steps of this part as done; *free* steps needed no work. *total*, of a part, is unused."""
        if self._watch is not None:
            everything = max(1, self._total - free)
            self._watch(min(self._before + done, everything), everything, message)

    def finish(self, done: int, free: int = 0) -> None:
        """Finish this part; the next one begins at 0."""
        self._before, self._total = self._before + done, self._total - free


class ParallelProgress:
    """The progress of a run whose parts are done at the same time, each in a thread with its own watcher."""

    def __init__(self, watch: Progress | None, parts: int, share: int) -> None:
        self._watch, self._lock = watch, threading.Lock()
        self._done, self._totals, self._ended = [0] * parts, [share] * parts, False

    def part(self, number: int) -> Progress:
        """Return the watcher of a part, which raises Ended where the run was ended meanwhile."""

        def say(done: int, total: int | None = None, message: str = "") -> None:
            with self._lock:
                if self._ended:
                    raise Ended
                self._done[number] = done
                if total is not None:
                    self._totals[number] = total
                if self._watch is not None:
                    self._watch(sum(self._done), sum(self._totals), message)

        return say

    def end(self) -> None:
        """End every part at its next report."""
        self._ended = True


class Ended(Exception):
    """A run was ended while this part of it was under way."""


Outcome = tuple[str, Any, ModelUnavailable | Refused | None]  # a model, its answer, why it could not be used


def each_model(
    models: Sequence[str], ask: Callable[[str], Answer], steps: RunProgress, share: int
) -> tuple[list[Answer], list[Failure]]:
    """Call *ask* with each model, one after the other, and return the answers and the failures.

    A model that cannot be used is a failure; the others continue. *share*: steps of one model, which are left out
    where it fails. Where no model could be used the first error is raised: ModelUnavailable or Refused.
    """
    return _split_failures([_outcome(model, ask, steps, share) for model in models])


def models_beside(
    models: Sequence[str],
    ask: Callable[[str, RunProgress], Answer],
    share: int,
    watch: Progress | None,
    at_once: int,
) -> tuple[list[Answer], list[Failure]]:
    """Do `each_model` with *at_once* models at the same time, each in its own thread that waits for other processes."""
    beside = ParallelProgress(watch, len(models), share)

    def one(number: int) -> Outcome:
        part = beside.part(number)
        steps = RunProgress(part, share)
        outcome = _outcome(models[number], lambda model: ask(model, steps), steps, share)
        if outcome[2] is not None:
            part(0, 0)  # nothing is left of it
        return outcome

    with ThreadPoolExecutor(at_once, "model") as threads:
        asked = [threads.submit(one, number) for number in range(len(models))]
        try:
            return _split_failures([future.result() for future in asked])
        except BaseException:
            beside.end()
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def _outcome(model: str, ask: Callable[[str], Any], steps: RunProgress, share: int) -> Outcome:
    steps(0, message=model)  # loading a model takes seconds
    try:
        return model, ask(model), None
    except (ModelUnavailable, Refused) as error:
        steps.finish(0, free=share)
        return model, None, error


def _split_failures(outcomes: Sequence[Outcome]) -> tuple[list[Any], list[Failure]]:
    """Return the answers and the failures. Raises the first error where no model answered."""
    failed = [(model, error) for model, _, error in outcomes if error is not None]
    if failed and len(failed) == len(outcomes):
        raise failed[0][1]
    return [answer for _, answer, error in outcomes if error is None], [Failure.of(*row) for row in failed]


class LapTimer:
    """A timer of the parts of a run: each call returns the seconds since the call before."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def __call__(self) -> float:
        """Return the seconds since the call before, or since the beginning."""
        before, self._began = self._began, time.perf_counter()
        return self._began - before


@contextmanager
def open_table(out: Path | None, columns: Iterable[str], line: Line = data_line) -> Iterator[WriteRow]:
    """Yield a function that writes a row of the table *out*; the file appears when it is complete.

    Without *out* the rows are dropped. Raises BadFile where the file cannot be written.
    """
    if out is None:
        yield lambda row: None
        return
    with whole_file(out) as write:
        write(line(columns))
        yield lambda row: write(line(row))


@dataclass(frozen=True, slots=True)
class Asked(Generic[Answer]):
    """The result of asking the models of a run: the answers, the models that failed, and the seconds in total."""

    models: tuple[Answer, ...]
    failed: tuple[Failure, ...]
    seconds: float


def ask_models(
    models: Sequence[str],
    ask: Callable[[str, RunProgress], Answer],
    share: int,
    watch: Progress | None,
    at_once: int = 1,
) -> Asked[Answer]:
    """Ask each model, *at_once* at the same time; *share* and errors as in `each_model`."""
    took, steps = LapTimer(), RunProgress(watch, share * len(models))
    if at_once > 1:
        answers, failed = models_beside(models, ask, share, watch, at_once)
    else:
        answers, failed = each_model(models, lambda model: ask(model, steps), steps, share)
    return Asked(tuple(answers), tuple(failed), round(took(), 3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Generic[Answer]):
    """The fields of every report of a run. With the fields of its kind it is the record next to the table, as JSON."""

    models: tuple[Answer, ...]
    failed: tuple[Failure, ...] = ()
    notices: tuple[Notice, ...] = ()
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=lambda: versions())
    created: str = field(default_factory=timestamp)


def made_now() -> JsonObject:
    """Return the versions and the time, the last entries of every record."""
    return {"versions": versions(), "created": timestamp()}


def plain_settings(settings: Any) -> JsonObject:
    """Return the fields of a dataclass of settings; a path as its name, since a record holds no folders of a server."""
    return {key: value.name if isinstance(value, Path) else value for key, value in asdict(settings).items()}


def versions() -> dict[str, str]:
    """Return the versions of Evenhand, Python and the packages that models run on, without importing these."""
    return {"evenhand": VERSION, "python": platform.python_version()} | {
        name: metadata.version(name) for name in PACKAGES
    }


def check_models(names: Sequence[str], *, fetch: bool = True) -> None:
    """Refuse a list of models, none of which is available, before any is asked. Raises ModelUnavailable, Refused.

    An unavailable model among available ones is left to the run, where it is a failure and the others continue. A model
    of the hub that is not on this machine is fetched; without *fetch* it is left to the run.
    """
    if not names:
        raise Refused(N_("Name at least one model."))
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise Refused(N_("{name} is given twice; give each model once."), name=twice)
    first, had = None, 0
    for name in names:
        on_hub = HUB_NAME.fullmatch(name) and name not in BUILTIN and not Path(name).exists()
        try:
            if fetch or not on_hub:
                locate(name)
            had += 1
        except ModelUnavailable as error:
            first = first or error
    if first is not None and not had:
        raise first


@dataclass(frozen=True, slots=True)
class ScoredRows:
    """Counts of the rows of a run: with a score, with a score from the cache, without a score and why.

    `reasons`: of every reason, a sentence or a code of LINE_REASONS, the most rows that one model lacks.
    """

    rows: int
    scored: int
    undefined: int
    remembered: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def notices(self) -> Sequence[Notice]:
        """The counts as sentences."""
        values = {name: Count(getattr(self, name)) for name in ("rows", "scored", "undefined", "remembered")}
        text = N_("{rows} {rows:row|rows}: {scored} scored, {undefined} without a score; {remembered} from cache.")
        if not self.reasons:
            return (Notice(text, values),)
        reasons = [
            Notice(N_("{text} ({more})"), {"text": Notice(LINE_REASONS.get(reason, reason)), "more": f"{rows:,}"})
            for reason, rows in self.reasons.items()
        ]
        return Notice(text, values), Notice(N_("Without a score: {reasons}."), {"reasons": reasons})
