"""The parts of the page Agreement for generations: four ways of comparison, models by pronouns, marks."""

from typing import Any

import pandas as pd
import streamlit as st

from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.agreement.schemes import FLAG_OF, SCALE_OF, Way, mark_agreement, ways_of
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import guideline, has_own_scheme
from evenhand.annotations.projects.pipeline_counts import state
from evenhand.annotations.types import Project
from evenhand.core.charts.heatmap import heatmap
from evenhand.core.human_vs_rule.mark_agreement import MarkAgreement
from evenhand.core.statistics import Estimate, holm
from evenhand.pages.agreement.charts import by_chance, traced
from evenhand.pages.ui.charts import downloads, show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, interval_or_reason, note_text
from evenhand.pages.ui.sentences import choice_name
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.text import named, paragraph, plain

MEASURES = ("pairwise", "unanimity", "alpha", "ac1")


def chosen_way(store: Store, project: Project) -> Way:
    """The labels to compare; for sentences always the choices."""
    if project.kind != "generations":
        return "four"
    ways = ways_of(store, project)
    if has_own_scheme(store, project):
        heads = {True: _("Flag"), False: _("Scale")}
        more = {
            way: plain(named(heads[way.startswith(FLAG_OF)], choice_name(one)))
            for way, one in ways.items()
            if one is not None
        }
        chosen = choose(_("Compare by"), {"four": _("Choices"), **more}, "own-way")
        if chosen.startswith(SCALE_OF):
            st.caption(_("Krippendorff's alpha takes the order of the points into account; the other measures do not."))
        return chosen
    names: dict[Way, str] = {
        "four": _("Four labels"),
        "three": _("Three: plural they as no pronoun"),
        "two": _("Two: misgendering or not"),
        "flag": _("Flag: extraneous gendered language"),
    }
    return choose(_("Compare by"), names, "way")


def by_model(report: AgreementReport) -> None:
    """One measure for each model and pronoun set as a heatmap."""
    names = {
        "pairwise": _("Pairwise agreement"),
        "unanimity": _("Full agreement of items with at least two blind labels"),
        "alpha": _("Krippendorff's alpha"),
        "ac1": _("Gwet's AC1"),
    }
    measure = st.selectbox(_("Measure"), MEASURES, format_func=names.__getitem__, key="cells-measure")
    found: list[Estimate] = [getattr(measures, measure) for _model, _pronoun, measures in report.cells]
    # 0 means chance for the two coefficients, not for the shares.
    tested = found if measure in ("alpha", "ac1") else [Estimate(None)] * len(found)
    stays = holm(tested)
    rows: list[dict[str, Any]] = [
        {
            "model": model or _("model not named"),
            "pronouns": pronoun or _("not named"),
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "interval": interval_or_reason(estimate),
            "items": measures.items,
            "differs": differs,
        }
        for (model, pronoun, measures), estimate, differs in zip(report.cells, found, stays, strict=True)
    ]
    says = _("{measure} by model and pronouns; 95% intervals over contexts.").format(measure=names[measure])
    says = paragraph(filter(None, (says, by_chance(stays, tested))))
    known = [row["value"] for row in rows if row["value"] is not None]
    chart = heatmap(
        pd.DataFrame(rows),
        "pronouns",
        "model",
        "value",
        description=says,
        domain=(-1, 1) if any(value < 0 for value in known) else (0, 1),
        titles={
            "model": _("Model"),
            "pronouns": _("Pronouns"),
            "value": names[measure],
            "interval": _("95% interval"),
            "items": _("items"),
        },
        tooltip=("interval", "items"),
        mark="differs",
        interval=("low", "high"),
        palette=colours(),
    )
    show_chart(chart, traced([{**row, "measure": measure} for row in rows], report), key="by-model", says=says)


def marks(store: Store, project: Project, report: AgreementReport) -> None:
    """How far two annotators marked the same characters, for wrong pronouns and for gendered words."""
    names = {one.code: choice_name(one) for one in guideline(store, project).options}
    if not has_own_scheme(store, project):
        names = {"pronoun": _("Wrong pronouns"), "extraneous": _("Extraneous gendered words")}
    rows = [
        {
            _("Marks"): names[one.kind],
            "F1": one.pooled.value,
            _("95% interval"): interval_or_reason(one.pooled) if one.pooled.value is not None else DASH,
            _("Mean over texts"): one.mean,
            _("Pairs with marks"): one.pairs,
            _("Both marked"): one.both,
            _("Identical"): one.same,
        }
        for one in _marks(project.uid, state(store), project)
    ]
    number = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(rows, hide_index=True, key="marks", column_config={"F1": number, _("Mean over texts"): number})
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        text = _(
            "F1 of the characters marked by two annotators: 0 = no overlap, 1 = identical. Pairs in which"
            " neither marked anything are excluded. Interval over contexts."
        )
        st.caption(plain(text))
        downloads(traced(rows, report), key="marks-table")
    missing = [one for one in _marks(project.uid, state(store), project) if one.pooled.value is None]
    for one in missing:
        st.caption(plain(named(names[one.kind], note_text(one.pooled.reason))))


@st.cache_data(max_entries=8, show_spinner=False)
def _marks(uid: str, state_of_store: tuple[str, ...], _project: Project) -> tuple[MarkAgreement, ...]:
    with open_store(_project) as store:
        return mark_agreement(store, _project)
