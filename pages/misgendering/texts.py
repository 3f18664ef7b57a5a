"""Texts: how repetitive what a run wrote is, and how much of it avoids every pronoun."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from evenhand.core.report.numbers import percent, percents, plain_number
from evenhand.core.text.repetition import Repeated, signature
from evenhand.pages.misgendering.cells import label_of, varying
from evenhand.pages.misgendering.source import Source
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, note_text
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import plain

if TYPE_CHECKING:
    from evenhand.core.misgendering.text_figures import Texts


@st.cache_data(show_spinner=False, max_entries=4)
def texts(path: str, written: float) -> "tuple[list[Texts], list[int]]":
    """The cells of a file of generations, and the numbers of lines that are none.

    `written` is when it was, so that a changed file is read again.
    """
    from evenhand.core.human_vs_rule.compare import in_order
    from evenhand.core.misgendering.text_figures import read_texts, texts_by_cell

    del written
    skipped: list[int] = []
    found = {tuple(one.key.values()): one for one in texts_by_cell(read_texts(path, skipped))}
    names = [name for one in list(found.values())[:1] for name in one.key]
    return [found[key] for key in in_order(list(found), names)], skipped


def show_texts(source: Source) -> None:
    """A table: a line per model and pronoun set."""
    path = Path(source.path).with_suffix(".jsonl")
    if not path.is_file():
        st.info(_("These verdicts come without texts. A run with generations keeps what the model wrote."))
        return
    with st.spinner(_("Reading the texts …"), show_time=True):
        found, skipped = texts(str(path), path.stat().st_mtime)
    if skipped:
        text = _("Lines that are not generations were skipped: {n} (the first is line {line}).")
        st.warning(plain(text.format(n=f"{len(skipped):,}", line=skipped[0])))
    heads = (
        _("Model"),
        _("Pronouns"),
        _("Texts"),
        _("Without a pronoun"),
        _("95% interval"),
        _("Repetition, as published"),
        _("Repetition, completion only"),
    )
    several = varying([one.key for one in found])
    body, rows = [], []
    for one in found:
        label = label_of(one.key, several)
        without = one.without
        ends = percents(without.low, without.high) or note_text(without.note or without.reason)
        cells = [one.key["model"], label, f"{one.n:,}", percent(without.value), ends]
        body.append([*cells, _spread(one.published), _spread(one.completion)])
        rows.append(_row(one))
    show_html(table(number_columns(heads, (2, 3, 5, 6)), body, kind="text"))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(
            _(
                "Repetition is 0 if some length of word n-gram never repeats and 1 if every n-gram does;"
                " mean ± standard deviation over texts. The published value is for context and completion"
                " together. As published, the generation-based method counts a text without a pronoun as right."
            )
        )
        downloads(rows, key="texts")


def _row(one: "Texts") -> dict[str, Any]:
    """The numbers of a cell for a file."""
    return {
        **one.key,
        "texts": one.n,
        "without": one.without.value,
        "low": one.without.low,
        "high": one.without.high,
        "repetition_published": one.published.mean,
        "repetition_published_std": one.published.std,
        "repetition_completion": one.completion.mean,
        "repetition_completion_std": one.completion.std,
        "signature": signature("published"),
    }


def _spread(found: Repeated) -> str:
    if found.mean is None:
        return DASH
    return f"{plain_number(found.mean)} ± {plain_number(found.std)}"
