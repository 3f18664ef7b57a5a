"""The quantities of texts: how many there are, their characters and lengths, how often a text occurs again."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from evenhand.annotations.quantities.quantity import OfProject, Population, Quantity, Unit, counted, written
from evenhand.core.describe.as_json import as_latex
from evenhand.core.describe.description import NO_TEXT, Description
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.estimate import DASH

FORMULA = "describe.md#numbers"
TEXT, CHARACTER = N_("text"), N_("character")
NO_VOCABULARY = Estimate.undefined(Note(N_("No vocabulary is chosen.")))
POPULATIONS = {
    "accepted": Population("accepted", N_("texts of accepted items"), "status = 'accepted'"),
    "all": Population("imported", N_("texts of published imports"), "TRUE"),
    "file": Population("file", N_("rows of a file with a text"), "annotations.describe.file_description"),
}
OfTexts = Quantity[Description, Estimate]


class _Measure(NamedTuple):
    """A number of a description."""

    field: str
    name: str
    each: str
    unit: Unit
    of: Callable[[Description], Estimate]


def _length(field: Literal["least", "median", "mean", "most"]) -> Callable[[Description], Estimate]:
    def of(description: Description) -> Estimate:
        length = getattr(description.lengths, field)
        return Estimate.undefined(NO_TEXT) if length is None else Estimate(length, units=description.sentences)

    return of


def _side(side: Literal["male", "female"]) -> Callable[[Description], Estimate]:
    return lambda description: counted(description.of_side(side))


def _of_vocabulary(description: Description) -> Estimate:
    cover = description.coverage
    return Estimate(cover.published) if cover else NO_VOCABULARY


MEASURES = (
    _Measure("number", N_("Texts"), TEXT, "count", lambda one: counted(one.sentences)),
    _Measure("characters", N_("Characters"), CHARACTER, "count", lambda one: counted(one.characters.total)),
    _Measure("distinct_characters", N_("Distinct characters"), CHARACTER, "count",
             lambda one: counted(one.characters.distinct)),
    _Measure("shortest", N_("Length, least"), TEXT, "characters", _length("least")),
    _Measure("median_length", N_("Length, median"), TEXT, "characters", _length("median")),
    _Measure("mean_length", N_("Length, mean"), TEXT, "characters", _length("mean")),
    _Measure("longest", N_("Length, greatest"), TEXT, "characters", _length("most")),
    _Measure("copies", N_("Exact copies of another text"), TEXT, "count", lambda one: counted(one.exact.surplus)),
    _Measure("male", N_("Texts with a male word"), TEXT, "count", _side("male")),
    _Measure("female", N_("Texts with a female word"), TEXT, "count", _side("female")),
    _Measure("of_vocabulary", N_("Characters / vocabulary"), CHARACTER, "fine_share", _of_vocabulary),
)  # fmt: skip


def text_id(field: str, items: str) -> str:
    """Return the id of a number of texts; *items*: which of a project, or "file"."""
    return f"texts.{field}.{items}"


def text_estimates(description: Description) -> dict[str, Estimate]:
    """Return the numbers of a description by id, without those for which it has no vocabulary or no keywords."""
    sentences = description.kind == "sentences"
    found = {text_id(one.field, description.items): one.of(description) for one in MEASURES if _is_of(one, sentences)}
    return {id_: one for id_, one in found.items() if one is not NO_VOCABULARY}


def latex_tables(description: Description) -> str:
    """Return the LaTeX tables of a description, whose numbers are those of the catalogue."""
    texts = {
        f"texts.{one.field}": DASH if (value := one.of(description).value) is None else written(value, one.unit)
        for one in MEASURES
    }
    return as_latex(description, texts)


def _of_project(measure: _Measure, items: Literal["accepted", "all"]) -> OfProject:
    return Quantity(
        text_id(measure.field, items), measure.name, POPULATIONS[items], measure.each, measure.unit,
        lambda snapshot: measure.of(snapshot.texts(items)), FORMULA,
        stated=lambda snapshot: _is_of(measure, snapshot.sentences),
    )  # fmt: skip


def _is_of(measure: _Measure, sentences: bool) -> bool:
    return sentences or measure.field not in ("male", "female")


QUANTITIES: tuple[OfProject, ...] = tuple(_of_project(one, items) for items in ("accepted", "all") for one in MEASURES)
OF_FILES: tuple[OfTexts, ...] = tuple(
    Quantity(text_id(one.field, "file"), one.name, POPULATIONS["file"], one.each, one.unit, one.of, FORMULA)
    for one in MEASURES
)
