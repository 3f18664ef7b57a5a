"""Opinions: only if the project has a model, only after the label, and recorded."""

import math
from dataclasses import replace
from typing import Any

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.opinion import opinion_of
from evenhand.annotations.items.batch import items
from evenhand.annotations.types import Project
from evenhand.core.errors import Refused
from evenhand.core.types import Score


def test_an_opinion_has_both_words_and_their_probabilities(
    fresh_store: Store, sample_project: Project, fake_scorer: Any
) -> None:
    project = replace(sample_project, opinion_model="fake")
    item = next(candidate for candidate in items(fresh_store, project) if "姥姥" in candidate.text)
    result = opinion_of(project, item, fake_scorer)
    assert (result["male"], result["female"]) == ("姥爷", "姥姥")
    assert result["p_male"] == pytest.approx(0.6) and result["p_female"] == pytest.approx(0.3)
    assert result["bias"] == pytest.approx(math.log10(2)) and result["reason"] is None
    (probe,) = fake_scorer.probes
    assert probe.text[probe.start : probe.end] == "姥" and probe.options == ("爷", "姥"), "only the second character"


def test_zero_is_undefined_with_a_reason(fresh_store: Store, sample_project: Project) -> None:
    class Certain:
        signature = "fake"

        def score(self, probes: list[Any]) -> list[Score]:
            return [Score((0.0, -math.inf), self.signature) for _ in probes]

        def fillers(self, *_: Any, **__: Any) -> list[Any]:
            return []

    project = replace(sample_project, opinion_model="fake")
    result = opinion_of(project, next(items(fresh_store, project)), Certain())
    assert result["bias"] is None and "probability 0" in result["reason"] and result["p_female"] == 0


def test_a_project_without_a_model_has_no_opinion(
    fresh_store: Store, sample_project: Project, fake_scorer: Any
) -> None:
    with pytest.raises(Refused, match=r"This project does not show model opinions\."):
        opinion_of(sample_project, next(items(fresh_store, sample_project)), fake_scorer)
