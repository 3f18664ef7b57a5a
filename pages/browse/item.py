"""One item on the page Browse: text, reason of the status, source, history, comments."""

import json
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.agreement.disagreements import record_item_reveals
from evenhand.annotations.browse.history import ItemRecord, record_of
from evenhand.annotations.browse.search import neighbours, search_ids, uid_of
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import guidelines
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import NotFound
from evenhand.pages.browse.filters import from_address
from evenhand.pages.browse.history import show_history
from evenhand.pages.browse.talk import show_actions, show_talk
from evenhand.pages.browse.text import found_in, marked, marks, state_name, veiled
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import choice_name
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import paragraph, plain


def opened() -> str | None:
    """The public id of the item that is open, if any; the address holds it."""
    return st.query_params.get("item") or None


def open_item(uid: str) -> None:
    """Open an item."""
    st.query_params["item"] = uid


def close() -> None:
    """Back to the list."""
    st.query_params.pop("item", None)


@asks("see_all_labels")
def show_item(store: Store, project: Project, uid: str, reader: Annotator | None) -> None:
    """The item with that public id, as far as *reader* (None: the lead) may see it."""
    try:
        found = record_of(store, project, uid, reader=reader)
    except NotFound as error:
        show_error(error)
        st.button(_("Back to the list"), icon=":material/arrow_back:", on_click=close)
        return
    _steps(store, project, found, reader)
    if reader is not None and not any(one.kind == "label" for one in found.history):
        st.info(_("You have not labelled this item, so nothing is shown."), icon=":material/visibility_off:")
        return
    if reader is not None and found.finished:
        record_item_reveals(store, reader, [uid])  # public comments may reveal choices of others
    names = {one.code: choice_name(one) for each in guidelines(store, project) for one in each.options}
    _card(project, found, reader, names)
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_history(store, project, found, reader, names)
        _source(found)
    with right:
        show_talk(store, project, found, reader)
        show_actions(project, found, reader)


def _steps(store: Store, project: Project, found: ItemRecord, reader: Annotator | None) -> None:
    """Back to the list, and to the items before and after it."""
    ids = search_ids(store, project, from_address(project, reader))
    before, after, place = neighbours(ids, found.row.item.id)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.button(_("Back to the list"), icon=":material/arrow_back:", key="browse-back", on_click=close)
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            if place:
                st.caption(
                    plain(_("{place} of {all}").format(place=f"{place:,}", all=f"{len(ids):,}")), width="content"
                )
            for key, icon, item, name in (
                ("browse-before", ":material/chevron_left:", before, _("Previous item")),
                ("browse-after", ":material/chevron_right:", after, _("Next item")),
            ):
                if item is None:
                    st.button("", icon=icon, key=key, disabled=True, help=name)
                else:
                    st.button("", icon=icon, key=key, help=name, on_click=open_item, args=(uid_of(store, item),))


def _card(project: Project, found: ItemRecord, reader: Annotator | None, names: dict[str, str]) -> None:
    item = found.row.item
    context = element("div", found_in(item.context, ()), "context") if item.context else ""
    text = joined([context, element("div", marked(item, ()), "completion")])
    shown = element("div", text, "veiled", tabindex="0") if veiled(project, item) else text
    show_html(element("article", joined([shown, _state(project, found, reader, names)]), "card", data_item=item.uid))


def _state(project: Project, found: ItemRecord, reader: Annotator | None, names: dict[str, str]) -> Markup:
    row = found.row
    facts = [row.item.pair] if row.item.pair else []
    facts.append(f"{row.item.file} · {row.item.line:,}")
    if reader is not None:
        return below(" · ".join(facts))
    facts.insert(1, _("labels: {labels} of {wanted}").format(labels=row.labels, wanted=row.wanted))
    tone = {"accepted": "good", "rejected": "bad"}.get(row.item.status, "soft")
    state = span(state_name(row, project), f"strong {tone}")
    why = paragraph(_sentence(note.message, note.values, names) for note in found.because)
    tags = joined(span(one, "tag") for one in marks(row, project))
    return joined([below(" · ".join(facts)), element("div", joined([state, why], " "), "part"), element("div", tags)])


def _sentence(message: str, values: dict[str, Any], names: dict[str, str]) -> str:
    shown = {name: names.get(value, value) if name == "choice" else value for name, value in values.items()}
    return _(message).format(**shown)


def _source(found: ItemRecord) -> None:
    """The source of the item: file, line, id and imported columns."""
    item = found.row.item
    with st.expander(_("Origin")):
        rows = [(_("Id"), item.uid), (_("File"), item.file), (_("Line"), f"{item.line:,}")]
        if item.keyword:
            rows += [(_("Keyword"), item.keyword), (_("Counterpart"), item.counterpart or DASH)]
        rows += [(name, value if isinstance(value, str) else _value_text(value)) for name, value in item.extra.items()]
        body = joined(joined([element("dt", name, "small"), element("dd", value, "verbatim")]) for name, value in rows)
        show_html(element("dl", body, "columns"))


def _value_text(value: Any) -> str:
    return DASH if value in (None, [], {}) else json.dumps(value, ensure_ascii=False)
