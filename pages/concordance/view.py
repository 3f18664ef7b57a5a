"""The page Concordance: what it asks for, which the address holds, and its views. All text of a corpus is escaped."""

import re
from dataclasses import dataclass
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.mining.candidates import passages_of
from evenhand.annotations.types import Project
from evenhand.core.concordance import (
    LISTED,
    UNITS,
    Concordance,
    Line,
    Order,
    Question,
    RepeatedLine,
    concordance,
    folded,
    question,
)
from evenhand.core.concordance.answer_text import as_json, contrast_says, lines_csv, near_says, ratio
from evenhand.core.concordance.passages import lines_of_files, look_up_files
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.statistics import Estimate
from evenhand.core.types import TableRow
from evenhand.pages.ui.charts import colours, download, foot, json_text, show_chart
from evenhand.pages.ui.choose import choose_project
from evenhand.pages.ui.numbers import DASH, note_text, percent
from evenhand.pages.ui.sentences import with_marks
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, paragraph, plain, show_signature
from evenhand.pages.ui.uploads import Source, ask_source
from evenhand.pages.ui.visitor import own_project

BETWEEN = re.compile(r"[\s,，、;；/]+")
START = {"word": "护士", "near": "他 她"}


@dataclass(frozen=True, slots=True)
class FormState:
    """A question and where it is asked: a source of files, or a project."""

    question: Question
    source: Source | None
    project: str | None

    @property
    def name(self) -> str:
        """The visitor's name for the text."""
        return self.project or (self.source.name if self.source else "")

    def find_project(self, store: Store) -> Project:
        """Return the project, looked up again among the visitor's own. Only for a form with a project. Raises
        NotFound."""
        return own_project(store, self.project or "")


def unit_name(unit: str) -> str:
    """Return a unit in words."""
    names = {
        "auto": _("texts if there are several, otherwise paragraphs"),
        "document": _("texts"),
        "paragraph": _("paragraphs"),
        "sentence": _("sentences"),
    }
    return names[unit]


def _take_address() -> None:
    for key, value in START.items():
        if key not in st.session_state:
            st.session_state[key] = st.query_params.get(key, value)


def ask(store: Store) -> FormState | None:
    """Draw the inputs and return the form; None while no text is chosen. Raises Refused for a question without an
    answer."""
    _take_address()
    left, right, more = st.columns([3, 3, 2], vertical_alignment="bottom")
    word = left.text_input(_("Word"), key="word", max_chars=40)
    near = right.text_input(
        _("Collocates"), key="near", max_chars=200, help=_("One to twenty, separated by spaces or commas.")
    )
    with more:
        window, unit = _settings()
    kind, source = ask_source("concordance", ("folder", "files", "project"))
    chosen = choose_project(store) if kind == "project" else None
    for key in START:
        st.query_params[key] = st.session_state[key]
    asked = question(word, [part for part in BETWEEN.split(near) if part], window=window, unit=unit)
    if source is None and chosen is None:
        return None
    return FormState(asked, source, chosen.name if chosen else None)


def _settings() -> tuple[int | None, str]:
    with st.popover(_("Method"), icon=":material/tune:", type="tertiary"):
        close = st.toggle(_("Only near the word, not in the whole sentence"), key="close")
        window = int(st.number_input(_("Maximum distance in characters"), 1, 200, 10, key="window", disabled=not close))
        unit = st.selectbox(
            _("Unit of the intervals"),
            ("auto", *UNITS),
            key="unit",
            format_func={unit: unit_name(unit) for unit in ("auto", *UNITS)}.__getitem__,
            help=_("Sentences of one text are correlated: intervals over texts are wider and more accurate."),
        )
    return window if close else None, unit


LONGEST_S = 1800  # of processor time, for a folder of the server
CONTEXT = 60  # characters on each side of the word in a line; a click shows the whole sentence


@st.cache_data(max_entries=4, show_spinner=False)
def _counted_lines(key: tuple[Any, ...], _store: Store, _wish: FormState) -> Concordance:
    if _wish.source is None:
        return concordance(passages_of(_store, _wish.find_project(_store)), _wish.question)
    return run_bounded(look_up_files, _wish.source.paths, _wish.question, file=_wish.name, seconds=LONGEST_S)


