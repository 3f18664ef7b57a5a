"""Sentences of a run: what each filter rejected or flagged, and what was kept. All text is escaped."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.core.mining.filters import FILTERS
from evenhand.core.mining.report import Example, Report
from evenhand.core.mining.report_tables import ALL, chosen
from evenhand.core.types import Side
from evenhand.pages.mining.report import named, pair_name
from evenhand.pages.ui.sentences import marked
from evenhand.pages.ui.tables import below, joined, show_html, span, table
from evenhand.pages.ui.text import _, inform, plain

FEW = 2  # candidates of each word where all pairs are shown
LISTED = 80  # sentences on the page


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
        inform("This filter found nothing here.")
        return
    text = _("{rejected} rejected, {flagged} flagged; ten random examples are kept per pair and side.")
    st.caption(text.format(rejected=f"{counts.rejected[code]:,}", flagged=f"{counts.flagged[code]:,}"))
    rows = []
    for (name, side), cell in report.cells.items():
        if pair in (ALL, name) and code in cell.samples:
            rows += [_example(example, side) for _number, example in cell.samples[code].kept]
    show_html(table((), ((row,) for row in rows[:LISTED]), kind="examples"))


def _example(example: Example, side: Side) -> Markup:
    word = (example.start, example.end)
    body = marked(example.sentence, word, side)
    if example.span is not None and not (example.span[0] < word[1] and word[0] < example.span[1]):
        body = _with_found(example, side)
    why = ""
    if example.like:
        why = _("duplicate of: {sentence}", sentence=example.like)
    elif example.span is not None:
        why = _("reason: {words}", words=example.sentence[slice(*example.span)])
    elif example.reason in ("short", "long"):
        why = _("{number} characters", number=f"{len(example.sentence):,}")
    return joined([body, below(why, example.file.rsplit("/", 1)[-1])])


def _with_found(example: Example, side: Side) -> Markup:
    """The sentence with its keyword and with what the filter means, which do not overlap."""
    assert example.span is not None
    first, last = example.span
    start, end = example.start, example.end
    found = span(example.sentence[first:last], "found")
    if last <= start:
        rest = marked(example.sentence[last:], (start - last, end - last), side)
        return joined([example.sentence[:first], found, rest])
    return joined([marked(example.sentence[:first], (start, end), side), found, example.sentence[last:]])


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
        inform("No candidates here.")
        return
    show_html(table((), ((_candidate(line),) for line in some[:LISTED]), kind="examples"))


def _candidate(line: Mapping[str, Any]) -> Markup:
    flags = joined(span(_(FILTERS[flag].name), "tag") for flag in line["flags"] if flag in FILTERS)
    source = line["source"]
    origin = " ".join(str(source[name]) for name in ("file", "name", "date") if source.get(name)).rsplit("/", 1)[-1]
    male = str(line["pair"]).casefold().startswith(str(line["keyword"]).casefold() + "/")
    body = marked(line["sentence"], (line["start"], line["end"]), "male" if male else "female")
    return joined([body, below(joined([flags, origin]))])
