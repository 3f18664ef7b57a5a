"""What a template writes of the numbers in its facts: estimates, and the quantities of the catalogue by their ids."""

from collections.abc import Mapping
from typing import Any

from jinja2.runtime import Context

from evenhand.annotations.papers.blocks import DASH, Say
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import written
from evenhand.core.errors import N_
from evenhand.core.statistics.posterior import FEWEST_BY_T


class Unstated(Exception):
    """A sentence has a number that the facts do not state."""


def named(context: Context, id_: str, say: Say) -> str:
    """Return the name of a quantity with its population."""
    return ENTRIES[id_].named(say, str(context["labels_name"]))


def number(
    context: Context, id_: str, *, short: bool = False, of: Mapping[str, Any] | None = None, or_dash: bool = False,
    say: Say,
) -> str:  # fmt: skip
    """Return a quantity of the facts, with its interval or the reason why it has none; *short*: without the reason.

    *of*: other quantities by id, as those of a pilot. Raises Unstated for a quantity that is not there; with *or_dash*,
    it is a dash.
    """
    quantity, found = ENTRIES[id_], (context["quantities"] if of is None else of).get(id_)
    if found is None:
        if or_dash:
            return DASH
        raise Unstated(id_)
    if short:
        return short_estimate(found)
    if found["value"] is None or quantity.unit in ("share", "coefficient"):
        return estimate(found, say)
    return written(found["value"], quantity.unit)


def some(context: Context, id_: str) -> bool:
    """Return whether a quantity is stated and above 0."""
    return bool(context["quantities"].get(id_, {}).get("value"))


def stated(context: Context, prefix: str, before_filtering: bool = False) -> list[str]:
    """Return the ids of measures that the facts state; *before_filtering*: not those of the kept items alone."""
    found = [ENTRIES[id_] for id_ in context["quantities"] if id_.startswith(prefix)]
    kept = ("kept",) if before_filtering else ()
    return [one.id for one in found if one.unit != "count" and one.population.code not in kept]


OVER_ARTICLES = N_(
    "a 95% interval from a Bayesian bootstrap of {clusters} source articles (Wilson's where none of them has several"
    " items; no interval for fewer than {fewest})"
)
OVER_CONTEXTS = N_(
    "a 95% interval from a Bayesian bootstrap of {clusters} contexts (Wilson's where none of them has several items; no"
    " interval for fewer than {fewest})"
)
OF_UNITS = N_("Wilson's 95% interval")
OF_UNITS_MODIFIED = N_("Wilson's 95% interval, modified for rare counts")


def how_made(context: Context, id_: str, say: Say) -> str:
    """Return how the interval of a share was made, in words. Raises Unstated where the facts do not have it."""
    found = context["quantities"].get(id_)
    if found is None:
        raise Unstated(id_)
    if "clusters" not in found:
        return say(OF_UNITS_MODIFIED if "modified" in str(found.get("method")) else OF_UNITS)
    text = OVER_ARTICLES if context["project"]["kind"] == "sentences" else OVER_CONTEXTS
    return say(text, clusters=f"{found['clusters']:,}", fewest=FEWEST_BY_T)


def estimate(found: Mapping[str, Any], say: Say) -> str:
    """Return an estimate of the facts with its interval, or a dash and the reason."""
    if found["value"] is None:
        return DASH + say.in_brackets(reason(found, say))
    if found["low"] is None or found["high"] is None:
        why = say.in_brackets(say(found["note"], **found["note_values"])) if "note" in found else ""
        return f"{found['value']:.3f}{why}"
    return short_estimate(found)


def reason(found: Mapping[str, Any], say: Say) -> str:
    """Return why an estimate has no value."""
    return say(found["value_reason"], **found["value_values"])


def short_estimate(found: Mapping[str, Any]) -> str:
    """Return an estimate with its interval or a dash, without a reason."""
    if found["value"] is None:
        return DASH
    if found["low"] is None or found["high"] is None:
        return f"{found['value']:.3f} ({DASH})"
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"
