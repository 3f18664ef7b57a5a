"""Sentences of a run: what each filter rejected or flagged, and what was kept. All text is escaped."""

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.mining.filters import FILTERS
from core.mining.report import Example, Report
from core.mining.report_tables import ALL, chosen
from core.types import Side
from pages.mining.report import named, pair_name
from pages.ui.language import _
from pages.ui.sentences import marked, show
from pages.ui.text import plain

FEW = 2  # candidates of each word where all pairs are shown
LISTED = 80  # sentences on the page

EXTRA = """
<style>
.project .found {border-bottom:2px dotted var(--bad); background:color-mix(in srgb,var(--bad) 12%,transparent)}
.project .from {color:var(--soft); font-size:13px}
.project .flag {display:inline-block; font-size:12px; border:1px solid var(--line); border-radius:9px; padding:0 8px;
  margin-right:6px; color:var(--soft)}
.project tr td.text {padding-top:16px; line-height:2.6} .project td.text .from {line-height:1.5}
</style>
"""


def show_examples(report: Report, *, key: str) -> None:
    """Up to ten examples of a filter, for all pairs or one; what it means is underlined with dots."""
    pairs = [ALL, *dict.fromkeys(pair for pair, _side in report.cells)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pair = st.selectbox(
            _("Keyword pair"), pairs, key=f"{key}-examples-pair", format_func=named(pairs, pair_name), width=200
        )
        counts = chosen(report, pair)
        code = st.selectbox(
            _("Filter"),
            list(FILTERS),
            key=f"{key}-filter",
            format_func=named(
                FILTERS, lambda one: f"{_(FILTERS[one].name)} · {counts.rejected[one] + counts.flagged[one]:,}"
            ),
            width=320,
        )
    st.caption(plain(_(FILTERS[code].explanation)))
    if not counts.rejected[code] + counts.flagged[code]:
        st.info(_("This filter found nothing here."))
        return
    text = _("{rejected} rejected, {flagged} flagged; a random ten of each pair and side are kept as examples.")
    st.caption(text.format(rejected=f"{counts.rejected[code]:,}", flagged=f"{counts.flagged[code]:,}"))
    rows = []
    for (name, side), cell in report.cells.items():
        if pair in (ALL, name) and code in cell.samples:
            rows += [_example(example, side) for _number, example in cell.samples[code].kept]
    show(EXTRA + f'<div class="wide"><table>{"".join(rows[:LISTED])}</table></div>')


def _example(example: Example, side: Side) -> str:
    word = (example.start, example.end)
    body = marked(example.sentence, word, side)
    if example.span is not None and not (example.span[0] < word[1] and word[0] < example.span[1]):
        body = _with_found(example, side)
    like = ""
    if example.like:
        repeats = _("repeats: {sentence}").format(sentence=example.like)
        like = f'<div class="from">{html.escape(repeats)}</div>'
    elif example.span is not None:
        inside = example.sentence[slice(*example.span)]
        because = _("because of: {words}").format(words=inside)
        like = f'<div class="from">{html.escape(because)}</div>'
    elif example.reason in ("short", "long"):
        length = _("{number} characters").format(number=f"{len(example.sentence):,}")
        like = f'<div class="from">{html.escape(length)}</div>'
    origin = html.escape(example.file.rsplit("/", 1)[-1])
    return f'<tr><td class="text">{body}{like}<div class="from">{origin}</div></td></tr>'


def _with_found(example: Example, side: Side) -> str:
    """The sentence with its keyword and with what the filter means, which do not overlap."""
    assert example.span is not None
    first, last = example.span
    start, end = example.start, example.end
    if last <= start:
        before = html.escape(example.sentence[:first])
        rest = marked(example.sentence[last:], (start - last, end - last), side)
        return f'{before}<span class="found">{html.escape(example.sentence[first:last])}</span>{rest}'
    head = marked(example.sentence[:first], (start, end), side)
    found = html.escape(example.sentence[first:last])
    return f'{head}<span class="found">{found}</span>{html.escape(example.sentence[last:])}'


def show_candidates(lines: Sequence[Mapping[str, Any]], *, key: str) -> None:
    """Lines of a candidates file as annotators would get them, for all pairs (a few of each) or one."""
    pairs = [ALL, *dict.fromkeys(str(line["pair"]) for line in lines)]
    pair = st.selectbox(
        _("Keyword pair"), pairs, key=f"{key}-kept-pair", format_func=named(pairs, pair_name), width=200
    )
    some = [line for line in lines if pair in (ALL, line["pair"])]
    if pair == ALL:
        seen: Counter[tuple[str, str]] = Counter()
        few = []
        for line in some:
            seen[line["pair"], line["keyword"]] += 1
            if seen[line["pair"], line["keyword"]] <= FEW:
                few.append(line)
        some = few
    if not some:
        st.info(_("No candidate here."))
        return
    show(EXTRA + f'<div class="wide"><table>{"".join(map(_candidate, some[:LISTED]))}</table></div>')


def _candidate(line: Mapping[str, Any]) -> str:
    names = (_(FILTERS[flag].name) for flag in line["flags"] if flag in FILTERS)
    flags = "".join(f'<span class="flag">{html.escape(name)}</span>' for name in names)
    source = line["source"]
    origin = " ".join(str(source[name]) for name in ("file", "name", "date") if source.get(name)).rsplit("/", 1)[-1]
    male = str(line["pair"]).casefold().startswith(str(line["keyword"]).casefold() + "/")
    body = marked(line["sentence"], (line["start"], line["end"]), "male" if male else "female")
    return f'<tr><td class="text">{body}<div class="from">{flags}{html.escape(origin)}</div></td></tr>'
