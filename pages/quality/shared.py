"""What both parts of the page Quality share: who may see it, a text with its word, the chart of people."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from annotations.database.store import Store
from annotations.guideline.versions import guidelines
from annotations.types import Item, Project
from core.charts.quality import shares_of_people
from core.charts.style import palette
from core.statistics import Estimate
from pages.agreement.disagreements import open_desk
from pages.ui.charts import show_chart
from pages.ui.language import _
from pages.ui.numbers import DASH
from pages.ui.sentences import choice_name, with_keyword
from pages.ui.text import plain, series

SIGN = {"accept": "✓", "correct": "✓", "reject": "✕", "misgendering": "✕"}


def for_the_lead(store: Store, project: Project) -> bool:
    """Whether the page is shown: somebody whose desk is open in this visit is asked first."""
    reader = open_desk(store, project)
    if reader is None or st.session_state.get("quality-shown") == project.uid:
        return True
    text = _(
        "Your desk as {name} is open. This page names the items that are hidden gold or come again; whoever labels"
        " should not know them."
    )
    st.warning(plain(text.format(name=reader.name)), icon=":material/visibility_off:")
    if st.button(_("I lead this project: show the page"), key="quality-show", icon=":material/visibility:"):
        st.session_state["quality-shown"] = project.uid
        st.rerun()
    return False


def names_of(store: Store, project: Project) -> dict[str, str]:
    """Codes of choices and reasons of every version as the visitor reads them; the newest wording counts."""
    return {each.code: choice_name(each) for one in guidelines(store, project) for each in (*one.choices, *one.reasons)}


def people_chart(
    rows: Iterable[tuple[str, Estimate]], *, key: str, title: str, says: str, table: Sequence[Mapping[str, Any]]
) -> None:
    """One row a person with the interval; *table* is what is downloaded."""
    data = [{"name": name, "value": one.value, "low": one.low, "high": one.high, "n": one.units} for name, one in rows]
    frame = pd.DataFrame(data, columns=["name", "value", "low", "high", "n"])
    chart = shares_of_people(frame, title=title, description=says, say=_, palette=palette(st.context.theme.type))
    show_chart(chart, table, key=key, says=says)


def card(item: Item, about: str, sides: Sequence[str]) -> None:
    """A text from a file, exactly as it is, with what is said about it (escaped HTML of `side`) below."""
    colours = palette(st.context.theme.type)
    context = html.escape(item.context or "")
    before = f'<div style="color:{colours.soft};white-space:pre-wrap">{context}</div>' if context else ""
    before = _who(item) + before
    st.html(
        f'<article data-item="{html.escape(item.uid)}" style="border:1px solid {colours.line};border-radius:12px;'
        f'padding:14px 18px;background:{colours.card};color:{colours.ink}">'
        f'<div style="color:{colours.soft};font-size:.85rem">{html.escape(about)}</div>{before}'
        f'<div style="font-size:1.1rem;line-height:1.8;white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{with_keyword(item.text, item.word, item.side, colours)}</div>"
        f'<div style="display:flex;flex-wrap:wrap;gap:10px;margin-top:8px">{"".join(sides)}</div></article>'
    )


def side(heading: str, choice: str, names: Mapping[str, str], lines: Iterable[str] = (), note: str = "") -> str:
    """One label in a card: whose or when, what, why."""
    colours = palette(st.context.theme.type)
    sign = SIGN.get(choice, "•")
    colour = {"✓": colours.good, "✕": colours.bad}.get(sign, colours.ink)
    listed = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    reasons = f'<ul style="margin:4px 0 0;padding-left:1.2em">{listed}</ul>' if listed else ""
    words = f'<div style="white-space:pre-wrap;color:{colours.soft}">{html.escape(note)}</div>' if note else ""
    return (
        f'<div style="flex:1 1 180px;border-left:3px solid {colour};padding:2px 0 2px 10px;font-size:.9rem;'
        f'overflow-wrap:anywhere"><div style="color:{colours.soft}">{html.escape(heading)}</div>'
        f'<div style="color:{colour};font-weight:700">{sign} {html.escape(names.get(choice, choice))}</div>'
        f"{reasons}{words}</div>"
    )


def _who(item: Item) -> str:
    """Of a generation: who is meant. Model and setting stay away: the lead judges the text alone, like everybody."""
    name, sets = item.extra.get("name"), item.extra.get("pronouns") or []
    if item.context is None or not (name or sets):
        return ""
    said_sets = series(map(str, sets)) if isinstance(sets, list) else str(sets)
    text = _("{name}, pronouns: {pronouns}").format(name=name or DASH, pronouns=said_sets or DASH)
    return f'<div style="font-weight:700">{html.escape(text)}</div>'
