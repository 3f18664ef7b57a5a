"""The check of pairs: are both words of a pair used alike in this text? The papers' reason to leave out 男士/女士."""

from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.core.mining.pairs_check import SURNAME, PairReport, PairsCheck, WordReport, check_pairs
from evenhand.core.types import KeywordPair, Side
from evenhand.pages.ui.corpus import Source
from evenhand.pages.ui.numbers import size
from evenhand.pages.ui.sentences import side_word
from evenhand.pages.ui.tables import Column, below, estimate_cell, joined, show_html, span, table
from evenhand.pages.ui.text import _, caption, in_brackets, show_signature

LIMIT = 5_000_000  # bytes
SHOWN = 4  # compounds of a word on each side


def verdict_name(verdict: str) -> str:
    """The verdict in a word or two."""
    return {
        "symmetric": _("similar usage"),
        "asymmetric": _("different usage"),
        "doubtful": _("somewhat different usage"),
        "rare": _("too rare to judge"),
        "absent": _("does not occur"),
    }[verdict]


@st.cache_data(max_entries=4, show_spinner=False)
def _checked(key: tuple[Any, ...], _paths: tuple[str, ...], _pairs: tuple[KeywordPair, ...]) -> PairsCheck:
    return check_pairs(_paths, _pairs, limit_bytes=LIMIT)


def show_pairs_check(source: Source, pairs: tuple[KeywordPair, ...]) -> None:
    """Frequency of both words, their commonest compounds and whether the other word takes them, with a verdict."""
    with st.expander(_("Are both words of a pair used in the same way?"), icon=":material/compare_arrows:"):
        caption(
            "Where the neighbouring words predict which of the two it is, a preference says more about"
            " usage than about gender: 王女士 is common, 王男士 is not, so the papers excluded 男士/女士."
        )
        if not st.toggle(_("Check the first 5 MB"), key="checking"):
            return
        with st.spinner(_("Comparing the words in {size} …").format(size=size(min(LIMIT, source.bytes)))):
            found = _checked((source.key, pairs), source.paths, pairs)
        columns = (Column(_("Keyword pair"), "short"), _("Verdict"), _("Male word"), _("Female word"))
        show_html(table([*columns, Column(_("Separability"), "number")], map(_row, found.pairs)))
        caption(
            "Separability: how well the neighbouring words predict which of the two it is; 0.5: not at"
            " all, 1: always. In brackets: how often the other word occurs in the same compound."
        )
        show_signature(found.signature)


def _row(one: PairReport) -> tuple[str | Markup, ...]:
    tone = {"symmetric": " good", "asymmetric": " bad"}.get(one.verdict, "")
    verdict = joined([span(verdict_name(one.verdict), f"strong{tone}"), below(_(one.why))])
    words = (_word(one.male, "male"), _word(one.female, "female"))
    return (one.pair.name, verdict, *words, estimate_cell(one.asymmetry))


def _word(word: WordReport, side: Side) -> Markup:
    compounds = [*word.left[:SHOWN], *word.right[:SHOWN]]
    listed = "、".join(in_brackets(f"{_named(one.text)} {one.count:,}", f"{one.swapped_count:,}") for one in compounds)
    return joined([span(word.word, f"side {side}", side_word(side)), f" {word.count:,}", below(listed)])


def _named(compound: str) -> str:
    """A compound; where any surname stands in it, that is said in the visitor's language."""
    return compound.replace(SURNAME, "⟨" + _("surname") + "⟩")
