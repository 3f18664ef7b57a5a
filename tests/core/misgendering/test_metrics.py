"""All measures of a table together: which rows count, cells, templates, flips, a planted rate of disagreement."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenhand.core.misgendering.metrics import NO_PRONOUN, NOT_SAID, by_cell, metrics
from evenhand.core.misgendering.verdict_table import read_verdicts


def table(rows: str, head: str = "instance,prob,gen1,gen2") -> pd.DataFrame:
    return pd.read_csv(io.StringIO(f"{head}\n{rows}"), dtype={"instance": str})


def test_rows_with_one_way_only_are_left_out_of_the_comparison() -> None:
    result = metrics(table("1,1,1,1\n2,,0,1\n3,0,,0\n4,0,0,0\n"))
    assert (result.rows, result.n, result.dropped) == (4, 2, 2)
    assert result.sigma.n == 4  # generations vary all the same
    assert result.cells.prob1gen1 == result.cells.prob0gen0 == 1
    assert result.prob.value == pytest.approx(1 / 3)
    assert result.gen.value == pytest.approx((1 + 0.5 + 0 + 0) / 4)


def test_metrics_without_generations_have_reasons() -> None:
    result = metrics(table("1,1\n2,0\n", "instance,prob"))
    assert result.prob.value == 0.5
    for entry in (result.gen, result.mcc, result.kappa, result.agreement, result.sigma.mean, *result.by_units.values()):
        assert entry.value is None and entry.reason
    assert result.beta.reason and result.flips is None and result.failure is None


def test_templates_are_counted_by_mean_and_by_first(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("instance,prob1,prob2,gen1,gen2\n1,1,0,1,1\n2,,1,1,0\n3,,,0,0\n4,0,0,1,1\n", encoding="utf-8")
    result = metrics(read_verdicts(path))
    assert (result.n, result.dropped) == (2, 2)  # a missing first template drops the pair
    assert result.sigma_prob is not None and result.sigma_prob.n == 3
    assert result.failure is not None and result.failure.value == pytest.approx((0 + 0.5 + 1 + 0) / 4)
    # d: 0.5 against 1; 1 against 0.5; undefined; 0 against 1
    assert result.beta.n == 3 and result.beta.mean == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_flips_between_mean_and_sum_are_counted() -> None:
    result = metrics(table("1,1,0,1\n2,0,0,1\n3,1,,1\n", "instance,prob,prob_sum,gen1"))
    assert result.flips == (1, 2)


def test_cells_are_in_the_order_of_the_table() -> None:
    frame = table("1,b,xe,1,1\n2,b,he,0,1\n3,a,xe,1,0\n", "instance,model,pronoun,prob,gen1")
    keys = [key for key, _ in by_cell(frame)]
    assert keys == [{"model": m, "pronoun": p} for m, p in (("b", "xe"), ("b", "he"), ("a", "xe"))]
    assert list(by_cell(table("1,1,1,1\n"))) == []


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_a_planted_rate_of_disagreement_is_recovered(rate: float) -> None:
    """40 templates x 20 names; the first generation differs from the other way at a known rate."""
    random = np.random.default_rng(int(rate * 100))
    size = 800
    prob = (random.random(size) < 0.7).astype(float)
    gen = np.where(random.random(size) < rate, 1 - prob, prob)
    frame = pd.DataFrame({"instance": range(size), "prob": prob, "gen1": gen})
    frame["template"], frame["name"] = np.arange(size) % 40, np.arange(size) // 40
    result = metrics(frame)
    share = result.by_units["disagreement"]
    assert share.low is not None and share.high is not None and share.low < rate < share.high
    assert result.clusters.kinds == ("template", "name")
    assert result.signature == "misgendering|unit:template+name|jackknife-t|v3"


def test_texts_without_a_pronoun_are_left_out_of_the_right_share() -> None:
    """By hand: six texts, four without a pronoun, of the two others one right. As published 5 of 6 are right."""
    head = "instance,prob,gen1,gen2,none1,none2"
    result = metrics(table("1,1,1,1,1,1\n2,0,1,1,1,1\n3,1,0,1,0,0\n4,1,,,,\n", head))
    assert result.texts.right.value == pytest.approx(1 / 2)
    assert result.texts.without.value == pytest.approx(4 / 6) and result.texts.wrong.value == pytest.approx(1 / 6)
    assert result.gen.value == pytest.approx(5 / 6), "the published definition, under its own name"
    none = metrics(table("1,1,1,1,1,1\n2,1,1,1,1,1\n", head)).texts
    assert (none.right.value, none.right.reason, none.without.value) == (None, NO_PRONOUN, 1.0)


def test_text_shares_of_a_table_without_the_pronoun_column_are_undefined() -> None:
    texts = metrics(table("1,1,1,0\n2,0,1,1\n")).texts
    assert texts.right.reason == texts.without.reason == NOT_SAID
    assert texts.wrong.value == pytest.approx(1 / 4)
