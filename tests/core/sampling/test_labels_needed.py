"""The simulation of labels needed: against the textbook's number, by hand between sizes, and what a design saves."""

import numpy as np
import pytest

from evenhand.core.charts.lines import widths
from evenhand.core.sampling.labels_needed import NEVER, NO_INTERVALS, Expected, Listed, labels_needed, needed

pytestmark = pytest.mark.usefixtures("_few_samples")
NAMES = {"simple": "Simple", "stratified": "Stratified", "variance": "Variance"}


@pytest.fixture
def _few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.core.sampling.labels_needed.TIMES", 3)


def expected(rates: np.ndarray, accuracy: float | None = None) -> Expected:
    return Expected(rates, np.full(len(rates), np.nan), [str(i) for i in range(len(rates))], accuracy)


def test_labels_needed_equal_a_textbook() -> None:
    """384 items for a share of one half within 5 points (Cochran 1977, Sampling Techniques, 4.4)."""
    count = 450
    (needed,) = labels_needed(expected(np.full(count, 0.5)), {"simple": Listed(np.ones(count), [""] * count)}, 0.1)
    assert needed.items == pytest.approx(384, rel=0.04)


def test_a_judge_and_strata_need_fewer_labels() -> None:
    count = 900
    rates, strata = np.where(np.arange(count) % 2, 0.02, 0.98), [str(i % 2) for i in range(count)]
    designs = {"simple": Listed(np.ones(count), [""] * count), "stratified": Listed(np.ones(count), strata, strata)}
    simple, stratified = labels_needed(expected(rates), designs, 0.1)  # type: ignore[arg-type]
    assert simple.items is not None and stratified.items is not None and stratified.items < simple.items / 4
    (judged,) = labels_needed(expected(np.full(count, 0.5), 0.95), {"simple": designs["simple"]}, 0.1)
    assert judged.items is not None and judged.items < 384 / 2


@pytest.mark.parametrize(
    ("widths_of", "width", "items", "beyond", "reason"),
    [
        (((100, 0.2), (400, 0.1)), 0.1, 400, False, None),
        (((100, 0.2), (400, 0.1)), 0.2**0.5 * 0.1**0.5, 200, False, None),
        (((100, 0.2), (400, 0.1)), 0.3, 100, False, None),
        (((100, 0.2), (400, 0.1)), 0.05, 1600, True, None),
        (((100, 0.2), (400, 0.1)), 0.01, None, False, NEVER),
        ((), 0.1, None, False, NO_INTERVALS),
    ],
)
def test_interpolation_between_sizes_equals_hand_computation(
    widths_of: tuple[tuple[int, float], ...], width: float, items: int | None, beyond: bool, reason: object
) -> None:
    result = needed("simple", widths_of, width, 2000)
    assert (result.items, result.beyond, result.reason) == (items and pytest.approx(items, abs=1), beyond, reason)


def test_the_chart_is_valid() -> None:
    results = [needed("simple", ((100, 0.2), (400, 0.1)), 0.1, 900), needed("variance", ((100, 0.1),), 0.1, 900)]
    spec = widths(results, NAMES, 0.1, description="d").to_dict(validate=True)
    assert spec["description"] == "d" and spec["layer"]
