"""Tiles of quantities: the name of the catalogue, and next to it a sign that explains population, unit and interval."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import FORMS, Quantity, written
from evenhand.core.statistics import Estimate
from evenhand.pages.ui.numbers import DASH, number
from evenhand.pages.ui.tables import Tile, element, estimate_tile
from evenhand.pages.ui.text import _, clauses, named, paragraph, plain

WITH_INTERVAL = ("share", "fine_share", "coefficient", "score", "log10")


def explained(id_: str, more: str = "") -> str:
    """Return what a quantity is of, and the name of its entry in docs/quantities.md; *more* comes first."""
    quantity = ENTRIES[id_]
    parts = [named(_("Population"), quantity.population_words(_)), named(_("Unit of analysis"), _(quantity.each))]
    if quantity.interval:
        parts.append(named(_("Interval"), _(quantity.interval.words)))
    entry = _("Entry {id} of docs/quantities.md.", id=id_)
    return paragraph(filter(None, (more, _("{text}.", text=clauses(parts)), entry)))


def entry_of(name: str) -> Quantity[Any, Any]:
    """Return the entry of an id, or of a row written `id:key`."""
    return ENTRIES[name.partition(":")[0]]


def quantity_number(name: str, estimate: Estimate, content: str | Markup = "") -> Markup:
    """Return a number for a table, marked with its id and row; *content*: in place of the number alone."""
    unit = entry_of(name).unit
    value = estimate.value
    text = written(value, unit) if unit == "p" and value is not None else number(value, FORMS[unit])
    return element("span", content or text, data_quantity=name)


def explained_all(names: Iterable[str]) -> str:
    """Return the help of a table: the name and explanation of each entry whose numbers it holds, as Markdown."""
    ids = dict.fromkeys(name.partition(":")[0] for name in names)
    return "\n\n".join(plain(named(_(ENTRIES[id_].name), explained(id_))) for id_ in ids)


def quantity_tile(id_: str, estimate: Estimate, *lines: str, more: str = "") -> Tile:
    """Return the tile of a quantity with *lines* below its number; *more*: what its explanation begins with."""
    quantity = ENTRIES[id_]
    name, form = _(quantity.name), FORMS[quantity.unit]
    if quantity.unit in WITH_INTERVAL:
        tile = estimate_tile(name, estimate, paragraph(lines), form)
    else:
        value = DASH if estimate.value is None else written(estimate.value, quantity.unit)
        tile = Tile(name, value, lines)
    return replace(tile, explained=explained(id_, more))
