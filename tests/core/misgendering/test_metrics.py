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
    found = metrics(table("1,1,1,1\n2,,0,1\n3,0,,0\n4,0,0,0\n"))
    assert (found.rows, found.n, found.dropped) == (4, 2, 2)
    assert found.sigma.n == 4  # generations vary all the same
    assert found.cells.prob1gen1 == found.cells.prob0gen0 == 1
    assert found.prob.value == pytest.approx(1 / 3)
    assert found.gen.value == pytest.approx((1 + 0.5 + 0 + 0) / 4)


def test_metrics_without_generations_have_reasons() -> None:
    found = metrics(table("1,1\n2,0\n", "instance,prob"))
    assert found.prob.value == 0.5
    for one in (found.gen, found.mcc, found.kappa, found.agreement, found.sigma.mean, *found.by_units.values()):
        assert one.value is None and one.reason
    assert found.beta.reason and found.flips is None and found.failure is None


def test_templates_are_counted_by_mean_and_by_first(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("instance,prob1,prob2,gen1,gen2\n1,1,0,1,1\n2,,1,1,0\n3,,,0,0\n4,0,0,1,1\n", encoding="utf-8")
    found = metrics(read_verdicts(path))
    assert (found.n, found.dropped) == (2, 2)  # a missing first template drops the pair
    assert found.sigma_prob is not None and found.sigma_prob.n == 3
    assert found.failure is not None and found.failure.value == pytest.approx((0 + 0.5 + 1 + 0) / 4)
    # d: 0.5 against 1; 1 against 0.5; undefined; 0 against 1
    assert found.beta.n == 3 and found.beta.mean == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_flips_between_mean_and_sum_are_counted() -> None:
    found = metrics(table("1,1,0,1\n2,0,0,1\n3,1,,1\n", "instance,prob,prob_sum,gen1"))
    assert found.flips == (1, 2)


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
    found = metrics(frame)
    share = found.by_units["disagreement"]
    assert share.low is not None and share.high is not None and share.low < rate < share.high
    assert found.clusters.kinds == ("template", "name")
    assert found.signature == "misgendering|unit:template+name|jackknife-t|v2"


def test_texts_without_a_pronoun_are_left_out_of_the_right_share() -> None:
    """By hand: six texts, four without a pronoun, of the two others one right. As published 5 of 6 are right."""
    head = "instance,prob,gen1,gen2,none1,none2"
    found = metrics(table("1,1,1,1,1,1\n2,0,1,1,1,1\n3,1,0,1,0,0\n4,1,,,,\n", head))
    assert found.texts.right.value == pytest.approx(1 / 2)
    assert found.texts.without.value == pytest.approx(4 / 6) and found.texts.wrong.value == pytest.approx(1 / 6)
    assert found.gen.value == pytest.approx(5 / 6), "the published definition, under its own name"
    none = metrics(table("1,1,1,1,1,1\n2,1,1,1,1,1\n", head)).texts
    assert (none.right.value, none.right.reason, none.without.value) == (None, NO_PRONOUN, 1.0)


def test_text_shares_of_a_table_without_the_pronoun_column_are_undefined() -> None:
    texts = metrics(table("1,1,1,0\n2,0,1,1\n")).texts
    assert texts.right.reason == texts.without.reason == NOT_SAID
    assert texts.wrong.value == pytest.approx(1 / 4)
