"""The part of the page Agreement on comparisons: how often the text on the left was chosen."""

from collections.abc import Mapping

import streamlit as st

from evenhand.annotations.agreement.left_chosen import LeftChosen, left_chosen
from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.comparison import compares
from evenhand.annotations.projects.pipeline_counts import state
from evenhand.annotations.projects.pseudonyms import pseudonyms
from evenhand.annotations.types import Project
from evenhand.core.statistics import Estimate
from evenhand.pages.agreement.charts import traced
from evenhand.pages.agreement.scope import estimate_text
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import note_text
from evenhand.pages.ui.text import paragraph, plain
from evenhand.pages.ui.visitor import may


def show_left_chosen(store: Store, project: Project, report: AgreementReport) -> None:
    """The share for everybody and for each annotator; nothing in a project of single texts."""
    if not compares(store, project):
        return
    st.subheader(_("Left text chosen"))
    found = _shares_of(project.uid, state(store), project)
    if found.share.value is None:
        st.caption(plain(note_text(found.share.reason)))
        return
    names = {} if may(store, "see_names", project) else pseudonyms(store, project)
    people = [(names.get(name, name), one) for name, one in found.by_annotator]
    st.dataframe(
        [_row(_("Everybody"), found.share), *(_row(*one) for one in people)], hide_index=True, key="left-chosen"
    )
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(plain(paragraph(_explained(found))))
        downloads(traced([_numbers("", found.share), *(_numbers(*one) for one in people)], report), key="left-table")


def _explained(found: LeftChosen) -> list[str]:
    said = [
        _(
            "Of the labels that choose a text, the share that chose the one on the left. Left and right are drawn for"
            " each annotator and item, so 50% is expected where only the texts count. 95% intervals over contexts."
        ),
        _("Ties: {ties}.").format(ties=f"{found.ties:,}"),
    ]
    if found.unknown:
        text = _("Labels from files that do not say which text was on the left: {number}.")
        said.append(text.format(number=f"{found.unknown:,}"))
    return said


def _row(name: str, one: Estimate) -> Mapping[str, object]:
    return {_("Annotator"): name, _("Left chosen"): estimate_text(one, percent=True), _("Labels"): one.units}


def _numbers(name: str, one: Estimate) -> dict[str, object]:
    return {"annotator": name, "left_chosen": one.value, "low": one.low, "high": one.high, "labels": one.units}


@st.cache_data(max_entries=8, show_spinner=False)
def _shares_of(uid: str, state_of_store: tuple[str, ...], _project: Project) -> LeftChosen:
    with open_store(_project) as store:
        return left_chosen(store, _project)
