"""What a set looks like on the page Data set statistics: tiles, tables, charts."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from evenhand.annotations.quantities.texts import NO_VOCABULARY, latex_tables, text_estimates, text_id
from evenhand.core.charts.describe import bars, before_after_points, length_bars, pair_balance
from evenhand.core.describe.as_json import as_json
from evenhand.core.describe.description import Description, Repeats
from evenhand.core.describe.keywords import largest_imbalance
from evenhand.core.language import significant
from evenhand.core.statistics import Estimate
from evenhand.core.text.repetition import Repeated
from evenhand.core.types import TableRow
from evenhand.pages.ui import results
from evenhand.pages.ui.charts import caption_with_files, colours, download, downloads, foot, json_text, show_chart
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH, interval, note_text, number, percent
from evenhand.pages.ui.quantities import quantity_tile
from evenhand.pages.ui.tables import Tile, show_records, show_tiles
from evenhand.pages.ui.text import _, caption, clauses, in_brackets, inform, paragraph, plain

LISTED = 10


def vocabulary_facts(description: Description) -> None:
    """Show the distinct characters as a share of the vocabulary, and how many of them it really contains."""
    cover = description.coverage
    if cover is None:
        inform("No vocabulary is chosen.")
        return
    words = cover.vocabulary
    trial_banner([words.name])
    published = _("Distinct characters of the texts, as a share of the vocabulary (as published)")
    missing = _("Characters of the text missing from the vocabulary (by occurrence)")
    rows = [
        (_("Vocabulary entries"), words.size, ""),
        (published, cover.distinct, percent(cover.published)),
        (_("Of these, actually in the vocabulary"), cover.known, percent(cover.known_share)),
        (missing, cover.unknown_running, percent(cover.unknown_share)),
    ]
    table = [{_("Quantity"): name, _("Number"): f"{count:,}", _("Share"): share} for name, count, share in rows]
    show_records(table)
    caption_with_files(_lost(description), traced(table, description), key="vocabulary-table")


def _lost(description: Description) -> str:
    cover = description.coverage
    if cover is None or not cover.unknown:
        return _("Every character of the texts is in the vocabulary. Whitespace is not counted.")
    listed = " ".join(f"{character_name(one)} {count:,}" for one, count in cover.unknown[:LISTED])
    if not cover.lost:
        text = _("Not in the vocabulary, but read by the model as bytes, so nothing is lost: {listed}")
    else:
        text = _("The model reads these as an unknown token; most common: {listed}. Whitespace is not counted.")
    return text.format(listed=listed)


def repeats_table(description: Description) -> None:
    """Show how many texts are identical: as written, without punctuation and with the keyword masked."""
    kinds: dict[str, Repeats] = {
        _("Identical"): description.exact,
        _("Identical without punctuation and whitespace"): description.near,
    }
    if description.kind == "sentences":
        kinds[_("Identical with the keyword masked")] = description.twins
    rows = [
        {
            _("Match"): name,
            _("Groups found"): kind.groups,
            _("Texts in groups"): kind.texts,
            _("Left after keeping one per group"): kind.different,
            _("Places"): clauses(map(" = ".join, kind.places[:5])) or DASH,
        }
        for name, kind in kinds.items()
    ]
    show_records(rows)
    with foot():
        text = _("With the keyword masked: a sentence that occurs once with the male and once with the female word.")
        st.caption(
            plain(paragraph((text, _places(description))) if description.kind == "sentences" else _places(description))
        )
        downloads(traced(rows, description), key="repeats-table")


def _places(description: Description) -> str:
    if description.items == "file":
        return _("Places are lines of the file; the header is line 1.")
    return _("Places are lines of the imported file.")


def origins_and_endings(description: Description) -> None:
    """Show the sources of the texts, their dates, and the characters on which they end."""
    origins = description.origins
    endings = " ".join(f"{character_name(one)} {count:,}" for one, count in list(description.endings.items())[:LISTED])
    left, right = st.columns(2, gap="large")
    with left:
        rows = [{"source": one, "texts": texts} for one, texts in origins.named.items()]
        text = _("Sources: {sources}; texts without a source: {unnamed}.")
        says = text.format(sources=f"{len(rows):,}", unnamed=f"{origins.unnamed:,}")
        _counted(description, rows, "source", _("Source"), says, "sources")
    with right:
        rows = [{"month": month, "texts": texts} for month, texts in origins.dated.items()]
        text = _("From {earliest} to {latest}; {undated} texts without a date.")
        says = _("No text in this data set has a date.")
        if rows:
            says = text.format(earliest=origins.earliest, latest=origins.latest, undated=f"{origins.undated:,}")
        _counted(description, _years(rows), "month", _("Date"), says, "dates")
    if endings:
        caption("Last characters: {listed}", listed=endings)


def _counted(
    description: Description, rows: list[dict[str, object]], field: str, title: str, says: str, key: str
) -> None:
    if not rows:
        st.caption(plain(says))
        return
    drawn = pd.DataFrame([{"name": row[field], "count": row["texts"]} for row in rows[: LISTED * 2]])
    titles = {"name": title, "count": _("Texts")}
    chart = bars(drawn, description=says, titles=titles, palette=colours())
    show_chart(chart, traced(rows, description), key=key, says=says)


def _years(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the rows by month, or by year if there are more than `LISTED * 2` months."""
    if len(rows) <= LISTED * 2:
        return rows
    years: dict[str, int] = {}
    for row in rows:
        year = str(row["month"])[:4]
        years[year] = years.get(year, 0) + int(str(row["texts"]))
    return [{"month": year, "texts": texts} for year, texts in years.items()]


