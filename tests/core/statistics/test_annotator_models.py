"""Dawid-Skene and MACE: the numbers of crowd-kit 1.4.2, and laws for any labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from evenhand.core.statistics.annotator_models import RatedItems, chosen, dawid_skene, mace

# Numbers of crowd-kit 1.4.2: DawidSkene(n_iter=2000, tol=-1) and MACE(n_restarts=1, n_iter=1000) on these tables, one
# row an item, one sign an annotator. In each, annotators and categories first appear in sorted order: otherwise
# crowd-kit's MACE reads the counts of one annotator or category as those of another.
TWO = """
    010101 101111 111111 111000 010100 000010 001001 001000 000000 110000 111111 111011 011011
    101011 110011 111111 110110 110101 111111 111001 111011 000111 110111 111000 010010 010100
    101011 011011 000000 110101 011010
"""
TWO_BY_SKILL = """
    0.050981 0.977093 0.98516 0 0 0 0.130588 0 0 0 0.98516 0.974414 0.791177 0.960739 0.833912
    0.98516 0 0.350642 0.98516 0.701466 0.974414 0.358752 0.897457 0 0 0 0.960739 0.791177 0
    0.350642 0
"""
TWO_BY_HABIT = """
    0.805364 0.998404 0.998982 0.043475 0.003764 0.006075 0.813024 0.003955 0.000863 0.009794
    0.998982 0.997168 0.979694 0.995564 0.987115 0.998982 0.163206 0.967943 0.998982 0.980304
    0.997168 0.949133 0.99534 0.043475 0.009496 0.003764 0.995564 0.979694 0.000863 0.967943
    0.042198
"""
TWO_COMPETENCE = [0.455895, 0.10531, 0.360835, 0.245716, 0.449744, 0.940013]
THREE = "00012 00020 11111 22221 12101 02211 00002 11121 00021 00000 22020 00012 22221 11111"
THREE_BY_HABIT = {
    0: [0.999767, 0.000134, 9.9e-05],
    4: [0.002228, 0.973688, 0.024083],
    5: [0.037244, 0.00425, 0.958506],
}
THREE_COMPETENCE = [0.889345, 0.887226, 0.886998, 0.255718, 0.128108]
THREE_ERRORS = {
    0: [[1, 0, 0], [0, 1, 0], [0.25, 0, 0.75]],
    4: [[0.333333, 0.166667, 0.5], [0, 1, 0], [0.25, 0.75, 0]],
}


def rated(rows: list[str] | str, categories: int = 2) -> RatedItems:
    """Return the labels of strings: a row an item, a sign an annotator; "-" for no label."""
    rows = rows.split() if isinstance(rows, str) else rows
    labels = [(i, j, int(sign)) for i, row in enumerate(rows) for j, sign in enumerate(row) if sign != "-"]
    return RatedItems(*np.array(labels, dtype=np.int64).T, len(rows), len(rows[0]), categories)


def numbers(text: str) -> list[float]:
    return [float(part) for part in text.split()]


def test_two_categories_equal_crowd_kit() -> None:
    by_skill, by_habit = dawid_skene(rated(TWO)), mace(rated(TWO))
    assert by_skill.settled and by_habit.settled
    assert by_skill.probability[:, 1] == pytest.approx(numbers(TWO_BY_SKILL), abs=1e-5)
    assert by_habit.probability[:, 1] == pytest.approx(numbers(TWO_BY_HABIT), abs=1e-5)
    assert by_habit.competence == pytest.approx(TWO_COMPETENCE, abs=1e-5)


def test_three_categories_equal_crowd_kit() -> None:
    by_skill, by_habit = dawid_skene(rated(THREE, 3)), mace(rated(THREE, 3))
    for row, expected in THREE_BY_HABIT.items():
        assert by_habit.probability[row] == pytest.approx(expected, abs=1e-5)
    assert by_habit.competence == pytest.approx(THREE_COMPETENCE, abs=1e-5)
    for annotator, expected in THREE_ERRORS.items():
        assert by_skill.errors[annotator] == pytest.approx(np.array(expected), abs=1e-5)


TABLES = some.lists(some.text("012", min_size=5, max_size=5), min_size=4, max_size=12)


@settings(max_examples=25)
@given(TABLES, some.permutations(range(3)), some.permutations(range(5)))
def test_results_do_not_depend_on_names_and_order(rows: list[str], names: list[int], who: list[int]):
    other = ["".join(str(names[int(row[j])]) for j in who) for row in rows]
    for model in (dawid_skene, mace):
        first, second = model(rated(rows, 3)), model(rated(other, 3))
        if first.settled and second.settled:  # sums in another order differ in the last digit, which EM may magnify
            assert second.probability[:, names] == pytest.approx(first.probability, abs=1e-3)


@settings(max_examples=25)
@given(TABLES)
def test_probabilities_and_reliability_are_shares(rows: list[str]) -> None:
    by_skill, by_habit = dawid_skene(rated(rows, 3)), mace(rated(rows, 3))
    for probability in (by_skill.probability, by_habit.probability):
        assert probability.min() >= 0 and probability.sum(axis=1) == pytest.approx(1)
    for share in (by_skill.right, by_habit.competence):
        assert share.min() >= 0 and share.max() <= 1 + 1e-9


def drawn(right: list[float], items: int = 60, seed: int = 1) -> tuple[list[str], list[int]]:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, items).tolist()
    return ["".join(str(t if random.random() < share else 1 - t) for share in right) for t in truth], truth


def test_two_perfect_annotators_outweigh_three_who_guess() -> None:
    rows, truth = drawn([1, 1, 0.5, 0.5, 0.5])
    by_skill, by_habit = dawid_skene(rated(rows)), mace(rated(rows))
    assert chosen(by_skill.probability) == chosen(by_habit.probability) == truth
    assert chosen(rated(rows).votes()) != truth
    assert by_skill.right[:2].min() > 0.99 and by_skill.right[2:].max() < 0.7
    assert by_habit.competence[:2].min() > 0.9 > 0.5 > by_habit.competence[2:].max()


def test_dawid_skene_learns_from_an_annotator_who_is_always_wrong() -> None:
    rows, truth = drawn([0.9, 0.9, 0.9, 0.9, 0])
    by_skill = dawid_skene(rated(rows))
    assert chosen(by_skill.probability) == truth
    assert by_skill.right[4] == pytest.approx(0, abs=1e-6)
    assert by_skill.errors[4] == pytest.approx(np.array([[0, 1], [1, 0]]), abs=1e-6)
    assert mace(rated(rows)).competence[4] < 0.1  # MACE knows no such annotator, only one who guesses


def test_an_unseen_category_has_no_error_rate() -> None:
    errors = dawid_skene(rated(["00000-", "00000-", "111110", "111111"])).errors
    assert np.isnan(errors[5, 0]).all() and errors[5, 1].sum() == pytest.approx(1)


def test_ties_have_no_choice() -> None:
    assert chosen(np.array([[2, 2.0], [0, 1], [1, 0]])) == [None, 1, 0] and chosen(np.empty((0, 2))) == []
