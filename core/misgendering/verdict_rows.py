"""The table that scoring writes and `misgendering metrics` reads: one row an instance, model and setting."""

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.core.human_vs_rule.apply_rule import apply_rule
from evenhand.core.misgendering.generations import Generation, Matched
from evenhand.core.misgendering.probability import Judged
from evenhand.core.misgendering.slots import Instance
from evenhand.core.misgendering.template_files import Prompt

OK = "ok"
FIRST = ("instance", "dataset", "model", "setting", "pronoun", "template", "name", "case", "prob", "prob_sum")
LAST = ("chosen", "chosen_sum", "perplexity", "delta", "status", "signature")


def columns(options: Sequence[str], generations: int, *, templates: int = 0) -> tuple[str, ...]:
    """The heading: verdicts, then per pronoun set that competes the form's numbers.

    *templates*: how many verdicts by probability an instance has (TANGO: prob1, prob2, ...; prob is the first).
    none<k>: 1 where the text of gen<k> has no pronoun, so that its verdict is right by definition only.
    nll_<set>: negative log-probability of the whole text, nats; tokens_<set>: predicted tokens; pieces_<set>: tokens
    of the form. perplexity: that of the chosen form.
    """
    gens = (f"{kind}{k}" for kind in ("gen", "none") for k in range(1, generations + 1))
    probs = (f"prob{k}" for k in range(1, templates + 1))
    numbers = (f"{kind}_{name}" for kind in ("nll", "tokens", "pieces") for name in options)
    return (*FIRST, *gens, *probs, *LAST, *numbers)


def rows(
    judged: Sequence[Judged], model: str, signature: str, options: Sequence[str], matched: Matched | None, gens: int
) -> Iterator[list[Any]]:
    """The cells in the order of `columns`, None where undefined; without generations each instance is one row."""
    settings = matched.settings if matched is not None else ()
    for one in judged:
        here = one.instance
        for setting in settings or ("",):
            found = matched.of(here.id, model, setting) if matched is not None else []
            told = (here.id, here.dataset, model, setting, ";".join(here.pronouns), here.template, here.name, here.case)
            verdicts = _gens(found, here.pronouns, here.dataset, gens)
            yield [*told, one.prob, one.prob_sum, *verdicts, *_numbers(one, signature, options)]


def prompt_rows(
    judged: Sequence[tuple[Prompt | Instance, list[Judged]]],
    model: str,
    signature: str,
    options: Sequence[str],
    matched: Matched,
    gens: int,
) -> Iterator[list[Any]]:
    """The same for TANGO: one row a prompt, with a verdict by probability for each of its generations."""
    for prompt, some in judged:
        found = matched.of(prompt.id, model, "")
        template = prompt.id.partition(".")[0]
        told = (prompt.id, "tango", model, "", ";".join(prompt.pronouns), template, prompt.name, "")
        probs: list[int | None] = [one.prob for one in some[:gens]]
        verdicts = _gens(found, prompt.pronouns, "tango", gens)
        missing = [None] * (gens - len(probs))
        first = _numbers(some[0], signature, options)
        yield [*told, some[0].prob, some[0].prob_sum, *verdicts, *probs, *missing, *first]


def _gens(found: Sequence[Generation], pronouns: Sequence[str], dataset: str, gens: int) -> list[int | None]:
    """Return the verdict of each generation, then of each whether it has no pronoun; None where there is none."""
    texts = ({"completion": one.completion, "pronouns": tuple(pronouns), "dataset": dataset} for one in found[:gens])
    verdicts = [apply_rule(text) for text in texts]
    missing: list[int | None] = [None] * (gens - len(verdicts))
    avoided = [int(verdict.pronoun is None) for verdict in verdicts]
    return [*(verdict.correct for verdict in verdicts), *missing, *avoided, *missing]


def _numbers(one: Judged, signature: str, options: Sequence[str]) -> list[Any]:
    chosen = None if one.chosen is None else one.perplexity[one.instance.options.index(one.chosen)]
    return [one.chosen, one.chosen_sum, chosen, one.delta, one.reason or OK, signature, *_all_options(one, options)]


def _all_options(one: Judged, options: Sequence[str]) -> list[float | None]:
    return [value for values in (one.nll, one.tokens, one.pieces) for value in _per_option(one, values, options)]


def _per_option(one: Judged, values: Sequence[float], options: Sequence[str]) -> list[float | None]:
    known = dict(zip(one.instance.options, values, strict=False))
    return [known.get(name) for name in options]
