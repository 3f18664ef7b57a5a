"""How the page Ruler writes numbers and reasons."""

from core.models.plants import RAIN, Plant
from core.statistics import Estimate, Note
from pages._widgets import DASH, _


def said(note: Note | None) -> str:
    """A reason or note in the visitor's language; nothing for None."""
    return _(note.message).format(**note.values) if note else ""


def number(value: float | None, form: str = "+z.3f") -> str:
    """A number with its sign as people write it; an em dash where it is undefined."""
    return DASH if value is None else f"{value:{form}}".replace("-", "−")


def interval(found: Estimate, form: str = "+z.3f") -> str:
    """The value with its 95 % interval, as far as there is one."""
    if found.value is None or found.low is None or found.high is None:
        return number(found.value, form)
    return f"{number(found.value, form)}  [{number(found.low, form)}, {number(found.high, form)}]"


def planted_as(plant: Plant) -> str:
    """What was planted, in words."""
    size = number(plant.size, "+.4g")
    if plant.kind == "offset":
        return _("a constant {size} in every sentence, made inside the network").format(size=size)
    if plant.kind == "pairs":
        text = _("{one} for words of one mask, {two} for words of two; the sentence does not matter")
        return text.format(one=size, two=number(-plant.size * 12 / 7, "+.4g"))
    if plant.kind == "context":
        text = _("{with_rain} where {rain} stands in the sentence, {without} elsewhere; the words do not matter")
        return text.format(with_rain=size, without=number(-plant.size, "+.4g"), rain=RAIN)
    return _("{size} for every word pair in every sentence").format(size=number(plant.size, "+.4g"))
