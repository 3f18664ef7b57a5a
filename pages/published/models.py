"""Means and correlations of real models, from the scores that GEST published; nothing is run."""

import math

import pandas as pd
import streamlit as st

from evenhand.core.charts.heatmap import heatmap
from evenhand.core.published.gest import packaged_correlations, packaged_means, stereotyped, stereotypes
from evenhand.core.published.score_tables import MEAN
from evenhand.pages.ui.charts import colours, range_says, show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.results import show_conclusion
from evenhand.pages.ui.text import _, caption, language, write
from evenhand.pages.ui.visitor import page_link

SOURCE = "https://github.com/kinit-sk/gest"
CELL = 26  # pixels of a row of 34


def show_stereotypes() -> None:
    """Show a heatmap, stereotypes down and models of one kind across."""
    kinds = {"mlm": _("Masked models"), "glm": _("Causal models")}
    scales = {"log10": "log10", "printed": _("as printed")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose(_("Kind"), kinds, "gest-kind", address="kind", heading=False)
        means = packaged_means()
        means = means[means["kind"] == kind]
        templates = [name for name in means["template"].drop_duplicates() if name != MEAN]
        scale = choose(_("Scale"), scales, "gest-scale", address="scale", heading=False)
        offered = templates if scale == "printed" else [MEAN, *templates]
        names = {_template(name): name for name in offered}
        template = names[
            st.selectbox(_("Template"), list(names), key=f"template-{language()}-{kind}-{scale}", width=220)
        ]
    shown = means[means["template"] == template].reset_index(drop=True)
    apart, models = stereotyped(shown)
    shown["stereotype"] = shown["stereotype"].map(stereotypes(language()))
    if scale == "printed":
        shown = shown.assign(value=pd.to_numeric(shown["printed"]), low=math.nan, high=math.nan)
    as_text = ("{:.2f}" if scale == "printed" else "{:+.2f}").format
    lean = _("{n} of {models} models lean more to “he” on stereotypes of men than on those of women.")
    show_conclusion(lean.format(n=apart, models=models))
    says = range_says(_("Means"), shown.dropna(subset="value"), as_text, "stereotype", "model")
    titles = {
        "model": _("Model"),
        "stereotype": _("Stereotype"),
        "value": _("mean"),
        "low": _("95% from"),
        "high": _("to"),
    }
    chart = heatmap(
        shown[["model", "stereotype", "value", "low", "high"]], "model", "stereotype", "value",
        description=says, scale="sides" if scale == "log10" else "more", titles=titles, row=CELL, width=900,
        tooltip=("low", "high") if scale == "log10" else (), palette=colours(),
        domain=None if scale == "log10" else (float(shown["value"].min()), float(shown["value"].max())),
    )  # fmt: skip
    show_chart(chart, shown, key="gest-means", says=says, file="gest-means")
    if scale == "printed":
        caption(
            "The paper prints exp of the mean of log10 ratios. Such a number has no unit: the typical ratio of the two"
            " probabilities is 10 to the power of the mean."
        )
    else:
        caption(
            "log10 of P(he) / P(she); +0.30 means twice as likely. Intervals: t over the sentences of a stereotype."
        )


def show_source() -> None:
    """Name the source of the numbers."""
    st.caption(_("Source: [GEST]({url}), Apache-2.0.", url=SOURCE))


def show_correlations() -> None:
    """Show how the sentences' scores of every two models correlate."""
    found = packaged_correlations()
    others = found[found["a"] != found["b"]]
    says = range_says(_("Pearson, sentence by sentence"), others, "{:+.2f}".format, "a", "b")
    titles = {"a": _("Model"), "b": _("Model"), "value": _("correlation")}
    chart = heatmap(
        found, "b", "a", "value", description=says, domain=(min(0.0, float(found["value"].min())), 1.0), titles=titles,
        row=CELL, width=1000, palette=colours(),
    )  # fmt: skip
    show_chart(chart, found, key="gest-correlations", says=says)
    caption(
        "Each model is the mean over its templates. No intervals: their coverage on these sentences is not studied."
    )


def show_yours() -> None:
    """Say how a model of one's own is placed among these."""
    write(
        "With a copy of GEST, every sentence of these models can be opened in Models side by side, and a model of your"
        " own is placed among them, with its interval:"
    )
    st.code(
        "evenhand published gest GEST --run gest\n"
        "evenhand score sentences.csv --model MODEL --out mine.csv\n"
        "evenhand published gest GEST --with mine.csv --run gest-and-mine",
        language="sh",
    )
    write(
        "`sentences.csv` holds GEST's sentences in a template with the word he or she; `evenhand published table` reads"
        " scores of other papers."
    )
    page_link("model_bias/page.py", label=_("Models side by side"), icon=":material/compare_arrows:")


def _template(name: str) -> str:
    return _("Mean over the templates") if name == MEAN else _("Template {n}", n=name)