def look_up(store: Store, wish: FormState) -> Concordance:
    """Return the answer; looked up again only when the question or the text has changed."""
    from evenhand.annotations.projects.steps import state

    where = wish.source.key if wish.source else (wish.project, *state(store))
    with st.spinner(_("Reading the text …")):
        return _counted_lines((wish.question, where), store, wish)


def show_numbers(answer: Concordance) -> None:
    """Show what the counts say, the picture with its intervals, and the counts themselves."""
    if not answer.sentences_with:
        text = _("{word} does not occur in these {characters} characters.")
        st.info(plain(text.format(word=answer.question.word, characters=f"{answer.characters:,}")))
        return
    first = contrast_says(answer)
    says = [note_text(near_says(answer, number)) for number in range(len(answer.near))]
    head = element("p", note_text(first), "says") if first else ""
    show_html(element("div", joined([head, *(element("p", name, "also") for name in says)]), "concordance"))
    _show_picture(answer, paragraph(says))
    with st.expander(_("Counts")):
        rows = []
        for word, contrast in zip(answer.question.near, answer.near, strict=True):
            a, b, c, d = contrast.counts
            rows.append(
                {
                    _("Collocate"): word,
                    _("With both"): a,
                    _("Only the word"): b,
                    _("Only the collocate"): c if contrast.share_elsewhere is not None else None,
                    _("With neither"): d if contrast.share_elsewhere is not None else None,
                    _("Share with the word"): percent(contrast.share),
                    _("Share without the word"): percent(contrast.share_elsewhere),
                    _("Log odds ratio (ln)"): DASH
                    if contrast.log_odds.value is None
                    else f"{contrast.log_odds.value:+.2f}",
                    _("95% interval"): _log_span(contrast.log_odds),
                }
            )
        st.dataframe(rows, hide_index=True, key="counts")
        if answer.contrast is not None:
            st.caption(plain(_contrast_text(answer)))
        if any(contrast.corrected for contrast in answer.near):
            caption(
                "Where one of the four counts is 0, 1/2 was added to each for the interval (Haldane–Anscombe"
                " correction)."
            )


def side(answer: Concordance, number: int) -> str:
    """Return the side of near word *number*: "male" or "female" if the near words are a keyword pair, else ""."""
    return ("male", "female")[number] if answer.question.is_pair else ""


def _rows(answer: Concordance) -> list[TableRow]:
    rows = []
    for number, (word, contrast) in enumerate(zip(answer.question.near, answer.near, strict=True)):
        rows.append(
            {
                "name": word,
                "times": contrast.times.value,
                "low": contrast.times.low,
                "high": contrast.times.high,
                "interval": _span(contrast.times),
                "side": side(answer, number),
                "signature": answer.signature,
            }
        )
    return rows


def _span(estimate: Estimate) -> str:
    if estimate.low is None:
        return note_text(estimate.note or estimate.reason)
    return f"{ratio(estimate.low)} – {ratio(estimate.high)}"


def _show_picture(answer: Concordance, says: str) -> None:
    import pandas as pd

    from evenhand.core.charts.dots import times

    rows = _rows(answer)
    if all(row["times"] is None for row in rows):
        return
    titles = {
        "name": _("collocate"),
        "times": _("frequency relative to sentences without the word"),
        "interval": _("95% interval"),
    }
    chart = times(pd.DataFrame(rows), description=says, titles=titles, palette=colours())
    text = _("Points: frequency relative to sentences without {word}; bars: 95% interval over {unit}.")
    caption = text.format(word=answer.question.word, unit=unit_name(answer.unit))
    show_chart(chart, rows, key="times", says=caption)


def _contrast_text(answer: Concordance) -> str:
    assert answer.contrast is not None
    a, b, c, d = answer.contrast.counts
    first, second = answer.question.near
    text = _(
        "Sentences with only one of {first} and {second}: {a} and {b} with {word}, {c} and {d}"
        " without; {both} contain both near it. Log odds ratio (ln): {value} ({interval}); values"
        " above 0 mean that {first} is relatively more frequent near {word}."
    )
    odds = answer.contrast.log_odds
    value = DASH if odds.value is None else f"{odds.value:+.2f}".replace("-", "−")
    numbers = {"a": f"{a:,}", "b": f"{b:,}", "c": f"{c:,}", "d": f"{d:,}", "both": f"{answer.both:,}"}
    return text.format(
        first=first, second=second, word=answer.question.word, value=value, interval=_log_span(odds), **numbers
    )


