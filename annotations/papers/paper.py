"""Papers from templates: Markdown with Jinja, one file per language.

A template is a function of its facts: a missing fact is an error. Values are escaped, so that no name or note becomes
markup. The result is parsed into blocks, which are written as Markdown or LaTeX.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from evenhand.annotations.papers.blocks import (
    DASH,
    Answered,
    Block,
    Heading,
    Points,
    Say,
    Table,
    Text,
    Verbatim,
    cell,
    markdown_text,
)
from evenhand.annotations.papers.claims import render_claims
from evenhand.core.language import Language
from evenhand.core.statistics import Estimate

SHARED = Path(__file__).parent / "templates"  # the parts that several papers include


def paper_blocks(folder: Path, name: str, language: Language, facts: Mapping[str, Any]) -> list[Block]:
    """The paper *name* from the template in *folder*/LANGUAGE.

    Raises jinja2.UndefinedError for a missing fact.
    """
    template = _environment(folder, language).get_template(f"{name}.md.jinja")
    text = template.render({**facts, "claim": render_claims(facts)})
    return _blocks(text, "" if language == "zh" else " ")


@cache
def _environment(folder: Path, language: Language) -> Environment:
    made = Environment(
        loader=FileSystemLoader([folder / language, SHARED / language]),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_escaped,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    say = Say(language)

    def value(one: Estimate) -> str:
        """Three decimals, or a dash and the reason."""
        why = DASH + say.in_brackets(say(one.reason.message, **one.reason.values)) if one.reason else "—"
        return why if one.value is None else f"{one.value:.3f}"

    def interval(one: Estimate) -> str:
        """[low, high], or a dash and the reason."""
        if one.value is None or one.low is None or one.high is None:
            known = one.note if one.value is not None else None
            return DASH + say.in_brackets(say(known.message, **known.values)) if known else "—"
        return f"[{one.low:.3f}, {one.high:.3f}]"

    made.filters |= {
        "cell": cell,
        "thousands": lambda number: f"{number:,}",
        "percent": lambda share, digits=1: f"{share:.{digits}%}",
        "decimals": lambda number, digits: f"{number:.{digits}f}",
        "whole": lambda number: int(number) if isinstance(number, float) and number.is_integer() else number,
        "rounded": lambda number: None if number is None else round(number, 2),
        "sentence": lambda text: text[:1].upper() + text[1:],
        "reason": lambda found: _reason(found, say),
        "estimate": lambda found: estimate(found, say),
        "short_estimate": _short_estimate,
        "half_width": _half_width,
        "verbatim": _verbatim,
        "translated": say,
        "value": value,
        "interval": interval,
    }
    return made


def estimate(found: Mapping[str, Any], say: Say) -> str:
    """An estimate of the facts with its interval, or a dash and the reason."""
    if found["value"] is None:
        return DASH + say.in_brackets(_reason(found, say))
    if found["low"] is None or found["high"] is None:
        why = say.in_brackets(say(found["note"], **found["note_values"])) if "note" in found else ""
        return f"{found['value']:.3f}{why}"
    return _short_estimate(found)


def _reason(found: Mapping[str, Any], say: Say) -> str:
    return say(found["value_reason"], **found["value_values"])


def _short_estimate(found: Mapping[str, Any]) -> str:
    if found["value"] is None:
        return DASH
    if found["low"] is None or found["high"] is None:
        return f"{found['value']:.3f} ({DASH})"
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


def _half_width(found: Mapping[str, Any]) -> str:
    """Half the width of the interval of an estimate, or a dash."""
    if found["low"] is None or found["high"] is None:
        return DASH
    return f"{(found['high'] - found['low']) / 2:.3f}"


def _escaped(value: object) -> Markup:
    return value if isinstance(value, Markup) else Markup(markdown_text(str(value)))  # noqa: S704


def _verbatim(text: str) -> Markup:
    """Verbatim lines between fences longer than any in them."""
    fence = "~" * max([3, *(len(line) + 1 for line in text.splitlines() if set(line.strip()) == {"~"})])
    lines = "".join(f"{line}\n" for line in text.splitlines())
    return Markup(f"{fence}\n{lines}{fence}")  # noqa: S704


def _blocks(text: str, between: str) -> list[Block]:
    """Markdown as blocks; *between* joins sentences on separate lines."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    blocks: list[Block] = []
    at = 0
    while at < len(tokens):
        token, end = tokens[at], _end(tokens, at)
        inside = [one for one in tokens[at:end] if one.type == "inline"]
        match token.type:
            case "heading_open":
                blocks.append(Heading(_text(inside[0].children, between), int(token.tag[1])))
            case "paragraph_open":
                blocks.append(_paragraph(inside[0], between))
            case "bullet_list_open":
                blocks.append(Points(tuple(_text(one.children, between) for one in inside)))
            case "table_open":
                blocks.append(_table(tokens[at:end], between))
            case "fence":
                blocks.append(Verbatim(token.content))
            case _:
                raise ValueError(f"a paper has no {token.type}")
        at = end
    return blocks


def _end(tokens: Sequence[Token], at: int) -> int:
    """The end of the block that begins at *at*."""
    depth = 0
    for number in range(at, len(tokens)):
        depth += tokens[number].nesting
        if depth == 0:
            return number + 1
    return len(tokens)


def _paragraph(inline: Token, between: str) -> Block:
    children = inline.children or []
    ends = [number for number, one in enumerate(children) if one.type == "strong_close"]
    if not ends:
        return Text(_text(children, between))
    return Answered(_text(children[: ends[0]], between), _text(children[ends[0] :], between).strip())


def _table(tokens: Sequence[Token], between: str) -> Table:
    heads = [one for one in tokens if one.type == "th_open"]
    cells = [_text(one.children, between) for one in tokens if one.type == "inline"]
    rows = [tuple(cells[at : at + len(heads)]) for at in range(len(heads), len(cells), len(heads))]
    right = tuple("right" in str(one.attrs.get("style", "")) for one in heads)
    return Table(tuple(cells[: len(heads)]), tuple(rows), right)


def _text(children: Sequence[Token] | None, between: str) -> str:
    return "".join(between if one.type == "softbreak" else one.content for one in children or ())