def length(value: float | None) -> str:
    """Return a length: whole where it is, else with two digits; a dash where there is none."""
    return DASH if value is None else f"{value:,.2f}".rstrip("0").rstrip(".")


def say_conclusion(description: Description) -> None:
    """Say in one sentence how many texts there are, how long they are and of how many characters they are made."""
    numbers = {
        "n": f"{description.sentences:,}", "length": length(description.lengths.median),
        "characters": f"{description.characters.distinct:,}",
    }  # fmt: skip
    text = _("{n} texts with a median length of {length} characters and {characters} different characters.")
    results.show_conclusion(text.format(**numbers))


def tiles(description: Description) -> None:
    """Show how many texts and characters there are, how long texts are, and how much of the vocabulary they use."""
    size, letters, cover = description.lengths, description.characters, description.coverage
    items = {"accepted": _("accepted items"), "all": _("all items"), "file": _("all rows of the file")}
    span = _("{least} to {most} characters, mean {mean}")
    span = span.format(least=length(size.least), most=length(size.most), mean=length(size.mean))
    found = text_estimates(description)
    share = _("Choose a vocabulary above.")
    if cover:
        share = _("{distinct} distinct characters / {size} vocabulary entries of {model}, as computed in the papers")
        words = cover.vocabulary
        share = share.format(distinct=f"{letters.distinct:,}", size=f"{words.size:,}", model=words.name)
    total = _("{total} characters in all, punctuation included", total=f"{letters.total:,}")
    lines = {
        "number": f"{description.name} · {items[description.items]}",
        "distinct_characters": total,
        "median_length": span,
        "of_vocabulary": share,
    }
    ids = {text_id(field, description.items): line for field, line in lines.items()}
    show_tiles([quantity_tile(id_, found.get(id_, NO_VOCABULARY), line) for id_, line in ids.items()], 4)


def writing(description: Description) -> None:
    """Show tokens, distinct tokens and repetitiveness of generations; nothing for other texts."""
    wrote = description.writing
    if wrote is None:
        return
    span = _("{least} to {most} in a completion, mean {mean}")
    ends = {"least": length(wrote.tokens.least), "most": length(wrote.tokens.most), "mean": length(wrote.tokens.mean)}
    distinct = _("of {total}; within a completion, {share} are distinct on average")
    distinct = distinct.format(total=f"{wrote.total:,}", share=percent(wrote.per_text))
    both = _("repetitiveness of context and completion, as published")
    show_tiles(
        [
            Tile(_("Tokens, median"), length(wrote.tokens.median), (span.format(**ends),)),
            Tile(_("Distinct tokens"), f"{wrote.distinct:,}", (distinct,)),
            _repeated(_("Repetitiveness"), wrote.completion, _("of completions only; 0 = nothing is repeated")),
            _repeated(_("With contexts"), wrote.published, both),
        ],
        4,
    )


