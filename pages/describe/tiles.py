"""The main numbers of the page Data set statistics, and how they were made."""

import json

import streamlit as st

from evenhand.core.describe import Description, as_json
from evenhand.core.describe.latex import as_latex
from evenhand.core.text.repetition import Repeated
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, note_text, percent
from evenhand.pages.ui.text import plain, show_signature


def length(value: float | None) -> str:
    """A length: whole where it is, else with two digits; a dash where there is none."""
    return DASH if value is None else f"{value:,.2f}".rstrip("0").rstrip(".")


def tiles(found: Description) -> None:
    """How many texts, how many characters, how long, how much of the vocabulary."""
    size, letters, cover = found.lengths, found.characters, found.coverage
    first, second, third, fourth = st.columns(4)
    items = {"accepted": _("kept items"), "all": _("all items"), "file": _("all rows of the file")}
    texts = _("Sentences") if found.kind == "sentences" else _("Generations")
    with first, st.container(border=True, height="stretch"):
        st.metric(texts, f"{found.sentences:,}")
        st.caption(plain(f"{found.name} · {items[found.items]}"))
    with second, st.container(border=True, height="stretch"):
        st.metric(_("Distinct characters"), f"{letters.distinct:,}")
        st.caption(plain(_("{total} characters in all, punctuation included").format(total=f"{letters.total:,}")))
    with third, st.container(border=True, height="stretch"):
        st.metric(_("Length, median"), length(size.median))
        text = _("{least} to {most} characters, mean {mean}")
        st.caption(plain(text.format(least=length(size.least), most=length(size.most), mean=length(size.mean))))
    with fourth, st.container(border=True, height="stretch"):
        st.metric(_("Characters / vocabulary"), percent(cover.published if cover else None, 2))
        text = _("{distinct} distinct characters / {size} vocabulary entries of {model}, as computed in the papers")
        where = {"distinct": f"{letters.distinct:,}"}
        st.caption(
            plain(text.format(**where, size=f"{cover.vocabulary.size:,}", model=cover.vocabulary.name))
            if cover
            else _("Choose a vocabulary above.")
        )


def writing(found: Description) -> None:
    """Generations: words, different words, how repetitive."""
    wrote = found.writing
    if wrote is None:
        return
    st.subheader(_("Words and repetition"), anchor=False)
    first, second, third, fourth = st.columns(4)
    with first, st.container(border=True, height="stretch"):
        st.metric(_("Tokens, median"), length(wrote.tokens.median))
        text = _("{least} to {most} in a completion, mean {mean}")
        values = {"least": length(wrote.tokens.least), "most": length(wrote.tokens.most)}
        st.caption(plain(text.format(mean=length(wrote.tokens.mean), **values)))
    with second, st.container(border=True, height="stretch"):
        st.metric(_("Distinct tokens"), f"{wrote.distinct:,}")
        text = _("of {total}; within a completion, {share} are distinct on average")
        st.caption(plain(text.format(total=f"{wrote.total:,}", share=percent(wrote.per_text, 1))))
    with third, st.container(border=True, height="stretch"):
        _repeated(_("Repetitiveness"), wrote.completion, _("of completions only; 0 = nothing is repeated"))
    with fourth, st.container(border=True, height="stretch"):
        _repeated(_("With contexts"), wrote.published, _("repetitiveness of context and completion, as published"))


def _repeated(name: str, value: Repeated, meaning: str) -> None:
    st.metric(name, DASH if value.mean is None else f"{value.mean:.3f}")
    if value.mean is None or value.std is None:
        st.caption(plain(note_text(value.reason)))
        return
    text = _("{meaning}; standard deviation {std}, {texts} texts, {short} too short")
    values = {"std": f"{value.std:.3f}", "texts": f"{value.texts:,}", "short": f"{value.short:,}"}
    st.caption(plain(text.format(meaning=meaning, **values)))


def show_method(found: Description) -> None:
    """Everything to take away, and the signature."""
    text = _(
        "A character is one code point, without normalisation. Intervals: 95%, Wilson's, modified"
        " for rare counts. The signature identifies the texts and the vocabulary by the first digits of their SHA-256."
    )
    st.caption(plain(text))
    show_signature(found.signature)
    with st.container(horizontal=True):
        st.download_button(
            _("All numbers (JSON)"),
            lambda: json.dumps(as_json(found), ensure_ascii=False, indent=1).encode(),
            "statistics.json",
            "application/json",
            key="described-json",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            _("Tables (LaTeX)"),
            lambda: as_latex(found).encode(),
            "statistics.tex",
            "application/x-tex",
            key="described-latex",
            icon=":material/download:",
            on_click="ignore",
        )
