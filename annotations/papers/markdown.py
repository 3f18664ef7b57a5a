"""Blocks of a paper as Markdown; texts are escaped, so that nothing in them becomes markup."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from evenhand.annotations.papers.blocks import (
    DASH,
    Answered,
    Block,
    Heading,
    Points,
    Table,
    Text,
    Verbatim,
    cell,
    numbers,
    one_line,
    printable,
)
from evenhand.annotations.papers.latex import paper
from evenhand.core.language import Language, translate

Form = Literal["md", "tex"]


class Say:
    """Sentences in one language; values are inserted first and escaped with the sentence."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def __call__(self, text: str, **values: Any) -> str:
        """*text* in the language, with its {names} filled in."""
        sentence = translate(text, self.language)
        return sentence.format(**values) if values else sentence

    def in_brackets(self, text: str) -> str:
        """Return *text* in the brackets of the language, to follow a word or a number."""
        return f"（{text}）" if self.language == "zh" else f" ({text})"

    def joined(self, *sentences: str) -> str:
        """Sentences as one paragraph; in Chinese without blanks between them."""
        return ("" if self.language == "zh" else " ").join(sentences)


def rendered(blocks: Iterable[Block], form: Form, language: Language) -> str:
    """The blocks as one file with a final newline."""
    if form == "tex":
        return paper(blocks, language)
    return "\n".join(line for block in blocks for line in (*_markdown(block), "")).rstrip("\n") + "\n"


def markdown_text(text: str) -> str:
    """*text* on one line with Markdown and HTML escaped."""
    line = one_line(text)
    escaped = re.sub(r"([\\`*_\[\]<>|#~$&])", r"\\\1", line)
    return re.sub(r"^(\d+)([.)])(?=\s|$)|^([-+=])", lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", escaped)


def _markdown(block: Block) -> list[str]:
    match block:
        case Heading(text, level):
            return [f"{'#' * level} {markdown_text(text)}"]
        case Text(text):
            return [markdown_text(text)]
        case Points(points):
            return [f"- {markdown_text(one)}" for one in points]
        case Table(heads, rows):
            right = numbers(block)
            rule = "|" + "|".join(" ---: " if one else " --- " for one in right) + "|"
            return [_row(heads), rule, *(_row(row) for row in rows)]
        case Answered(question, answer):
            return [f"**{markdown_text(question)}** {markdown_text(answer)}"]
        case Verbatim(text):
            return [f"    {line}".rstrip() for line in map(printable, text.splitlines())]


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(markdown_text(cell(one)) or DASH for one in cells) + " |"
