"""A model in actors, whose Ray is replaced by calls in this process: what is sent, what comes back, what is refused.

Actors of a real Ray, and the table that `score --ray` writes with them, are in tests/core/test_cluster.py.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from evenhand.annotations.files.scoring_input import file_input
from evenhand.core import cluster
from evenhand.core.cluster import Answerer
from evenhand.core.errors import EvenhandError, ModelUnavailable
from evenhand.core.models import open_scorer
from evenhand.core.runs.kinds import Place
from evenhand.core.scoring.run import PIECE, ClusterScorer, score_input
from evenhand.core.scoring.settings import Settings
from evenhand.core.types import MaskedSentence, Score
from tests.conftest import SENTENCES

PROBES = [MaskedSentence("他" + "好" * (i % 9) + "。", 0, 1, ("他", "她")) for i in range(PIECE + 44)]


class PoolOfOne:
    """A `core.cluster.Pool` whose only actor is in this process; what travels is pickled all the same.

    A real one loads its model in a process of its own; here loading takes turns, which transformers needs.
    """

    size = 1
    turns = Lock()

    def __init__(self, factory: str, arguments: dict[str, Any], *, address: str | None, workers: int) -> None:
        self.actor, self.sent, self.closed = Answerer(factory, arguments), 0, False

    def map(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.sent += 1
            with self.turns:
                kind, *rest = pickle.loads(pickle.dumps(self.actor.answer(pickle.loads(pickle.dumps(item)))))
            if kind != "ok":
                raise cluster._rebuilt(*rest)
            yield rest[0]

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def open_cluster(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ClusterScorer]:
    monkeypatch.setattr("evenhand.core.scoring.run.Pool", PoolOfOne)
    return lambda name: ClusterScorer(name, address="local", workers=1)


def test_scores_fillers_and_signature_equal_one_process(open_cluster: Callable[[str], ClusterScorer]) -> None:
    alone = open_scorer("known")
    with open_cluster("known") as scorer:
        assert scorer.score(PROBES) == alone.score(PROBES)
        assert (scorer.signature, scorer.cache_key) == (alone.signature, alone.cache_key)
        assert scorer.fillers(PROBES[0], top=2, words=("它",)) == alone.fillers(PROBES[0], top=2, words=("它",))
        pool = scorer._pool
    assert pool.sent == 4, "the description, two pieces of sentences, the fillers"  # type: ignore[attr-defined]
    assert pool.closed  # type: ignore[attr-defined]


def test_an_unknown_model_is_refused_and_actors_are_released(
    open_cluster: Callable[[str], ClusterScorer], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[PoolOfOne] = []
    monkeypatch.setattr(PoolOfOne, "close", lambda self: closed.append(self))
    with pytest.raises(EvenhandError, match="no such model") as caught:
        open_cluster("no such model")
    assert isinstance(caught.value, ModelUnavailable) and len(closed) == 1


def test_other_weights_on_one_machine_are_refused(
    open_cluster: Callable[[str], ClusterScorer], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_cluster("known") as scorer:
        monkeypatch.setattr(PoolOfOne, "map", lambda _self, _items: [[Score((0.0, 0.0), "other weights")]])
        with pytest.raises(
            ModelUnavailable,
            match=r"The machines of the cluster hold different weights for known\. Put the same files on all of "
            r"them\.",
        ):
            scorer.score(PROBES[:1])


def test_models_in_separate_workers_write_the_table_of_one_process(
    open_cluster: Callable[[str], ClusterScorer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("evenhand.core.cluster.joined", lambda address, workers: nullcontext())
    monkeypatch.setattr("evenhand.core.scoring.run.IN_MEMORY", 200)  # most rows wait on the disk
    sentences = tmp_path / "s.csv"
    sentences.write_text("sentence\n" + "\n".join(SENTENCES) + "\n", encoding="utf-8")
    models = ("known", str(tmp_path / "none"), "demo-zh")
    alone, beside = tmp_path / "alone.csv", tmp_path / "beside.csv"
    source, place = file_input(sentences), Place(tmp_path / "evenhand.db")
    score_input(source, Settings("s.csv", models, alone, threads=1, no_cache=True), place)
    report = score_input(source, Settings("s.csv", models, beside, threads=1, ray="local", workers=7), place)
    assert beside.read_bytes() == alone.read_bytes()
    assert [model.model for model in report.models] == [models[0], models[2]] and len(report.failed) == 1
    again = score_input(source, Settings("s.csv", models, alone, threads=1), place)
    assert again.asked == 0, "what the workers computed is remembered"
