r"""The parts of a short paper (headings, paragraphs, lists, tables, verbatim text), written as Markdown or LaTeX.

Texts are escaped, so that nothing in them becomes markup. The LaTeX is a document that can be \input into another. Its
tables use xltabular and booktabs: as wide as the line, over several pages if they are long.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.core.language import Language, translate
from evenhand.core.text.sentences import control_character

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
    """A table. `right`: which columns are right-aligned; by default those in which every cell is a number."""

    heads: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    right: tuple[bool, ...] | None = None


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Verbatim text, line by line."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A paragraph that begins with a question, in bold."""

    question: str
    answer: str


Block = Heading | Text | Points | Table | Verbatim | Answered

_BLANKS = str.maketrans("\t\n\r", "   ")


def one_line(text: str) -> str:
    """Return *text* on one line, without control characters."""
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """Return *text* without control characters, with plain blanks."""
    spaced = text.translate(_BLANKS)
    return "".join(sign for sign in spaced if not control_character(sign))


def cell(value: object) -> str:
    """Return a value as text of a table cell."""
    if value is None:
        return DASH
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def numbers(table: Table) -> list[bool]:
    """Tell for each column whether it holds only numbers."""
    if table.right is not None:
        return [bool(table.rows) and one for one in table.right]
    return [
        bool(table.rows) and all(row[at] is None or isinstance(row[at], int | float) for row in table.rows)
        for at in range(len(table.heads))
    ]


_BREAK = "\0"
_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "—": r"\textemdash{}",
    "[": r"{[}", "]": r"{]}", "*": r"{*}",  # after \\ these two would be read as its argument
    "−": r"\ensuremath{-}", "×": r"\ensuremath{\times}", "±": r"\ensuremath{\pm}", "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}", "≠": r"\ensuremath{\neq}", "≈": r"\ensuremath{\approx}", "∞": r"\ensuremath{\infty}",
    "→": r"\ensuremath{\rightarrow}", "←": r"\ensuremath{\leftarrow}", "∑": r"\ensuremath{\sum}",
    _BREAK: r"\allowbreak{}",
}  # fmt: skip
# Latin Modern has no Greek letters outside math mode.
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi"
_LETTERS = {name: unicodedata.lookup(f"GREEK SMALL LETTER {name.replace('lambda', 'lamda').upper()}") for name in
            f"{_GREEK} omega".split()}  # fmt: skip
_TEX |= {letter: rf"\ensuremath{{\{name}}}" for name, letter in _LETTERS.items()}
_TEX_BY_CODE = str.maketrans(_TEX)
_CJK = "\u2e80-\u312f\u3190-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
_HAS_CJK = re.compile(f"[{_CJK}]")
# Characters that the fonts may lack are printed as their code points, instead of nothing.
_RARE = re.compile(f"[^\\0\n -~\u00a0-\u017f\u2010-\u2027\u2030-\u203a\u20ac{_CJK}]")
# Hashes, addresses and signatures, which TeX cannot break.
_CODE = re.compile(r"(?<![!-~])(?=[A-Za-z]*[^A-Za-z\s])[!-~]{17,}")


def latex_text(text: str) -> str:
    """Return *text* on one line with special characters escaped and ligatures of punctuation prevented."""
    return _escaped(one_line(text))


def _escaped(line: str) -> str:
    parted = _CODE.sub(lambda found: _BREAK.join(re.findall(".{1,10}", found[0])), line)
    apart = re.sub(r"([-'])(?=\1)", r"\1{}", parted.translate(_TEX_BY_CODE))
    return _RARE.sub(lambda found: f"{{[}}U+{ord(found[0]):04X}{{]}}", apart)


def paper(blocks: Iterable[Block], language: Language) -> str:
    """Return the blocks as one file with a final newline."""
    body = "\n".join(line for block in blocks for line in (*_lines(block), "")).rstrip("\n")
    chinese = language == "zh" or _HAS_CJK.search(body) is not None
    # Loose lines apply to this text only, not to a paper that includes it.
    return f"{_preamble(language, chinese)}\\begingroup\\sloppy\n{body}\n\\endgroup\n\\evenhandend\n"


