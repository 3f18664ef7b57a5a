"""Signatures as text and in parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.types import Signature


@given(
    st.builds(
        Signature,
        method=st.from_regex(r"[a-z-]+", fullmatch=True),
        model=st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))),
        weights=st.from_regex(r"[0-9a-f]{8}", fullmatch=True),
        joint=st.sampled_from(["independent", "sequential", "geometric_mean", "k50,p1,t1,n40"]),
        precision=st.sampled_from(["fp32", "bf16"]),
        version=st.integers(1, 99),
    )
)
def test_a_signature_survives_a_round_trip(signature: Signature) -> None:
    assert Signature.parse(str(signature)) == signature


@pytest.mark.parametrize("text", ["", "masked", "nli|m|weights:1|labels:012|fp32", "misgendering|unit:template|v2"])
def test_a_text_of_another_form_is_not_a_signature(text: str) -> None:
    assert Signature.parse(text) is None


def test_a_signature_shows_eight_digits_of_the_weights() -> None:
    signature = Signature("masked", "m", "0123456789abcdef", "independent", "fp32", 1)
    assert str(signature) == "masked|m|weights:01234567|independent|fp32|v1"
    assert signature.with_weights(signature.weights) == "masked|m|weights:0123456789abcdef|independent|fp32|v1"
