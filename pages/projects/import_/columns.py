"""A file of generations before its import: its columns, its password, and the view of the desk."""

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup, escape

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import FIXED, KEYS, Columns, guess_columns, is_complete, recall_columns
from evenhand.annotations.files.import_items import PreviewRow
from evenhand.annotations.items.batch import NewItem
from evenhand.annotations.types import FIRST_SIGN, SECOND_SIGN
from evenhand.core.errors import EvenhandError
from evenhand.core.files.archives import Member
from evenhand.core.files.readers import open_source
from evenhand.core.text.pronouns import PRONOUN_DATASETS, set_named
from evenhand.pages.ui.sentences import item_card, problem_text
from evenhand.pages.ui.tables import below, element, joined, show_html
from evenhand.pages.ui.text import _, series

SHOWN = 4  # texts as the desk would show them
LONGEST = 700  # characters of one of them


def key_name(key: str) -> str:
    """A field of a generation in words."""
    return {
        "context": _("Context"),
        "completion": _("Completion"),
        "generation": _("Context and completion in one column"),
        "name": _("Person concerned"),
        "pronouns": _("Pronouns"),
        "dataset": _("Data set"),
        "setting": _("Setting"),
        "model": _("Model"),
        "index": _("Index of the generation"),
        "template": _("Template"),
        "second": _("Second text, of a comparison"),
        "second_model": _("Model of the second text"),
    }[key]


def ask_password() -> str | None:
    """The password of a locked archive, kept for this visit only."""
    typed = st.text_input(_("Archive password"), type="password", key="archive_password", width=320)
    return typed or None


def choose_columns(store: Store, members: Sequence[Member]) -> Columns:
    """The meaning of the columns: remembered for such a file, or guessed by name, and editable."""
    columns = open_source(members[0].path, members[0].name).columns
    remembered = recall_columns(store.path, columns)
    start = remembered or guess_columns(columns)
    st.caption(
        _("Columns are assigned as you chose for such files before.")
        if remembered
        else _("Columns are assigned by name. Your choice is remembered for files with the same columns.")
    )
    # The widget key holds the header, so that another file does not get the choices for this one.
    place = f"columns-{abs(hash(columns))}"
    with st.expander(_("Columns"), expanded=not is_complete(start), key=place, icon=":material/view_column:"):
        named: dict[str, str] = {}
        fixed: dict[str, str] = {}
        for first in range(0, len(KEYS), 2):  # row by row, so that a telephone keeps their order
            for key, place_of in zip(KEYS[first : first + 2], st.columns(2), strict=False):
                with place_of:
                    _choose(key, columns, start, named, fixed, place)
    return Columns(named, {key: value for key, value in fixed.items() if value and not named.get(key)})


def _choose(
    key: str, columns: tuple[str, ...], start: Columns, named: dict[str, str], fixed: dict[str, str], place: str
) -> None:
    options = ["", *columns]
    before = start.named.get(key, "")
    named[key] = st.selectbox(
        key_name(key),
        options,
        options.index(before) if before in options else 0,
        key=f"{place}-{key}",
        format_func=lambda column: column or _("no column"),
    )
    if key not in FIXED or named[key]:
        return
    label = _("{what}, the same for all rows", what=key_name(key))
    if key == "dataset":
        sets = ["", *PRONOUN_DATASETS]
        fixed[key] = st.selectbox(
            label, sets, sets.index(value) if (value := start.fixed.get(key, "")) in sets else 0,
            key=f"{place}-{key}-fixed", format_func=lambda one: dataset_name(one) if one else _("unspecified"),
        )  # fmt: skip
    else:
        hint = {
            "pronouns": "xe/xem/xyr",
            "setting": "pre",
            "model": "gpt2",
            "second_model": "gpt2-xl",
            "name": "Rowan",
        }[key]
        fixed[key] = st.text_input(label, start.fixed.get(key, ""), key=f"{place}-{key}-fixed", placeholder=hint)


def dataset_name(dataset: str) -> str:
    """A data set in words."""
    return {"misgendered": "MISGENDERED", "ruff": "RUFF", "tango": "TANGO", "own": _("our own")}.get(dataset, dataset)


def show_texts(rows: Sequence[PreviewRow]) -> None:
    """The first texts as the desk would show them, and the first lines that cannot be used."""
    usable = [row for row in rows if row.item is not None][:SHOWN]
    bad = [row for row in rows if row.problem is not None][:SHOWN]
    show_html(joined([*map(_text, usable), *map(_problem, bad)]))


def _text(row: PreviewRow) -> Markup:
    item = row.item
    if item is None:
        return Markup("")
    line = _("Line {line}", line=f"{row.line:,}")
    about = " · ".join(part for part in (line, _target(item), _origin(item)) if part)
    context = (item.context or "")[:LONGEST] or _("no context")
    texts = [item.text] if item.second is None else [f"{FIRST_SIGN} {item.text}", f"{SECOND_SIGN} {item.second}"]
    shown = joined((escape(one[:LONGEST]) for one in texts), "\n\n")
    return item_card("", shown, about=about, context=context)


def _target(item: NewItem) -> str:
    name, sets = str(item.extra.get("name") or ""), item.extra.get("pronouns") or []
    if not sets:
        return series(part for part in (name, _("pronouns unknown")) if part)
    return series(part for part in (name, _(" or ").join(_forms(one) for one in sets)) if part)


def _forms(name: str) -> str:
    try:
        forms = set_named(name).forms
    except EvenhandError:
        return name
    return "/".join(dict.fromkeys(form for form in forms[:3] if form)) or name


def _origin(item: NewItem) -> str:
    """Data that the desk hides, shown to the lead who imports the file."""
    parts = [str(item.extra.get(key) or "") for key in ("model", "second_model", "setting")]
    dataset = str(item.extra.get("dataset") or "own")
    return series(part for part in (*parts, "" if dataset == "own" else dataset_name(dataset)) if part)


def _problem(row: PreviewRow) -> Markup:
    line = below(_("Line {line}", line=f"{row.line:,}"))
    why = element("div", f"⚠ {problem_text(row.problem)}" if row.problem else "", "problem")
    return element("div", joined([line, why]), "card")
