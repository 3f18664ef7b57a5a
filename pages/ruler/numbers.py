"""How the page Ruler writes numbers, reasons and tables of sentences."""

from collections.abc import Sequence

import streamlit as st

from core.models.planted.names import RAIN, PlantedModel
from pages.ui.language import _
from pages.ui.numbers import number

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def scientific(value: float, digits: int) -> str:
    """A very small number as people write it: 1 × 10⁻⁷."""
    head, power = f"{value:.{digits}e}".split("e")
    return f"{head} × 10{str(int(power)).translate(RAISED)}".replace("-", "−")


def planted_as(plant: PlantedModel) -> str:
    """What was planted, in words."""
    size = number(plant.size, "+.4g") if plant.size else "0"
    if plant.kind == "offset":
        return _("a constant {size} in every sentence, made inside the network").format(size=size)
    if plant.kind == "pairs":
        text = _("{one} for words of one mask, {two} for words of two; the sentence does not matter")
        return text.format(one=size, two=number(-plant.size * 12 / 7, "+.4g"))
    if plant.kind == "context":
        text = _("{with_rain} where {rain} stands in the sentence, {without} elsewhere; the words do not matter")
        return text.format(with_rain=size, without=number(-plant.size, "+.4g"), rain=RAIN)
    return _("{size} for every word pair in every sentence").format(size=size)
