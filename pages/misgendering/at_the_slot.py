"""delta and delta*: four probabilities at a slot, moved by hand (004 appendix E)."""

import pandas as pd
import streamlit as st

from evenhand.core.charts.misgendering import slot
from evenhand.core.errors import EvenhandError
from evenhand.core.misgendering.agreement import theory
from evenhand.core.report.numbers import percent, plain_number
from evenhand.pages.ui.charts import show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.text import plain, spoken

FIRST = {"he": 0.5, "she": 0.3, "they": 0.15, "xe": 0.05}
FIRST_PREFERRED = "she"


@st.fragment
def show_slot() -> None:
    """Sliders left, the answer right; nothing else on the page runs again."""
    st.write(
        _(
            "A model that writes one of four forms samples it by probability. The probability-based method"
            " considers only one form: the one that makes the whole sentence most probable. Change the"
            " probabilities and see how often a sampled form differs from it."
        )
    )
    left, right = st.columns([2, 3], gap="large")
    with left:
        given = {
            form: st.slider(
                spoken(_("Probability of {form} given the text before the slot").format(form=form)),
                0.0,
                1.0,
                p,
                0.01,
                key=f"p-{form}",
            )
            for form, p in FIRST.items()
        }
        forms = {form: plain(form) for form in FIRST}
        preferred = choose(_("Form preferred by the whole sentence"), forms, "preferred", first=FIRST_PREFERRED)
    with right, st.container(key="slot-answer"):
        try:
            _answer(given, preferred)
        except EvenhandError as error:
            show_error(error)


def _answer(given: dict[str, float], preferred: str) -> None:
    found = theory(given, preferred)
    reason = plain(_(found.reason.message)) if found.reason else None
    with st.container(horizontal=True):
        delta = DASH if found.delta is None else plain_number(found.delta)
        least = DASH if found.delta_star is None else plain_number(found.delta_star)
        st.metric(
            "δ", delta, width="content", help=reason or _("1 − probability of the preferred form ÷ sum of all four")
        )
        st.metric(
            "δ*", least, width="content", help=reason or _("the same with the most probable form: the lower bound")
        )
    if found.delta is None or found.delta_star is None:
        st.info(reason or "")
        return
    likeliest = max(found.shares, key=lambda form: found.shares[form])
    says = _(
        "A sampled form differs from {preferred} in {delta} of cases. If {likeliest} were preferred, it"
        " would be {least}; no preference does better."
    ).format(preferred=preferred, likeliest=likeliest, delta=percent(found.delta), least=percent(found.delta_star))
    data = pd.DataFrame(
        [{"form": form, "share": share, "preferred": form == preferred} for form, share in found.shares.items()]
    )
    rows = data.assign(delta=found.delta, delta_star=found.delta_star)
    chart = slot(data, description=says, say=_, palette=colours())
    show_chart(chart, rows, key="slot", says=says)
    st.caption(
        _(
            "Only the ratios of the four probabilities matter: multiplying all by 0.01 changes nothing."
            " Even for a model that is right, δ is above 0 as long as other forms have any probability."
        )
    )
