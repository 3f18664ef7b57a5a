"""The list of checks of a release: proof.html, `release --verify` and `log verify` report them under these ids."""

from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.annotations.quantities import catalogue
from evenhand.core.errors import N_

State = Literal["equal", "different", "unchecked"]
Place = Literal["everywhere", "server"]


@dataclass(frozen=True, slots=True)
class Check:
    """A check: its id, its name, the section of the documents that defines it, and whether it needs the database.

    The id of a number is that of the catalogue (docs/quantities.md), with the population that it is of.
    """

    id: str
    name: str
    document: str
    place: Place = "everywhere"
    population: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs: a file, an item, or an item and annotator; with the expected and the found value."""

    item: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a check.

    `expected` is what the release states, `found` what was recomputed. `unchecked`: how many things could not be
    compared, for `reason` (a key of REASONS); an "equal" result holds for the others.
    """

    check: str
    state: State
    expected: Any = None
    found: Any = None
    items: tuple[Difference, ...] = field(default=())
    reason: str = ""
    unchecked: int = 0


HASHES, GOLD, FILES = "release.md#the-hash-of-the-contents", "methods.md#gold", "release.md#files-of-a-release"
VERIFIED, NUMBERS = "release.md#verification", "release.md#numbers"
MEASURED = ("items", "labels", "full", "pairwise", "fleiss", "alpha", "ac1")  # on the items that the plan compares
QUANTITIES = (
    *(f"agreement.{name}.{scope}" for scope in ("labelled", "share") for name in MEASURED),
    "agreement.full.reviewed", "agreement.full.released", "items.imported", "items.reviewed", "items.compared",
    "items.kept", "labels.valid", "annotators.labelled",
)  # fmt: skip


def _of_quantity(id_: str) -> Check:
    quantity = catalogue.QUANTITIES[id_]
    return Check(id_, quantity.name, quantity.formula, population=quantity.population.words)


CHECKS = (
    Check("files.sums", N_("SHA-256 of every file"), VERIFIED),
    Check("content.hash", N_("hash of the contents"), HASHES),
    Check("labels.tables", N_("labels.csv states the labels of the package"), FILES),
    Check("decisions.tables", N_("hard_cases.jsonl states the decisions of the package"), FILES),
    Check("gold.tables", N_("all files state the same gold labels"), FILES),
    Check("gold.labels", N_("gold labels follow from labels and decisions"), GOLD),
    *map(_of_quantity, QUANTITIES),
    Check("labels.published", N_("valid labels of annotators who consented"), NUMBERS),
    Check("annotators.published", N_("annotators who consented"), NUMBERS),
    Check("labels.choices", N_("valid labels by choice"), NUMBERS),
    Check("decisions.choices", N_("decisions of adjudicators by choice"), NUMBERS),
    Check("database.files", N_("files as the database froze them"), VERIFIED, "server"),
    Check("database.gold", N_("gold labels follow from all labels in the database"), VERIFIED, "server"),
    Check("database.log", N_("the log of the database holds the entry that the release names"), VERIFIED, "server"),
)
IDS = tuple(check.id for check in CHECKS)
REASONS = {
    "locked": N_("the text is encrypted"),
    "left_out": N_("the package is not in this folder"),
    "consent": N_("labels of annotators who did not consent are not published"),
    "ended": N_("under an earlier plan a reject ended items, and the selection is not published"),
    "sample": N_("which items want several labels is not published"),
    "imported": N_("gold labels came with a package without all their labels"),
    "unstated": N_("the release does not state it"),
    "method": N_("the release states it by an earlier method"),
    "damaged": N_("a file cannot be read"),
    "database": N_("only the database can tell: release --verify"),
    "changed": N_("labels, decisions or settings of the project changed after the release"),
    "absent": N_("the database does not hold this release"),
}
