"""The quantities of agreement: full agreement of four populations, and measures on the items usual for the plan."""

from collections.abc import Callable
from typing import NamedTuple

from evenhand.annotations.agreement.report import AgreementReport, Measures
from evenhand.annotations.labels.blind_labels import CONDITIONS, POPULATIONS, ItemScope, full_agreement
from evenhand.annotations.labels.blind_labels import Population as PopulationCode
from evenhand.annotations.quantities.quantity import Interval, OfProject, Population, Quantity, counted
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate

FORMULA = "methods.md#agreement"
ITEM, LABEL = N_("item"), N_("label")
SHARE = Interval(
    N_("Wilson's, modified for rare counts; over contexts or articles where these hold several items"),
    "coverage.md#by-interval",
)
PATTERNS = Interval(
    N_("Dirichlet posterior over label patterns; over contexts or articles where these hold several items"),
    "coverage.md#by-interval",
)
SCOPES: dict[ItemScope, PopulationCode] = {"all": "labelled", "share": "share"}


class _Measure(NamedTuple):
    """A measure of `Measures`: its name, whether it is a share, who defined it, and its population on each scope."""

    field: str
    name: str
    share: bool
    source: str
    of_all: str
    of_share: str


AT_LEAST_TWO = POPULATIONS["labelled"], POPULATIONS["share"]
LABELLED = N_("all items with {labels}"), N_("fully labelled items of the random share")
MEASURES = (
    _Measure("unanimity", N_("Full agreement"), True, "", *AT_LEAST_TWO),
    _Measure("pairwise", N_("Pairwise agreement"), True, "Fleiss 1971", *AT_LEAST_TWO),
    _Measure(
        "fleiss", N_("Fleiss' kappa"), False, "Fleiss 1971",
        N_("all items with the most common number of {labels}, two or more"),
        N_("fully labelled items of the random share with the most common number of {labels}, two or more"),
    ),
    _Measure("alpha", N_("Krippendorff's alpha"), False, "Krippendorff 2011", *AT_LEAST_TWO),
    _Measure("ac1", N_("Gwet's AC1 (all categories)"), False, "Gwet 2008", *LABELLED),
    _Measure("ac1_used", N_("Gwet's AC1 (categories that were used)"), False, "Gwet 2008", *LABELLED),
)  # fmt: skip
IDS = {"unanimity": "full"}


def measure_id(field: str, scope: ItemScope) -> str:
    """Return the id of a measure of `Measures` on all labelled items, or on the random share."""
    return f"agreement.{IDS.get(field, field)}.{SCOPES[scope]}"


def _of_scope(field: str, scope: ItemScope) -> Callable[[Snapshot], Estimate]:
    def compute(snapshot: Snapshot) -> Estimate:
        estimate: Estimate = getattr(snapshot.agreement_on(scope).overall, field)
        return estimate

    return compute


def _is_usual(field: str, scope: ItemScope) -> Callable[[Snapshot], bool]:
    def stated(snapshot: Snapshot) -> bool:
        report = snapshot.agreement
        return report.on == scope and (field != "ac1_used" or some_unused(report.overall))

    return stated


def some_unused(measures: Measures) -> bool:
    """Return whether a category of the scheme was never chosen, so that the two values of AC1 differ."""
    return 0 < measures.categories.used < measures.categories.scheme


def measures_stated(report: AgreementReport) -> dict[str, Estimate]:
    """Return the measures of a report by id, on the items that it compares."""
    fields = [one.field for one in MEASURES if one.field != "ac1_used" or some_unused(report.overall)]
    return {measure_id(field, report.on): getattr(report.overall, field) for field in fields}


def _measure(measure: _Measure, scope: ItemScope) -> OfProject:
    words = measure.of_all if scope == "all" else measure.of_share
    condition = "every blind label" if scope == "all" else CONDITIONS["share"]
    return Quantity(
        id=measure_id(measure.field, scope), name=measure.name,
        population=Population(SCOPES[scope], words, condition), each=ITEM,
        unit="share" if measure.share else "coefficient", compute=_of_scope(measure.field, scope), formula=FORMULA,
        interval=SHARE if measure.field == "unanimity" else PATTERNS, source=measure.source,
        stated=_is_usual(measure.field, scope),
    )  # fmt: skip


def _unselected(snapshot: Snapshot) -> bool:
    """Return whether labels did not decide which items are reviewed."""
    return snapshot.agreement.on != "share" and not snapshot.agreement.stopped


def _reviewed(snapshot: Snapshot) -> Estimate:
    if snapshot.selected:
        return Estimate.undefined(snapshot.selected)
    return full_agreement(snapshot.store, snapshot.project, "reviewed")


def _released(snapshot: Snapshot) -> Estimate:
    return full_agreement(snapshot.store, snapshot.project, "kept")


def _full(code: PopulationCode, name: str, compute: Callable[[Snapshot], Estimate]) -> OfProject:
    return Quantity(
        id=f"agreement.full.{name}", name=N_("Full agreement"),
        population=Population(code, POPULATIONS[code], CONDITIONS[code]), each=ITEM, unit="share", compute=compute,
        formula=FORMULA, interval=None if code == "kept" else SHARE, stated=_unselected,
    )  # fmt: skip


def _count(name: str, title: str, scope: ItemScope, words: str, each: str) -> OfProject:
    def compute(snapshot: Snapshot) -> Estimate:
        return counted(getattr(snapshot.agreement_on(scope), name))

    return Quantity(
        id=f"agreement.{name}.{SCOPES[scope]}", name=title,
        population=Population(SCOPES[scope], words, CONDITIONS[SCOPES[scope]] or "every blind label"), each=each,
        unit="count", compute=compute, formula=FORMULA, stated=lambda snapshot: snapshot.agreement.on == scope,
    )  # fmt: skip


COUNTS = (
    ("items", N_("Items with a label"), dict(zip(SCOPES, LABELLED, strict=True)), ITEM),
    ("labels", N_("Labels compared"), {"all": N_("last {labels} of each annotator and item"), "share": LABELLED[1]},
     LABEL),
)  # fmt: skip
QUANTITIES: tuple[OfProject, ...] = (
    *(_measure(MEASURES[0], scope) for scope in SCOPES),
    _full("reviewed", "reviewed", _reviewed),
    _full("kept", "released", _released),
    *(_measure(measure, scope) for measure in MEASURES[1:] for scope in SCOPES),
    *(_count(name, title, scope, words[scope], each) for name, title, words, each in COUNTS for scope in SCOPES),
)
