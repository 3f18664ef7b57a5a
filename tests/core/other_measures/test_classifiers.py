"""FPED, FNED, swap consistency and the F1 gap against tables that were worked out by hand; files that do not fit."""

from pathlib import Path

import numpy as np
import pytest

from evenhand.core.errors import BadFile
from evenhand.core.other_measures.classifiers import error_gaps, f1, read_gaps

# 12 negatives of three groups with 1, 2 and 0 of 4 called positive; 6 positives with 1, 0 and 1 of 2 missed.
ROWS = [("a", 0, 1)] + [("a", 0, 0)] * 3 + [("b", 0, 1)] * 2 + [("b", 0, 0)] * 2 + [("c", 0, 0)] * 4
ROWS += [("a", 1, 0), ("a", 1, 1), ("b", 1, 1), ("b", 1, 1), ("c", 1, 0), ("c", 1, 1)]


def table(folder: Path, text: str) -> Path:
    path = folder / "p.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_fped_and_fned_equal_hand_computation(tmp_path: Path) -> None:
    """FPR 3/12; groups 1/4, 2/4, 0: gaps 0 + .25 + .25. FNR 2/6; groups 1/2, 0, 1/2: gaps 1/6 + 1/3 + 1/6."""
    text = "group,gold,predicted\n" + "".join(f"{g},{gold},{predicted}\n" for g, gold, predicted in ROWS)
    fped, fned = read_gaps(table(tmp_path, text)).gaps
    assert (fped.value.value, fned.value.value) == (pytest.approx(0.5, abs=5e-5), pytest.approx(0.6667, abs=5e-5))
    assert fped.by_group == {"a": 0.25, "b": 0.5, "c": 0.0} and fned.by_group == {"a": 0.5, "b": 0.0, "c": 0.5}
    assert fped.overall == 0.25 and fped.value.low is None and fped.value.note is not None


def test_shuffled_groups_are_the_null() -> None:
    random = np.random.default_rng(0)
    gold, groups = np.zeros(400, dtype=bool), ["a", "b"] * 200
    even = error_gaps(gold, random.random(400) < 0.3, groups)[0]
    assert even.null is not None and even.null[0] > 0 and even.p is not None and even.p > 0.05
    uneven = error_gaps(gold, np.array([group == "a" for group in groups]), groups)[0]
    assert uneven.value.value == 1.0 and uneven.p == 1 / 2001


def test_a_group_without_negatives_has_no_fped() -> None:
    result = error_gaps(np.array([True, False]), np.array([True, True]), ["a", "b"])
    assert [gap.value.value for gap in result] == [None, None]
    assert result[0].to_json()["value_reason"].startswith("A group has no negative texts")


def test_accuracy_gap_and_swap_consistency_equal_hand_computation(tmp_path: Path) -> None:
    """4 negatives: 2 wrong, 1 after the swap: .25. 2 positives: none missed, 1 after: .5. 4 of 6 labels stay."""
    rows = [(0, 1, 1), (0, 1, 0), (0, 0, 0), (0, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, "")]
    text = "gold,predicted,predicted_swapped\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    result = read_gaps(table(tmp_path, text))
    assert [(gap.name, gap.value.value) for gap in result.gaps] == [("fped_swapped", 0.25), ("fned_swapped", 0.5)]
    assert result.consistency is not None and result.consistency.value == pytest.approx(4 / 6)
    assert result.to_json()["swap_consistency"]["n"] == 6


def test_f1_is_computed_for_both_sets(tmp_path: Path) -> None:
    """pro: 2 of 2 right; anti: 1 right, 1 wrong, 1 without an answer: 2 / (2 + 3) = .4; gap .6."""
    rows = [("pro", "x", "x"), ("pro", "y", "y"), ("anti", "x", "x"), ("anti", "y", "x"), ("anti", "y", "")]
    result = read_gaps(table(tmp_path, "set,gold,predicted\n" + "".join(",".join(row) + "\n" for row in rows)))
    assert result.f1 == {"pro": 1.0, "anti": pytest.approx(0.4)}
    assert result.f1_gap is not None and result.f1_gap.value == pytest.approx(0.6) and f1([]) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b\n1,2\n", "gold and predicted"),
        ("gold,predicted\n1,1\n", "needs one of the columns group"),
        ("gold,predicted,group\n1,maybe,a\n", "line 2: maybe"),
    ],
)
def test_invalid_prediction_files_are_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadFile, match=says):
        read_gaps(table(tmp_path, text))
