"""Agreement: how far the annotators of a project agree, and where they do not."""

import streamlit as st

from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.agreement.merged_labels import Way
from evenhand.annotations.agreement.report import with_codes
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import compares
from evenhand.annotations.projects.annotators import pseudonyms
from evenhand.annotations.types import Project
from evenhand.pages.agreement import charts
from evenhand.pages.agreement.disagreements import show_annotator_models, show_groups
from evenhand.pages.agreement.preferences import show_preferences
from evenhand.pages.agreement.scope import by_form, by_version, chosen_report, chosen_way, on_what, show_left_chosen
from evenhand.pages.agreement.selection import (
    Selection,
    choose_pair,
    selection_of,
    show_chips,
    show_disagreements,
    show_items,
)
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.notices import say_unsettled, say_what_is_missing
from evenhand.pages.ui.results import open_view
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import may, page_head


def views(store: Store, project: Project) -> dict[str, str]:
    """Return the views that the visitor may open, with their titles."""
    titles = {
        "annotators": _("Between annotators"), "items": _("Over items"), "versions": _("Versions and forms"),
        "models": _("Annotator models"), "groups": _("Groups"),
    }  # fmt: skip
    if not may(store, "see_all_labels", project):
        return titles
    compared = {"preferences": _("Preferences")} if compares(store, project) else {}
    return titles | compared | {"disagreements": _("Disagreements")}


def show_view(view: str, store: Store, project: Project, report: AgreementReport, way: Way, chosen: Selection) -> None:
    """Show what a tab holds."""
    if view == "annotators":
        between_annotators(store, project, report, chosen)
    elif view == "items":
        over_items(store, project, report, chosen)
    elif view == "versions":
        by_version(store, project, report)
        by_form(report)
    elif view == "models":
        show_annotator_models(store, project, report, way)
    elif view == "groups":
        show_groups(store, project, report, way)
    elif view == "preferences":
        show_preferences(store, project)
    else:
        show_disagreements(store, project, report, chosen)


def between_annotators(store: Store, project: Project, report: AgreementReport, chosen: Selection) -> None:
    """Show kappa of every two annotators and two of them against each other; next to it the measures of all together,
    below the items of a chosen cell."""
    opens = may(store, "see_all_labels", project)
    left, right = st.columns(2, gap="large")
    with left:
        charts.annotators_in_twos(report, chosen.two)
        st.header(_("Compare two annotators"))
        charts.two_annotators(report, chosen, opens=opens)
    with right:
        if opens and chosen.two:
            st.header(_("Items of this cell") if chosen.cell else _("Items on which they differ"))
            show_items(store, project, report, chosen)
        charts.show_measures(report)
    show_left_chosen(store, project, report)


def over_items(store: Store, project: Project, report: AgreementReport, chosen: Selection) -> None:
    """Show agreement by keyword pair or model, by category, the number of labels, and the marks."""
    if project.kind == "generations":
        charts.by_model(report)
    else:
        opens = may(store, "see_all_labels", project)
        left, right = st.columns(2, gap="large")
        with left:
            charts.by_keyword_pair(report, chosen.pair, opens=opens)
        with right:
            if opens:
                choose_pair(report)
            if opens and chosen.pair:
                show_items(store, project, report, chosen)
    st.header(_("By category"))
    charts.categories(report)
    st.header(_("Labels per item"))
    charts.labels_per_item(report)
    if project.kind == "generations" and not compares(store, project):
        st.header(_("Marks"))
        charts.marks(store, project, report)


page_head("Do the annotators agree? Computed from labels made before any opinion was shown.")
with open_chosen_project() as (store, project):
    say_unsettled(store, project)
    way = chosen_way(store, project)
    with st.spinner(_("Comparing the labels …"), show_time=False):
        report = chosen_report(store, project, way)
        if not may(store, "see_names", project):
            report = with_codes(report, pseudonyms(store, project))
    on_what(report)
    say_what_is_missing(store, project)
    if not charts.nothing_yet(report):
        charts.say_conclusion(report)
        chosen = selection_of(report, way)
        show_chips(report, chosen)
        with open_view(views(store, project)) as view:
            show_view(view, store, project, report, way, chosen)
    elif report.all_items:
        st.header(_("Labels per item"))
        charts.labels_per_item(report)
    charts.show_method(store, project, report)
