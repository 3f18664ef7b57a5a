"""The filters of the page Browse, which its address holds, and how texts and states of items are written."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.browse.search import FLAGS, MINED, READER_FLAGS, Filters, SearchRow, imported_files, pairs_of
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import annotators, guidelines
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.types import Span
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.sentences import choice_name, side_word
from evenhand.pages.ui.tables import element, joined
from evenhand.pages.ui.text import _, in_brackets

ADDRESS = ("q", "pair", "side", "status", "flag", "by", "choice", "version", "form", "file", "unfinished")
SIDES, STATUSES, FORMS = ("male", "female"), ("pending", "accepted", "rejected"), ("masked", "original")
MORE = ("by", "choice", "version", "form", "file", "unfinished")
WIDTH = 165  # two of them fit in a row on a telephone


def side_name(side: str) -> str:
    """Return a side in words."""
    return {"male": _("male word"), "female": _("female word")}.get(side, side)


def status_name(status: str, kind: str = "sentences", *, full: bool | None = None) -> str:
    """Return a status in words; generations are finished, neither kept nor dropped. *full*: it has all its labels."""
    done = _("accepted") if kind == "sentences" else _("has a gold label")
    if status == "pending" and full is not None:
        return _("awaiting adjudication") if full else _("awaiting labels")
    return {"pending": _("not decided yet"), "accepted": done, "rejected": _("not accepted")}[status]


def form_name(form: str) -> str:
    """Return in words how an item was shown."""
    return _("keyword masked") if form == "masked" else _("unmasked")


def flag_names(project: Project, reader: Annotator | None) -> dict[str, str]:
    """Return every flag that can be filtered, in words."""
    names = {
        "unlabelled": _("without labels"),
        "partial": _("some labels missing"),
        "aside": _("set aside: all skipped"),
        "skipped": _("skipped by an annotator"),
        "split": _("labels differ"),
        "settled": _("settled by adjudication"),
        "imported_gold": _("gold label from a package"),
        "comments": _("with comments"),
        "talk": _("with a private thread"),
        "notes": _("with notes"),
        "changed": _("label changed or undone"),
        "sent_back": _("awaiting relabelling"),
        "retest": _("drawn for a retest"),
        "pilot": _("in a pilot"),
        "known": _("known answer"),
        "shared": _("in the random share"),
        "released": _("in a release"),
    }
    known = FLAGS if reader is None else READER_FLAGS
    if project.kind == "sentences":
        from evenhand.core.mining.filters import FILTERS  # here: the filters take a tenth of a second to load

        names["mined"] = _("flagged by mining")
        by = {f"{MINED}{code}": _("flagged: {filter}", filter=_(filter_.name)) for code, filter_ in FILTERS.items()}
        names |= by if reader is None else {}
        known = {**known, **by}
    return {flag: name for flag, name in names.items() if flag in known}


def ask(store: Store, project: Project, reader: Annotator | None) -> Filters:
    """Draw the filters and keep the address up to date."""
    _take_address()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        hint = _('Words, "an exact phrase" or an item id')
        st.text_input(_("Search the texts"), key="browse-q", type="search", max_chars=200, placeholder=hint)
        if reader is None:
            with st.popover(_more_label(), icon=":material/tune:"):
                _ask_more(store, project)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if project.kind == "sentences":
            _select("pair", _("Keyword pair"), {pair: pair for pair in pairs_of(store, project)})
            _select("side", _("Side"), {side: side_name(side) for side in SIDES})
        else:
            _select("pair", _("Group"), {pair: pair for pair in pairs_of(store, project)})
        if reader is None:
            _select("status", _("Status"), {status: status_name(status, project.kind) for status in STATUSES})
        _select("flag", _("Attribute"), flag_names(project, reader))
        if any(_value(name) for name in ADDRESS):
            st.button(_("Clear"), key="browse-clear", icon=":material/close:", type="tertiary", on_click=_clear)
    _write_address()
    return _filters(reader, _value)


def _more_label() -> str:
    set_here = sum(bool(_value(name)) for name in MORE)
    return in_brackets(_("Labels and files"), set_here) if set_here else _("Labels and files")


def _ask_more(store: Store, project: Project) -> None:
    versions = guidelines(store, project)
    choices = {choice.code: choice_name(choice) for version in versions for choice in version.choices}
    people = [annotator.name for annotator in annotators(store, project, active=False)]
    _select("by", _("Labelled by"), {name: name for name in people}, wide=True)
    _select("choice", _("with the label"), choices, wide=True)
    _select(
        "version",
        _("under guideline"),
        {str(version.version): f"v{version.version}" for version in versions},
        wide=True,
    )
    if project.kind == "sentences":
        _select("form", _("shown"), {form: form_name(form) for form in FORMS}, wide=True)
    _select("file", _("Imported file"), {file: file for file in imported_files(store, project)}, wide=True)
    switch(
        _("Also search items whose labels are incomplete"),
        key="browse-unfinished",
        box=True,
        explained=_("Leave this off if you label in this project: it reveals other annotators' labels."),
    )


def _select(name: str, label: str, names: Mapping[str, str], *, wide: bool = False) -> None:
    key = f"browse-{name}"
    if st.session_state.get(key) not in names:
        st.session_state[key] = None
    size: Any = "stretch" if wide else WIDTH
    st.selectbox(label, list(names), None, names.__getitem__, key=key, placeholder=_("All"), width=size)


def _value(name: str) -> Any:
    return st.session_state.get(f"browse-{name}") or None


def _take_address() -> None:
    for name in ADDRESS:
        if f"browse-{name}" not in st.session_state:
            asked = st.query_params.get(name)
            start: Any = (asked == "1") if name == "unfinished" else (asked or "" if name == "q" else asked)
            st.session_state[f"browse-{name}"] = start


def _write_address() -> None:
    for name in ADDRESS:
        value = _value(name)
        if value:
            st.query_params[name] = "1" if value is True else value
        elif name in st.query_params:
            del st.query_params[name]


def _clear() -> None:
    for name in ADDRESS:
        st.session_state[f"browse-{name}"] = {"q": "", "unfinished": False}.get(name)


def from_address(project: Project, reader: Annotator | None) -> Filters:
    """Return the filters in the address, without invalid ones."""
    values: dict[str, Any] = {name: st.query_params.get(name) or None for name in ADDRESS}
    allowed = {"side": SIDES, "status": STATUSES, "form": FORMS, "flag": tuple(flag_names(project, reader))}
    for name, options in allowed.items():
        values[name] = values[name] if values[name] in options else None
    if not str(values["version"] or "").isdecimal():
        values["version"] = None
    return _filters(reader, values.get)


def _filters(reader: Annotator | None, value: Callable[[str], Any]) -> Filters:
    own = Filters(pair=value("pair"), side=value("side"), flag=value("flag"), text=value("q") or "", reader=reader)
    if reader is not None:
        return own
    version = int(value("version")) if value("version") else None
    same = {name: value(name) for name in ("status", "choice", "form", "file")}
    return replace(own, annotator=value("by"), version=version, unfinished=bool(value("unfinished")), **same)


LONGEST = 600  # characters of a text in a list
SIGN = {"accepted": "✓", "rejected": "✕", "pending": "…"}


def veiled(project: Project, item: Item) -> bool:
    """Return whether a text is blurred until the pointer is over it. If the project says so, generations and flagged
    sentences are."""
    return project.blur and (project.kind == "generations" or bool(item.extra.get("flags")))


def state_name(row: SearchRow, project: Project) -> str:
    """Return the status of an item with its sign; for leads."""
    status = row.item.status
    return f"{SIGN[status]} {status_name(status, project.kind, full=row.labels >= row.wanted)}"


def marks(row: SearchRow, project: Project) -> list[str]:
    """Return the marks of an item, in words; for leads."""
    names = flag_names(project, None)
    held = {
        "aside": row.aside,
        "split": row.split,
        "settled": row.settled,
        "imported_gold": row.imported_gold,
        "pilot": row.pilot,
        "known": row.known is not None,
        "shared": row.shared and project.plan == "stop",
        "mined": bool(row.item.extra.get("flags")),
    }
    return [names[flag] for flag, is_so in held.items() if is_so and flag in names]


def marked(item: Item, words: Sequence[str], *, longest: int | None = None) -> Markup:
    """Return the text of *item*: its keyword tinted, underlined and named, searched words framed."""
    whole = item.whole_text
    text = whole if longest is None or len(whole) <= longest else whole[:longest] + " …"
    word = item.word if item.word and item.word[1] <= len(text) else None
    return _framed(text, places(text, words), word, item.side or "")


def found_in(text: str, words: Sequence[str]) -> Markup:
    """Return any other text with the searched words framed."""
    return _framed(text, places(text, words), None, "")


def _framed(text: str, hits: Sequence[Span], word: Span | None, side: str) -> Markup:
    edges = sorted({0, len(text), *(edge for span in hits for edge in span), *(word or ())})
    parts: list[str | Markup] = []
    for start, end in pairwise(edges):
        inside = word is not None and word[0] <= start and end <= word[1]
        hit = any(first <= start and end <= last for first, last in hits)
        looks = [f"word {side}"] * inside + ["hit"] * hit
        parts.append(element("mark", text[start:end], " ".join(looks)) if looks else text[start:end])
        if inside and word is not None and end == word[1] and side:
            parts.append(element("small", side_word(side), f"side {side}"))
    return joined(parts)


def places(text: str, words: Sequence[str]) -> list[Span]:
    """Return the places of the searched words in *text*, in either case, as half-open code points."""
    return [match.span() for word in words for match in re.finditer(re.escape(word), text, re.IGNORECASE | re.ASCII)]
