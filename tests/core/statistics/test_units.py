"""The units of intervals: which columns make them, one kind and two crossed, few and one."""

import numpy as np
import pandas as pd
import pytest

from evenhand.core.statistics import Estimate
from evenhand.core.statistics.intervals import over_clusters
from evenhand.core.statistics.units import Clusters, clusters_of, few_files, units_of_sources


def mean(sums: np.ndarray) -> dict[str, np.ndarray]:
    with np.errstate(all="ignore"):
        return {"mean": sums[:, 0] / sums[:, 1]}


def columns(values: np.ndarray) -> np.ndarray:
    return np.stack([values, np.ones(len(values))], axis=1)


def intervals(clusters: Clusters, table: np.ndarray) -> dict[str, Estimate]:
    return over_clusters(mean, table, clusters)


@pytest.mark.parametrize(
    ("table", "kinds", "counts"),
    [
        ({"instance": ["a", "b", "c"]}, ("instance",), (3,)),
        ({"template": ["t", "t", "u"]}, ("template",), (2,)),
        ({"template": ["t", "t", "u"], "name": ["Ada", "Bo", "Ada"]}, ("template", "name"), (2, 2)),
        ({"template": ["t", "", ""], "name": ["", "", ""]}, ("template",), (3,)),
        ({"template": ["t", "t", "t"], "name": ["Ada", "Bo", "Bo"]}, ("name",), (2,)),
        ({"template": ["t", "t", "t"]}, ("template",), (1,)),
    ],
)
def test_units_are_made_from_columns(table: dict[str, list[str]], kinds: tuple[str, ...], counts: tuple) -> None:
    result = clusters_of(pd.DataFrame(table))
    assert (result.kinds, result.counts) == (kinds, counts)


@pytest.mark.parametrize(
    ("sources", "kind", "files"),
    [
        (["a.txt"] * 4, "sentence", 1),
        (["a.txt", "b.txt"] * 4, "sentence", 2),  # like one file: the beginnings of articles are unknown
        (["a.txt", "b.txt (2)", "c.jsonl.gz", ""] * 4, "sentence", 3),
        ([f"{n}.txt" for n in range(14)] * 2, "sentence", 14),
        ([f"{n}.txt" for n in range(15)] * 2, "source", 0),  # a folder of articles
        (["Evening news", "Morning news"] * 4, "source", 0),
        (["Evening news", "a.txt"] * 4, "source", 0),
        (["Evening news"] * 4, "sentence", 0),
        (["About a.txt files", "Morning news"] * 2, "source", 0),
        (["", ""], "sentence", 0),
    ],
)
def test_few_files_do_not_count_as_articles(sources: list[str], kind: str, files: int) -> None:
    assert (units_of_sources(sources), few_files(sources)) == (kind, files)


def test_five_equal_generations_of_a_context_are_one_unit() -> None:
    """docs/methods.md#intervals [C]: 5 contexts x 5 equal generations: SE = sd(context means, ddof 1) / sqrt(5)."""
    values = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    units = Clusters(("template",), (np.repeat(np.arange(5), 5),))
    result = intervals(units, columns(np.repeat(values, 5)))["mean"]
    assert result.se == pytest.approx(values.std(ddof=1) / np.sqrt(5))
    assert result.df == 4 and "Few units (5)" in str(result.note)


def test_one_unit_has_no_interval() -> None:
    units = Clusters(("template",), (np.zeros(6, dtype=np.int64),))
    result = intervals(units, columns(np.arange(6.0)))["mean"]
    assert result.value == 2.5 and result.low is None and "no interval" in str(result.note)


def test_crossed_units_find_a_spread_between_names_only() -> None:
    """All templates are alike, names differ: drawing templates only would give a width of 0."""
    templates, names = (codes.ravel() for codes in np.meshgrid(np.arange(20), np.arange(20), indexing="ij"))
    values = (names % 2).astype(float)
    crossed = intervals(Clusters(("template", "name"), (templates, names)), columns(values))["mean"]
    alone = intervals(Clusters(("template",), (templates,)), columns(values))["mean"]
    assert (
        alone.low is None
        and "All units gave the same value, so their spread cannot be estimated: no interval." in str(alone.note)
    )
    # The spread of the mean of 20 names that are 0 or 1.
    assert crossed.se == pytest.approx(np.sqrt(0.25 / 19))
    assert crossed.low == pytest.approx(0.275, abs=0.03) and crossed.high == pytest.approx(0.725, abs=0.03)


def test_few_crossed_units_give_a_t_interval_as_wide_as_one_kind() -> None:
    random = np.random.default_rng(5)
    templates, names = (codes.ravel() for codes in np.meshgrid(np.arange(6), np.arange(30), indexing="ij"))
    values = random.random(6)[templates] + random.random(30)[names]
    crossed = intervals(Clusters(("template", "name"), (templates, names)), columns(values))["mean"]
    alone = intervals(Clusters(("template",), (templates,)), columns(values))["mean"]
    assert crossed.df >= 5 and "Few units (6)" in str(crossed.note)
    assert (crossed.se or 0) >= (alone.se or 1)


def test_two_identical_kinds_of_units_give_the_interval_of_one() -> None:
    codes = np.repeat(np.arange(8), 3)
    values = np.random.default_rng(1).random(24)
    twice = intervals(Clusters(("template", "name"), (codes, codes)), columns(values))["mean"]
    once = intervals(Clusters(("template",), (codes,)), columns(values))["mean"]
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))


def test_an_undefined_measure_is_left_out() -> None:
    units = Clusters(("instance",), (np.arange(20),))
    assert intervals(units, np.zeros((20, 2))) == {}
    assert intervals(Clusters(("template", "name"), (np.arange(20),) * 2), np.zeros((20, 2))) == {}


def test_a_selection_of_rows_keeps_its_units() -> None:
    result = Clusters(("template",), (np.array([0, 0, 1, 2, 2]),)).of(np.array([True, False, False, True, True]))
    assert result.counts == (2,) and result.codes[0].tolist() == [0, 1, 1]
