"""The charts of the page Data set statistics: a description in, a chart with its numbers and its sentence out."""

from collections.abc import Iterable
from typing import Any

import pandas as pd
import streamlit as st

from evenhand.core.charts.describe import bars, before_after_points, length_bars, pair_balance
from evenhand.core.describe import Description
from evenhand.core.describe.keywords import largest_imbalance
from evenhand.core.language import significant
from evenhand.core.statistics import Estimate
from evenhand.pages.describe.tiles import length
from evenhand.pages.ui.charts import show_chart
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, note_text, percent, to
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.text import in_brackets, paragraph

Row = dict[str, Any]


def traced(rows: Iterable[Row], found: Description) -> list[Row]:
    """Rows for a file: each says how its numbers were made."""
    return [{**row, "signature": found.signature} for row in rows]


def interval(found: Estimate) -> str:
    """Return a share with its interval in per cent or the reason why it has none, or a dash with the reason."""
    if found.value is None:
        return f"{DASH} {note_text(found.reason)}".strip()
    if found.low is None or found.high is None:
        return in_brackets(percent(found.value), note_text(found.note))
    return in_brackets(percent(found.value), to(f"{100 * found.low:.1f}%", f"{100 * found.high:.1f}%"))


def keywords(found: Description) -> None:
    """The papers' figure 2: for each word the candidates, what was kept of them, and the share as a line."""
    if not found.keywords:
        st.info(_("No sentence in this data set has a keyword."))
        return
    rows = [
        {
            "pair": one.pair,
            "word": one.word,
            "side": one.side,
            "before": one.before,
            "decided": one.decided,
            "after": one.after,
            "share": one.share.value,
            "low": one.share.low,
            "high": one.share.high,
            "share_text": interval(one.share),
        }
        for one in found.keywords
    ]
    says = _keywords_say(found)
    chart = before_after_points(pd.DataFrame(rows), description=says, say=_, palette=colours())
    show_chart(
        chart,
        traced(({k: v for k, v in r.items() if k != "share_text"} for r in rows), found),
        key="per-word",
        says=says,
    )


def cells(found: Description) -> None:
    """Generations: how many texts there are of each model and pronoun set, or whatever they were drawn from."""
    rows: list[Row] = [{"cell": one.word, "texts": one.before or 0} for one in found.keywords if one.word]
    if not rows:
        return
    st.subheader(_("Texts per cell"), anchor=False)
    says = _("{cells} cells with {least} to {most} texts each.").format(
        cells=len(rows), least=f"{min(row['texts'] for row in rows):,}", most=f"{max(row['texts'] for row in rows):,}"
    )
    drawn = pd.DataFrame([{"name": row["cell"], "count": row["texts"]} for row in rows])
    titles = {"name": _("Cell"), "count": _("Texts")}
    chart = bars(drawn, description=says, titles=titles, palette=colours())
    show_chart(chart, traced(rows, found), key="cells", says=says)


def _keywords_say(found: Description) -> str:
    after = sum(one.after for one in found.keywords)
    if any(one.before is None for one in found.keywords):
        return _("{after} sentences with a keyword. Purple: male word, orange: female word.").format(after=f"{after:,}")
    before = sum(one.before or 0 for one in found.keywords)
    decided = sum(one.decided or 0 for one in found.keywords)
    if not decided:
        text = _("{before} candidates, none of them decided yet. Purple: male word, orange: female word.")
        return text.format(before=f"{before:,}")
    text = _(
        "Pale: {before} candidates; solid: {after} kept. Points: the share kept among the {decided}"
        " decided, with 95% intervals. Purple: male word, orange: female word."
    )
    return text.format(before=f"{before:,}", after=f"{after:,}", decided=f"{decided:,}")


def balance(found: Description) -> None:
    """How near each pair is to 1:1."""
    if not found.balances:
        st.info(_("No sentence in this data set has a keyword."))
        return
    rows = [
        {
            "pair": one.pair,
            "male": one.male,
            "female": one.female,
            "missing": one.missing,
            "share": one.share.value,
            "low": one.share.low,
            "high": one.share.high,
            "p": one.p,
            "p_holm": one.p_holm,
            "share_text": interval(one.share),
            "p_text": f"{DASH} {note_text(one.untested)}" if one.p_holm is None else significant(one.p_holm),
        }
        for one in found.balances
    ]
    says = _balance_says(found)
    chart = pair_balance(pd.DataFrame(rows), description=says, say=_, palette=colours())
    shown = ("pair", "male", "female", "missing", "share", "low", "high", "p", "p_holm")
    show_chart(chart, traced(({k: row[k] for k in shown} for row in rows), found), key="balance", says=says)


def _balance_says(found: Description) -> str:
    male, female = (sum(getattr(one, side) for one in found.balances) for side in ("male", "female"))
    text = _("{male} sentences with a male word, {female} with a female word; the vertical line is 1:1.")
    says = text.format(male=f"{male:,}", female=f"{female:,}")
    worst = largest_imbalance(found.balances)
    if worst is None:
        return paragraph((says, _("Every pair is balanced.")))
    text = _("Largest imbalance: {pair}, short of {missing} sentences.")
    differ = sum(1 for one in found.balances if one.p_holm is not None and one.p_holm < 0.05)
    tested = sum(one.p_holm is not None for one in found.balances)
    untested = len(found.balances) - tested
    more = _("{count} of {pairs} pairs differ from 1:1 by more than chance (binomial test, Holm, 5%).")
    why = next((note_text(one.untested) for one in found.balances if one.untested is not None), "")
    return paragraph(
        (
            says,
            text.format(pair=worst.pair, missing=f"{worst.missing:,}"),
            more.format(count=differ, pairs=tested) if tested else "",
            _("Pairs not tested: {count}.").format(count=untested) if tested and why else "",
            why,
        )
    )


def length_histogram(found: Description) -> None:
    """How many texts have how many characters."""
    rows = [{"length": length, "texts": texts} for length, texts in found.lengths.by.items()]
    if not rows:
        st.info(_("There is no text to describe."))
        return
    size = found.lengths
    text = _("Shortest {least}, median {median}, mean {mean}, longest {most} characters.")
    values = {"least": length(size.least), "median": length(size.median), "most": length(size.most)}
    says = text.format(mean=length(size.mean), **values)
    chart = length_bars(pd.DataFrame(rows), description=says, say=_, palette=colours())
    show_chart(chart, traced(rows, found), key="lengths", says=says)


def commonest(found: Description) -> None:
    """The ten commonest characters, as in the papers' table 2."""
    top = found.characters.commonest()
    rows = [{"character": one, "count": count} for one, count in top]
    if not rows:
        st.info(_("There is no text to describe."))
        return
    says = " ".join(f"{character_name(one)} {count:,}" for one, count in top)
    drawn = pd.DataFrame([{"name": character_name(one), "count": count} for one, count in top])
    titles = {"name": _("Character"), "count": _("Count")}
    chart = bars(drawn, description=says, titles=titles, palette=colours(), size=16)
    show_chart(chart, traced(rows, found), key="characters", says=says)


def character_name(character: str) -> str:
    """A character that can be seen: a blank as a sign, what cannot be printed by its number."""
    if character == " ":
        return _("space")  # it has no shape of its own
    return character if character.isprintable() else f"U+{ord(character):04X}"
