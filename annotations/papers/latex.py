r"""Blocks of a paper as LaTeX: a document that can be \input into another. All special characters are escaped.

Tables use xltabular and booktabs: as wide as the line, over several pages if they are long.
"""

import re
import unicodedata
from collections.abc import Iterable

from evenhand.annotations.papers.blocks import (
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
from evenhand.core.language import Language

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
    """*text* on one line with special characters escaped and ligatures of punctuation prevented."""
    return _escaped(one_line(text))


def _escaped(line: str) -> str:
    parted = _CODE.sub(lambda found: _BREAK.join(re.findall(".{1,10}", found[0])), line)
    apart = re.sub(r"([-'])(?=\1)", r"\1{}", parted.translate(_TEX_BY_CODE))
    return _RARE.sub(lambda found: f"{{[}}U+{ord(found[0]):04X}{{]}}", apart)


def paper(blocks: Iterable[Block], language: Language) -> str:
    """The blocks as one file with a final newline."""
    body = "\n".join(line for block in blocks for line in (*_lines(block), "")).rstrip("\n")
    chinese = language == "zh" or _HAS_CJK.search(body) is not None
    # Loose lines apply to this text only, not to a paper that includes it.
    return f"{_preamble(language, chinese)}\\begingroup\\sloppy\n{body}\n\\endgroup\n\\evenhandend\n"


def _preamble(language: Language, chinese: bool) -> str:
    """The preamble if it is compiled alone; empty inside another document."""
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
            return ["\\begin{itemize}", *(f"\\item {latex_text(one)}" for one in points), "\\end{itemize}"]
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
    """Numbers are right-aligned; the other columns, always with the first, share the rest of the line."""
    right = [at > 0 and one for at, one in enumerate(numbers(table))]
    shape = "".join("r" if one else r">{\raggedright\arraybackslash}X" for one in right)
    heads, *rows = (" & ".join(latex_text(cell(one)) or "{}" for one in row) for row in (table.heads, *table.rows))
    return [
        "\\begingroup\\small", f"\\begin{{xltabular}}{{\\linewidth}}{{{shape}}}",
        "\\toprule", f"{heads} \\\\", "\\midrule", "\\endhead", "\\bottomrule", "\\endlastfoot",
        *(f"{row} \\\\" for row in rows), "\\end{xltabular}", "\\endgroup",
    ]  # fmt: skip
