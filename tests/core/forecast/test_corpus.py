"""The forecast: known cases by hand, coverage of intervals, verdicts, undefined values."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.core.forecast.corpus import CellForecast, Supply, forecast
from evenhand.core.typed_json import to_json

CELL = ("他/她", "female")


def only(supply: Supply, characters: int = 1_000_000) -> CellForecast:
    return forecast({CELL: supply}, characters).cells[0]


def test_a_plain_case_equals_hand_computation() -> None:
    result = only(Supply(quota=500, found=400, left=300, kept=70, reviewed=100, accepted=70))
    assert result.rate.value == 0.7
    # Wilson, 70 of 100, from statsmodels' formula worked out by hand
    z2 = 1.959963985**2
    centre, reach = (
        (0.7 + z2 / 200) / (1 + z2 / 100),
        1.959963985 * (0.7 * 0.3 / 100 + z2 / 40_000) ** 0.5 / (1 + z2 / 100),
    )
    assert (result.rate.low, result.rate.high) == pytest.approx((centre - reach, centre + reach), abs=1e-6)
    assert result.expected.value == pytest.approx(70 + 300 * 0.7)
    assert result.verdict == "no"
    # lacking 500 - 280 = 220 at 400 / 1,000,000 candidates a character, 70% of which are kept
    assert result.characters.value == pytest.approx(220 / (400e-6 * 0.7))
    assert result.characters.low < result.characters.value < result.characters.high


def test_the_prediction_interval_is_beta_binomial() -> None:
    result = only(Supply(quota=500, found=400, left=300, kept=70, reviewed=100, accepted=70))
    exact = stats.betabinom(300, 70.5, 30.5)
    assert result.expected.low == pytest.approx(70 + exact.ppf(0.025), abs=2)
    assert result.expected.high == pytest.approx(70 + exact.ppf(0.975), abs=2)


def test_the_interval_has_its_coverage() -> None:
    """300 corpora with a known share: the kept number falls into the 95% interval nearly always."""
    random, inside = np.random.default_rng(1), 0
    for _ in range(300):
        share = random.uniform(0.3, 0.95)
        accepted = int(random.binomial(60, share))
        truth = accepted + random.binomial(200, share)
        result = forecast({CELL: Supply(100, 260, 200, accepted, 60, accepted)}, 10_000, draws=1_500).cells[0]
        inside += result.expected.low <= truth <= result.expected.high
    assert inside >= 270  # expected 285; 270 is 4 standard deviations below


VERDICTS = {
    "met": Supply(quota=50, found=90, left=10, kept=50, reviewed=80, accepted=50),
    "yes": Supply(quota=50, found=400, left=300, kept=20, reviewed=30, accepted=20),
    "no": Supply(quota=5_000, found=400, left=300, kept=20, reviewed=30, accepted=20),
    "undecided": Supply(quota=150, found=250, left=200, kept=10, reviewed=15, accepted=10),
    "unknown": Supply(quota=50, found=400, left=400),
}


@pytest.mark.parametrize(("verdict", "supply"), VERDICTS.items(), ids=VERDICTS)
def test_each_verdict_follows_from_its_supply(verdict: str, supply: Supply) -> None:
    assert only(supply).verdict == verdict


def test_without_a_pilot_values_are_undefined() -> None:
    result = forecast({CELL: Supply(quota=50, found=400, left=400)}, 1_000_000)
    cell = to_json(result)["cells"][0]
    for key in ("rate", "expected", "characters"):
        assert cell[key] == {"value": None, "low": None, "high": None}
        assert "reviewed" in cell[f"{key}_reason"]
    assert result.expected.value is None and result.characters.value is None


def test_an_assumed_share_has_no_interval() -> None:
    supplies = {CELL: Supply(quota=500, found=400, left=400), ("男/女", "male"): Supply(quota=50, found=400, left=400)}
    result = forecast(supplies, 1_000_000, assumed=0.7)
    she, male = result.cells
    assert (she.verdict, male.verdict) == ("no", "yes")
    assert she.expected.value == pytest.approx(280) and result.expected.value == pytest.approx(280 + 50)
    # lacking 500 - 280 = 220 at 400 / 1,000,000 candidates a character, 70% of which are kept
    assert she.characters.value == pytest.approx(220 / (400e-6 * 0.7)) == result.characters.value
    assert male.characters.value == 0 and result.scarcest == CELL
    for estimate in (she.rate, she.expected, she.characters, result.expected, result.characters):
        assert (estimate.low, estimate.high) == (None, None) and "assumed" in str(estimate.note)
    json.dumps(to_json(result), allow_nan=False)


def test_labels_replace_an_assumed_share() -> None:
    supply = Supply(quota=500, found=400, left=300, kept=70, reviewed=100, accepted=70)
    assert forecast({CELL: supply}, 1_000_000, assumed=0.1) == forecast({CELL: supply}, 1_000_000)


def test_an_assumed_share_of_an_absent_word_gives_no_amount() -> None:
    result = forecast({CELL: Supply(10, 0, 0), ("男/女", "male"): Supply(10, 5, 5)}, 1_000, assumed=0.7)
    assert result.characters.value is None and "No candidate" in str(result.characters.reason)
    assert "assumed acceptance rate of 0" in str(
        forecast({CELL: Supply(10, 5, 5)}, 1_000, assumed=0.0).characters.reason
    )
    assert "No text" in str(forecast({CELL: Supply(10, 5, 5)}, 0, assumed=0.7).characters.reason)


def test_an_absent_word_has_a_minimum_amount() -> None:
    pilot = Supply(quota=100, found=1_000, left=900, kept=80, reviewed=100, accepted=80)
    result = forecast({("姥爷/姥姥", "male"): Supply(100, 0, 0), CELL: pilot}, 17_000_000)
    rare, common = result.cells
    assert rare.characters.value is None and rare.characters.high is None
    assert rare.characters.low > 500_000_000  # 125 candidates at no more than 3 in 17 million characters
    assert (rare.own, common.own) == (False, True)
    assert result.characters.value is None and result.scarcest == ("姥爷/姥姥", "male")
    assert result.characters.low >= rare.characters.low * 0.9


def test_the_scarcest_word_decides_the_amount() -> None:
    supplies = {
        ("他/她", "male"): Supply(100, 500, 400, 80, 100, 80),
        ("男友/女友", "male"): Supply(100, 40, 20, 16, 20, 16),
        ("男友/女友", "female"): Supply(100, 60, 40, 16, 20, 16),
    }
    result = forecast(supplies, 1_000_000)
    assert result.scarcest == ("男友/女友", "male")
    assert result.characters.value == result.cells[1].characters.value
    assert result.expected.value < 300 == result.quota
    assert [result.count(verdict) for verdict in ("yes", "no")] == [1, 2]


def test_forecasts_with_all_kept_and_none_kept() -> None:
    all_kept = only(Supply(quota=100, found=50, left=30, kept=20, reviewed=20, accepted=20))
    assert all_kept.rate.value == 1 and all_kept.expected.value == 50 == all_kept.expected.high
    none_kept = only(Supply(quota=100, found=50, left=30, kept=0, reviewed=20, accepted=0))
    assert none_kept.expected.low == 0 == none_kept.expected.value < none_kept.expected.high
    assert none_kept.characters.value is None and "20 reviewed" in str(none_kept.characters.reason)


def test_forecasts_without_text_or_quota() -> None:
    assert "No text" in str(only(Supply(10, 0, 0, 0, 20, 10), characters=0).characters.reason)
    assert only(Supply(0, 5, 5)).verdict == "met"


COUNTS = st.integers(0, 300)


@given(quota=COUNTS, found=COUNTS, left=COUNTS, rejected=COUNTS, accepted=COUNTS, characters=st.integers(0, 10**9))
def test_intervals_contain_their_value(
    quota: int, found: int, left: int, rejected: int, accepted: int, characters: int
) -> None:
    supply = Supply(quota, found, left, accepted, accepted + rejected, accepted)
    whole = forecast({CELL: supply}, characters, draws=200)
    cell = whole.cells[0]
    for estimate in (cell.rate, cell.expected, cell.characters, whole.characters):
        if estimate.value is not None:
            assert estimate.low is not None and estimate.high is not None
            assert (
                0 <= estimate.low <= estimate.value + 1e-9 and estimate.value <= estimate.high + 1e-9
            )  # Wilson ends at 1 - 1e-16
        else:
            assert str(estimate.reason)
    if cell.expected.value is not None:
        assert accepted <= cell.expected.low and cell.expected.high <= accepted + left
    if accepted >= quota:
        assert cell.verdict == "met" and cell.characters.value == 0


def test_json_is_valid_and_reproducible() -> None:
    supplies = {CELL: Supply(100, 500, 400, 80, 100, 80), ("男/女", "male"): Supply(100, 0, 0)}
    texts = [json.dumps(to_json(forecast(supplies, 1_000_000)), allow_nan=False) for _ in range(2)]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["signature"].startswith("forecast|beta-binomial|draws:20000|seed:0|v3")


def test_the_command_forecasts_a_run(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from cli import cli
    from evenhand.core.mining.report import Report
    from evenhand.core.mining.settings import Settings

    report = Report(Settings())
    report.read.characters = 2_000_000
    report.cells[CELL].candidates = 700
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report.to_json(), ensure_ascii=False), encoding="utf-8")
    pilot = ["--kept", "700", "--reviewed", "1000"]
    answer = CliRunner().invoke(cli, ["forecast", str(file), *pilot, "--json"])
    assert answer.exit_code == 0, answer.output
    data = json.loads(answer.stdout)
    (cell,) = [one for one in data["cells"] if (one["pair"], one["side"]) == CELL]
    assert (cell["quota"], cell["found"], cell["verdict"], cell["rate_from"]) == (3000, 700, "no", "all")
    assert cell["expected"]["value"] == pytest.approx(490)
    assert cell["characters"]["value"] == pytest.approx(2510 / 0.7 / 350e-6)
    assert data["quota"] == 19_000
    lines = CliRunner().invoke(cli, ["forecast", str(file), *pilot]).stdout.splitlines()
    assert [line.split()[:4] for line in lines if line.startswith("他/她") and "female" in line] == [
        ["他/她", "female", "no", "490"]
    ]
    for wrong in (["--kept", "7"], ["--kept", "9", "--reviewed", "3"]):
        assert "--reviewed" in str(CliRunner().invoke(cli, ["forecast", str(file), *wrong]).exception)
    file.write_text("[]", encoding="utf-8")
    assert "is not a report of `mine`." in str(CliRunner().invoke(cli, ["forecast", str(file)]).exception)
