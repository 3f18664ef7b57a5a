"""What the views of a project share: bars, sentences with their word marked, a guideline as its readers see it."""

import html
from collections.abc import Iterable, Sequence

import streamlit as st
from markdown_it import MarkdownIt

from annotations.files.import_items import PreviewRow
from annotations.types import CellCount, Choice, Kind, ProjectCounts
from core.charts.style import Palette
from core.language import translate
from core.types import Problem, Side, Span
from pages.ui.language import _, language
from pages.ui.numbers import DASH

STYLE = """
<style>
.project {--male:light-dark(#5b3fa0,#b9a3f5); --female:light-dark(#b4500f,#f2a267);
  --male-tint:light-dark(#eee9fa,#2c2541); --female-tint:light-dark(#fdeadd,#3d2a1c);
  --good:light-dark(#2e7d4f,#74c495); --bad:light-dark(#9a2f2f,#ef9a9a); --soft:light-dark(#6b6459,#a39c90);
  --line:light-dark(#e6e1d8,#34313c)}
.project .bar {display:flex; height:10px; border-radius:5px; overflow:hidden; background:var(--line)}
.project .bar i {display:block; height:100%}
.project .bar .good {background:var(--good)}
.project .bar .bad {background:repeating-linear-gradient(45deg,var(--bad) 0 4px,
  color-mix(in srgb,var(--bad) 55%,transparent) 4px 7px)}
.project .bar .male {background:var(--male)}
.project .bar .female {background:var(--female)}
.project .legend {display:flex; flex-wrap:wrap; gap:4px 18px; margin-top:6px; font-size:13.5px; color:var(--soft)}
.project .legend b {color:light-dark(#211d18,#ece8e1); font-variant-numeric:tabular-nums}
.project table {border-collapse:collapse; width:100%; font-size:14.5px}
.project th {text-align:left; white-space:nowrap; font-weight:600; color:var(--soft); font-size:13px;
  padding:4px 10px 4px 0}
.project td {border-top:1px solid var(--line); padding:7px 10px 7px 0; vertical-align:top}
.project td.number, .project th.number {text-align:right; font-variant-numeric:tabular-nums; white-space:nowrap}
.project td.number, .project th.number {width:1%}
.project td.text {line-height:2.1; padding-top:12px; overflow-wrap:anywhere; white-space:pre-wrap}
.project .word {position:relative; font-weight:700; padding:0 .1em; border-radius:3px 3px 0 0;
  border-bottom:2.5px solid}
.project .word.male {background:var(--male-tint); border-color:var(--male)}
.project .word.female {background:var(--female-tint); border-color:var(--female)}
.project .side {font-size:11.5px; white-space:nowrap; font-weight:500}
.project .word .side {position:absolute; left:0; top:-1.5em; line-height:1.2}
.project th .side {font-size:13px}
.project .side.male {color:var(--male)} .project .side.female {color:var(--female)}
.project .problem {color:var(--bad); font-size:13.5px; white-space:normal}
.project .wanted td:nth-child(n+2) {min-width:110px}
.project kbd {font:600 12px ui-monospace,monospace; border:1px solid var(--line); border-bottom-width:2px;
  border-radius:5px; padding:1px 7px}
.project .guideline {line-height:1.7} .project .guideline h3 {font-size:1.05rem; margin:.9em 0 .4em; padding:0}
.project .guideline li {margin:.3em 0} .project .guideline p {margin:.4em 0}
.project .wide {overflow-x:auto}
.project .generation {border:1px solid var(--line); border-radius:12px; padding:12px 16px; margin:0 0 10px;
  overflow-wrap:anywhere}
.project .generation .about {font-size:13px; color:var(--soft)}
.project .generation .context {color:var(--soft); white-space:pre-wrap; margin-top:6px; line-height:1.6}
.project .generation .completion {white-space:pre-wrap; margin-top:4px; line-height:1.7; font-size:1.05rem}
</style>
"""
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")  # an image would fetch a foreign address


def show(body: str) -> None:
    """HTML of these views; everything in *body* that came from people or files is escaped already."""
    st.html(f'{STYLE}<div class="project">{body}</div>')


def side_word(side: Side) -> str:
    """The side in words, never by colour alone."""
    return _("male word") if side == "male" else _("female word")


def marked(text: str, word: Span, side: Side) -> str:
    """A sentence as HTML with its word tinted, underlined and named; spans are half-open code points."""
    start, end = word
    before, inside, after = (html.escape(part) for part in (text[:start], text[start:end], text[end:]))
    name = f'<span class="side {side}">{html.escape(side_word(side))}</span>'
    return f'{before}<span class="word {side}">{inside}{name}</span>{after}'


def with_keyword(text: str, word: Span | None, side: str, colours: Palette) -> str:
    """*text* escaped; *word*: the half-open code points of the keyword, None where it has none."""
    if word is None or side not in ("male", "female"):
        return html.escape(text)
    start, end = word
    male = side == "male"
    tint, line = (colours.male_tint, colours.male) if male else (colours.female_tint, colours.female)
    name = _("male word") if male else _("female word")
    return (
        f"{html.escape(text[:start])}"
        f'<mark style="background:{tint};color:inherit;border-bottom:3px solid {line};font-weight:700;padding:0 .1em">'
        f"{html.escape(text[start:end])}</mark>"
        f'<small style="color:{line};font-size:.72rem;margin:0 .25em">{html.escape(name)}</small>'
        f"{html.escape(text[end:])}"
    )


