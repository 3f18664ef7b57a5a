"""The quantities of pilots: items, labels, agreement while a pilot was open, and free tags; a row for each pilot."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.drafts import count_tags
from evenhand.annotations.items.provenance import articles
from evenhand.annotations.labels.blind_labels import REVIEWED
from evenhand.annotations.pilot.pilots import Pilot, pilots
from evenhand.annotations.pilot.progress import PilotProgress, pilot_progress
from evenhand.annotations.progress.cells import NO_REVIEW, reviewed_of_pilot
from evenhand.annotations.quantities.quantity import Interval, Population, Quantity, Rows, Unit, counted
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.posterior import share_of_rows

FORMULA = "pilot.md#a-pilot"
ITEM, TAG, PILOT = N_("item"), N_("tag"), N_("pilot")
SHARE = Interval(
    N_("Wilson's, modified for rare counts; over source articles where one holds several items"), "coverage.md#shares"
)


class PilotNumbers(NamedTuple):
    """A pilot: its figures while it was open, how many items are fully labelled now, and its free tags.

    `accepted`: the share of the fully labelled sentences that every label accepts.
    """

    figures: PilotProgress
    labelled: int
    accepted: Estimate
    tags: int
    distinct_tags: int


def pilot_numbers(store: Store, project: Project) -> dict[str, PilotNumbers]:
    """Return the numbers of each pilot, by its number."""
    sources = articles(store, project)
    return {str(pilot.number): _numbers(store, project, pilot, sources) for pilot in pilots(store, project)}


def _numbers(store: Store, project: Project, pilot: Pilot, sources: Mapping[int, str]) -> PilotNumbers:
    tags, distinct = count_tags(store, pilot.id)
    outcomes = reviewed_of_pilot(store, pilot.id)
    units = [sources.get(item, "") for item, _ in outcomes]
    accepted = share_of_rows([agreed for _, agreed in outcomes], units, nothing=NO_REVIEW)
    return PilotNumbers(pilot_progress(store, project, pilot), len(outcomes), accepted, tags, distinct)


VALUES: dict[str, tuple[str, Population, str, Unit, Callable[[PilotNumbers], Estimate]]] = {
    "drawn": (N_("Drawn items"), Population("drawn", N_("items drawn at the start of a pilot"), "pilot.items"), ITEM,
              "count", lambda one: counted(one.figures.pilot.items)),
    "items": (N_("Items"), Population("in_pilot", N_("items that are still in a pilot"), "item.pilot = pilot.id"), ITEM,
              "count", lambda one: counted(one.figures.items)),
    "labelled": (N_("Labelled"), Population("in_pilot_labelled", N_("items with a label made while the pilot was open"),
                                            "annotations.pilot.progress"), ITEM,
                 "count", lambda one: counted(one.figures.labelled)),
    "compared": (N_("Labels by two annotators"),
                 Population("in_pilot_compared", N_("items with two blind labels made while the pilot was open"),
                            "annotations.pilot.progress"), ITEM, "count", lambda one: counted(one.figures.compared)),
    "full_agreement": (N_("Full agreement"),
                       Population("in_pilot_compared", N_("items with two blind labels made while the pilot was open"),
                                  "annotations.pilot.progress"), ITEM, "share", lambda one: one.figures.unanimous),
    "reviewed": (N_("Reviewed"), Population("in_pilot_reviewed", N_("items of a pilot with all the labels they need"),
                                            REVIEWED), ITEM, "count", lambda one: counted(one.labelled)),
    "accepted_share": (N_("Share accepted by all annotators"),
                       Population("in_pilot_reviewed", N_("items of a pilot with all the labels they need"), REVIEWED),
                       ITEM, "share", lambda one: one.accepted),
    "tags": (N_("Free tags"), Population("pilot_tags", N_("free tags on the items of a pilot"), "valid_label"), TAG,
             "count", lambda one: counted(one.tags)),
    "distinct_tags": (N_("Distinct free tags"),
                      Population("pilot_tags", N_("free tags on the items of a pilot"), "valid_label"), TAG,
                      "count", lambda one: counted(one.distinct_tags)),
}  # fmt: skip
IN_PROGRESS = ("drawn", "items", "labelled", "compared", "full_agreement")  # what the page and the command show


def pilot_estimates(one: PilotNumbers) -> dict[str, Estimate]:
    """Return the numbers of a pilot by id."""
    return {f"pilot.{id_}": of(one) for id_, (_name, _population, _each, _unit, of) in VALUES.items()}


def _rows(id_: str) -> Rows:
    name, population, each, unit, of = VALUES[id_]
    return Quantity(
        f"pilot.{id_}", name, population, each, unit,
        lambda snapshot: {number: of(one) for number, one in snapshot.pilots.items()}, FORMULA,
        SHARE if unit == "share" else None, by=PILOT,
        stated=lambda snapshot: id_ != "accepted_share" or snapshot.sentences,
    )  # fmt: skip


ROWS = tuple(map(_rows, VALUES))
