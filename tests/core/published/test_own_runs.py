"""A user's own run next to printed tables."""

import pandas as pd
import pytest

from evenhand.core.misgendering.metrics import by_cell
from evenhand.core.nli.measure import measured
from evenhand.core.nli.types import Prediction
from evenhand.core.published.own_runs import beside_inference, beside_misgendering, compared


def verdicts(**cell: str) -> pd.DataFrame:
    pairs = [(1, 1), (1, 1), (1, 0), (0, 0), (0, 1), (0, 0), (1, 1), (0, 0)]
    rows = [
        {"instance": str(i), "template": f"t{i % 4}", "prob": p, "gen1": g, **cell} for i, (p, g) in enumerate(pairs)
    ]
    return pd.DataFrame(rows).astype({"prob": float, "gen1": float})


def test_a_run_is_compared_with_cells_of_its_set_setting_and_pronouns() -> None:
    cells = list(by_cell(verdicts(dataset="misgendered", setting="pre", model="m", pronoun="they")))
    beside = beside_misgendering(cells)
    there = [entry for entry in beside if entry.difference is not None]
    assert {(entry.row["dataset"], entry.row["setting"], entry.row["pronoun"]) for entry in there} == {
        ("misgendered", "pre", "they")
    }
    assert compared(beside) == len(there) > 10
    mcc = next(entry for entry in there if entry.row["measure"] == "mcc" and entry.row["model"] == "Llama-70B")
    # The table 3 1 / 1 3: (9 - 1) / 16 by hand; printed 0.051.
    assert mcc.own.value == pytest.approx(0.5) and mcc.difference == pytest.approx(0.5 - 0.051)
    reasons = {
        entry.row["measure"]: entry.reason for entry in beside if entry.row["measure"] in ("repetition", "people")
    }
    assert all(reasons.values()) and all((entry.own.value is None) == (entry.reason is not None) for entry in beside)


def test_a_run_on_another_set_is_not_compared() -> None:
    cells = list(by_cell(verdicts(dataset="own", setting="pre", model="m", pronoun="they")))
    beside = beside_misgendering(cells)
    assert compared(beside) == 0
    ruff = next(entry for entry in beside if entry.row["dataset"] == "ruff" and entry.row["measure"] == "mcc")
    assert ruff.reason is not None and ruff.reason.values == {"own": "own", "printed": "ruff"}


def test_a_japanese_run_is_compared_with_table_3() -> None:
    answers = [("PS", "entailment"), ("PS", "neutral"), ("AS", "contradiction"), ("AS", "contradiction")]
    result = measured([Prediction(name, label, None) for name, label in answers])  # type: ignore[arg-type]
    beside = beside_inference(result, "ja")
    assert len(beside) == 45
    first = beside[0]
    assert (first.row["set"], first.row["label"], first.own.value, first.own.units) == ("PS", "entailment", 0.5, 2)
    assert first.difference == pytest.approx(0.5 - 0.378)
    assert all(entry.reason for entry in beside if entry.row["set"] == "NS")  # the run has no such pairs
    assert compared(beside) == 30
    assert compared(beside_inference(result, "en")) == 0
