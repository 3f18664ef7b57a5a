"""The five models of the paper beside the visitor's: the scale of s, and Tables 3 and 4."""

import streamlit as st

from evenhand.core import resources
from evenhand.core.nli.measure import Inference, published
from evenhand.core.nli.types import LABELS
from evenhand.core.published import BesidePrinted, beside_inference
from evenhand.core.statistics import Estimate
from evenhand.pages.nli.numbers import order_in_words
from evenhand.pages.ui.charts import colours, downloads, show_chart
from evenhand.pages.ui.numbers import note_text, number
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, in_brackets, language, paragraph, plain


def show_scale(own: list[tuple[str, Estimate]]) -> None:
    """s of the visitor's classifiers and of the paper's, with the marks of models that know nothing."""
    from evenhand.core.charts.nli import Point, score_scale
    from evenhand.core.language import translate

    lang = language()
    points = [Point(_short(name), e.value, e.low, e.high, own=True) for name, e in own if e.value is not None]
    if not points:
        return
    st.subheader(_("s on its scale"), anchor=False)
    points += [Point(one.model, one.printed) for one in published()]
    says = _(
        "Marks: 0 always neutral, 0.444 random guessing, 0.667 always the same non-neutral label, 1 always"
        " the stereotype. Hollow points: Table 4 of the paper, on its own Japanese sentences; not a ranking."
    )
    chart = score_scale(points, description=says, say=lambda text: translate(text, lang), palette=colours())
    rows = [{"model": p.name, "s": p.value, "low": p.low, "high": p.high, "own": p.own} for p in points]
    show_chart(chart, rows, key="nli-scale", says=says)


def _short(name: str) -> str:
    return name if len(name) <= 32 else "…" + name[-31:]


def show_published(own: Inference | None = None, asked_in: str = "") -> None:
    """Tables 3 and 4: the printed score, the score from the printed shares, and what is not in the paper.

    *own*, with sentences in the language *asked_in*: its shares stand beside those of Table 3.
    """
    with st.expander(_("The five models of the paper (Tables 3 and 4)"), icon=":material/menu_book:"):
        heads = [
            _("Model"), _("s, Table 4"), _("s from Table 3"), _("Rank in the paper"), _("Directional component"),
            "1 − FN", _("Order condition"),
        ]  # fmt: skip
        rows = [
            [
                one.model, f"{one.printed:.3f}", f"{one.from_shares:.4f}", str(one.rank),
                f"{one.directional:.4f}", f"{one.one_minus_fn:.4f}", order_in_words(one.order),
            ]
            for one in published()
        ]  # fmt: skip
        show_html(table(number_columns(heads, range(1, 6)), rows))
        caption(
            "Anantaprayoon, Kaneko and Okazaki 2024; Japanese, 5,420 pairs; the paper gives no"
            " intervals. The directional component, 1 − FN and the order condition are computed from"
            " Table 3 and are not in the paper. By 1 − FN Laboro ranks above Waseda, by s below."
        )
        _shares(None if own is None else beside_inference(own, asked_in))
        downloads(
            [
                {
                    "model": one.model, "s_printed": one.printed, "s_from_table_3": one.from_shares, "rank": one.rank,
                    "directional": one.directional, "fn": one.fn, "one_minus_fn": one.one_minus_fn, "order": one.order,
                }
                for one in published()
            ],
            key="nli-published",
        )  # fmt: skip


def _shares(beside: list[BesidePrinted] | None) -> None:
    """Table 3 as printed: the shares of the three answers of each model on each set; one's own shares beside them."""
    st.markdown("**" + plain(_("Table 3: distribution of answers on each set")) + "**")
    heads = [_("Model"), _("Set"), *LABELS]
    rows = resources.table("published_inference_shares")
    body = [[row["model"], row["set"], *(row[name] for name in LABELS)] for row in rows]
    if beside is None:
        show_html(table(number_columns(heads, (2, 3, 4)), body))
        downloads(list(rows), key="nli-shares")
        return
    reasons = dict.fromkeys(note_text(one.reason) for one in beside if one.reason)
    if any(one.reason is None for one in beside):
        heads += [_("Own: {answer}", answer=name) for name in LABELS]
        for row, start in zip(body, range(0, len(beside), len(LABELS)), strict=True):
            row += map(_own_share, beside[start : start + len(LABELS)])
    show_html(table(number_columns(heads, range(2, len(heads))), body))
    text = _("Own share; in brackets own minus reported. The reported shares are from other models and sentences.")
    st.caption(plain(paragraph([text, *reasons])))
    downloads([_beside_record(one) for one in beside], key="nli-shares")


def _own_share(one: BesidePrinted) -> str:
    own = number(one.own.value, ".3f")
    return own if one.difference is None else in_brackets(own, number(one.difference, "+.3f"))


def _beside_record(one: BesidePrinted) -> dict[str, object]:
    numbers = {"printed": one.printed, "own": one.own.value, "difference": one.difference, "n": one.own.units}
    return {**one.row, **numbers, "reason": note_text(one.reason)}
