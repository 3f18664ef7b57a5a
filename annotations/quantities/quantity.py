"""What a quantity is: its name, population, unit, formula and interval, and the function that computes it.

Two populations are two quantities with two names. Pages, commands and documents ask for a quantity by its id and print
the estimate; none of them filters or counts on its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from evenhand.core.errors import N_
from evenhand.core.language import Say, same, significant
from evenhand.core.statistics import Estimate, Note

if TYPE_CHECKING:
    from evenhand.annotations.quantities.snapshot import Snapshot

Unit = Literal[
    "count", "mean", "share", "fine_share", "percent", "coefficient", "score", "change", "log10", "log10_change", "ln",
    "loss", "effect", "p", "points", "hours", "minutes", "seconds", "characters", "amount",
]  # fmt: skip
UNITS: dict[Unit, str] = {
    "count": N_("number"),
    "mean": N_("mean number"),
    "share": N_("share, 0 to 1"),
    "fine_share": N_("share, 0 to 1"),
    "percent": N_("percent, or percentage points"),
    "coefficient": N_("coefficient, at most 1"),
    "score": N_("score, -1 to 1"),
    "change": N_("difference of two scores or shares"),
    "log10": N_("log10 of a ratio of two probabilities"),
    "log10_change": N_("difference of two values in log10"),
    "ln": N_("ln of a ratio of two probabilities"),
    "loss": N_("mean -ln of a probability"),
    "effect": N_("difference in standard deviations"),
    "p": N_("probability"),
    "points": N_("difference of two shares, -1 to 1"),
    "hours": N_("hours"),
    "minutes": N_("minutes"),
    "amount": N_("amount of money"),
    "seconds": N_("seconds"),
    "characters": N_("characters"),
}
# On pages, and with three decimals in documents and at the terminal.
FORMS: dict[Unit, str] = {
    "count": ",.0f", "mean": ",.2f", "share": "z.1%", "fine_share": "z.2%", "percent": "z.1f", "coefficient": "z.2f",
    "score": "z.3f", "change": "+z.3f", "log10": "z.3f", "log10_change": "+z.3f", "ln": "+z.3f", "loss": ".4f",
    "effect": "z.3f", "p": ".3g", "points": "+points",
    "hours": ",.2f", "minutes": ",.1f", "amount": ",.2f", "seconds": ",.1f", "characters": ",.2f",
}  # fmt: skip
Source = TypeVar("Source")  # what a quantity is computed from
Result = TypeVar("Result")
NAMED = N_("{name} of {population}")


@dataclass(frozen=True, slots=True)
class Population:
    """Which rows a quantity is of: in words ({labels}: how papers call the labels), and as code.

    `condition`: the SQL condition on a row, or the name of the function that selects the rows.
    """

    code: str
    words: str
    condition: str


@dataclass(frozen=True, slots=True)
class Interval:
    """How an interval is made: in words, and the heading of its study in docs/coverage.md."""

    words: str
    coverage: str


@dataclass(frozen=True, slots=True)
class Quantity(Generic[Source, Result]):
    """An entry of the catalogue.

    `each`: the unit of analysis. `compute` gives the estimate from one source, mostly a snapshot of a project, or with
    `by` the estimate of each row. `formula`: document and heading. `interval` None: the quantity is a count or is given
    without one. `source`: who defined it. `stated`: whether pages and documents state it of this source. `by`: what the
    rows are, as annotators; "" for a single number.
    """

    id: str
    name: str
    population: Population
    each: str
    unit: Unit
    compute: Callable[[Source], Result]
    formula: str
    interval: Interval | None = None
    source: str = ""
    stated: Callable[[Source], bool] = lambda _: True
    by: str = ""

    def named(self, say: Say = same, labels: str = N_("blind labels")) -> str:
        """Return the name with its population, in the language of *say*; *labels*: of `name_of_labels`."""
        return say(NAMED).format(name=say(self.name), population=self.population_words(say, labels))

    def population_words(self, say: Say = same, labels: str = N_("blind labels")) -> str:
        """Return the population in the language of *say*."""
        return say(self.population.words).format(labels=say(labels))


OfProject: TypeAlias = "Quantity[Snapshot, Estimate]"
Rows: TypeAlias = "Quantity[Snapshot, Mapping[str, Estimate]]"


def written(value: float, unit: Unit) -> str:
    """Return a number as pages and documents write it; a length without zeros behind the decimal point."""
    if unit == "p":
        return significant(value)
    text = f"{value:{FORMS[unit]}}"
    return text.rstrip("0").rstrip(".") if unit == "characters" else text


def counted(number: int) -> Estimate:
    """Return a count as an estimate without an interval."""
    return Estimate(number, units=number)


def quantities_json(estimates: Mapping[str, Estimate], *, messages: bool = False) -> dict[str, Any]:
    """Return estimates by id as JSON values; *messages*: with reasons that a reader can translate."""
    return {
        id_: _count_json(estimate) if isinstance(estimate.value, int) else
        estimate.to_json(reasons="messages" if messages else "first")
        for id_, estimate in estimates.items()
    }  # fmt: skip


def estimate_of(found: Mapping[str, Any]) -> Estimate:
    """Return an estimate from its JSON with reasons that a reader can translate."""

    def note(key: str) -> Note | None:
        return Note(found[key], found.get(f"{key.removesuffix('_reason')}_values") or {}) if found.get(key) else None

    if set(found) == {"value"}:
        return counted(found["value"])
    return Estimate(
        found["value"], found["low"], found["high"], found.get("n", 0), note("value_reason"), note("note"),
        method=found.get("method", ""), clusters=found.get("clusters", 0),
    )  # fmt: skip


def _count_json(estimate: Estimate) -> dict[str, object]:
    return {"value": estimate.value}
