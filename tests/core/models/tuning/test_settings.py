"""Numbers of a training run: limits, signature, the published dropout."""

import pytest

from evenhand.core.errors import Refused
from evenhand.core.models.tuning.settings import BERT_DROPOUT, Memory, Tuning


def test_the_signature_covers_settings_that_change_the_result() -> None:
    signature = Tuning(steps=5, lora=4, dropout=BERT_DROPOUT, seed=3).signature
    assert "steps:5|" in signature and "|lora:4|" in signature and "|seed:3|" in signature
    assert "|dropout:0.2/0.15|" in signature and "dropout:config" in Tuning().signature


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"rate": 0.0}, {"length": 4}, {"dropout": (0.2, 1.0)}, {"warmup": 9999}]
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(Refused, match="must be between"):
        Tuning(**wrong)  # type: ignore[arg-type]


def test_memory_is_the_sum_of_its_parts() -> None:
    assert Memory(1, 2, 3, 4, 100).total == 10
