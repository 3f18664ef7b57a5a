"""core.published, `check-paper` and its page: which printed numbers follow, against lists made before."""

import json
from typing import Any

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from cli import cli
from evenhand.core.errors import EvenhandError
from evenhand.core.language import translate
from evenhand.core.published.claims import DOCUMENTS, agrees, half_unit
from evenhand.core.published.other_papers import checks
from evenhand.core.published.own_runs import check_own, read_rows
from evenhand.core.published.slguset import readings, table4
from evenhand.core.statistics.estimate import note_text
from tests.support.pages import open_page

CLAIMS = {claim.key: claim for claim in checks()}

# What a reader of the papers found before any of this was written, by hand and with other code.
DO_NOT_FOLLOW = {
    "slguset.table1.sum": "19,000",
    "slguset.obvious.sum": "19,990",
    "slguset.table5.2": "8.0696",
    "slguset.table9.1": "-1.4313",
    "slguset.table9.2": "-0.9295",
    "slguset.case.sum": "238",
    "slguset.case.rows": "5",
    "thesis.sentences": "4,800",
    "thesis.es-art.mbert.female": "0.291",
    "thesis.spanish.h1": "6 / 6",
    "thesis.balanced.text": "-0.404",
    "thesis.corpus": "≤ 224.6",
    "inference.rho.0.820": "0.8182, 0.8273",
    "inference.rho.-0.114": "-0.1182, -0.1091",
    "misgendering.kappa.4": "—",
    "misgendering.kappa.5": "—",
    "misgendering.cells": "5 (5 × 5)",
}
FOLLOW = {
    "slguset.table5.1": "6.3718",
    "slguset.table6.1": "-5.0191",
    "slguset.table8.2": "0.6784",
    "slguset.table4.BERT-wwm": "1.38285",
    "slguset.table4.RoBERTa-wwm-ext": "1.42795",
    "thesis.en.bert-mono.female": "1.179",
    "inference.waseda-roberta": "0.5630",
    "misgendering.sample": "2,400",
}


def test_exactly_the_listed_claims_do_not_follow() -> None:
    assert {key: str(c.recomputed) for key, c in CLAIMS.items() if c.follows is False} == DO_NOT_FOLLOW


def test_consistent_claims_equal_golden_numbers() -> None:
    results = {key: str(CLAIMS[key].recomputed) for key in FOLLOW}
    assert results == FOLLOW
    assert all(CLAIMS[key].follows for key in FOLLOW)


def test_claims_are_counted_by_table() -> None:
    rows = [c for key, c in CLAIMS.items() if key.startswith(("slguset.table5", "slguset.table6"))]
    rows += [c for key, c in CLAIMS.items() if key.startswith(("slguset.table8", "slguset.table9"))]
    assert (len(rows), sum(c.follows is True for c in rows)) == (20, 17)
    thesis = [c for key, c in CLAIMS.items() if key.startswith("thesis.") and key.endswith(("balanced", "male"))]
    assert (len(thesis), sum(c.follows is True for c in thesis)) == (36, 35)
    assert len(CLAIMS) == len(checks())  # every key once


def test_the_published_error_of_kappa_is_reproduced() -> None:
    assert any("± 0.185042" in note_text(line) for line in CLAIMS["misgendering.kappa.4"].calculation)
    assert any("± 0.179927" in note_text(line) for line in CLAIMS["misgendering.kappa.5"].calculation)


@pytest.mark.parametrize(
    ("reading", "mean", "normal", "exponential"),
    [
        (("side", "log10"), 1.311, 0.145, 0.204),
        (("side", "ln"), 0.570, 0.326, 0.410),
        (("side", "log2"), 0.395, 0.456, 0.532),
        (("all", "log10"), 2.623, 0.073, 0.108),
        (("all", "ln"), 1.139, 0.166, 0.232),
        (("all", "log2"), 0.790, 0.238, 0.316),
    ],
    ids=str,
)
def test_means_of_readings_of_table_4(reading: tuple[str, str], mean: float, normal: float, exponential: float) -> None:
    assert readings()[reading] == pytest.approx((mean, normal, exponential), abs=1.1e-3)


def test_only_one_reading_of_table_4_fits() -> None:
    assert CLAIMS["slguset.table4.base"].recomputed == "ln (side)"
    assert CLAIMS["slguset.table4.base"].follows is None  # an inference


def test_table_4_is_found_by_hub_names() -> None:
    assert table4()["hfl/chinese-bert-wwm-ext"] == {"bias_man": 1.4367, "bias_woman": 1.4353, "model_bias": 1.436}
    assert len(table4()) == 5


