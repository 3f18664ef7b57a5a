"""The log of a project on the page Browse: its events, newest first."""

import json
from typing import Any

import streamlit as st

from evenhand.annotations.database.events import Event, events
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project
from evenhand.pages.browse.history import action_name
from evenhand.pages.ui.charts import csv_bytes
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.text import named, plain, series

SHOWN = 50


def show_log(store: Store, project: Project) -> None:
    """The last events of a project; all of them as a file."""
    found = events(store, project, last=SHOWN)
    if not found:
        return
    with st.expander(_("Log of this project"), icon=":material/history:"):
        names = {one.uid: one.name for one in annotators(store, project, active=False)}
        rows = [_event_row(one, names) for one in reversed(found)]
        st.dataframe(rows, hide_index=True, key="browse-log")
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            text = _("The last {n}; the file contains all entries.") if len(found) == SHOWN else ""
            st.caption(plain(text.format(n=SHOWN)))
            st.download_button(
                _("Download all (CSV)"), lambda: table(project), "events.csv", "text/csv", key="browse-log-csv",
                icon=":material/download:", type="tertiary", on_click="ignore",
            )  # fmt: skip


def _event_row(one: Event, names: dict[str, str]) -> dict[str, Any]:
    about = names.get(one.annotator or "", "")
    said = series(named(name, value) for name, value in one.data.items() if value not in (None, "", [], {}))
    return {
        _("When"): moment(one.created),
        _("What"): action_name(one.action),
        _("Who"): one.author or about,
        _("Details"): " · ".join(part for part in (about if one.author else "", said) if part),
    }


def table(project: Project) -> bytes:
    """All events as CSV, oldest first. Data that may quote a text follows the policy for texts."""
    with open_store(project) as store:
        found = events(store, project)
    quotes = text_may_leave(project)
    return csv_bytes(
        [
            {
                "created": one.created, "action": one.action, "author": one.author, "item": one.item or "",
                "annotator": one.annotator or "",
                "data": json.dumps(one.data, ensure_ascii=False, sort_keys=True) if quotes else "",
            }
            for one in found
        ]
    )  # fmt: skip
