"""A report of mining as people read it: how much, the funnel, each pair before and after, examples of sentences."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.core.language import significant, translate
from evenhand.core.mining.filters import FILTERS
from evenhand.core.mining.report import Example, Report
from evenhand.core.mining.report_tables import ALL, FunnelStep, before_after, chosen, funnel_steps
from evenhand.core.types import Side, TableRow
from evenhand.pages.ui.charts import colours, download, json_text, show_chart
from evenhand.pages.ui.numbers import DASH, large, size
from evenhand.pages.ui.sentences import marked, side_word
from evenhand.pages.ui.tables import below, joined, show_html, span, table
from evenhand.pages.ui.text import _, in_brackets, inform, language, paragraph, plain, sentence, series, show_signature


def show_read(report: Report) -> None:
    """Show what went in and what came out, in a few numbers."""
    read = report.read
    per_million = 1e6 * report.candidates / read.characters if read.characters else None
    rate = read.bytes / report.seconds if report.seconds else None
    numbers = (
        (
            _("Characters read"),
            large(read.characters),
            _("All characters of the texts, line ends and spaces included."),
        ),
        (
            _("Sentences"),
            large(read.sentences),
            _("Sentences of the cleaned text. Lines that are empty after cleaning are not counted."),
        ),
        (_("Candidates"), f"{report.candidates:,}", None),
        (
            _("Flagged"),
            f"{sum(cell.flagged_candidates for cell in report.cells.values()):,}",
            _("Kept, but last in the queue."),
        ),
        (
            _("Per million"),
            DASH if per_million is None else f"{per_million:,.0f}",
            _("Candidates per million characters read."),
        ),
    )
    with st.container(horizontal=True, key="read"):
        for name, number, help_text in numbers:
            st.metric(name, number, border=True, width=150, help=help_text)
    encodings = series(in_brackets(name, f"{number:,}") for name, number in read.encodings.most_common())
    text = _("Files: {files}, {size} in {seconds} s ({rate} per second); encodings: {encodings}.").format(
        files=f"{read.files:,}",
        size=size(read.bytes),
        seconds=significant(report.seconds),
        rate=DASH if rate is None else size(int(rate)),
        encodings=encodings or DASH,
    )
    if read.damaged:
        damaged = _("{number} sentences were skipped because of a damaged byte.")
        text = paragraph((text, damaged.format(number=f"{read.damaged:,}")))
    if read.skipped:
        listed = series(in_brackets(name, f"{number:,}") for name, number in read.skipped.most_common(8))
        text = paragraph((text, _("Not read: {listed}.", listed=listed)))
    st.caption(plain(text))
    for notice in report.notices:
        st.caption(plain(translate(notice, language())))


def show_problems(report: Report, *, key: str) -> None:
    """Show the files and lines that could not be read, each with the reason."""
    if not report.read.problems:
        return
    title = _("Unreadable: {number}", number=f"{report.read.problem_count:,}")
    with st.expander(title, icon=":material/report:"):
        rows = [
            {
                _("File"): problem.file.rsplit("/", 1)[-1],
                _("Line"): str(problem.line) if problem.line else DASH,
                _("Problem"): sentence(problem.message, problem.values),
            }
            for problem in report.read.problems
        ]
        st.dataframe(rows, hide_index=True, key=f"{key}-problems")


def pair_name(pair: str) -> str:
    """Return a pair, or all of them, in words."""
    return pair or _("all pairs")


def side_name(side: str) -> str:
    """Return a side, or both, in words."""
    return _("both sides") if side == ALL else side_word("male" if side == "male" else "female")


def named(options: Iterable[str], name: Callable[[str], str]) -> Callable[[str], str]:
    """Return the names of *options*, made now: a widget may ask for them when no page of a visitor runs."""
    return {option: name(option) for option in options}.__getitem__


def show_figures(report: Report, *, key: str) -> None:
    """Show the funnel of what is chosen, then every pair before and after the filters, then the numbers."""
    _show_funnel(report, key)
    st.header(_("Before and after the filters"), anchor=False)
    import pandas as pd

    from evenhand.core.charts.describe import before_after as drawn

    rows = before_after(report)
    male = sum(int(row["male_after"]) for row in rows)
    female = sum(int(row["female_after"]) for row in rows)
    says = _(
        "Pale: sentences with exactly one keyword; solid: candidates; labels: after / before filtering."
        " {male} candidates with a male word, {female} with a female word. Log scale."
    ).format(male=f"{male:,}", female=f"{female:,}")
    chart = drawn(pd.DataFrame(rows), description=says, say=_, palette=colours())
    signed = [{**row, "signature": report.settings.signature} for row in rows]
    show_chart(chart, signed, key=f"{key}-before-after", says=says)
    with st.expander(_("All numbers")):
        st.dataframe(
            [_number_row(report, pair, side) for pair, side in report.cells], hide_index=True, key=f"{key}-numbers"
        )
        with st.container(horizontal=True):
            download(
                "CSV", lambda: report.to_csv().encode("utf-8-sig"), "funnel.csv", key=f"{key}-csv", type="secondary"
            )
            download("JSON", lambda: json_text(report.to_json()), "report.json", key=f"{key}-json", type="secondary")
        show_signature(report.settings.signature)


def _show_funnel(report: Report, key: str) -> None:
    import pandas as pd

    from evenhand.core.charts.describe import funnel

    with st.container(horizontal=True):
        pairs = [ALL, *dict.fromkeys(pair for pair, _side in report.cells)]
        pair = st.selectbox(_("Keyword pair"), pairs, key=f"{key}-pair", format_func=named(pairs, pair_name), width=200)
        side = st.segmented_control(
            _("Side"),
            (ALL, "male", "female"),
            default=ALL,
            required=True,
            key=f"{key}-side",
            format_func=named((ALL, "male", "female"), side_name),
        )
    counts = chosen(report, pair, side or ALL)
    rows = [_step_row(step, report) for step in funnel_steps(counts)]
    says = _(
        "{found} sentences contain exactly one keyword; {candidates} remain after the filters, {flagged}"
        " of them flagged. Pale: removed at each step."
    ).format(
        found=f"{counts.exactly_one:,}", candidates=f"{counts.candidates:,}", flagged=f"{counts.flagged_candidates:,}"
    )
    chart = funnel(pd.DataFrame(rows), description=says, say=_, palette=colours())
    show_chart(chart, rows, key=f"{key}-funnel", says=says)


def _step_row(step: FunnelStep, report: Report) -> TableRow:
    row: TableRow = {"step": _(step.name), "left": step.left, "lost": step.lost, "flagged": step.flagged}
    return row | {"signature": report.settings.signature}


def _number_row(report: Report, pair: str, side: str) -> TableRow:
    counts = chosen(report, pair, side)
    row: TableRow = {_("Keyword pair"): pair, _("Side"): side_name(side), _("With the keyword"): counts.with_keyword}
    for step in funnel_steps(counts):
        row[_(step.name)] = step.left if step.code == "exactly_one" else -step.lost
    return row | {_("Candidates"): counts.candidates, _("Flagged"): counts.flagged_candidates}


FEW = 2  # candidates of each word where all pairs are shown
LISTED = 80  # sentences on the page


def show_examples(report: Report, *, key: str) -> None:
    """Show random examples of a filter for all pairs or one; its match is underlined with dots."""
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
        inform("No sentence here matches this filter.")
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
    """Return the sentence with its keyword and with what the filter means, which do not overlap."""
    assert example.span is not None
    first, last = example.span
    start, end = example.start, example.end
    result = span(example.sentence[first:last], "found")
    if last <= start:
        rest = marked(example.sentence[last:], (start - last, end - last), side)
        return joined([example.sentence[:first], result, rest])
    return joined([marked(example.sentence[:first], (start, end), side), result, example.sentence[last:]])


def show_candidates(lines: Sequence[Mapping[str, Any]], *, key: str) -> None:
    """Show lines of a candidates file as annotators would get them, for all pairs (a few of each) or one."""
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
