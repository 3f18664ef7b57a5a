"""WEAT against the plain definition and every partition by hand; word vectors of a file."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from evenhand.core.errors import BadFile, Refused
from evenhand.core.other_measures.weat import MOST, p_value, read_sets, read_vectors, weat
from evenhand.core.typed_json import to_json

SETS = {"X": ["x1", "x2", "x3"], "Y": ["y1", "y2", "y3"], "A": ["a1", "a2"], "B": ["b1", "b2"]}
WORDS = [word for words in SETS.values() for word in words]


def vectors(seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {word: random.normal(size=5) + (word[0] in "xa") for word in WORDS}


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_effect_and_p_equal_the_definition() -> None:
    known = vectors()
    s = {
        word: np.mean([cosine(known[word], known[a]) for a in SETS["A"]])
        - np.mean([cosine(known[word], known[b]) for b in SETS["B"]])
        for word in [*SETS["X"], *SETS["Y"]]
    }
    both = list(s)
    result = weat("X,Y,A,B", SETS, known)
    spread = np.std(list(s.values()), ddof=1)
    x, y = (np.mean([s[word] for word in SETS[name]]) for name in "XY")
    assert result.effect == pytest.approx((x - y) / spread)
    observed = sum(s[w] for w in SETS["X"]) - sum(s[w] for w in SETS["Y"])
    statistics = [sum(s[w] for w in part) - sum(s[w] for w in both if w not in part) for part in combinations(both, 3)]
    assert result.p == pytest.approx(np.mean([statistic >= observed - 1e-12 for statistic in statistics]))
    assert result.p_greater == pytest.approx(np.mean([statistic > observed + 1e-12 for statistic in statistics]))
    assert to_json(result)["p_at_least"] == result.p
    assert result.exact and result.partitions == 20 and result.sizes == (3, 3, 2, 2)


@pytest.mark.parametrize("broken", [0.0, np.nan, np.inf])
@pytest.mark.parametrize("word", ["x1", "y3", "a1", "b2"])
def test_a_vector_without_direction_makes_effect_and_p_undefined(word: str, broken: float) -> None:
    known = vectors() | {word: np.full(5, broken)}
    result = to_json(weat("X,Y,A,B", SETS, known))
    keys = ("effect", "p", "p_at_least", "p_greater", "band")
    assert [result[key] for key in keys] == [None] * 5 and result["sizes"] == [3, 3, 2, 2]
    assert (
        result["effect_reason"]
        == result["p_reason"]
        == f"The cosine is undefined for zero or infinite vectors: {word}."
    )


def test_equal_associations_have_no_effect_and_a_p_of_one() -> None:
    result = weat("X,Y,A,B", SETS, vectors() | dict.fromkeys(SETS["X"] + SETS["Y"], np.ones(5)))
    assert (result.effect, result.band, result.p, result.p_greater) == (None, None, 1.0, 0.0)
    assert result.effect_reason is not None and result.p_reason is None


# s(w) of every word of X and of Y, by WEAT's formula in plain numpy from the vectors of word2vec Google News that WEFE
# 1.0.1 ships; before it the effect as printed, and to three places.
PUBLISHED = {
    "math": (0.97, 0.966, [-0.0432, -0.0509, -0.0061, -0.0071, 0.0089, -0.0126, 0.0202, 0.0009],
             [-0.0566, -0.0418, -0.0813, -0.0546, -0.0543, -0.017, -0.0038, -0.0059]),
    "science": (1.24, 1.244, [-0.0302, -0.0099, 0.0405, -0.0022, 0.0197, -0.045, 0.0053, 0.0109],
                [-0.0636, -0.0492, -0.0297, -0.0921, -0.0591, -0.0584, -0.0182, 0.0023]),
    "career": (1.89, 1.890, [0.0805, 0.0748, 0.1066, 0.0634, 0.1181, 0.0993, 0.1002, 0.0932],
               [-0.0691, -0.0304, -0.0467, -0.0737, -0.0896, -0.0801, -0.0718, -0.0539]),
    "disease": (1.30, 1.297, [-0.001, -0.0265, 0.0262, 0.0513, -0.0226, -0.0592],
                [-0.0576, -0.0543, -0.0375, -0.1059, -0.038, -0.0771]),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_effects_equal_those_of_caliskan_et_al(name: str) -> None:
    """Vectors of length 1 with these associations, where A is the first axis and B the second."""
    printed, whole, *associations = PUBLISHED[name]
    sets = {side: [f"{side}{i}" for i in range(len(some))] for side, some in zip("XY", associations, strict=True)}
    known = {
        word: np.array([s, 0.0, np.sqrt(1 - s * s)])
        for side, some in zip("XY", associations, strict=True)
        for word, s in zip(sets[side], some, strict=True)
    }
    axes = {f"{side}{i}": np.eye(3)[k] for k, side in enumerate("AB") for i in range(2)}
    result = weat("X,Y,A,B", sets | {"A": ["A0", "A1"], "B": ["B0", "B1"]}, known | axes)
    assert result.effect == pytest.approx(whole, abs=0.002) and round(result.effect or 0, 2) == printed
    assert result.exact


def test_ties_count_as_at_least_as_large() -> None:
    assert p_value(np.ones(6), 3)[:3] == (1.0, True, 20) and p_value(np.ones(6), 3).greater == 0
    separate = p_value(np.array([3.0, 2.0, 1.0, 0.0]), 2)
    assert (separate.at_least, separate.greater) == (pytest.approx(1 / 6), 0)


def test_partition_p_value_includes_the_observed_one() -> None:
    separated = np.concatenate([np.arange(10, 20.0), np.arange(10.0)])
    p, exact, partitions, _band, greater = p_value(separated, 10)
    assert (
        greater == 0 and (exact, partitions) == (False, MOST) and p == 1 / (MOST + 1)
    )  # nothing reaches the observed statistic
    mixed = np.random.default_rng(1).normal(size=20)
    first, second = (p_value(mixed, 10, seed)[0] for seed in (0, 1))
    assert abs(first - second) < 0.02 and p_value(mixed, 10, 0)[0] == first


def test_words_without_a_vector_are_left_out_and_named() -> None:
    known = vectors()
    del known["x3"], known["b2"]
    with pytest.raises(Refused, match="Words of the set B with a vector: 1; at least 2"):
        weat("X,Y,A,B", SETS, known)
    known["b2"] = np.ones(5)
    result = weat("X,Y,A,B", SETS, known)
    assert result.missing == {"X": ("x3",)} and result.sizes[0] == 2 and result.partitions == 10


@pytest.mark.parametrize("head", ["", "3 2\n"])
def test_text_vectors_are_read(tmp_path: Path, head: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(f"{head}John 1 2\namy 3 4\nother 5 6\njohn 7 8\n", encoding="utf-8")
    result = read_vectors(path, ["John", "Amy", "nobody"])
    assert {word: vector.tolist() for word, vector in result.items()} == {"John": [1, 2], "Amy": [3, 4]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a 1 2\nb 1\n", "line 2: 1 numbers"),
        ("", "is not a text file of word vectors: each line needs a word and its numbers."),
        ("a b c\n", "is not a text file of word vectors: each line needs a word and its numbers."),
    ],
)
def test_invalid_vector_files_are_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "v.txt").write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=says):
        read_vectors(tmp_path / "v.txt", ["a"])


def test_invalid_sets_and_tests_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(SETS), encoding="utf-8")
    assert read_sets(path)["X"] == ("x1", "x2", "x3")
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(BadFile, match="no word sets"):
        read_sets(path)
    with pytest.raises(Refused, match="There is no word set Q"):
        weat("X,Y,A,Q", SETS, vectors())
    with pytest.raises(Refused, match="four sets"):
        weat("X,Y,A", SETS, vectors())
