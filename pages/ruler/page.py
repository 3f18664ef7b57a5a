"""The reference scale: each planted model, what was planted, what measures say; and a model next to what is chance."""

from typing import TYPE_CHECKING

import streamlit as st

from evenhand.core.errors import EvenhandError
from evenhand.core.models.planted.names import RAIN, PlantedModel, plant_of
from evenhand.pages.ruler.own_model import planted_marks, show_model
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.numbers import DASH, note_text, number
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import _, caption
from evenhand.pages.ui.visitor import page_head, show_error

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def scientific(value: float, digits: int) -> str:
    """Return a very small number as people write it: 1 × 10⁻⁷."""
    head, power = f"{value:.{digits}e}".split("e")
    return f"{head} × 10{str(int(power)).translate(RAISED)}".replace("-", "−")


def planted_as(plant: PlantedModel) -> str:
    """Return in words what was planted."""
    size = number(plant.size, "+.4g") if plant.size else "0"
    if plant.kind == "offset":
        return _("a constant {size} in every sentence, set inside the network", size=size)
    if plant.kind == "pairs":
        text = _("{one} for one-mask words, {two} for two-mask words; the sentence does not matter")
        return text.format(one=size, two=number(-plant.size * 12 / 7, "+.4g"))
    if plant.kind == "context":
        text = _("{with_rain} in sentences with {rain}, {without} elsewhere; the words do not matter")
        return text.format(with_rain=size, without=number(-plant.size, "+.4g"), rain=RAIN)
    return _("{size} for every word pair in every sentence", size=size)


if TYPE_CHECKING:
    from evenhand.core.ruler.planted import Mark


def show_planted() -> "list[Mark]":
    """Show the verdict, the table of planted models and, on demand, every quantity; return the marks.

    An error of measuring is shown, and the list is empty.
    """
    st.header(_("Are the measures correct?"), anchor=False)
    try:
        with st.spinner(_("Measuring the planted models …"), show_time=True):
            marks = planted_marks()
    except EvenhandError as error:
        show_error(error)
        return []
    _verdict(marks)
    _models(marks)
    _everything(marks)
    return marks


def _verdict(marks: "list[Mark]") -> None:
    from evenhand.core.ruler.planted import TOLERANCE, ruler_sentences

    failed = [mark for mark in marks if not mark.passed]
    models = len({mark.model for mark in marks})
    if failed:
        text = _("{failed} of {all} quantities are not recovered. Do not trust any value from this app.")
        st.error(text.format(failed=len(failed), all=len(marks)), icon=":material/error:")
        return
    text = _(
        "Yes: {models} planted models on {sentences} sentences, and all {all} quantities are recovered"
        " within {tolerance}."
    )
    told = text.format(models=models, sentences=len(ruler_sentences()), all=len(marks), tolerance=f"{TOLERANCE:g}")
    st.success(told, icon=":material/straighten:")


def _models(marks: "list[Mark]") -> None:
    """Show a row per planted model: offset, share of contexts, side AUC, each as planted → measured."""
    rows = []
    for name in dict.fromkeys(mark.model for mark in marks):
        own = {mark.quantity: mark for mark in marks if mark.model == name}
        failed = sum(not mark.passed for mark in own.values())
        rows.append(
            {
                _("Model"): name,
                _("Planted bias"): planted_as(plant_of(name)),
                _("Offset"): _came_back(own["offset"], "+z.3f"),
                _("Variance share of contexts"): _came_back(own["contexts_share"], "z.0%"),
                _("Side AUC"): _came_back(own["side_auc"], "z.2f"),
                _("Largest error"): _tiny(own["worst_sentence"].measured.value),
                _("Conclusion"): "✓ " + _("recovered") if not failed else "✗ " + _("{n} not recovered", n=failed),
            }
        )
    show_records(rows)
    caption(
        "Planted → measured. Offset: the mean of Bias_c (log10), + leans male. Variance share of contexts:"
        " how much of Bias_c depends on the sentence; the rest is offset and word pair. Side AUC: 0.5"
        " where the sentence does not reveal its original word. Largest error: of any single sentence, in"
        " log10."
    )


def _tiny(value: float | None) -> str:
    return scientific(value, 0) if value else "0"


def _error(value: float | None) -> str:
    return DASH if value is None else scientific(value, 1) if value else "0"


def _came_back(mark: "Mark", form: str) -> str:
    return f"{number(mark.planted, form)} → {number(mark.measured.value, form)}"


def _everything(marks: "list[Mark]") -> None:
    from evenhand.core.ruler.planted import QUANTITIES, in_words

    with st.expander(_("All quantities"), icon=":material/table_rows:"):
        rows = [
            {
                _("Model"): mark.model,
                _("Quantity"): _(QUANTITIES[mark.quantity]),
                _("Planted"): number(mark.planted, "+z.4f"),
                _("Measured"): number(mark.measured.value, "+z.4f"),
                _("Difference"): _error(mark.difference),
                _("Conclusion"): ("✓ " if mark.passed else "✗ ") + note_text(in_words(mark)),
            }
            for mark in marks
        ]
        st.dataframe(rows, hide_index=True, key="planted-all")
        downloads(rows, key="planted-marks")


page_head(
    "Can the measures be trusted, and what is a large value? First the measures are checked on"
    " models with a planted bias. Then your model is compared with the range under chance."
)
marks = show_planted()
show_model(marks)