def _log_span(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return note_text(estimate.note or estimate.reason)
    return f"{estimate.low:+.2f} – {estimate.high:+.2f}".replace("-", "−")


def show_lines(wish: FormState, answer: Concordance) -> None:
    """Show the first lines, each with the whole sentence behind it, and all of them as a file."""
    if not answer.lines:
        return
    with foot():
        st.header(_("Lines"), anchor=False)
        download(
            _("All {number} lines (CSV)", number=f"{answer.occurrences:,}"),
            lambda: _all_lines(wish),
            "concordance.csv",
            key="lines-csv",
        )
    near = " ".join(answer.question.near)
    names = {"all": _("All lines"), "near": _("Lines with {near}", near=near)}
    orders: dict[Order, str] = {
        "text": _("in the order of the text"),
        "left": _("by left context"),
        "right": _("by right context"),
    }
    with st.container(horizontal=True, vertical_alignment="center"):
        which = st.segmented_control(
            _("Lines shown"),
            list(names),
            default="near" if answer.near_lines else "all",
            required=True,
            key="which_lines",
            format_func=names.__getitem__,
            label_visibility="collapsed",
        )
        order = st.selectbox(
            _("Order of the lines"), list(orders), key="line_order", format_func=orders.__getitem__,
            label_visibility="collapsed", width=230,
        )  # fmt: skip
    lines = answer.near_lines if which == "near" else answer.lines
    st.caption(_("At most {shown} lines are shown. Click a line to see its whole sentence and source.", shown=LISTED))
    body = joined(_line(answer, repeated) for repeated in folded(lines, order))
    show_html(element("div", body, "concordance", data_testid="lines"))


def _all_lines(wish: FormState) -> bytes:
    from evenhand.pages.ui.visitor import open_store

    if wish.source is not None:
        asked = wish.source.paths, wish.question
        return run_bounded(lines_of_files, *asked, file=wish.name, seconds=LONGEST_S).encode("utf-8-sig")
    with open_store() as store:
        return lines_csv(passages_of(store, wish.find_project(store)), wish.question).encode("utf-8-sig")


def _line(answer: Concordance, repeated: RepeatedLine) -> Markup:
    line, times = repeated.line, len(repeated.places)
    start, end = line.span
    left = element("bdi", _marked(answer, line, max(0, start - CONTEXT), start))
    right = element("bdi", _marked(answer, line, end, min(len(line.sentence), end + CONTEXT)))
    node = element("b", line.sentence[start:end], "node")
    count = element("small", f"× {times}", "soft") if times > 1 else ""
    head = element("summary", joined([span(left, "left"), node, span(right), count]))
    whole = joined([_marked(answer, line, 0, start), node, _marked(answer, line, end, None)])
    origin = below(*(f"{document} · {place:,}" for document, place in dict.fromkeys(repeated.places)))
    return element("details", joined([head, element("div", joined([whole, origin]), "whole")]))


def _marked(answer: Concordance, line: Line, start: int, end: int | None) -> Markup:
    """Return characters start to end of a sentence with the near words in them marked."""
    return with_marks(line.sentence, [(a, b, side(answer, number)) for a, b, number in line.near], start, end)


def show_made_how(wish: FormState, answer: Concordance) -> None:
    """Show how much was read, what counts as a word, the signature, and everything as JSON."""
    text = _(
        "Characters read: {characters} (without line ends and spaces around lines); sentences: {sentences} (of the text"
        " as it is; mining cleans it first); texts: {documents}."
    )
    st.caption(
        text.format(
            characters=f"{answer.characters:,}", sentences=f"{answer.sentences:,}", documents=f"{answer.documents:,}"
        )
        + " "
        + _(
            "他 inside 其他 or 他们 is not counted, nor is a keyword inside a longer one. To count 他们,"
            " add it as a collocate."
        )
    )
    if wish.project:
        caption("A project is balanced on purpose: how often 他 and 她 occur in it says nothing about the language.")
    with foot():
        show_signature(f"{answer.signature} · {wish.name}")
        download("JSON", lambda: json_text(as_json(answer)), "concordance.json", key="concordance-json")
