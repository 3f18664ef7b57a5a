"""The quantities of rows: of each pair and side, keyword pair, two annotators, and annotator."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any

from evenhand.annotations.agreement.report import TwoAnnotators
from evenhand.annotations.progress.annotators import Worker
from evenhand.annotations.progress.cells import CellCounts
from evenhand.annotations.quantities import agreement, items, labels
from evenhand.annotations.quantities.quantity import Interval, OfProject, Population, Quantity, Rows, Unit, counted
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate

ITEM, LABEL = N_("item"), N_("label")
CELL, PAIR = N_("pair and side, or stratum"), N_("keyword pair, or stratum")
TWO, PERSON = N_("two annotators"), N_("annotator")
OF_PAIR = Population("pair", N_("the compared items of one keyword pair or stratum"), "annotations.agreement.measures")
SHARED = Population("shared", N_("items that both annotators labelled blind"), "label of both annotators")


def cell_name(pair: str, side: str) -> str:
    """Return the key of the row of a pair and side, or of a stratum."""
    return f"{pair}/{side}" if side else pair


def _cells(name: str, value: Callable[[CellCounts], int]) -> Rows:
    """Return the rows of a quantity of items."""

    def compute(snapshot: Snapshot) -> Mapping[str, Estimate]:
        return {cell_name(row.pair, row.side): counted(value(row)) for row in snapshot.items if row.mined}

    return _as_rows(f"cells.{name}", OF_ITEMS[f"items.{name}"], compute)


def _as_rows(id_: str, one: OfProject, compute: Callable[[Snapshot], Mapping[str, Estimate]]) -> Rows:
    return Quantity(id_, one.name, one.population, one.each, one.unit, compute, one.formula, one.interval, one.source,
                    one.stated, CELL)  # fmt: skip


def _rates(snapshot: Snapshot) -> Mapping[str, Estimate]:
    return {cell_name(row["pair"], row["side"]): row["rate"] for row in snapshot.cells}


OF_ITEMS = {one.id: one for one in items.QUANTITIES}
FULL = next(one for one in agreement.QUANTITIES if one.id == "agreement.full.reviewed")
CELLS = (
    _cells("imported", attrgetter("mined")),
    _cells("reviewed", attrgetter("reviewed")),
    _cells("compared", attrgetter("compared")),
    _cells("accepted_by_all", attrgetter("unanimous")),
    _cells("same_choice", attrgetter("unanimous")),
    _cells("kept", attrgetter("accepted")),
    _cells("gold", lambda row: row.accepted + row.rejected),
    _as_rows("cells.accepted_share", OF_ITEMS["items.accepted_share"], _rates),
    replace(_as_rows("cells.full_agreement", FULL, _rates), stated=lambda snapshot: not snapshot.sentences),
)


def _pair(measure: Any) -> Rows:
    def compute(snapshot: Snapshot) -> Mapping[str, Estimate]:
        return {name: getattr(found, measure.field) for name, found in snapshot.agreement.by_pair}

    return Quantity(
        f"pairs.{agreement.IDS.get(measure.field, measure.field)}", measure.name,
        OF_PAIR, ITEM,
        "share" if measure.share else "coefficient", compute, agreement.FORMULA,
        agreement.SHARE if measure.field == "unanimity" else agreement.PATTERNS, measure.source, by=PAIR,
    )  # fmt: skip


def two_name(two: TwoAnnotators) -> str:
    """Return the key of the row of two annotators."""
    return f"{two.a} / {two.b}"


def _two(field: str, name: str, unit: Unit, source: str, interval: Interval | None) -> Rows:
    def compute(snapshot: Snapshot) -> Mapping[str, Estimate]:
        found = {two_name(two): getattr(two, field) for two in snapshot.agreement.cohen}
        return {key: counted(value) if isinstance(value, int) else value for key, value in found.items()}

    return Quantity(f"two.{field}", name, SHARED, ITEM, unit, compute, agreement.FORMULA, interval, source, by=TWO)


def _person(name: str, title: str, population: Population, each: str, unit: Unit, formula: str,
            of: Callable[[Worker], Estimate], interval: Interval | None = None) -> Rows:  # fmt: skip
    def compute(snapshot: Snapshot) -> Mapping[str, Estimate]:
        return {worker.annotator.name: of(worker) for worker in snapshot.workers}

    return Quantity(f"annotator.{name}", title, population, each, unit, compute, formula, interval, by=PERSON)


OWN = Population("own", N_("valid labels of one annotator"), "standing_label")
OF_OTHERS = Population("others", N_("items that one annotator and others labelled blind"),
                       "annotations.progress.annotators")  # fmt: skip
PEOPLE = "progress.md#annotators"


def _sample(name: str, title: str, words: str, condition: str) -> Rows:
    def compute(snapshot: Snapshot) -> Mapping[str, Estimate]:
        return {number: counted(getattr(state, name)) for number, state in snapshot.samples.items()}

    return Quantity(f"sample.{name}", title, Population(f"sample_{name}", words, condition), ITEM, "count", compute,
                    "sampling.md#what-to-label-next", by=N_("sample"))  # fmt: skip


ROWS = (
    *CELLS,
    *(_pair(measure) for measure in agreement.MEASURES if measure.field != "ac1_used"),
    _two("items", N_("Items that both labelled"), "count", "", None),
    _two("agreed", N_("Same choice"), "share", "", agreement.SHARE),
    _two("kappa", N_("Cohen's kappa"), "coefficient", "Cohen 1960", labels.KAPPA),
    _two("largest", N_("Highest kappa that the totals allow"), "coefficient", "Cohen 1960", None),
    _sample("frame", N_("Items that could be drawn"), N_("items that a sample was drawn from"), "inclusion"),
    _sample("drawn", N_("Drawn items"), N_("items of a sample"), "drawn = 1"),
    _sample("labelled", N_("Fully labelled"), N_("items of a sample that need no more labels"), "labels >= wanted"),
    _person("labels", N_("Valid labels"), OWN, LABEL, "count", PEOPLE, lambda worker: counted(worker.labels)),
    _person("accepted", N_("Accept rate"), OWN, LABEL, "share", PEOPLE, attrgetter("accepted"), labels.OVER_ARTICLES),
    _person("differs", N_("Differs from majority"), OF_OTHERS, ITEM, "share", PEOPLE, attrgetter("differs.most"),
            labels.OVER_ARTICLES),
)  # fmt: skip
