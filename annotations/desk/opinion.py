"""A model's scores of a sentence, shown only after its label; that they were shown is recorded."""

import math
from typing import Any

from evenhand.annotations.types import Item, Project
from evenhand.core.errors import N_, Refused
from evenhand.core.sentence_bias.bias import bias_of, why_undefined
from evenhand.core.text.keywords import occurrences, probe
from evenhand.core.types import Scorer

ONE_ZERO = N_("One of the two words has probability 0 here.")


def opinion_of(project: Project, item: Item, scorer: Scorer | None = None) -> dict[str, Any]:
    """Return p of both words and Bias_c (log10, positive leans male) by the project's model.

    The values are ready for JSON; undefined is None. *scorer* defaults to the project's model in the inference worker.
    Raises Refused if the project shows no opinions or the item has no keyword, and ModelUnavailable or WorkerDied as
    the worker does.
    """
    if project.opinion_model is None:
        raise Refused(N_("This project does not show model opinions."))
    result = next(
        (candidate for candidate in occurrences(item.text) if item.word and candidate.start == item.word[0]), None
    )
    if result is None:
        raise Refused(N_("This sentence has no keyword for a model to score."))
    (score,) = (scorer or _remote(project.opinion_model)).score([probe(result)])
    male, female = score.logprobs
    leaning = bias_of(score)
    if leaning is not None and not math.isfinite(leaning):
        leaning = None
    return {
        "male": result.pair.male,
        "female": result.pair.female,
        "p_male": None if male is None else math.exp(male),
        "p_female": None if female is None else math.exp(female),
        "bias": leaning,
        "reason": None if leaning is not None else score.reason or why_undefined(male, female) or ONE_ZERO,
        "signature": score.signature,
    }


def _remote(model: str) -> Scorer:
    from evenhand.core.worker.client import (  # imported here: a desk without opinions never needs it
        RemoteScorer,
        shared,
    )

    return RemoteScorer(shared(), model)
