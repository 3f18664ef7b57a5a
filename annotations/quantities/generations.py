"""The quantities of generations: rates of misgendering by people and by the rule, and how far these agree."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from evenhand.annotations.guideline.versions import has_own_scheme
from evenhand.annotations.quantities.quantity import Interval, OfProject, Population, Quantity, counted
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate

if TYPE_CHECKING:
    from evenhand.core.human_vs_rule.compare import Comparison

FORMULA = "human_vs_rule.md#numbers"
GENERATION = N_("generation; errors over contexts")
FINISHED = Population("finished", N_("fully labelled generations, each once; of several labels their mean"), "finished")
WITH_RULE = Population(
    "finished_with_rule", N_("fully labelled generations with a verdict of the rule"),
    "finished AND rule_correct IS NOT NULL",
)  # fmt: skip
ALL = Population("generations", N_("all generations, labelled or not, by strata or inclusion probabilities"), "TRUE")
OVER_CONTEXTS = Interval(
    N_("t on the jackknife over contexts, on the log-odds"), "coverage.md#people-and-the-rule-over-contexts"
)
PLAIN = Interval(N_("t on the jackknife over contexts"), "coverage.md#people-and-the-rule-over-contexts")
KAPPA = Interval(N_("Bayesian bootstrap of contexts"), "coverage.md#people-and-the-rule-over-contexts")


def _compared(snapshot: Snapshot) -> bool:
    return not snapshot.sentences and not has_own_scheme(snapshot.store, snapshot.project)


def _mean(measure: str) -> Callable[[Snapshot], Estimate]:
    return lambda snapshot: snapshot.comparison.overall[measure].estimate


def _rate(id_: str, name: str, measure: str, population: Population) -> OfProject:
    return Quantity(f"generations.{id_}", name, population, GENERATION, "share", _mean(measure), FORMULA,
                    OVER_CONTEXTS, stated=_compared)  # fmt: skip


def comparison_estimates(comparison: "Comparison") -> dict[str, Estimate]:
    """Return all quantities of generations by id, of a comparison that was already made."""
    rates = {id_: comparison.overall[measure].estimate for measure, id_ in OVERALL.items()}
    return {
        "generations.finished": counted(len(comparison.table)), **rates,
        "generations.kappa_with_rule": comparison.kappa,
        "generations.misgendering_rate.rule_less_people": comparison.rule_less_people,
        "generations.misgendering_rate.people_weighted": comparison.weighted("misgendering").estimate,
    }  # fmt: skip


RATES = (
    ("agreement_with_rule", N_("Humans and rule agree"), "agreement", WITH_RULE),
    ("misgendering_rate.people", N_("Misgendering, by people"), "misgendering", FINISHED),
    ("correct_rate.people", N_("Correct, by people"), "correct", FINISHED),
    ("no_pronoun_rate.people", N_("No pronoun, by people"), "no_pronoun", FINISHED),
    ("plural_they_rate.people", N_("Plural they, by people"), "plural_they", FINISHED),
    ("extraneous_rate.people", N_("Extraneous gendered language"), "extraneous", FINISHED),
    ("misgendering_rate.rule", N_("Misgendering, by the rule"), "rule_misgendering", WITH_RULE),
    ("no_pronoun_rate.rule", N_("No pronoun, by the rule"), "rule_no_pronoun", WITH_RULE),
)
OVERALL = {measure: f"generations.{id_}" for id_, _, measure, _ in RATES}  # measure of a comparison -> id
QUANTITIES: tuple[OfProject, ...] = (
    Quantity("generations.finished", N_("Fully labelled generations"), FINISHED, N_("generation"), "count",
             lambda s: counted(len(s.comparison.table)), FORMULA, stated=_compared),
    *(_rate(*rate) for rate in RATES),
    Quantity("generations.kappa_with_rule", N_("Cohen's kappa with the rule"), WITH_RULE, GENERATION, "coefficient",
             lambda s: s.comparison.kappa, FORMULA, KAPPA, "Cohen 1960", _compared),
    Quantity("generations.misgendering_rate.rule_less_people", N_("Misgendering, by the rule less by people"),
             WITH_RULE, GENERATION, "points", lambda s: s.comparison.rule_less_people, FORMULA, PLAIN,
             stated=_compared),
    Quantity("generations.misgendering_rate.people_weighted", N_("Misgendering, by people, weighted"), ALL, GENERATION,
             "share", lambda s: s.comparison.weighted("misgendering").estimate, FORMULA, OVER_CONTEXTS,
             stated=_compared),
)  # fmt: skip
