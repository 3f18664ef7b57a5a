"""A model in every actor of a Ray cluster, as one scorer."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from evenhand.core.cluster import Pool
from evenhand.core.errors import N_, ModelUnavailable
from evenhand.core.types import Filler, MaskedSentence, Score

PIECE = 256  # probes that travel together
DIFFERENT = N_("The machines of the cluster hold different weights for {name}. Put the same files on all of them.")


def probe_answerer(name: str, options: dict[str, Any]) -> Callable[[tuple[str, Any]], Any]:
    """What an actor of `ClusterScorer` makes: a loaded model that answers ("score", probes) and ("describe", None)."""
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
            "evenhand.core.scoring.cluster:probe_answerer",
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
        """As that of the model in one process."""
        return self._facts["signature"]

    @property
    def cache_key(self) -> str:
        """The signature with the full hash of the weights."""
        return self._facts["cache_key"]

    @property
    def workers(self) -> int:
        """How many actors answer."""
        return self._pool.size

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """One score per probe, in order."""
        pieces = (("score", list(probes[i : i + PIECE])) for i in range(0, len(probes), PIECE))
        scores = [score for piece in self._pool.map(pieces) for score in piece]
        if any(score.signature != self.signature for score in scores):
            raise ModelUnavailable(DIFFERENT, name=self.name)
        return scores

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Per mask token of the slot: the *top* likeliest tokens, then each of *words*."""
        found: list[list[Filler]] = next(self._pool.map([("fillers", (probe, top, tuple(words)))]))
        return found

    def close(self) -> None:
        """Let the actors go."""
        self._pool.close()

    def __enter__(self) -> "ClusterScorer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
