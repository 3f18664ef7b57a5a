"""`misgendering metrics` as scripts rely on it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.core.errors import BadFile

HEAD = "instance,prob,gen1,gen2,gen3,gen4,gen5"
# prob 1111001011; first generations 1101011010; shares of right generations 1 .8 .6 1 .2 .4 1 0 .8 .6
# (docs/misgendering.md#the-numbers)
ROWS = (
    "1,1,1,1,1,1,1\n2,1,1,1,1,1,0\n3,1,0,1,1,1,0\n4,1,1,1,1,1,1\n5,0,0,0,0,0,1\n"
    "6,0,1,0,0,0,1\n7,1,1,1,1,1,1\n8,0,0,0,0,0,0\n9,1,1,1,0,1,1\n10,1,0,1,0,1,1\n"
)


def run(folder: Path, text: str, *options: str) -> Any:
    path = folder / "v.csv"
    path.write_text(text, encoding="utf-8")
    return CliRunner().invoke(cli, ["misgendering", "metrics", str(path), *options], catch_exceptions=False)


def nulls_have_reasons(data: dict[str, Any]) -> bool:
    return all(
        (value is not None or data.get(f"{key}_reason")) and (not isinstance(value, dict) or nulls_have_reasons(value))
        for key, value in data.items()
    )


def test_json_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    data = json.loads(run(tmp_path, f"{HEAD}\n{ROWS}", "--json").stdout)
    assert (data["n"], data["dropped"]) == (10, 0)
    assert data["sigma"]["levels"] == {"0": 0.4, "0.4": 0.3, "0.49": 0.3}
    assert data["sigma"]["mean"] == pytest.approx((0.4 * 3 + 0.24**0.5 * 3) / 10)
    assert data["mcc"] == pytest.approx({"value": 0.356348, "low": -0.352329, "high": 0.805294}, abs=1e-6)
    assert data["kappa"] == pytest.approx({"value": 0.347826, "half": 0.588856}, abs=1e-6)
    assert data["agreement"] == pytest.approx({"value": 0.7, "se": 0.152753}, abs=1e-6)
    assert data["beta"] == pytest.approx({"alpha": 0.686348, "beta": 3.126696, "n": 10}, abs=1e-6)
    apart = data["by_units"]["difference"]
    assert apart["value"] == pytest.approx(0.1) and apart["equivalence"]["answer"] == "undecided"
    assert apart["equivalence"]["margin"] == 0.05 and 0.3 < apart["equivalence"]["smallest_shown"] < 1
    assert "unit:instance" in data["signature"] and "cells" not in data
    assert nulls_have_reasons(data)


def test_undefined_values_are_null_with_a_reason(tmp_path: Path) -> None:
    data = json.loads(run(tmp_path, f"{HEAD}\n1,1,1,1,1,1,1\n2,1,1,1,1,1,1\n3,,0,0,0,0,0\n", "--json").stdout)
    assert data["mcc"]["value"] is None and data["kappa"]["value"] is None and data["beta"]["alpha"] is None
    assert data["agreement"] == {"value": 1.0, "se": 0.0}
    assert (data["n"], data["dropped"]) == (2, 1)
    assert nulls_have_reasons(data)


def test_cells_are_split_by_model_and_pronoun(tmp_path: Path) -> None:
    text = "instance,model,pronoun,prob,prob_sum,gen1\n1,m,he,1,1,1\n1,m,xe,0,1,1\n2,m,he,1,1,0\n2,m,xe,0,0,1\n"
    data = json.loads(run(tmp_path, text, "--json").stdout)
    assert [(cell["model"], cell["pronoun"], cell["n"]) for cell in data["cells"]] == [("m", "he", 2), ("m", "xe", 2)]
    assert data["cells"][1]["flips"] == {"count": 1, "n": 2}
    assert nulls_have_reasons(data)
    assert "cells" not in json.loads(run(tmp_path, text, "--json", "--no-cells").stdout)
    for_people = run(tmp_path, text).stdout
    assert "m · xe" in for_people and "flips, mean against sum" in for_people


def test_the_printed_report_has_counts_and_beta_parameters(tmp_path: Path) -> None:
    text = run(tmp_path, f"{HEAD}\n{ROWS}").stdout
    assert "10 instances with both verdicts, 0 dropped" in text
    assert "alpha 0.686, beta 3.127" in text and "Few units (10)" in text


def test_a_file_with_missing_columns_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        BadFile,
        match=r"v\.csv lacks the columns prob, gen1\. A table of verdicts has instance, prob and gen1, gen2, … "
        r"with 0 or 1\.",
    ):
        run(tmp_path, "instance,verdict\n1,1\n")
