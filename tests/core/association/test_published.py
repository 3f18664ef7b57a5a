"""Which two models the fourth hypothesis compares."""

import pytest

from evenhand.core.association.report import compared_models

ENGLISH, BASQUE, MANY = "bert-base-uncased", "ixa-ehu/berteus-base-cased", "bert-base-multilingual-cased"
MANY_TOO, UNKNOWN = "ixa-ehu/ixambert-base-cased", "own-model"


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (ENGLISH, (ENGLISH, MANY)),
        (BASQUE, (BASQUE, MANY)),
        (MANY, (ENGLISH, MANY)),
        (MANY_TOO, (ENGLISH, MANY_TOO)),
        (UNKNOWN, None),
    ],
)
def test_a_model_is_compared_with_the_first_of_the_other_kind(model: str, expected: tuple[str, str] | None) -> None:
    assert compared_models(model, [UNKNOWN, ENGLISH, MANY, BASQUE, MANY_TOO]) == expected


def test_a_named_monolingual_model_makes_all_others_multilingual() -> None:
    names = [ENGLISH, UNKNOWN, BASQUE]
    assert [compared_models(name, names, UNKNOWN) for name in names] == [
        (UNKNOWN, ENGLISH), (UNKNOWN, ENGLISH), (UNKNOWN, BASQUE),
    ]  # fmt: skip


def test_models_of_one_kind_alone_are_not_compared() -> None:
    assert compared_models(MANY, [MANY, MANY_TOO]) is None
