"""The numbers of one classifier: score, direction, order, fraction neutral; the labels of each set."""

from typing import TYPE_CHECKING

import streamlit as st
from markupsafe import Markup

from evenhand.core.nli.measure import against_margin
from evenhand.core.nli.types import LABELS, SETS
from evenhand.core.report.numbers import percent
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.intervals import ALIKE_AT_AN_END
from evenhand.pages.ui.charts import colours, downloads, show_chart
from evenhand.pages.ui.equivalence import difference_says, margin_box
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH, bracketed, methods_text, note_text, number
from evenhand.pages.ui.tables import Column, Tile, estimate_cell, show_html, table, tile_grid
from evenhand.pages.ui.text import _, language, named, paragraph, plain

if TYPE_CHECKING:
    from evenhand.core.nli.measure import Inference


def label_names() -> dict[str, str]:
    """The three labels in the visitor's language."""
    return {"entailment": _("entailment"), "contradiction": _("contradiction"), "neutral": _("neutral")}


def order_in_words(order: bool | None) -> str:
    """Whether the order condition holds."""
    return DASH if order is None else _("holds") if order else _("does not hold")


def model_banner(model: str) -> None:
    """What stands above every number of a model that ships with the app, or that was planted."""
    trial_banner([model])
    if model.startswith("planted:"):
        text = _("A planted classifier: its answers are known, so they show whether the measures are right.")
        st.caption(":material/info: " + text)


def show_facts(found: "Inference") -> None:
    """The measures with their intervals and what each means."""
    facts = [
        ("s", _("Bias score s (0: ideal, 1: always the stereotype)")),
        ("directional", _("Directional component (−1 to 1, + follows the stereotype)")),
        ("not_neutral_ns", _("1 − n_n: non-neutral answers on neutral occupations")),
        ("one_minus_fn", _("1 − FN: non-neutral answers over all rows")),
    ]
    tiles = [_tile(label, found[name]) for name, label in facts]
    tiles.append(Tile(_("Order: e_p > e_a, c_a > c_p"), order_in_words(found.order), ("",)))
    show_html(tile_grid(tiles))
    told = [one.reason or one.note for one in found.estimates.values()]
    # That a share of 0 or 1 cannot vary is seen in its interval; the table of the download says it.
    notes = dict.fromkeys(note_text(note) for note in told if note is not None and note.message != ALIKE_AT_AN_END)
    unit = _("occupations") if found.unit == "occupation" else _("rows")
    units = len(found.occupations) or found.rows
    text = _("95% intervals over {units} {unit}; stereotyped and neutral ones are resampled as two samples.")
    methods = methods_text(found.estimates.values())
    st.caption(plain(paragraph([text.format(units=f"{units:,}", unit=unit), methods, *notes])))
    margin = margin_box("share", "nli-margin")
    if tested := difference_says(found["directional"], margin, "z.3f"):
        st.caption(plain(named(dict(facts)["directional"], tested)))
    with st.expander(_("What the measures mean"), icon=":material/help:"):
        st.write(_explained())
    compared = against_margin(found, margin)
    rows = [
        {
            "measure": name, "value": one.value, "low": one.low, "high": one.high, "units": one.units,
            "reason": str(one.reason or ""), "note": str(one.note or ""), "method": one.method,
            "intervals": found.signature, "margin": margin if name in compared else None,
            "answer": compared[name].answer if name in compared else "",
            "smallest_shown": compared[name].smallest if name in compared else None,
        }
        for name, one in found.estimates.items()
    ]  # fmt: skip
    downloads([*rows, {"measure": "order", "value": found.order}], key="nli-measures")


def _explained() -> str:
    return _(
        "s is the mean of three shares: entailment where the gender fits the stereotype (e_p),"
        " contradiction where it does not (c_a), and non-neutral answers on neutral occupations (1 − n_n)."
        " Random guessing gets 0.444, and always giving the same non-neutral label gets 0.667: s alone"
        " does not separate bias from poor inference. The directional component does: it is 0 for both,"
        " because it compares the two genders on the same sentences. 1 − FN counts every non-neutral"
        " answer, whatever its direction. A low value is not better by itself: a classifier that always"
        " answers neutral gets 0 everywhere and has learned nothing."
    )


def _tile(name: str, found: Estimate) -> Tile:
    return Tile(name, number(found.value, ".3f"), (bracketed(found),), note_text(found.reason))


def show_shares(found: "Inference") -> None:
    """The chart of labels per set and its table with intervals."""
    from evenhand.core.charts.nli import label_shares
    from evenhand.core.language import translate

    lang = language()
    st.subheader(_("Distribution of answers"), anchor=False)
    names = label_names()
    rows = [
        {
            "set": name, "label": label, "rows": found.counts[i][k], "share": found[f"{label[0]}_{short}"].value,
            "low": found[f"{label[0]}_{short}"].low, "high": found[f"{label[0]}_{short}"].high,
        }
        for i, (name, short) in enumerate(zip(SETS, "pan", strict=True))
        for k, label in enumerate(LABELS)
    ]  # fmt: skip
    shares = [percent(found[key].value) for key in ("e_p", "c_a", "n_n")]
    says = _("Entailment in PS {e}, contradiction in AS {c}, neutral in NS {n}.", e=shares[0], c=shares[1], n=shares[2])
    chart = label_shares(found, description=says, say=lambda text: translate(text, lang), palette=colours())
    show_chart(chart, rows, key="nli-labels-chart", says=says)
    columns = [Column(_("Set")), *(Column(name, "number") for name in (_("Rows"), *(names[label] for label in LABELS)))]
    show_html(table(columns, (_row(found, i) for i in range(len(SETS)))))


def _row(found: "Inference", i: int) -> list[str | Markup]:
    texts = {
        "PS": _("PS, gender fits the stereotype"),
        "AS": _("AS, gender contradicts the stereotype"),
        "NS": _("NS, neutral occupations"),
    }
    name, short = SETS[i], "pan"[i]
    shares = (found[f"{label[0]}_{short}"] for label in LABELS)
    return [texts[name], f"{sum(found.counts[i]):,}", *(estimate_cell(one, ".3f") for one in shares)]
