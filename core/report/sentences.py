"""Sentences as HTML: the value, the sentence with its keyword marked, the probabilities. All text is escaped."""

import html
from collections.abc import Iterable
from typing import Any

from evenhand.core.language import Say, translate_stored
from evenhand.core.report.numbers import probability, signed_number
from evenhand.core.sentence_bias.bias import LN10


def list_html(rows: Iterable[dict[str, Any]], *, say: Say, value: str = "bias_log10") -> str:
    """The rows of a score file as a list; `value` names the column of the large number."""
    return f'<ul class="models-list">{"".join(_sentence(row, value, say) for row in rows)}</ul>'


def _sentence(row: dict[str, Any], value: str, say: Say) -> str:
    number = row[value]
    colour, arrow = ("m", " ▶") if number > 0 else ("f", " ◀") if number < 0 else ("", "")
    male, _slash, female = str(row["pair"]).partition("/")
    facts = [
        f"ln {signed_number(row['bias_log10'] * LN10)}",
        f"p({html.escape(male)}) {probability(row['p_male'])}",
        f"p({html.escape(female)}) {probability(row['p_female'])}",
    ]
    if value != "bias_log10":
        facts.insert(0, f"Bias_c {signed_number(row['bias_log10'])}")
    if row["status"] != "ok":
        facts = [html.escape(translate_stored(str(row["status"]), say))]
    model = html.escape(str(row["model"]))
    signature = html.escape(f"{row['model']}: {row['signature']}", quote=True)
    told = " · ".join(f"<span>{fact}</span>" for fact in (*facts, model))
    return (
        f'<li><b class="{colour}" title="{signature}">{signed_number(number)}{arrow}</b><p>{marked(row)}</p>'
        f"<small>{told}</small></li>"
    )


def marked(row: dict[str, Any]) -> str:
    """The sentence as HTML with its keyword marked; nothing else of it is HTML."""
    text, start, end = str(row["sentence"]), row.get("start"), row.get("end")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(text):
        word = str(row["keyword"])
        start = text.find(word) if word else -1
        if start < 0:
            return html.escape(text)
        end = start + len(word)
    colour = {"male": "m", "female": "f"}.get(str(row.get("side")), "")
    word = f'<mark class="{colour}">{html.escape(text[start:end])}</mark>'
    return f"{html.escape(text[:start])}{word}{html.escape(text[end:])}"