def test_every_failed_claim_has_a_remark() -> None:
    assert not [key for key, claim in CLAIMS.items() if claim.follows is not True and not note_text(claim.remark)]
    assert {claim.document for claim in CLAIMS.values()} == set(DOCUMENTS)


@pytest.mark.parametrize(("printed", "half"), [("1.428", 5e-4), ("1.234e-1", 5e-5), ("19", 0.5), ("2.0e3", 50)])
def test_half_a_unit_of_the_last_digit(printed: str, half: float) -> None:
    assert half_unit(printed) == pytest.approx(half)


def test_values_agree_within_rounding() -> None:
    assert agrees("1.38", 1.3751, 1.3751) and not agrees("1.38", 1.3749, 1.3749)


class TestOwnNumbers:
    @pytest.mark.parametrize(
        ("cells", "fits"),
        [
            (("9.865e-1", "4.191e-7", "6.372"), ["log10"]),
            (("0.8000", "0.2000", "1.386"), ["ln"]),
            (("0.8000", "0.2000", "2.000"), ["log2"]),
            (("0.8000", "0.2000", "1.000"), []),
            (("0.5", "0.5", "0.0"), ["log10", "ln", "log2"]),
            (("8.0×10^-1", "0.20", "−0.60"), []),
        ],
        ids=str,
    )
    def test_the_fitting_logarithm_base_is_found(self, cells: tuple[str, str, str], fits: list[str]) -> None:
        assert check_own(*cells).fits == fits

    def test_written_digits_determine_the_rounding(self) -> None:
        assert check_own("0.3", "0.1", "0.500").fits == ["log10"]  # 0.25/0.15 .. 0.35/0.05: anything from 0.22 to 0.85
        assert check_own("0.3000", "0.1000", "0.500").fits == []

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("0.5 0.2", "Line 1 has 2 numbers"),
            ("0.5 0.2 0.4\n\n0.5 x 0.4", "x is not a number"),
            ("1.2 0.2 0.4", "1.2 is not a probability"),
            ("0 0.2 0.4", "0 is not a probability"),
            ("0.5 0.2 inf", "inf is not a number"),
        ],
        ids=["two", "word", "large", "zero", "infinite"],
    )
    def test_unreadable_numbers_are_refused(self, text: str, says: str) -> None:
        with pytest.raises(EvenhandError, match=says):
            read_rows(text)

    def test_common_separators_are_accepted(self) -> None:
        assert len(read_rows("0.5,0.2,0.4\n0.5;0.2;0.4\n\n0.5\t0.2\t0.4\n0.5，0.2，0.4")) == 4


class TestCommand:
    def test_json_counts_consistent_claims(self) -> None:
        done = CliRunner().invoke(cli, ["check-paper", "--json"], catch_exceptions=False)
        data: dict[str, Any] = json.loads(done.stdout)
        assert data["counts"] == {"follows": 68, "does_not_follow": 17, "undecided": 4}
        results = {claim["key"]: claim for claim in data["claims"]}
        assert results["slguset.table9.2"]["follows"] is False
        assert results["slguset.table4.base"]["follows"] is None and results["slguset.table4.base"]["follows_reason"]

    def test_the_printed_table_lists_inconsistent_claims(self) -> None:
        short = CliRunner().invoke(cli, ["check-paper"], catch_exceptions=False).stdout
        long = CliRunner().invoke(cli, ["check-paper", "--all"], catch_exceptions=False).stdout
        assert "reported 3.756, recalculated 8.0696" in short and "reported 6.372" not in short
        assert "reported 6.372" in long


def html_of(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


class TestPage:
    def test_inconsistent_claims_are_first_with_their_calculation(self) -> None:
        app = open_page("published", view="papers")
        assert [metric.value for metric in app.metric] == ["68", "17", "4"]
        text = html_of(app)
        assert "8.0696" in text and "6.3718" not in text
        assert text.count("<details>") > 10
        app.pills(key="verdict").set_value([0]).run()
        assert "6.3718" in html_of(app) and "8.0696" not in html_of(app)

    def test_the_page_is_translated_into_chinese(self) -> None:
        text = html_of(open_page("published", "zh", view="papers"))
        for english in ("inconsistent", "Table 1, sum of the quotas", "very close", "Calculation"):
            assert english not in text
        assert translate("Calculation", "zh") in text

    def test_own_numbers_are_checked(self) -> None:
        app = open_page("published", view="own")
        app.text_area(key="numbers").set_value("0.8000 0.2000 0.602").run()
        assert "consistent in log10" in html_of(app)
        app.text_area(key="numbers").set_value("<img/src=x> 1 2").run()
        assert not app.exception and "is not a number" in app.error[0].value
        assert "<img" not in html_of(app)
