"""The table that scoring writes and `misgendering metrics` reads: one row an instance, model and setting."""

from collections.abc import Iterator, Sequence
from typing import Any

from core.misgendering.generations import Matched, correct
from core.misgendering.probability import Judged

OK = "ok"
FIRST = ("instance", "dataset", "model", "setting", "pronoun", "template", "name", "case", "prob", "prob_sum")
LAST = ("chosen", "chosen_sum", "perplexity", "delta", "status", "signature")


def columns(options: Sequence[str], generations: int) -> tuple[str, ...]:
    """The heading: verdicts, then per pronoun set that competes the form's numbers.

    nll_<set>: negative log-probability of the whole text, nats; tokens_<set>: predicted tokens; pieces_<set>: tokens
    of the form. perplexity: that of the chosen form.
    """
    gens = (f"gen{k}" for k in range(1, generations + 1))
    numbers = (f"{kind}_{name}" for kind in ("nll", "tokens", "pieces") for name in options)
    return (*FIRST, *gens, *LAST, *numbers)


def options_of(judged: Sequence[Judged]) -> tuple[str, ...]:
    """Every pronoun set that competes somewhere, in the order of the first that meet."""
    return tuple(dict.fromkeys(name for one in judged for name in one.instance.options))


def rows(
    judged: Sequence[Judged], model: str, signature: str, options: Sequence[str], matched: Matched | None, gens: int
) -> Iterator[list[Any]]:
    """The cells in the order of `columns`, None where undefined; without generations each instance is one row."""
    settings = matched.settings if matched is not None else ()
    for one in judged:
        here = one.instance
        numbers = [_per_option(one, values, options) for values in (one.nll, one.tokens, one.pieces)]
        for setting in settings or ("",):
            found = matched.of(here.id, model, setting) if matched is not None else []
            verdicts: list[int | None] = [correct(text, here.pronouns, here.dataset) for text in found[:gens]]
            verdicts += [None] * (gens - len(verdicts))
            chosen = None if one.chosen is None else one.perplexity[here.options.index(one.chosen)]
            yield [
                *(here.id, here.dataset, model, setting, ";".join(here.pronouns), here.template, here.name, here.case),
                *(one.prob, one.prob_sum, *verdicts),
                *(one.chosen, one.chosen_sum, chosen, one.delta, one.reason or OK, signature),
                *(value for some in numbers for value in some),
            ]


def _per_option(one: Judged, values: Sequence[float], options: Sequence[str]) -> list[float | None]:
    known = dict(zip(one.instance.options, values, strict=False))
    return [known.get(name) for name in options]
