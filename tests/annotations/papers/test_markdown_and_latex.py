"""The papers of a release as Markdown and LaTeX: all characters of a name stay text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.papers.blocks import (
    Answered,
    Heading,
    Points,
    Table,
    Text,
    Verbatim,
    latex_text,
    markdown_text,
    one_line,
    rendered,
)
from evenhand.annotations.release.dataset_card import card_header

yaml = pytest.importorskip("yaml")  # comes with the hub's library
SPECIAL = set("\\{}$&#%_^~")
COMMAND = re.compile(
    r"\\(?:text(?:backslash|asciicircum|asciitilde|less|greater|bar|quotedbl|asciigrave)|textemdash|allowbreak)\{\}"
    r"|\\ensuremath\{(?:\\[a-z]+|-)\}"
)
HOSTILE = (
    r"\input{/etc/passwd}",
    r"}\end{document}\write18{rm}",
    "a_b^c~d#e%f&g$h",
    "<script>alert(1)</script>",
    "| a | b |",
    "**bold** _x_ `code` [link](http://example.org)",
    "\\\\[2em]",
    "1. not a list",
    "- nor this",
    "--- ''",
    "一句话“引号”",
)


def bare(text: str) -> str:
    """Return escaped LaTeX without the escapes that this app writes."""
    return re.sub(r"\\[{}$&#%_]", "", COMMAND.sub("", text))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_special_characters_of_a_name_are_escaped_in_latex(text):
    left = bare(latex_text(text)).replace("{[}", "").replace("{]}", "").replace("{*}", "").replace("{}", "")
    assert not SPECIAL & set(left), left


@given(st.text(max_size=80))
def test_any_text_is_escaped_completely(text):
    left = bare(latex_text(text)).replace("{[}", "").replace("{]}", "").replace("{*}", "").replace("{}", "")
    assert not SPECIAL & set(left)
    assert "\n" not in latex_text(text) and "\n" not in markdown_text(text)
    assert not re.search(r"--|''", latex_text(text))


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_braces_of_a_paper_are_balanced(texts):
    first = texts[0]
    blocks = [
        Heading(first, 1), Heading(first), Text(first), Points(tuple(texts)), Verbatim("\n".join(texts)),
        Table(("a", first), tuple((text, number) for number, text in enumerate(texts))), Answered(first, texts[-1]),
    ]  # fmt: skip
    for language in ("zh", "en"):
        paper = rendered(blocks, "tex", language)
        assert balanced(paper)
        opened = re.findall(r"(?<!\\)\\(begin|end)\{(\w+)\}", inner(paper))
        stack = []
        for what, name in opened:
            if what == "begin":
                stack.append(name)
            else:
                assert stack.pop() == name
        assert not stack


def inner(paper: str) -> str:
    """Return a paper without its head, as a part of another document."""
    return paper[paper.index("\\fi\n\\makeatother") :]


def balanced(paper: str) -> bool:
    depth = 0
    for sign in re.sub(r"\\[\\{}]", "", paper):
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return False
    return depth == 0


def test_a_table_keeps_its_shape_with_numbers_aligned_right():
    table = Table(("name", "n"), (("a|b", 1_000), ("c\nd", None)))
    assert rendered([table], "md", "en") == "| name | n |\n| --- | ---: |\n| a\\|b | 1,000 |\n| c d | — |\n"
    paper = rendered([table], "tex", "en")
    assert "a\\textbar{}b & 1,000 \\\\" in paper
    assert "\\begin{xltabular}{\\linewidth}{>{\\raggedright\\arraybackslash}Xr}" in paper


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("internationalization", "internationalization"),
        ("0123456789" * 3, "0123456789\\allowbreak{}0123456789\\allowbreak{}0123456789"),
        ("https://example.org/one/two", "https://ex\\allowbreak{}ample.org/\\allowbreak{}one/two"),
        ("Cohen's κ ≥ 0.5", "Cohen's \\ensuremath{\\kappa} \\ensuremath{\\geq} 0.5"),
        ("naïve 她，“好” ａ", "naïve 她，“好” ａ"),
        ("😀 ع", "{[}U+1F600{]} {[}U+0639{]}"),
    ],
)  # fmt: skip
def test_long_words_can_break_and_rare_characters_are_kept(text, expected):
    """A hash gets places where it may be broken, Greek comes from mathematics, a rare sign is never left out."""
    assert latex_text(text) == expected


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_inner_part_of_a_paper_fits_into_another_document(language):
    """Inside of a document it must neither begin a second one nor end the first; an empty line ends no line twice."""
    paper = rendered([Heading("T", 1), Verbatim("one\n\n\n  two {\n")], "tex", language)
    inside = inner(paper)
    for command in ("documentclass", "usepackage", "begin{document}", "end{document}"):
        assert f"\\{command}" not in inside
    assert paper.index("\\ifx\\documentclass\\@twoclasseserror") < paper.index("\\documentclass{")
    assert paper.endswith("\\evenhandend\n") and "\\\\" not in inside
    assert "\\noindent one\\par\n\\smallskip\n\\smallskip\n\\noindent ~~two \\{\\par" in inside


def test_a_question_is_bold_and_its_answer_is_text():
    block = Answered("Why *?", "1. {none} & $5")
    assert rendered([block], "md", "en") == "**Why \\*?** 1\\. {none} \\& \\$5\n"
    assert "\\textbf{Why {*}?} 1. \\{none\\} \\& \\$5" in rendered([block], "tex", "en")


def test_every_row_is_a_row_of_the_table():
    lines = rendered([Table(("n",), tuple((f"x{number}",) for number in range(40)))], "tex", "en").split("\n")
    assert [line for line in lines if line.startswith("x")] == [f"x{number} \\\\" for number in range(40)]
    rules = [line for line in lines if line in ("\\toprule", "\\midrule", "\\endhead", "\\bottomrule", "\\endlastfoot")]
    assert rules == ["\\toprule", "\\midrule", "\\endhead", "\\bottomrule", "\\endlastfoot"]


def test_only_papers_with_chinese_load_its_fonts():
    plain, chinese = (rendered([Text(text)], "tex", "en") for text in ("plain", "她"))
    assert "ctex" not in plain and "pdflatex" in plain
    assert "\\usepackage[UTF8]{ctex}" in chinese and "pdflatex" not in chinese


@pytest.mark.parametrize("sign", "*[")
def test_a_line_starting_with_a_star_or_bracket_is_protected(sign):
    """LaTeX reads a star or a bracket behind a line end as part of it, over the line break: the sign would be gone."""
    text = f"first\n{sign} second"
    paper = rendered([Verbatim(text), Table(("a",), (("x",), (f"{sign} y",)))], "tex", "en")
    assert f"{{{sign}}} second" in paper and f"{{{sign}}} y" in paper
    assert not re.search(r"\\\\\s*[*\[]", paper)


@pytest.mark.parametrize("text", ["a\u2028b: c", "a\x85- d", 'quote" \\ #', "{x: [1]}", "\ufffe\x7f", "😀", "--- |"])
def test_the_card_header_is_valid_yaml_for_any_name(text):
    facts = {
        "project": {"licence": text, "name": text, "language": "zh", "kind": "sentences", "source_statement": text},
        "annotators": {"studies": []},
        "quantities": {"items.kept": {"value": 1}},
    }
    head = yaml.safe_load(card_header(facts, ([("id", "string")], ""), locked=False).split("---\n")[1])
    assert [config["config_name"] for config in head["configs"]] == ["default"]
    assert (head["license"], head["configs"][0]["data_files"][0]["path"]) == ("other", "data/train.jsonl")
    expected = " ".join(one_line(text).replace("\ufffe", "").split())
    assert head["pretty_name"] == head["license_name"] == expected


@pytest.mark.parametrize(
    ("text", "escaped"),
    [("0.5 of them", "0.5 of them"), ("1. a", "1\\. a"), ("- a", "\\- a"), ("a - b", "a - b"), ("<b>", "\\<b\\>")],
)
def test_markdown_markup_in_a_text_is_escaped(text, escaped):
    assert markdown_text(text) == escaped
