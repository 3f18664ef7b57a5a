"""The JSON and the text of an estimate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.statistics.estimate import Estimate, Note, Reasons

WHY = Note("Only {n} units.", {"n": 1})
WHOLE = Estimate(0.42, 0.31, 0.53, 7, note=WHY, method="made so", clusters=3, p=0.1)
NO_ENDS = Estimate(0.42, units=7, note=WHY, method="made so")
UNDEFINED = Estimate.undefined(WHY, 7)
TEXT = "Only 1 units."
MESSAGE = {"message": WHY.message, "values": WHY.values}

CASES: list[tuple[Reasons, Estimate, dict[str, object]]] = [
    ("first", WHOLE, {"note": TEXT, "method": "made so", "clusters": 3}),
    ("first", NO_ENDS, {"low_reason": TEXT, "high_reason": TEXT, "method": "made so"}),
    ("first", UNDEFINED, {"value_reason": TEXT}),
    ("every", WHOLE, {"note": TEXT, "method": "made so", "p": 0.1}),
    ("every", NO_ENDS, {"low_reason": TEXT, "high_reason": TEXT}),
    ("every", UNDEFINED, {"value_reason": TEXT, "low_reason": TEXT, "high_reason": TEXT}),
    ("value", WHOLE, {"method": "made so", "p": 0.1}),
    ("value", NO_ENDS, {}),
    ("value", UNDEFINED, {"value_reason": TEXT}),
    ("messages", WHOLE, {"note": WHY.message, "note_values": WHY.values, "method": "made so", "clusters": 3}),
    ("messages", NO_ENDS, {"note": WHY.message, "note_values": WHY.values, "method": "made so"}),
    ("messages", UNDEFINED, {"value_reason": WHY.message, "value_values": WHY.values}),
    ("note", WHOLE, {"method": "made so", "p": 0.1}),
    ("note", NO_ENDS, {"low_reason": TEXT, "note": MESSAGE}),
    ("note", UNDEFINED, {"value_reason": TEXT, "note": MESSAGE}),
]


@pytest.mark.parametrize(("reasons", "estimate", "more"), CASES)
def test_json_has_the_numbers_and_requested_reasons(
    reasons: Reasons, estimate: Estimate, more: dict[str, object]
) -> None:
    numbers = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    assert estimate.to_json(reasons=reasons) == numbers | {"n": 7} | more
    assert estimate.to_json("units", reasons=reasons) == numbers | {"units": 7} | more
    assert estimate.to_json("", reasons=reasons) == numbers | more


def test_a_missing_interval_without_a_note_still_has_a_reason() -> None:
    assert Estimate(0.5).to_json()["low_reason"] == "This measure has no interval."


def test_interval_json_omits_the_value() -> None:
    assert UNDEFINED.interval_json() == {
        "low": None, "high": None, "units": 7, "low_reason": TEXT, "high_reason": TEXT,
    }  # fmt: skip
    assert "value" not in WHOLE.interval_json()


def test_an_estimate_is_written_under_a_name_or_as_columns() -> None:
    assert WHOLE.under("rate") == {"rate": {"value": 0.42, "low": 0.31, "high": 0.53}, "rate_note": TEXT}
    assert UNDEFINED.under("rate", "units")["rate"]["units"] == 7
    assert UNDEFINED.under("rate")["rate_reason"] == UNDEFINED.named("rate")["rate_reason"] == TEXT
    assert WHOLE.named("rate") == {"rate": 0.42, "rate_low": 0.31, "rate_high": 0.53}


def test_the_text_contains_the_interval_or_the_reason() -> None:
    assert str(WHOLE) == "0.42 [0.31, 0.53]"
    assert WHOLE.text(".1%") == "42.0% [31.0%, 53.0%]"
    assert WHOLE.text(note=True) == f"0.42 [0.31, 0.53] ({TEXT})"
    assert (str(NO_ENDS), NO_ENDS.text(note=True)) == ("0.42", f"0.42 ({TEXT})")
    assert str(UNDEFINED) == f"— ({TEXT})"
    assert NO_ENDS.interval_text() == UNDEFINED.interval_text() == ""


numbers = st.floats(-1, 1)


@given(
    value=st.none() | numbers, ends=st.none() | st.tuples(numbers, numbers), reasons=st.sampled_from(Reasons.__args__)
)
def test_a_missing_value_always_has_a_reason(
    value: float | None, ends: tuple[float, float] | None, reasons: Reasons
) -> None:
    low, high = ends if ends and value is not None else (None, None)
    data = Estimate(value, low, high, reason=WHY if value is None else None).to_json(reasons=reasons)
    assert (data["value"] is None) == ("value_reason" in data)
    if reasons in ("first", "every") and value is not None:
        assert (data["low"] is None) == ("low_reason" in data)
