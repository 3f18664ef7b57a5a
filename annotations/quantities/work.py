"""The quantities of the forecast of work: candidates, labels and hours under both plans."""

from collections.abc import Callable
from operator import attrgetter

from evenhand.annotations.forecast.work import Forecast
from evenhand.annotations.progress.cells import NO_PACE
from evenhand.annotations.progress.dashboard import Dashboard
from evenhand.annotations.quantities.quantity import OfProject, Population, Quantity, Unit, counted
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate

FORMULA = "plan.md#the-forecast"
ITEM, LABEL = N_("item"), N_("label")
BASIS = Population("forecast_basis", N_("fully labelled items of the pilot, or all of them without one"),
                   "annotations.forecast.work")  # fmt: skip
TIMES = Population("forecast_times", N_("labels with a time, of the pilot or the newest"), "annotations.forecast.work")
AHEAD = Population("ahead", N_("items to label, up to the quotas"), "annotations.forecast.work")
UNDER = {
    "all": Population("ahead_all", N_("items to label, where every annotator labels every item"), "plan = 'all'"),
    "stop": Population("ahead_stop", N_("items to label, where labelling stops at the first reject"), "plan = 'stop'"),
}
QUOTAS = Population("quotas", N_("the quotas of all pairs and sides"), "quota IS NOT NULL")


def _of(path: str) -> Callable[[Forecast], Estimate]:
    find = attrgetter(path)

    def estimate(made: Forecast) -> Estimate:
        found: Estimate = find(made.work)
        return found

    return estimate


VALUES: dict[str, tuple[str, Population, str, Unit, Callable[[Forecast], Estimate]]] = {
    "accepted_share": (N_("Share accepted by all annotators"), BASIS, ITEM, "share", _of("rate")),
    "seconds": (N_("Mean time of a label"), TIMES, LABEL, "seconds", _of("seconds")),
    "candidates": (N_("Items to label"), AHEAD, ITEM, "count", _of("candidates")),
    "needed": (N_("Candidates needed"), QUOTAS, ITEM, "count", _of("needed")),
    "saved": (N_("Share of the labels that the plan saves"), UNDER["stop"], LABEL, "share", _of("saved")),
    **{f"labels.{plan}": (N_("Labels expected"), UNDER[plan], LABEL, "count", _of(f"{plan}.judgements"))
       for plan in UNDER},
    **{f"labels_per_item.{plan}": (N_("Labels expected per item"), UNDER[plan], ITEM, "mean", _of(f"{plan}.each"))
       for plan in UNDER},
    **{f"hours.{plan}": (N_("Hours expected"), UNDER[plan], LABEL, "hours", _of(f"{plan}.hours")) for plan in UNDER},
}  # fmt: skip


def forecast_estimates(made: Forecast) -> dict[str, Estimate]:
    """Return all numbers of a forecast by id."""
    return {f"forecast.{id_}": of(made) for id_, (_name, _population, _each, _unit, of) in VALUES.items()}


def _quantity(id_: str) -> OfProject:
    name, population, each, unit, of = VALUES[id_]
    return Quantity(f"forecast.{id_}", name, population, each, unit, lambda snapshot: of(snapshot.forecast), FORMULA)


LEFT = Population("left", N_("items that still need labels, up to what the quotas are expected to need"),
                  "annotations.progress.cells.Ahead")  # fmt: skip


def remaining_estimates(overview: Dashboard) -> dict[str, Estimate]:
    """Return the remaining work of the page Progress by id."""
    hours = Estimate.undefined(overview.hours_reason or NO_PACE) if overview.hours is None else Estimate(overview.hours)
    return {"remaining.items": counted(overview.ahead.candidates), "remaining.labels": counted(overview.ahead.labels),
            "remaining.hours": hours}  # fmt: skip


def _remaining(id_: str, name: str, each: str, unit: Unit) -> OfProject:
    return Quantity(id_, name, LEFT, each, unit, lambda snapshot: remaining_estimates(snapshot.dashboard)[id_],
                    "progress.md#progress")  # fmt: skip


QUANTITIES: tuple[OfProject, ...] = (
    *map(_quantity, VALUES),
    _remaining("remaining.items", N_("Items to label"), ITEM, "count"),
    _remaining("remaining.labels", N_("Labels to make"), LABEL, "count"),
    _remaining("remaining.hours", N_("Remaining work"), LABEL, "hours"),
)
