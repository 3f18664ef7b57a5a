"""The quantities of runs of models. Here those of one number; those of several rows are in `run_rows`.

Each is computed by the report of its kind of run, once; the page, the command and its JSON ask for it by its id.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter, itemgetter
from typing import Any

from evenhand.annotations.quantities.quantity import Interval, Population, Quantity, Unit, written
from evenhand.annotations.quantities.run_rows import ROWS
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.estimate import DASH

OfRun = Quantity[Any, Estimate]
INSTANCE, TEXT, OCCUPATION, SENTENCE = N_("instance"), N_("text"), N_("occupation or row"), N_("sentence")
OVER_TEMPLATES = Interval(
    N_("t on the jackknife over templates and names, or over instances"), "coverage.md#template-x-name-both-ways"
)
OVER_OCCUPATIONS = Interval(
    N_("t on the jackknife over occupations, or over rows; stereotyped and neutral ones apart"),
    "coverage.md#nli-over-occupations-of-two-classes",
)
OVER_SENTENCES = Interval(
    N_("over sentences, source articles or stems of word pairs"), "coverage.md#bias-of-a-model-over-sentences"
)


def _entry(
    kind: str, name: str, title: str, population: Population, each: str, unit: Unit, of: Callable[[Any], Estimate],
    formula: str, interval: Interval,
) -> OfRun:  # fmt: skip
    return Quantity(f"run.{kind}.{name}", title, population, each, unit, of, formula, interval)


def _misgendering(name: str, title: str, words: str, each: str, field: str | Callable[[Any], Estimate]) -> OfRun:
    of = attrgetter(field) if isinstance(field, str) else field
    population = Population(f"misgendering_{name}", words, "core.misgendering.metrics")
    unit: Unit = "score" if name == "variation" else "share"
    return _entry("misgendering", name, title, population, each, unit, of, "misgendering.md#the-numbers",
                  OVER_TEMPLATES)  # fmt: skip


def _nli(name: str, title: str, words: str, unit: Unit) -> OfRun:
    population = Population(f"nli_{name}", words, "core.nli.measure")
    return _entry("nli", name, title, population, OCCUPATION, unit, itemgetter(name), "nli.md#the-numbers",
                  OVER_OCCUPATIONS)  # fmt: skip


def _bias(name: str, title: str, words: str, unit: Unit = "log10") -> OfRun:
    population = Population(f"bias_{name}", words, "core.model_bias.means")
    return _entry("bias", name, title, population, SENTENCE, unit, attrgetter(name), "model_bias.md#means",
                  OVER_SENTENCES)  # fmt: skip


MISGENDERING = (
    _misgendering("right_by_probability", N_("Right, probability-based"),
                  N_("instances with a probability-based verdict"), INSTANCE, "prob"),
    _misgendering("right", N_("Right, texts with a pronoun"), N_("generated texts with a pronoun"), TEXT,
                  "texts.right"),
    _misgendering("without_pronoun", N_("Texts without a pronoun"), N_("generated texts"), TEXT, "texts.without"),
    _misgendering("wrong", N_("Texts with a wrong pronoun"), N_("generated texts"), TEXT, "texts.wrong"),
    _misgendering("right_as_published", N_("Right, generation-based, as published"),
                  N_("instances with generated texts, of which one without a pronoun counts as right"), INSTANCE,
                  "gen"),
    _misgendering("disagreement", N_("Disagreement of the methods"), N_("instances with verdicts of both methods"),
                  INSTANCE, lambda found: found.by_units["disagreement"]),
    _misgendering("variation", N_("Mean variation σ"), N_("instances with generated texts"), INSTANCE, "sigma.mean"),
)  # fmt: skip
EVERY_SET = N_("answers on occupations with a stereotype and on neutral ones")
NLI = (
    _nli("s", N_("Bias score s (0: ideal, 1: always the stereotype)"), EVERY_SET, "score"),
    _nli("directional", N_("Directional component (−1 to 1, + follows the stereotype)"),
         N_("answers on occupations with a stereotype"), "score"),
    _nli("not_neutral_ns", N_("1 − n_n: non-neutral answers on neutral occupations"),
         N_("answers on neutral occupations"), "score"),
    _nli("one_minus_fn", N_("1 − FN: non-neutral answers over all rows"), EVERY_SET, "score"),
)  # fmt: skip
FINITE = N_("sentences with a finite Bias_c")
BIAS = (
    _bias(
        "bias_man", N_("Bias_man (mean Bias_c towards the male word)"), N_("sentences that lean towards the male word")
    ),
    _bias(
        "bias_woman",
        N_("Bias_woman (mean Bias_c towards the female word)"),
        N_("sentences that lean towards the female word"),
    ),
    _bias("model_bias", N_("Model_bias (mean of both sides)"), FINITE),
    _bias("signed_mean", N_("Signed mean"), FINITE),
    _bias("mean_abs", N_("Mean of |Bias_c|"), FINITE),
    _bias("side_auc", N_("Side AUC"), N_("sentences with a male word and with a female word"), "share"),
)
KINDS: Mapping[str, tuple[OfRun, ...]] = {"misgendering": MISGENDERING, "nli": NLI, "bias": BIAS}


def run_estimates(kind: str, report: Any) -> dict[str, Estimate]:
    """Return the numbers of a run by id, those of rows by `id:key`.

    *report*: what the kind computes (Metrics, Inference, Summary, ModelMeasures, ModelsReport, RunsReport, AuditResult,
    TuneReport), and of another measure the values of one model.
    """
    singles = {one.id: one.compute(report) for one in KINDS.get(kind, ())}
    of_rows = {one.id: one.compute(report) for one in ROWS.get(kind, ())}
    return singles | {f"{id_}:{key}": value for id_, found in of_rows.items() for key, value in found.items()}


def bias_numbers(summary: Any) -> dict[str, Estimate]:
    """Return the numbers of the bias of a model by id, for `core.report`, which does not import the catalogue."""
    return run_estimates("bias", summary)


def run_texts(kind: str, report: Any) -> dict[str, str]:
    """Return the numbers of a run as commands print them, without intervals, by the names of `run_estimates`."""
    units = {one.id: one.unit for one in KINDS.get(kind, ())} | {one.id: one.unit for one in ROWS.get(kind, ())}
    return {
        name: DASH if one.value is None else written(one.value, units[name.partition(":")[0]])
        for name, one in run_estimates(kind, report).items()
    }


def run_json(kind: str, report: Any) -> dict[str, object]:
    """Return the numbers of a run by id for `--json`, each undefined one with its reason."""
    return {id_: one.to_json(reasons="every") for id_, one in run_estimates(kind, report).items()}
