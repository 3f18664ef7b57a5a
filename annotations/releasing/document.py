"""A short paper as blocks, and the same blocks as Markdown and as LaTeX: nothing in a text is read as markup."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.language import Language, translate
from core.text import control_character

Form = Literal["md", "tex"]
LONGEST = 120  # characters of a cell
DASH = "—"


@dataclass(frozen=True, slots=True)
class Heading:
    """The title (level 1) or a section (2, 3)."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Points:
    """A list without numbers."""

    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; numbers are right-aligned where every cell of a column is one."""

    heads: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that is passed on as it is, line by line."""

    text: str


Block = Heading | Text | Points | Table | Verbatim


class Say:
    """Sentences in one language; values are put in as they are and escaped with the sentence."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def __call__(self, text: str, **values: Any) -> str:
        """*text* in the language, its {names} filled in."""
        sentence = translate(text, self.language)
        return sentence.format(**values) if values else sentence


def rendered(blocks: Iterable[Block], form: Form, language: Language) -> str:
    """The blocks as one file, which ends in a line end."""
    if form == "md":
        return "\n".join(line for block in blocks for line in (*_markdown(block), "")).rstrip("\n") + "\n"
    body = "\n".join(line for block in blocks for line in (*_latex(block), "")).rstrip("\n")
    return _preamble(language) + body + "\n\\end{document}\n"


def _preamble(language: Language) -> str:
    # ctex finds fonts for Chinese; names and sentences in an English text may be Chinese as well.
    first = "\\documentclass{ctexart}" if language == "zh" else "\\documentclass{article}\n\\usepackage[UTF8]{ctex}"
    return f"% xelatex or lualatex\n{first}\n\\usepackage{{longtable}}\n\\begin{{document}}\n"


def markdown_text(text: str) -> str:
    """*text* on one line with every sign of Markdown and HTML escaped."""
    line = one_line(text)
    escaped = re.sub(r"([\\`*_\[\]<>|#~$&])", r"\\\1", line)
    return re.sub(r"^(\d+)([.)])(?=\s|$)|^([-+=])", lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", escaped)


_BLANKS = str.maketrans("\t\n\r", "   ")
_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "—": r"\textemdash{}",
    "[": r"{[}", "]": r"{]}", "*": r"{*}",  # behind the end of a line these two would belong to it
}  # fmt: skip
_TEX_BY_CODE = str.maketrans(_TEX)


def latex_text(text: str) -> str:
    """*text* on one line with every sign that LaTeX gives a meaning escaped; ligatures of signs are kept apart."""
    return re.sub(r"([-'])(?=\1)", r"\1{}", one_line(text).translate(_TEX_BY_CODE))


def one_line(text: str) -> str:
    """*text* on one line, without control characters."""
    return " ".join(_printable(text).split())


def _printable(text: str) -> str:
    spaced = text.translate(_BLANKS)
    return "".join(sign for sign in spaced if not control_character(sign))


def _markdown(block: Block) -> list[str]:
    match block:
        case Heading(text, level):
            return [f"{'#' * level} {markdown_text(text)}"]
        case Text(text):
            return [markdown_text(text)]
        case Points(points):
            return [f"- {markdown_text(one)}" for one in points]
        case Table(heads, rows):
            right = _numbers(block)
            rule = "|" + "|".join(" ---: " if one else " --- " for one in right) + "|"
            return [_row(heads), rule, *(_row(row) for row in rows)]
        case Verbatim(text):
            return [f"    {line}".rstrip() for line in map(_printable, text.splitlines())]


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(markdown_text(_cell(one)) or DASH for one in cells) + " |"


def _latex(block: Block) -> list[str]:
    match block:
        case Heading(text, 1):
            return [f"\\section*{{{latex_text(text)}}}"]
        case Heading(text, level):
            return [f"\\{'sub' * (level - 1)}section*{{{latex_text(text)}}}"]
        case Text(text):
            return [latex_text(text)]
        case Points(points):
            return ["\\begin{itemize}", *(f"\\item {latex_text(one)}" for one in points), "\\end{itemize}"]
        case Table(heads, rows):
            shape = "".join("r" if one else "l" for one in _numbers(block))
            lines = [" & ".join(latex_text(_cell(one)) or "{}" for one in row) + r" \\" for row in (heads, *rows)]
            return [f"\\begin{{longtable}}{{{shape}}}", "\\hline", lines[0], "\\hline", *lines[1:], "\\hline",
                    "\\end{longtable}"]  # fmt: skip
        case Verbatim(text):
            # No verbatim environment: a line of the text could end it.
            lines = [f"{latex_text(line) or '{}'}\\\\" for line in text.splitlines()]
            return ["\\begin{quote}\\ttfamily\\small\\raggedright", *lines, "\\end{quote}"]


def _cell(value: object) -> str:
    if value is None:
        return DASH
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _numbers(table: Table) -> list[bool]:
    return [
        bool(table.rows) and all(row[at] is None or isinstance(row[at], int | float) for row in table.rows)
        for at in range(len(table.heads))
    ]
