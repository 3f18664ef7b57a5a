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
from evenhand.pages.agreement.disagreements import disagreement_list, show_annotator_models, show_groups
from evenhand.pages.agreement.preferences import show_preferences
from evenhand.pages.agreement.scope import by_form, by_version, chosen_report, chosen_way, on_what, show_left_chosen
from evenhand.pages.ui.choose import open_chosen_project
from evenhand.pages.ui.notices import say_unsettled, say_what_is_missing
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import may, page_head


def parts(store: Store, project: Project, report: AgreementReport, way: Way) -> None:
    """Show the rest in tabs: between annotators, over items, over versions and forms, and the items that they differ
    on."""
    sees_labels = may(store, "see_all_labels", project)
    names = [_("Between annotators"), _("Over items"), _("Versions and forms"), _("Annotator models"), _("Groups")]
    compared = sees_labels and compares(store, project)
    more = [*([_("Preferences")] if compared else []), *([_("Disagreements")] if sees_labels else [])]
    between, over, versions, models, groups, *rest = st.tabs([*names, *more])
    with between:
        left, right = st.columns(2, gap="large")
        with left:
            st.header(_("Pairwise kappa"))
            charts.annotators_in_twos(report)
        with right:
            st.header(_("Compare two annotators"))
            charts.two_annotators(report)
        show_left_chosen(store, project, report)
    with over:
        st.header(_("Labels per item"))
        charts.labels_per_item(report)
        if project.kind == "generations":
            st.header(_("By model and pronouns"))
            charts.by_model(report)
        else:
            st.header(_("By keyword pair"))
            charts.by_keyword_pair(report)
        st.header(_("By category"))
        charts.categories(report)
        if project.kind == "generations" and not compares(store, project):
            st.header(_("Marks"))
            charts.marks(store, project, report)
    with versions:
        by_version(store, project, report)
        by_form(report)
    with models:
        show_annotator_models(store, project, report, way)
    with groups:
        show_groups(store, project, report, way)
    if compared:
        with rest.pop(0):
            show_preferences(store, project)
    for place in rest:
        with place:
            disagreement_list(store, project, report)


page_head(
    "Do the annotators agree? Computed on all labelled items, accepted or not, from labels made before any opinion was"
    " shown."
)
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
        with st.container(key="measures"):
            charts.tiles(report, way)
        parts(store, project, report, way)
    elif report.all_items:
        st.header(_("Labels per item"))
        charts.labels_per_item(report)
    charts.show_method(store, project, report)
