"""The check of pairs: are both words of a pair used alike in this text? The papers' reason to leave out 男士/女士."""

import html
from typing import Any

import streamlit as st

from core.mining.pair_neighbours import SURNAME
from core.mining.pairs_check import PairReport, PairsCheck, WordReport, check_pairs
from core.statistics import Estimate
from core.types import KeywordPair, Side
from pages.mining.source import Source
from pages.ui.language import _
from pages.ui.numbers import DASH, size
from pages.ui.sentences import show, side_word
from pages.ui.text import plain

LIMIT = 5_000_000  # bytes
SHOWN = 4  # compounds of a word on each side
EXTRA = """
<style>
.project .small {color:var(--soft); font-size:13px}
.project td.pair, .project .interval {white-space:nowrap}
.project .verdict {font-weight:650}
.project .verdict.symmetric {color:var(--good)} .project .verdict.asymmetric {color:var(--bad)}
</style>
"""


def verdict_name(verdict: str) -> str:
    """The verdict in a word or two."""
    return {
        "symmetric": _("used alike"),
        "asymmetric": _("not used alike"),
        "doubtful": _("differ somewhat"),
        "rare": _("too rare to tell"),
        "absent": _("does not occur"),
    }[verdict]


@st.cache_data(max_entries=4, show_spinner=False)
def _checked(key: tuple[Any, ...], _paths: tuple[str, ...], _pairs: tuple[KeywordPair, ...]) -> PairsCheck:
    return check_pairs(_paths, _pairs, limit_bytes=LIMIT)


def show_pairs_check(source: Source, pairs: tuple[KeywordPair, ...]) -> None:
    """Frequency of both words, their commonest compounds and whether the other word takes them, with a verdict."""
    with st.expander(_("Are both words of a pair used alike?"), icon=":material/compare_arrows:"):
        st.caption(
            _(
                "Where the words around them tell which of the two stands there, a preference says more about usage"
                " than about gender: 王女士 is common, 王男士 is not, so the papers left 男士/女士 out."
            )
        )
        if not st.toggle(_("Check on the first 5 MB"), key="checking"):
            return
        with st.spinner(_("Comparing the words on {size} …").format(size=size(min(LIMIT, source.bytes)))):
            found = _checked((source.key, pairs), source.paths, pairs)
        names = (_("Keyword pair"), _("Verdict"), _("Male word"), _("Female word"), _("Told apart"))
        header = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        rows = "".join(map(_row, found.pairs))
        show(EXTRA + f'<div class="wide"><table><tr>{header}</tr>{rows}</table></div>')
        st.caption(
            _(
                "Told apart: how well the neighbouring words tell which of the two stands there, 0.5 not at all, 1"
                " always. In brackets: how often the other word stands in the same compound."
            )
        )
        st.caption(plain(found.signature))


def _row(one: PairReport) -> str:
    verdict = f'<span class="verdict {one.verdict}">{html.escape(verdict_name(one.verdict))}</span>'
    cells = f"<td>{_word(one.male, 'male')}</td><td>{_word(one.female, 'female')}</td>"
    why = html.escape(_(one.why))
    told = _told(one.asymmetry)
    return (
        f'<tr><td class="pair">{html.escape(one.pair.name)}</td><td>{verdict}<div class="small">{why}</div></td>{cells}'
        f"<td>{told}</td></tr>"
    )


def _word(word: WordReport, side: Side) -> str:
    compounds = [*word.left[:SHOWN], *word.right[:SHOWN]]
    listed = "、".join(f"{_named(one.text)} {one.count:,} ({one.swapped_count:,})" for one in compounds)
    head = f'<span class="side {side}" title="{html.escape(side_word(side))}">{html.escape(word.word)}</span>'
    return f'{head} {word.count:,}<div class="small">{html.escape(listed)}</div>'


def _named(compound: str) -> str:
    """A compound; where any surname stands in it, that is said in the visitor's language."""
    return compound.replace(SURNAME, "⟨" + _("surname") + "⟩")


def _told(estimate: Estimate) -> str:
    if estimate.value is None:
        reason = estimate.reason
        why = _(reason.message).format(**reason.values) if reason else DASH
        return f'{DASH}<div class="small">{html.escape(why)}</div>'
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f}"
    return f'{estimate.value:.2f} <span class="small interval">({estimate.low:.2f} – {estimate.high:.2f})</span>'
