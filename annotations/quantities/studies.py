"""The quantities of the pay in a study with invited participants."""

from operator import attrgetter
from typing import Any

from evenhand.annotations.quantities.quantity import Population, Quantity, Unit, counted
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note

FORMULA = "study.md#pay"
PERSON = N_("participant")
DONE = Population("finished", N_("participants who have finished"), "completed IS NOT NULL")
WORKING = Population("working", N_("participants at work who have labelled enough texts"), "state = 'working'")
NOBODY = {
    "finished": Note(N_("No participant has finished yet.")),
    "working": Note(N_("No participant has labelled enough texts yet.")),
}
OfPay = Quantity[Any, Estimate]  # of `annotations.study.people.Pay`


def _pay(id_: str, name: str, population: Population, unit: Unit, field: str) -> OfPay:
    def compute(pay: Any) -> Estimate:
        value = attrgetter(field)(pay)
        if isinstance(value, int):
            return counted(value)
        return Estimate.undefined(NOBODY[population.code]) if value is None else Estimate(value)

    return Quantity(f"study.{id_}", name, population, PERSON, unit, compute, FORMULA)


QUANTITIES = (
    _pay("people.finished", N_("Participants"), DONE, "count", "people"),
    _pay("minutes.finished", N_("Minutes, median"), DONE, "minutes", "minutes"),
    _pay("hourly.finished", N_("Hourly pay"), DONE, "amount", "hourly"),
    _pay("people.working", N_("Participants"), WORKING, "count", "people_at_work"),
    _pay("minutes.working", N_("Minutes expected, median"), WORKING, "minutes", "minutes_at_work"),
    _pay("hourly.working", N_("Hourly pay"), WORKING, "amount", "hourly_at_work"),
)


def pay_estimates(pay: Any) -> dict[str, Estimate]:
    """Return the numbers of the pay of a study by id."""
    return {one.id: one.compute(pay) for one in QUANTITIES}
