"""Shared by both parts of the page Quality: access, a text with its word, the chart of annotators."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.types import Item, Project
from evenhand.core.charts.dots import shares_of_people
from evenhand.core.statistics import Estimate
from evenhand.pages.ui.charts import show_chart
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.sentences import choice_name, item_card, with_keyword
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.tables import element, joined, show_html
from evenhand.pages.ui.text import plain, series


def for_the_lead(store: Store, project: Project) -> bool:
    """Whether to show the page; an annotator with an open desk is asked first."""
    reader = annotator_at_desk(store, project)
    if reader is None or st.session_state.get("quality-shown") == project.uid:
        return True
    text = _(
        "Your desk as {name} is open. This page reveals known answers and retests, which annotators should not know."
    )
    st.warning(plain(text.format(name=reader.name)), icon=":material/visibility_off:")
    if st.button(_("I lead this project: show the page"), key="quality-show", icon=":material/visibility:"):
        st.session_state["quality-shown"] = project.uid
        st.rerun()
    return False


def names_of(store: Store, project: Project) -> dict[str, str]:
    """Codes of choices and reasons of every version as the visitor reads them; the newest wording counts."""
    return {each.code: choice_name(each) for one in guidelines(store, project) for each in one.options}


def people_chart(
    rows: Iterable[tuple[str, Estimate]], *, key: str, title: str, says: str, table: Sequence[Mapping[str, Any]]
) -> None:
    """One row a person with the interval; *table* is what is downloaded."""
    data = [{"name": name, "value": one.value, "low": one.low, "high": one.high, "n": one.units} for name, one in rows]
    frame = pd.DataFrame(data, columns=["name", "value", "low", "high", "n"])
    chart = shares_of_people(frame, title=title, description=says, say=_, palette=colours())
    show_chart(chart, table, key=key, says=says)


def card(item: Item, about: str, judgements: Sequence[Markup]) -> None:
    """A text from a file, exactly as it is, with what is said about it below."""
    text = with_keyword(item.whole_text, item.word, item.side)
    head = joined([about, element("div", _person(item), "strong")])
    show_html(item_card(item.uid, text, judgements, about=head, context=item.context or ""))


def _person(item: Item) -> str:
    """The person meant in a generation.

    Model and setting are hidden: the lead judges the text alone, like everybody.
    """
    name, sets = item.extra.get("name"), item.extra.get("pronouns") or []
    if item.context is None or not (name or sets):
        return ""
    pronouns = series(map(str, sets)) if isinstance(sets, list) else str(sets)
    text = _("{name}, pronouns: {pronouns}")
    return text.format(name=name or DASH, pronouns=pronouns or DASH)
