"""Human against rule: what people say of what models wrote, and what the first-pronoun rule says of the same."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import refuse_own_scheme
from evenhand.annotations.types import Project
from evenhand.pages.human_vs_rule import charts
from evenhand.pages.human_vs_rule.differences import differences
from evenhand.pages.ui.results import open_view
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import open_store, page_head


def views(found: charts.PageNumbers) -> dict[str, str]:
    """Return the views with their titles; without labels only what needs none."""
    repetition = {"repetition": _("Repetition")}
    if not found.finished:
        return repetition
    titles = {"agreement": _("Labels vs. rule"), "differences": _("Where they differ"),
              "cells": _("By model, pronouns and setting"), "labels": _("The four labels"), **repetition}  # fmt: skip
    return titles | ({"weighted": _("Weighted to all generations")} if found.finished < found.generations else {})


def show_view(view: str, store: Store, project: Project, found: charts.PageNumbers) -> None:
    """Show what a tab holds."""
    if view == "agreement":
        left, right = st.columns(2, gap="large")
        with left:
            charts.show_measures(found)
        with right:
            charts.confusion(found)
    elif view == "differences":
        differences(store, project, found)
    elif view == "cells":
        charts.by_cell(found)
    elif view == "labels":
        charts.four_labels(found)
    elif view == "weighted":
        charts.weighted_back(found)
    else:
        charts.repeated(found)


page_head("How often do annotators and the first-pronoun rule agree? The rule uses only the first pronoun.")
with open_store() as store:
    project = charts.chosen_project(store)
    if project is None:
        st.stop()
    refuse_own_scheme(store, project)
    with st.spinner(_("Comparing the labels …"), show_time=False):
        found = charts.current(store, project)
    if not charts.nothing_yet(found):
        charts.say_conclusion(found)
    if found.generations:
        with open_view(views(found)) as view:
            show_view(view, store, project, found)
    charts.show_method(found)