def _repeated(name: str, value: Repeated, meaning: str) -> Tile:
    if value.mean is None or value.std is None:
        return Tile(name, number(value.mean, ".3f"), (note_text(value.reason),))
    text = _("{meaning}; standard deviation {std}, {texts} texts, {short} too short")
    values = {"std": f"{value.std:.3f}", "texts": f"{value.texts:,}", "short": f"{value.short:,}"}
    return Tile(name, f"{value.mean:.3f}", (text.format(meaning=meaning, **values),))


def show_method(description: Description) -> None:
    """Show how the numbers were made, the signature, and the downloads of all numbers and tables."""
    text = _(
        "A character is one code point, without normalisation. Intervals: 95%, Wilson's, modified"
        " for rare counts. The signature identifies the texts and the vocabulary by the first digits of their SHA-256."
    )
    results.show_method(text, signature=description.signature)
    with st.container(horizontal=True):
        download(
            _("All numbers (JSON)"), lambda: json_text(as_json(description)), "statistics.json", key="described-json"
        )
        download(
            _("Tables (LaTeX)"), lambda: latex_tables(description).encode(), "statistics.tex", key="described-latex"
        )


def traced(rows: Iterable[Mapping[str, Any]], description: Description) -> list[TableRow]:
    """Return the rows for a file, each with the signature of its numbers."""
    return [{**row, "signature": description.signature} for row in rows]


def share_or_reason(estimate: Estimate) -> str:
    """Return a share with its interval in per cent or the reason why it has none, or a dash with the reason."""
    if estimate.value is None:
        return f"{DASH} {note_text(estimate.reason)}".strip()
    return in_brackets(percent(estimate.value), interval(estimate, "%") or note_text(estimate.note))


def keywords(description: Description) -> None:
    """Show the papers' figure 2: for each word the candidates, what was kept of them, and the share as a line."""
    if not description.keywords:
        inform("No sentence in this data set has a keyword.")
        return
    rows = [
        {
            "pair": keyword.pair,
            "word": keyword.word,
            "side": keyword.side,
            "before": keyword.before,
            "decided": keyword.decided,
            "after": keyword.after,
            "share": keyword.share.value,
            "low": keyword.share.low,
            "high": keyword.share.high,
            "share_text": share_or_reason(keyword.share),
        }
        for keyword in description.keywords
    ]
    says = _keywords_say(description)
    chart = before_after_points(pd.DataFrame(rows), description=says, say=_, palette=colours())
    file = ({name: value for name, value in row.items() if name != "share_text"} for row in rows)
    show_chart(chart, traced(file, description), key="per-word", says=says)


def cells(description: Description) -> None:
    """Show how many generations there are per model and pronoun set, or per cell of another kind."""
    counts = [(keyword.word, keyword.before or 0) for keyword in description.keywords if keyword.word]
    if not counts:
        return
    says = _("{cells} cells with {least} to {most} texts each.").format(
        cells=len(counts), least=f"{min(n for _cell, n in counts):,}", most=f"{max(n for _cell, n in counts):,}"
    )
    drawn = pd.DataFrame(counts, columns=["name", "count"])
    titles = {"name": _("Cell"), "count": _("Texts")}
    chart = bars(drawn, description=says, titles=titles, palette=colours())
    rows = [{"cell": cell, "texts": texts} for cell, texts in counts]
    show_chart(chart, traced(rows, description), key="cells", says=says)


