"""A run of scoring from input to table: remembered scores first, whole or not at all; many models share a cluster."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from evenhand.core.cluster import Pool
from evenhand.core.errors import N_, ModelUnavailable, Notice, Refused
from evenhand.core.models import open_scorer
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.loop import (
    LapTimer,
    RunProgress,
    WriteRow,
    ask_models,
    check_models,
    open_table,
    plain_settings,
)
from evenhand.core.runs.records import run_target, write_record
from evenhand.core.scoring.cache import CachedScorer
from evenhand.core.scoring.report import SUMS, ModelReport, ScoringReport
from evenhand.core.scoring.rows import CHUNK, COLUMNS, Tally, score_items
from evenhand.core.scoring.settings import RECORDED, ScoreInput, Settings
from evenhand.core.typed_json import to_json
from evenhand.core.types import Filler, MaskedSentence, Score, Scorer

IN_MEMORY = 16_000_000  # bytes of rows of a model that wait for those before it; more of them wait on the disk


def score_input(source: ScoreInput, settings: Settings, place: Place) -> ScoringReport:
    """Score *source* with every model and write the table, rows of model 1, then model 2, ...

    The table appears only when it is whole; a named run has a file with the report next to it. A model that
    cannot be used when its turn comes is in `failed`, and the others continue. Raises ModelUnavailable where no
    model could be used, BadFile where the table cannot be written.
    """
    out, is_run = run_target(place.database, "scores", settings.out, settings.run_name)
    if source.kind == "file" and Path(settings.file).resolve() == out.resolve():
        raise Refused(N_("{file} cannot be both input and output."), file=out.name)
    check_models(settings.models)
    cache, notices = settings.cache_beside(place.database), list[Notice]()
    with open_table(out, COLUMNS) as write_row, _rows_apart(settings) as rows:

        def ask(model: str, steps: RunProgress) -> ModelReport:
            write = _keep_in(rows[model]) if rows else write_row
            return _score_with(model, source, settings, cache, write, steps, notices)

        models = ask_models(settings.models, ask, source.rows, place.progress, settings.at_once)
        for result in models.models if rows else ():
            for row in _rows_of(rows[result.model]):
                write_row(row)
    sums = {name: sum(getattr(result, name) for result in models.models) for name in SUMS}
    plain = plain_settings(settings) | {"workers": settings.processors, "cache": cache and cache.name}
    report = ScoringReport(
        models=models.models, failed=models.failed, notices=tuple(notices), seconds=models.seconds, out=out,
        source=to_json(source), sentences=source.rows, settings={name: plain[name] for name in RECORDED}, **sums,
        undefined=sum(reason.rows for result in models.models for reason in result.undefined),
    )  # fmt: skip
    if is_run:
        write_record(out, report)
    return report


@contextmanager
def _rows_apart(settings: Settings) -> Iterator[dict[str, IO[bytes]]]:
    """Yield a place for the rows of each model where several are asked at the same time, and join their cluster."""
    if settings.at_once == 1:
        yield {}
        return
    from evenhand.core.cluster import joined

    with joined(settings.ray, settings.processors), ExitStack() as open_rows:
        yield {model: open_rows.enter_context(SpooledTemporaryFile(IN_MEMORY)) for model in settings.models}


def _keep_in(rows: IO[bytes]) -> WriteRow:
    return lambda row: pickle.dump(tuple(row), rows)


def _rows_of(rows: IO[bytes]) -> Iterator[tuple[Any, ...]]:
    rows.seek(0)
    while True:
        try:
            yield pickle.load(rows)  # noqa: S301  (written above, by this process)
        except EOFError:
            return


def _score_with(
    model: str,
    source: ScoreInput,
    settings: Settings,
    cache: Path | None,
    write_row: WriteRow,
    steps: RunProgress,
    notices: list[Notice],
) -> ModelReport:
    lap, tally = LapTimer(), Tally()
    with _opened(model, settings) as scorer, CachedScorer(scorer, cache) as cached:
        loading, workers = lap(), getattr(scorer, "workers", None) or 1

        def say(tally: Tally) -> None:  # cached rows count neither as done nor as still to do
            steps(tally.worked, message=model, free=tally.free)

        try:
            chunk = CHUNK * workers  # so that every actor of a cluster has something in hand
            for row in score_items(source.items(), cached, model=model, tally=tally, progress=say, chunk=chunk):
                write_row(row.values())
        finally:
            notices += [notice for notice in cached.notices if notice not in notices]
    steps.finish(tally.worked, tally.free)
    return ModelReport.of(model, cached.signature, tally, loading, lap(), workers)


@contextmanager
def _opened(name: str, settings: Settings) -> Iterator[Scorer]:
    """Yield the model in this process, or in the actors of a cluster."""
    options = settings.model_options()
    if settings.ray is None:
        yield open_scorer(name, **options)
        return
    from evenhand.core.scoring.run import ClusterScorer

    workers = settings.processors // settings.at_once
    with ClusterScorer(name, options, address=settings.ray, workers=workers) as scorer:
        yield scorer


PIECE = 256  # probes that travel together
DIFFERENT = N_("The machines of the cluster hold different weights for {name}. Put the same files on all of them.")


def probe_answerer(name: str, options: dict[str, Any]) -> Callable[[tuple[str, Any]], Any]:
    """Load the model of an actor of `ClusterScorer`; return a function that answers (kind, arguments)."""
    from evenhand.core.models import open_scorer

    scorer = open_scorer(name, **options)

    def reply(item: tuple[str, Any]) -> Any:
        kind, rest = item
        if kind == "describe":
            return {"signature": scorer.signature, "cache_key": scorer.cache_key}
        if kind == "fillers":
            probe, top, words = rest
            return scorer.fillers(probe, top=top, words=words)
        return scorer.score(rest)

    return reply


class ClusterScorer:
    """A model in every actor of a cluster, as one `core.types.Scorer`. Close it, or use `with`.

    *options* are those of `core.models.open_scorer`; each actor loads the model once. The numbers are
    those of one process (the same code, weights checked by their signature, the same order) but for the last bits:
    sentences are put into other batches, and log-probabilities then differ by up to 2e-6.
    """

    def __init__(self, name: str, options: dict[str, Any] | None = None, *, address: str | None, workers: int) -> None:
        self.name = name
        one_thread = {"threads": 1} | (options or {})  # an actor holds one processor
        self._pool = Pool(
            "evenhand.core.scoring.run:probe_answerer",
            {"name": name, "options": one_thread},
            address=address,
            workers=workers,
        )
        try:
            self._facts: dict[str, str] = next(self._pool.map([("describe", None)]))
        except BaseException:
            self._pool.close()
            raise

    @property
    def signature(self) -> str:
        """The signature of the model, equal to that in one process."""
        return self._facts["signature"]

    @property
    def cache_key(self) -> str:
        """The signature with the full hash of the weights."""
        return self._facts["cache_key"]

    @property
    def workers(self) -> int:
        """The number of actors that answer."""
        return self._pool.size

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """Return one score per probe, in order."""
        pieces = (("score", list(probes[i : i + PIECE])) for i in range(0, len(probes), PIECE))
        scores = [score for piece in self._pool.map(pieces) for score in piece]
        if any(score.signature != self.signature for score in scores):
            raise ModelUnavailable(DIFFERENT, name=self.name)
        return scores

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Return for each mask token of the slot the *top* most likely tokens, then each of *words*."""
        result: list[list[Filler]] = next(self._pool.map([("fillers", (probe, top, tuple(words)))]))
        return result

    def close(self) -> None:
        """Let the actors go."""
        self._pool.close()

    def __enter__(self) -> "ClusterScorer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