def _preamble(language: Language, chinese: bool) -> str:
    """Return the preamble if it is compiled alone; empty inside another document."""
    engine = "xelatex or lualatex" if chinese else "xelatex, lualatex or pdflatex"
    needed = "xltabular,booktabs" + (",ctex" if chinese else "")
    if language == "zh":
        kind, fonts = "ctexart", ""
    elif chinese:
        kind, fonts = "article", "  \\usepackage[UTF8]{ctex}\n"
    else:
        kind, fonts = (
            "article",
            "  \\usepackage{iftex}\\iftutex\\else\\usepackage[T1]{fontenc}\\fi\n  \\usepackage{lmodern}\n",
        )
    return rf"""% {engine}. A document of its own, or a part of yours: \input it after \begin{{document}};
% yours then needs \usepackage{{{needed}}}.
\makeatletter
\ifx\documentclass\@twoclasseserror
  \let\evenhandend\relax
\else
  \def\evenhandend{{\end{{document}}}}
  \documentclass{{{kind}}}
{fonts}  \usepackage[a4paper,margin=25mm]{{geometry}}
  \usepackage{{xltabular,booktabs}}
  \begin{{document}}
\fi
\makeatother
"""


def _lines(block: Block) -> list[str]:
    match block:
        case Heading(text, level):
            return [f"\\{'sub' * (level - 1)}section*{{\\raggedright {latex_text(text)}}}"]
        case Text(text):
            return [latex_text(text)]
        case Answered(question, answer):
            return [f"\\smallskip\\noindent\\textbf{{{latex_text(question)}}} {latex_text(answer)}"]
        case Points(points):
            return ["\\begin{itemize}", *(f"\\item {latex_text(point)}" for point in points), "\\end{itemize}"]
        case Table():
            return _table(block)
        case Verbatim(text):
            # No verbatim environment, because a line of the text could end it.
            return ["\\begin{quote}\\small\\raggedright", *map(_verbatim, text.splitlines()), "\\end{quote}"]


def _verbatim(line: str) -> str:
    shown = printable(line)
    indent = len(shown) - len(shown.lstrip())
    return f"\\noindent {'~' * indent}{latex_text(shown)}\\par" if shown.strip() else "\\smallskip"


def _table(table: Table) -> list[str]:
    """Return the lines of a table.

    Numbers are right-aligned; the other columns, always with the first, share the rest of the line.
    """
    right = [at > 0 and number for at, number in enumerate(numbers(table))]
    shape = "".join("r" if one else r">{\raggedright\arraybackslash}X" for one in right)
    heads, *rows = (" & ".join(latex_text(cell(entry)) or "{}" for entry in row) for row in (table.heads, *table.rows))
    return [
        "\\begingroup\\small", f"\\begin{{xltabular}}{{\\linewidth}}{{{shape}}}",
        "\\toprule", f"{heads} \\\\", "\\midrule", "\\endhead", "\\bottomrule", "\\endlastfoot",
        *(f"{row} \\\\" for row in rows), "\\end{xltabular}", "\\endgroup",
    ]  # fmt: skip


Form = Literal["md", "tex"]


class Say:
    """Sentences in one language; values are inserted first and escaped with the sentence."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def __call__(self, text: str, **values: Any) -> str:
        """Return *text* in the language, with its {names} filled in."""
        sentence = translate(text, self.language)
        return sentence.format(**values) if values else sentence

    def in_brackets(self, text: str) -> str:
        """Return *text* in the brackets of the language, to follow a word or a number."""
        return f"（{text}）" if self.language == "zh" else f" ({text})"

    def joined(self, *sentences: str) -> str:
        """Return sentences as one paragraph; in Chinese without blanks between them."""
        return ("" if self.language == "zh" else " ").join(sentences)


def rendered(blocks: Iterable[Block], form: Form, language: Language) -> str:
    """Return the blocks as one file with a final newline."""
    if form == "tex":
        return paper(blocks, language)
    return "\n".join(line for block in blocks for line in (*_markdown(block), "")).rstrip("\n") + "\n"


def markdown_text(text: str) -> str:
    """Return *text* on one line with Markdown and HTML escaped."""
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
            return [f"- {markdown_text(point)}" for point in points]
        case Table(heads, rows):
            right = numbers(block)
            rule = "|" + "|".join(" ---: " if one else " --- " for one in right) + "|"
            return [_row(heads), rule, *(_row(row) for row in rows)]
        case Answered(question, answer):
            return [f"**{markdown_text(question)}** {markdown_text(answer)}"]
        case Verbatim(text):
            return [f"    {line}".rstrip() for line in map(printable, text.splitlines())]


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(markdown_text(cell(entry)) or DASH for entry in cells) + " |"