def guideline_html(text: str) -> str:
    """A guideline as HTML: Markdown without raw HTML and without images."""
    return f'<div class="guideline">{_MARKDOWN.render(text)}</div>'


def choice_name(choice: Choice) -> str:
    """A choice or reason as the visitor reads it."""
    return choice.zh if language() == "zh" else choice.en


def options_html(options: Sequence[Choice]) -> str:
    """Choices or reasons: the key, what it says to this visitor, the code that is stored."""
    rows = "".join(
        f"<tr><td><kbd>{html.escape(one.key.upper())}</kbd></td>"
        f"<td>{html.escape(choice_name(one))}</td><td>{html.escape(one.code)}</td></tr>"
        for one in options
    )
    head = "".join(f"<th>{html.escape(text)}</th>" for text in (_("Key"), _("Meaning"), _("Code")))
    return f"<table><tr>{head}</tr>{rows}</table>"


def status_bar(counts: ProjectCounts, kind: Kind = "sentences") -> str:
    """Accepted, rejected and still open sentences as one bar and in words; of generations, what is settled."""
    share = 100 / max(1, counts.items)
    parts = [(_("accepted"), counts.accepted, "good"), (_("rejected"), counts.rejected, "bad")]
    if kind == "generations":
        parts = [(_("with a gold label"), counts.accepted + counts.rejected, "good")]
    bar = "".join(f'<i class="{kind}" style="width:{number * share:.2f}%"></i>' for _name, number, kind in parts)
    named = [*((name, number) for name, number, _kind in parts), (_("still open"), counts.pending)]
    if counts.aside:
        named.append((_("set aside by all"), counts.aside))
    legend = "".join(f"<span><b>{number:,}</b> {html.escape(name)}</span>" for name, number in named)
    return f'<div class="bar" aria-hidden="true">{bar}</div><div class="legend">{legend}</div>'


def by_pair(cells: Iterable[CellCount]) -> dict[str, dict[str, CellCount]]:
    """Cells by keyword pair and side."""
    pairs: dict[str, dict[str, CellCount]] = {}
    for cell in cells:
        pairs.setdefault(cell.pair, {})[cell.side] = cell
    return pairs


def quota_bars(cells: Iterable[CellCount]) -> str:
    """Accepted sentences of each pair and side against what is wanted; without a quota against what there is."""
    pair = html.escape(_("Keyword pair"))
    head = f"<tr><th>{pair}</th>" + "".join(
        f'<th><span class="side {side}">{html.escape(side_word(side))}</span></th>' for side in ("male", "female")
    )
    rows = "".join(
        f"<tr><td>{html.escape(pair or DASH)}</td>{_cell(sides.get('male'))}{_cell(sides.get('female'))}</tr>"
        for pair, sides in by_pair(cells).items()
    )
    return f'<div class="wide"><table class="wanted">{head}</tr>{rows}</table></div>'


def _cell(cell: CellCount | None) -> str:
    if cell is None:
        return f"<td>{DASH}</td>"
    whole = cell.items if cell.quota is None else cell.quota
    width = min(100.0, 100 * cell.accepted / whole) if whole else 0.0
    words = _("{accepted} of {wanted} wanted") if cell.quota is not None else _("{accepted} of {wanted} sentences")
    text = html.escape(words.format(accepted=f"{cell.accepted:,}", wanted=f"{whole:,}"))
    return (
        f'<td><div class="bar" aria-hidden="true"><i class="{cell.side}" style="width:{width:.1f}%"></i></div>'
        f'<div class="legend">{text}</div></td>'
    )


def preview_table(rows: Sequence[PreviewRow]) -> str:
    """The first rows of a file: the word that was found, or what is wrong with the row."""
    body = "".join(_preview_row(row) for row in rows)
    line, sentence = html.escape(_("Line")), html.escape(_("Sentence"))
    head = f'<th class="number">{line}</th><th>{sentence}</th>'
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _preview_row(row: PreviewRow) -> str:
    if row.problem is not None:
        why = html.escape(problem_text(row.problem))
        text = f'{html.escape(row.text[:300])}<div class="problem">⚠ {why}</div>'
    elif row.item is not None and row.item.candidate is not None:
        found = row.item.candidate
        text = marked(found.sentence, (found.start, found.end), found.side)
    else:
        text = html.escape(row.text[:300])
    return f'<tr><td class="number">{row.line:,}</td><td class="text">{text}</td></tr>'


def problem_text(problem: Problem) -> str:
    """What is wrong with a line, in the visitor's language."""
    sentence = translate(problem.message, language())
    return sentence.format(**problem.values) if problem.values else sentence


def reason_name(code: str) -> str:
    """Why a line could not be used, in a few words; a code that is not known stays as it is."""
    return {
        "no_keyword": _("no keyword"),
        "several_keywords": _("several keywords"),
        "control_characters": _("control characters"),
        "too_long": _("too long"),
        "no_text": _("no text"),
        "bad_span": _("position cannot be repaired"),
        "columns": _("wrong number of columns"),
        "pronouns": _("pronouns not understood"),
        "not_told_apart": _("context and completion not told apart"),
        "no_item": _("item not in this project"),
        "label": _("not a label of this project"),
        "unknown_choice": _("choice not explained"),
    }.get(code, code)
