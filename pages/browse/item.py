"""One item on the page Browse: its text, why it has its status, where it comes from, what happened, who says what."""

import html
import json
from typing import Any

import streamlit as st

from annotations.agreement.disagreements import items_shown_to
from annotations.browse.history import Record, record_of
from annotations.browse.search import found_ids, neighbours, uid_of
from annotations.database.store import Store
from annotations.projects.projects import guidelines
from annotations.types import Annotator, Project
from core.charts.style import Palette, palette
from core.errors import NotFound
from pages.browse.filters import from_address
from pages.browse.history import show_history
from pages.browse.talk import show_actions, show_talk
from pages.browse.text import VEIL, found_in, marked, marks, state_name, veiled
from pages.ui.head import show_error
from pages.ui.language import _
from pages.ui.numbers import DASH
from pages.ui.sentences import choice_name
from pages.ui.text import paragraph, plain


def opened() -> str | None:
    """The public id of the item that is open, if any; the address holds it."""
    return st.query_params.get("item") or None


def open_item(uid: str) -> None:
    """Open an item."""
    st.query_params["item"] = uid


def close() -> None:
    """Back to the list."""
    st.query_params.pop("item", None)


def show_item(store: Store, project: Project, uid: str, reader: Annotator | None) -> None:
    """Everything about the item of that public id, as far as *reader* (None: the lead) may see it."""
    try:
        found = record_of(store, project, uid, reader=reader)
    except NotFound as error:
        show_error(error)
        st.button(_("Back to the list"), icon=":material/arrow_back:", on_click=close)
        return
    _steps(store, project, found, reader)
    if reader is not None and not any(one.kind == "label" for one in found.history):
        st.info(_("You have not labelled this item: nothing of it is shown here."), icon=":material/visibility_off:")
        return
    if reader is not None and found.finished:
        items_shown_to(store, reader, [uid])  # what is said to everybody may tell what others chose
    names = {
        one.code: choice_name(one) for each in guidelines(store, project) for one in (*each.choices, *each.reasons)
    }
    _card(project, found, reader, palette(st.context.theme.type), names)
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_history(store, project, found, reader, names)
        _source(found)
    with right:
        show_talk(store, project, found, reader)
        show_actions(project, found, reader)


def _steps(store: Store, project: Project, found: Record, reader: Annotator | None) -> None:
    """Back to the list, and to the items before and after it."""
    ids = found_ids(store, project, from_address(project, reader))
    before, after, place = neighbours(ids, found.row.item.id)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.button(_("Back to the list"), icon=":material/arrow_back:", key="browse-back", on_click=close)
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            if place:
                st.caption(
                    plain(_("{place} of {all}").format(place=f"{place:,}", all=f"{len(ids):,}")), width="content"
                )
            for key, icon, item, name in (
                ("browse-before", ":material/chevron_left:", before, _("The item before")),
                ("browse-after", ":material/chevron_right:", after, _("The next item")),
            ):
                if item is None:
                    st.button("", icon=icon, key=key, disabled=True, help=name)
                else:
                    st.button("", icon=icon, key=key, help=name, on_click=open_item, args=(uid_of(store, item),))


def _card(project: Project, found: Record, reader: Annotator | None, colours: Palette, names: dict[str, str]) -> None:
    item = found.row.item
    context = ""
    if item.context:
        said = found_in(item.context, (), colours)
        context = f'<div style="color:{colours.soft};white-space:pre-wrap;overflow-wrap:anywhere">{said}</div>'
    hidden = ' class="veiled" tabindex="0"' if veiled(project, item) else ""
    st.html(
        f'{VEIL}<article data-item="{html.escape(item.uid)}" style="border:1px solid {colours.line};border-radius:12px;'
        f'padding:14px 18px;background:{colours.card};color:{colours.ink}"><div{hidden}>{context}'
        f'<div style="font-size:1.2rem;line-height:1.9;white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{marked(item, (), colours)}</div></div>{_state(project, found, reader, colours, names)}</article>"
    )


def _state(project: Project, found: Record, reader: Annotator | None, colours: Palette, names: dict[str, str]) -> str:
    row = found.row
    said = [row.item.pair] if row.item.pair else []
    said.append(f"{row.item.file} · {row.item.line:,}")
    if reader is not None:
        return f'<div style="color:{colours.soft};font-size:.85rem">{html.escape(" · ".join(said))}</div>'
    said.insert(1, _("labels: {labels} of {wanted}").format(labels=row.labels, wanted=row.wanted))
    colour = {"accepted": colours.good, "rejected": colours.bad}.get(row.item.status, colours.soft)
    why = paragraph(_sentence(note.message, note.values, names) for note in found.because)
    kept = "".join(
        f'<span style="border:1px solid {colours.line};border-radius:999px;padding:1px 10px;font-size:.8rem;'
        f'color:{colours.soft};white-space:nowrap">{html.escape(one)}</span>'
        for one in marks(row, project)
    )
    about, state = html.escape(" · ".join(said)), html.escape(state_name(row, project))
    return (
        f'<div style="color:{colours.soft};font-size:.85rem;overflow-wrap:anywhere">{about}</div>'
        f'<div style="margin-top:8px"><b style="color:{colour}">{state}</b> {html.escape(why)}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:6px;margin-top:8px">{kept}</div>'
    )


def _sentence(message: str, values: dict[str, Any], names: dict[str, str]) -> str:
    shown = {name: names.get(value, value) if name == "choice" else value for name, value in values.items()}
    return _(message).format(**shown)


def _source(found: Record) -> None:
    """Where the item comes from: file, line, id and every column that came along."""
    item = found.row.item
    with st.expander(_("Where it comes from")):
        rows = [(_("Id"), item.uid), (_("File"), item.file), (_("Line"), f"{item.line:,}")]
        if item.keyword:
            rows += [(_("Keyword"), item.keyword), (_("Counterpart"), item.counterpart or DASH)]
        rows += [(name, value if isinstance(value, str) else _shown(value)) for name, value in item.extra.items()]
        colours = palette(st.context.theme.type)
        body = "".join(
            f'<dt style="color:{colours.soft};font-size:.82rem;margin-top:6px">{html.escape(name)}</dt>'
            f'<dd style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere">{html.escape(value)}</dd>'
            for name, value in rows
        )
        st.html(f"<dl style='margin:0'>{body}</dl>")


def _shown(value: Any) -> str:
    return DASH if value in (None, [], {}) else json.dumps(value, ensure_ascii=False)
