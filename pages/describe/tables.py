"""Tables of the page Data set statistics: the vocabulary, texts that occur twice, sources, dates, endings."""

import pandas as pd
import streamlit as st

from evenhand.core.charts.describe import bars
from evenhand.core.describe import Description
from evenhand.core.describe.repeats import Repeats
from evenhand.pages.describe.charts import character_name, traced
from evenhand.pages.ui.charts import downloads, show_chart
from evenhand.pages.ui.language import _
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH, percent
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.text import clauses, paragraph, plain

LISTED = 10


def vocabulary_facts(found: Description) -> None:
    """Different characters as a share of the vocabulary, and how many of them are really in it."""
    cover = found.coverage
    if cover is None:
        st.info(_("No vocabulary is chosen."))
        return
    words = cover.vocabulary
    trial_banner([words.name])
    rows = [
        (_("Vocabulary entries"), f"{words.size:,}", ""),
        (
            _("Distinct characters of the texts, as a share of the vocabulary (as published)"),
            f"{cover.distinct:,}",
            cover.published,
        ),
        (_("Of these, actually in the vocabulary"), f"{cover.known:,}", cover.known_share),
        (
            _("Characters of the running text missing from the vocabulary"),
            f"{cover.unknown_running:,}",
            cover.unknown_share,
        ),
    ]
    table = [
        {_("Quantity"): name, _("Number"): count, _("Share"): share if share == "" else percent(share, 3)}  # type: ignore[arg-type]
        for name, count, share in rows
    ]
    st.dataframe(table, hide_index=True, key="vocabulary-facts")
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(plain(_lost(found)))
        downloads(traced(table, found), key="vocabulary-table")


def _lost(found: Description) -> str:
    cover = found.coverage
    if cover is None or not cover.unknown:
        return _("Every character of the texts is in the vocabulary. Whitespace is not counted.")
    listed = " ".join(f"{character_name(one)} {count:,}" for one, count in cover.unknown[:LISTED])
    if not cover.lost:
        text = _("Not single vocabulary entries, but read by the model as bytes, so nothing is lost: {listed}")
    else:
        text = _("The model sees an unknown token in place of these; most common: {listed}. Whitespace is not counted.")
    return text.format(listed=listed)


def repeats_table(found: Description) -> None:
    """Texts that are the same as they are, without punctuation, and with the keyword masked."""
    kinds: dict[str, Repeats] = {
        _("Identical"): found.exact,
        _("Identical without punctuation and whitespace"): found.near,
    }
    if found.kind == "sentences":
        kinds[_("Identical with the keyword masked")] = found.twins
    rows = [
        {
            _("Match"): name,
            _("Groups found"): one.groups,
            _("Texts in groups"): one.texts,
            _("Left after keeping one per group"): found.sentences - one.surplus,
            _("Places"): clauses(" = ".join(found.places[n] for n in group) for group in one.places[:5]) or DASH,
        }
        for name, one in kinds.items()
    ]
    st.dataframe(rows, hide_index=True, key="repeats")
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        text = _("With the keyword masked: a sentence that occurs once with the male and once with the female word.")
        st.caption(plain(paragraph((text, _places(found))) if found.kind == "sentences" else _places(found)))
        downloads(traced(rows, found), key="repeats-table")


def _places(found: Description) -> str:
    return (
        _("Places are lines of the file; the header is line 1.")
        if found.items == "file"
        else _("Places are lines of the imported file.")
    )


def origins_and_endings(found: Description) -> None:
    """Where the texts come from, of when they are, and on which character they end."""
    origins = found.origins
    endings = " ".join(f"{character_name(one)} {count:,}" for one, count in list(found.endings.items())[:LISTED])
    left, right = st.columns(2, gap="large")
    with left:
        rows = [{"source": one, "texts": texts} for one, texts in origins.named.items()]
        text = _("Sources: {sources}; texts without a source: {unnamed}.")
        says = text.format(sources=f"{len(rows):,}", unnamed=f"{origins.unnamed:,}")
        _counted(found, rows, "source", _("Source"), says, "sources")
    with right:
        rows = [{"month": month, "texts": texts} for month, texts in origins.dated.items()]
        text = _("From {earliest} to {latest}; {undated} texts without a date.")
        says = (
            text.format(earliest=origins.earliest, latest=origins.latest, undated=f"{origins.undated:,}")
            if rows
            else _("No text in this data set has a date.")
        )
        _counted(found, _years(rows), "month", _("Date"), says, "dates")
    if endings:
        st.caption(plain(_("Last characters: {listed}").format(listed=endings)))


def _counted(found: Description, rows: list[dict[str, object]], field: str, title: str, says: str, key: str) -> None:
    if not rows:
        st.caption(plain(says))
        return
    drawn = pd.DataFrame([{"name": row[field], "count": row["texts"]} for row in rows[: LISTED * 2]])
    titles = {"name": title, "count": _("Texts")}
    chart = bars(drawn, description=says, titles=titles, palette=colours())
    show_chart(chart, traced(rows, found), key=key, says=says)


def _years(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """By year where there are more months than fit."""
    if len(rows) <= LISTED * 2:
        return rows
    years: dict[str, int] = {}
    for row in rows:
        year = str(row["month"])[:4]
        years[year] = years.get(year, 0) + int(str(row["texts"]))
    return [{"month": year, "texts": texts} for year, texts in years.items()]