def _keywords_say(description: Description) -> str:
    after = sum(keyword.after for keyword in description.keywords)
    if any(keyword.before is None for keyword in description.keywords):
        return _("{after} sentences with a keyword. Purple: male word, orange: female word.", after=f"{after:,}")
    before = sum(keyword.before or 0 for keyword in description.keywords)
    decided = sum(keyword.decided or 0 for keyword in description.keywords)
    if not decided:
        text = _("{before} candidates, none of them decided yet. Purple: male word, orange: female word.")
        return text.format(before=f"{before:,}")
    text = _(
        "Pale: {before} candidates; solid: {after} accepted. Points: the acceptance rate of the"
        " {decided} decided, with 95% intervals. Purple: male word, orange: female word."
    )
    return text.format(before=f"{before:,}", after=f"{after:,}", decided=f"{decided:,}")


def balance(description: Description) -> None:
    """Show how near each pair is to 1:1."""
    if not description.balances:
        inform("No sentence in this data set has a keyword.")
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
            "share_text": share_or_reason(one.share),
            "p_text": f"{DASH} {note_text(one.untested)}" if one.p_holm is None else significant(one.p_holm),
        }
        for one in description.balances
    ]
    says = _balance_says(description)
    chart = pair_balance(pd.DataFrame(rows), description=says, say=_, palette=colours())
    shown = ("pair", "male", "female", "missing", "share", "low", "high", "p", "p_holm")
    show_chart(chart, traced(({k: row[k] for k in shown} for row in rows), description), key="balance", says=says)


def _balance_says(description: Description) -> str:
    male, female = (sum(getattr(one, side) for one in description.balances) for side in ("male", "female"))
    text = _("{male} sentences with a male word, {female} with a female word; the vertical line is 1:1.")
    says = text.format(male=f"{male:,}", female=f"{female:,}")
    worst = largest_imbalance(description.balances)
    if worst is None:
        return paragraph((says, _("Every pair is balanced.")))
    text = _("Largest imbalance: {pair}, {missing} sentences missing.")
    differ = sum(1 for one in description.balances if one.p_holm is not None and one.p_holm < 0.05)
    tested = sum(one.p_holm is not None for one in description.balances)
    untested = len(description.balances) - tested
    more = _("{count} of {pairs} pairs differ significantly from 1:1 (binomial test, Holm correction, 5%).")
    why = next((note_text(one.untested) for one in description.balances if one.untested is not None), "")
    return paragraph(
        (
            says,
            text.format(pair=worst.pair, missing=f"{worst.missing:,}"),
            more.format(count=differ, pairs=tested) if tested else "",
            _("Pairs not tested: {count}.", count=untested) if tested and why else "",
            why,
        )
    )


def length_histogram(description: Description) -> None:
    """Draw how many texts have how many characters."""
    rows = [{"length": length, "texts": texts} for length, texts in description.lengths.by.items()]
    if not rows:
        inform("There is no text to describe.")
        return
    size = description.lengths
    text = _("Shortest {least}, median {median}, mean {mean}, longest {most} characters.")
    values = {"least": length(size.least), "median": length(size.median), "most": length(size.most)}
    says = text.format(mean=length(size.mean), **values)
    chart = length_bars(pd.DataFrame(rows), description=says, say=_, palette=colours())
    show_chart(chart, traced(rows, description), key="lengths", says=says)


def commonest(description: Description) -> None:
    """Draw the ten most frequent characters, like table 2 of the papers."""
    top = description.characters.commonest()
    rows = [{"character": one, "count": count} for one, count in top]
    if not rows:
        inform("There is no text to describe.")
        return
    says = " ".join(f"{character_name(one)} {count:,}" for one, count in top)
    drawn = pd.DataFrame([{"name": character_name(one), "count": count} for one, count in top])
    titles = {"name": _("Character"), "count": _("Count")}
    chart = bars(drawn, description=says, titles=titles, palette=colours(), size=16)
    show_chart(chart, traced(rows, description), key="characters", says=says)


def character_name(character: str) -> str:
    """Return a character that can be seen: a blank as a sign, what cannot be printed by its number."""
    if character == " ":
        return _("space")  # it has no shape of its own
    return character if character.isprintable() else f"U+{ord(character):04X}"
