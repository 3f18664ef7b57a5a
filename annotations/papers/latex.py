r"""Blocks of a paper as LaTeX: a document of its own that can be \input into another; every sign of a text stays text.

Tables are as wide as the line and wrap, words that no line could hold may be broken, and a sign that a font lacks is
printed as its code point instead of nothing.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from annotations.papers.blocks import (
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
from core.language import Language

LINE = 72  # signs of a table's size in the line of an article
GAP = 2  # signs between two columns
LONG_WORD, LONG_IN_CELL = 24, 16  # from here on a word may be broken: TeX finds no place in a hash or an address
PIECE = 10
TOGETHER = 8  # rows of a table that stands on one page
_BREAK = "\0"
_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "—": r"\textemdash{}",
    "[": r"{[}", "]": r"{]}", "*": r"{*}",  # behind the end of a line these two would belong to it
    "−": r"\ensuremath{-}", "×": r"\ensuremath{\times}", "±": r"\ensuremath{\pm}", "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}", "≠": r"\ensuremath{\neq}", "≈": r"\ensuremath{\approx}", "∞": r"\ensuremath{\infty}",
    "→": r"\ensuremath{\rightarrow}", "←": r"\ensuremath{\leftarrow}", "∑": r"\ensuremath{\sum}",
    _BREAK: r"\allowbreak{}",
}  # fmt: skip
# Latin Modern has no Greek letters outside of mathematics.
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi"
_LETTERS = {name: unicodedata.lookup(f"GREEK SMALL LETTER {name.replace('lambda', 'lamda').upper()}") for name in
            f"{_GREEK} omega".split()}  # fmt: skip
_TEX |= {letter: rf"\ensuremath{{\{name}}}" for name, letter in _LETTERS.items()}
_TEX_BY_CODE = str.maketrans(_TEX)
_CJK = "\u2e80-\u312f\u3190-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
_HAS_CJK = re.compile(f"[{_CJK}]")
# Whatever neither a Latin font nor a Chinese one is sure to have.
_RARE = re.compile(f"[^\\0\n -~\u00a0-\u017f\u2010-\u2027\u2030-\u203a\u20ac{_CJK}]")
_WORD = re.compile("[!-~\u00a1-\u024f]+")
_AFTER = re.compile(r"(?<=[/_.:|+=&?,;%@-])(?=[^/_.:|+=&?,;%@-])")
# Ends the page where less than so many lines are left.
_ROOM = r"""\providecommand\evenhandroom[1]{%
  \par\ifdim\dimexpr\pagegoal-\pagetotal\relax<#1\baselineskip\vfil\penalty-10000 \fi}
"""
_SIGN = r"""\makeatletter
\providecommand*\evenhandfonts{}
\ifdefined\IfFontExistsTF\ifx\evenhandfonts\@empty
  \@for\evenhandfont:=Noto Serif CJK SC,FreeSerif,DejaVu Sans,Segoe UI Symbol,Segoe UI,Arial Unicode MS\do{%
    \IfFontExistsTF{\evenhandfont}{\edef\evenhandfonts{\evenhandfonts\ifx\evenhandfonts\@empty\else,\fi\evenhandfont}}{}}
\fi\fi
\providecommand\evenhandsign[1]{\begingroup\ifdefined\XeTeXinterchartokenstate\XeTeXinterchartokenstate=0 \fi
  \@tempswafalse\iffontchar\font"#1\relax\@tempswatrue\fi
  \@for\evenhandfont:=\evenhandfonts\do{\if@tempswa\else\fontspec{\evenhandfont}%
    \iffontchar\font"#1\relax\@tempswatrue\fi\fi}%
  \if@tempswa\ifdefined\ltjalchar\ltjalchar"#1\relax\else\char"#1\relax\fi\else\normalfont{[}U+#1{]}\fi\endgroup\allowbreak}
\makeatother
"""


def latex_text(text: str, longest: int = LONG_WORD) -> str:
    """*text* on one line with every sign that LaTeX gives a meaning escaped; ligatures of signs are kept apart.

    Words of more than *longest* signs may be broken, without a hyphen: they are addresses, hashes and signatures.
    """
    return _escaped(one_line(text), longest)


def _escaped(line: str, longest: int = LONG_WORD) -> str:
    parted = _WORD.sub(lambda found: _breakable(found[0], longest), line)
    kept = re.sub(r"([-'])(?=\1)", r"\1{}", parted.translate(_TEX_BY_CODE))
    return _RARE.sub(lambda found: rf"\evenhandsign{{{ord(found[0]):04X}}}", kept)


def _breakable(word: str, longest: int) -> str:
    if len(word) <= longest:
        return word
    pieces = (part[at : at + PIECE] for part in _AFTER.split(word) for at in range(0, len(part), PIECE))
    return _BREAK.join(pieces)


def paper(blocks: Iterable[Block], language: Language) -> str:
    """The blocks as one file, which ends in a line end."""
    held = list(blocks)
    pairs = zip(held, [*held[1:], None], strict=True)
    body = "\n".join(line for one, after in pairs for line in (*_room(one, after), *_lines(one), "")).rstrip("\n")
    chinese = language == "zh" or _HAS_CJK.search(body) is not None
    signs = _SIGN if r"\evenhandsign{" in body else ""
    # Loose lines are meant for this text alone, not for the paper that it may be part of.
    return (
        f"{_preamble(language, chinese, signs)}{_ROOM}{signs}\\begingroup\\sloppy\n{body}\n\\endgroup\n\\evenhandend\n"
    )


def _preamble(language: Language, chinese: bool, signs: str) -> str:
    """What makes a document of it where it is compiled alone; inside of a document nothing."""
    engine = "xelatex or lualatex" if chinese or signs else "xelatex, lualatex or pdflatex"
    needed = "longtable,array,ctex" if chinese else "longtable,array"
    head = [
        f"% {engine}. A document of its own, or a part of yours: \\input it after \\begin{{document}};",
        f"% yours then needs \\usepackage{{{needed}}}.",
    ]
    if signs:
        head.append(
            "% It holds signs that few fonts have: what no font at hand has is printed as its code point, [U+...]."
        )
    kind = "\\documentclass{ctexart}" if language == "zh" else "\\documentclass{article}"
    fonts = "\\usepackage{iftex}\n  \\iftutex\\else\\usepackage[T1]{fontenc}\\fi\n  \\usepackage{lmodern}"
    if chinese:
        own = "" if language == "zh" else "\n  \\usepackage[UTF8]{ctex}"
        # The fonts that come with TeX lack rare characters; the one that has them all is used where it is.
        fonts = (
            f"\\usepackage{{iftex}}\\RequireTUTeX{own}\n"
            "  \\IfFontExistsTF{Noto Serif CJK SC}{\\setCJKmainfont{Noto Serif CJK SC}}{}"
        )
    return "\n".join([
        *head, "\\makeatletter", "\\ifx\\documentclass\\@twoclasseserror", "  \\let\\evenhandend\\relax", "\\else",
        "  \\def\\evenhandend{\\end{document}}", f"  {kind}", f"  {fonts}",
        "  \\usepackage[a4paper,margin=25mm]{geometry}", "  \\usepackage{longtable,array}", "  \\begin{document}",
        "\\fi", "\\makeatother", "",
    ])  # fmt: skip


def _room(block: Block, after: Block | None) -> list[str]:
    """The page ends before a title rather than behind it: a long table would go to the next page without its title."""
    if not isinstance(block, Heading):
        return []
    lines = 5 + (1.2 * min(len(after.rows), TOGETHER) if isinstance(after, Table) else 0)
    return [f"\\evenhandroom{{{lines:.0f}}}"]


def _lines(block: Block) -> list[str]:
    match block:
        case Heading(text, level):
            return [f"\\{'sub' * (level - 1)}section*{{\\raggedright {latex_text(text)}}}"]
        case Text(text):
            return [_paragraph(latex_text(text))]
        case Answered(question, answer):
            return [_paragraph(f"\\smallskip\\noindent\\textbf{{{latex_text(question)}}} {latex_text(answer)}")]
        case Points(points):
            return ["\\begin{itemize}\\raggedright", *(f"\\item {latex_text(one)}" for one in points), "\\end{itemize}"]
        case Table():
            return _table(block)
        case Verbatim(text):
            # No verbatim environment: a line of the text could end it.
            return ["\\begin{quote}\\small\\raggedright", *map(_verbatim, text.splitlines()), "\\end{quote}"]


def _paragraph(shown: str) -> str:
    # Broken words are of any length: blanks would be stretched to fill the line.
    ragged = r"\allowbreak{}" in shown or r"\evenhandsign{" in shown
    return f"{{\\raggedright {shown}\\par}}" if ragged else shown


def _verbatim(line: str) -> str:
    shown = printable(line)
    bare = shown.strip()
    indent = f"\\hspace*{{{(len(shown) - len(shown.lstrip())) / 2:.1f}em}}" if shown[:1] == " " and bare else ""
    return f"\\noindent {indent}{_escaped(' '.join(bare.split()))}\\par" if bare else "\\smallskip"


def _table(table: Table) -> list[str]:
    right = numbers(table)
    sides = ("\\raggedleft" if one else "\\raggedright" for one in right)
    shape = "".join(
        f">{{{side}\\arraybackslash}}p{{\\dimexpr {width:.3f}\\linewidth-2\\tabcolsep\\relax}}"
        for side, width in zip(sides, _widths(table), strict=True)
    )
    rows = [
        " & ".join(latex_text(cell(one), LONG_IN_CELL) or "{}" for one in row) for row in (table.heads, *table.rows)
    ]
    return [
        "\\begingroup\\small\\setlength{\\tabcolsep}{4pt}", f"\\begin{{longtable}}{{{shape}}}",
        "\\hline", f"{rows[0]} \\\\", "\\hline", "\\endhead", "\\hline", "\\endlastfoot", *_joined(rows[1:]),
        "\\end{longtable}", "\\endgroup",
    ]  # fmt: skip


def _joined(rows: Sequence[str]) -> list[str]:
    """Rows with their ends: neither the first nor the last is left alone on a page."""
    last = len(rows) - 1
    alone = {0, last - 1, *(range(last) if len(rows) <= TOGETHER else ())} - {last}
    return [f"{row} \\\\" + ("\\nopagebreak" if at in alone else "") for at, row in enumerate(rows)]


def _widths(table: Table) -> list[float]:
    """The share of the line for each column: what it would like to have, less for long text where that is too much."""
    columns = [[head, *(cell(row[at]) for row in table.rows)] for at, head in enumerate(table.heads)]
    least: list[float] = [max(map(_longest_word, column)) for column in columns]
    wished = [max([low, *map(_wide, column[1:])]) for low, column in zip(least, columns, strict=True)]
    room = LINE - GAP * len(wished)
    spare = room - sum(least)
    if sum(wished) > room and spare >= 0:
        more = [wish - low for wish, low in zip(wished, least, strict=True)]
        wished = [low + spare * extra / sum(more) for low, extra in zip(least, more, strict=True)]
    whole = max(LINE, sum(wished) + GAP * len(wished))
    return [(wish + GAP) / whole for wish in wished]


def _wide(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _longest_word(text: str) -> int:
    """What a line of a column must hold: the longest word, or a piece of one that may be broken."""
    words: Sequence[str] = _WORD.findall(text)
    chinese = min(8, _wide(text)) if _HAS_CJK.search(text) else 4
    return max([chinese, *((len(word) if len(word) <= LONG_IN_CELL else PIECE) + 1 for word in words)])
