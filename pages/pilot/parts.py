"""What the parts of the page Pilot share: a guideline as the desk shows it, differences, figures in words."""

import difflib
import html
from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from annotations.desk import frontend as desk
from annotations.types import Choice, Guideline
from core.charts.style import Palette, palette
from core.guidelines import in_language
from pages.ui.language import language
from pages.ui.text import series

AROUND = 2  # lines without a change that are shown beside one
SIGN = {"accept": "✓", "correct": "✓", "reject": "✕", "misgendering": "✕"}


def colours() -> Palette:
    """The colours of the visitor's theme."""
    return palette(st.context.theme.type)


def names_of(versions: Iterable[Guideline], extra: Sequence[Choice] = ()) -> dict[str, str]:
    """Codes of choices and criteria as the visitor reads them; the newest wording counts."""
    options = [one for each in versions for one in (*each.choices, *each.reasons)]
    return {one.code: option_name(one) for one in (*options, *extra)}


def option_name(option: Choice) -> str:
    """A choice or criterion in the visitor's language, its other name or its code where it has none."""
    first, second = (option.zh, option.en) if language() == "zh" else (option.en, option.zh)
    return first or second or option.code


def desk_html(markdown: str) -> str:
    """A guideline as annotators see it beside the sentence; nothing in it is read as HTML."""
    made = []
    for block in desk.blocks(in_language(markdown, language())):
        if block["kind"] == "list":
            tag = "ol" if block["ordered"] else "ul"
            start = f' start="{int(block["start"])}"' if block["ordered"] else ""
            made.append(f"<{tag}{start}>{''.join(f'<li>{_runs(runs)}</li>' for runs in block['items'])}</{tag}>")
        else:
            tag = "h4" if block["kind"] == "head" else "p"
            made.append(f"<{tag}>{_runs(block['runs'])}</{tag}>")
    style = (
        "<style>.asdesk{line-height:1.6;overflow-wrap:anywhere;font-size:.95rem}"
        ".asdesk h4{font-size:1rem;padding:.5em 0 0;margin:0}.asdesk li{font-size:.95rem}"
        ".asdesk p,.asdesk ol,.asdesk ul{margin:.3em 0}</style>"
    )
    return f'{style}<div class="asdesk">{"".join(made)}</div>'


def _runs(runs: Iterable[tuple[str, bool]]) -> str:
    return "".join(f"<strong>{html.escape(text)}</strong>" if strong else html.escape(text) for text, strong in runs)


def difference_html(old: str, new: str) -> str:
    """Two texts line by line: what goes is struck through and marked −, what comes is underlined and marked +."""
    tint = colours()
    looks = {"-": (tint.bad, "line-through"), "+": (tint.good, "underline")}
    rows = []
    lines = [line for line in difflib.ndiff(old.splitlines(), new.splitlines()) if line[0] != "?"]
    near = {place + step for place, line in enumerate(lines) if line[0] != " " for step in range(-AROUND, AROUND + 1)}
    for place, line in enumerate(lines):
        if place not in near:  # far from any change
            if place == 0 or place - 1 in near:
                rows.append(f'<div style="color:{tint.soft}">…</div>')
            continue
        sign, text = line[0], line[2:]
        colour, decoration = looks.get(sign, (tint.ink, "none"))
        mark = {"-": "−", "+": "+"}.get(sign, "")
        rows.append(
            f'<div style="display:grid;grid-template-columns:1.4em minmax(0,1fr);color:{colour}"><b>{mark}</b>'
            f'<span style="text-decoration:{decoration};white-space:pre-wrap;overflow-wrap:anywhere">'
            f"{html.escape(text)}</span></div>"
        )
    return f'<div style="line-height:1.55;font-size:.94rem">{"".join(rows)}</div>'


def said_html(letter: str, choice: str, names: Mapping[str, str], reasons: Sequence[str], note: str) -> str:
    """What one annotator said of an item, in one line."""
    tint = colours()
    sign = SIGN.get(choice, "•")
    colour = {"✓": tint.good, "✕": tint.bad}.get(sign, tint.ink)
    why = series(reasons)
    return (
        f'<div style="border-left:3px solid {colour};padding-left:10px;margin:4px 0;overflow-wrap:anywhere">'
        f'<span style="color:{tint.soft}">{html.escape(letter)}</span> '
        f'<b style="color:{colour}">{sign} {html.escape(names.get(choice, choice))}</b> {html.escape(why)}'
        f'<span style="color:{tint.soft};white-space:pre-wrap"> {html.escape(note)}</span></div>'
    )
