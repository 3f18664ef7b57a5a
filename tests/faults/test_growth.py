"""Texts made to take long: work grows with their length, not with its square (compared at once and four times it)."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from evenhand.annotations.files.detect import detect_layout
from evenhand.annotations.files.import_items import read_row
from evenhand.annotations.papers.blocks import latex_text
from evenhand.core.concordance.counting import Passage, concordance, question
from evenhand.core.errors import BadFile, BadLine
from evenhand.core.files.readers import open_source, rows
from evenhand.core.guidelines import changed_lines
from evenhand.core.mining.blocks import _BETWEEN
from evenhand.core.mining.cleaning import Cleaner, block_ends, tags
from evenhand.core.mining.find_keywords import split_spaced
from evenhand.core.text.keywords import find
from evenhand.core.text.repetition import tokens

ONCE = 6_000  # characters
DENSE = ("keywords", "concordance")  # a keyword in each character: a fourth of it is enough
LEAST_S = 0.02  # below it, a time is the machine's and not the text's
HER = question("他", ["她"], window=None, unit="auto")

WORK: dict[str, tuple[Callable[[str], object], list[str]]] = {
    "tags": (lambda text: list(tags(text)), ["<!--", "<script ", "<a", "<style>", "</", "<!"]),
    "ends of paragraphs": (lambda text: list(block_ends(text)), ["<!--", "<script ", "<p "]),
    "cleaning": (Cleaner("html", False).clean, ["<!--", "<script ", "&amp;", "<a b= "]),
    "entities": (lambda text: Cleaner("html", True).clean(f"&{text}lt;"), ["amp;"]),
    "cleaning of Markdown": (Cleaner("markdown", True).clean, ["[a](b ", "**a "]),
    "places": (Cleaner("html", True).positions, ["<!--"]),
    "ends of blocks": (_BETWEEN.findall, ["。", "。”", "”"]),
    "sentences with spaces": (split_spaced, [".", "A. ", '."']),
    "tokens": (tokens, [".", ")", "a:", "1+", "。"]),
    "keywords": (find, ["他她", "女", "对外公布"]),
    "concordance": (lambda text: concordance([Passage("d", 1, text)], HER), ["他她"]),
    "LaTeX": (latex_text, ["a"]),
    "lines that differ": (
        lambda text: list(changed_lines(text.split(), [line[::-1] for line in text.split()])),
        ["ab ", "a b "],
    ),
}


LONGEST = 40_000  # characters of the longer file
# The input of a reader: the ending of the file, and the text before and after the repeated unit.
FILES: dict[str, tuple[str, str, str, list[str]]] = {
    "CSV": (".csv", "sentence,b\n", "\n", ["他来了。,1\n", '"a\n', '""', ",", "a;", "\r", '"a,""b"\n', "'=1,\n"]),
    "TSV": (".tsv", "sentence\tb\n", "\n", ["\t", '"', '"\t"', "\r\n"]),
    "JSON lines": (".jsonl", "", "\n", ['{"text": "他来了。"}\n', "[", '{"a":', '{"a": "\\ud800"}\n', "9", '"']),
    "one JSON line": (".jsonl", '{"sentence": [', "0]}\n", ["0,", '"a",', "[],", '{"a": 1},', "1e9,", '"\\u4ed6",']),
    "JSON": (".json", "[", '{"sentence": "a"}]', ['{"sentence": "他来了。"},', '{"a": [[]]},', " ", "{},"]),
    "broken JSON": (".json", "[", "", ["[", '{"a":', '"', "1", "{", ","]),
    "text": (".txt", "", "\n", ["他来了。\n", "。", ";", '"', ",", "\x0b"]),
}


@pytest.mark.parametrize(("name", "unit"), [(name, unit) for name, (*_, units) in FILES.items() for unit in units])
def test_reading_a_file_takes_linear_work(name: str, unit: str, tmp_path: Path) -> None:
    ending, before, after, _ = FILES[name]

    def read(text: str) -> None:
        path = tmp_path / f"{len(text)}{ending}"
        path.write_text(before + text + after, encoding="utf-8", newline="")
        with suppress(BadFile):
            layout = detect_layout(source := open_source(path), "auto", None)
            for row in rows(source):
                with suppress(BadLine):
                    read_row(source, layout, row)

    read(unit)
    times = LONGEST // len(unit)
    once = seconds(read, unit * (times // 4))
    assert seconds(read, unit * times) < 10 * max(once, LEAST_S)


def seconds(work: Callable[[str], object], text: str) -> float:
    """Return processor time of this thread alone; the least of three, since a machine can only add to it."""
    results = []
    for _ in range(3):
        start = time.thread_time()
        work(text)
        results.append(time.thread_time() - start)
        if results[-1] < LEAST_S:
            break
    return min(results)


@pytest.mark.parametrize(("name", "unit"), [(name, unit) for name, (_, units) in WORK.items() for unit in units])
def test_processing_a_text_takes_linear_work(name: str, unit: str) -> None:
    work = WORK[name][0]
    work(unit)  # tables are loaded
    times = ONCE // len(unit) // (4 if name in DENSE else 1)
    once = seconds(work, unit * times)
    assert seconds(work, unit * times * 4) < 10 * max(once, LEAST_S)


def test_guidelines_with_only_different_lines_are_compared() -> None:
    old, new = [f"a{n}" for n in range(2_000)], [f"b{n}" for n in range(2_000)]
    assert list(changed_lines(["x", *old, "y"], ["x", *new, "y"])) == [
        " x", *(f"-{line}" for line in old), *(f"+{line}" for line in new), " y",
    ]  # fmt: skip
    assert list(changed_lines(["a", "b", "c"], ["a", "d", "c", "e"])) == [" a", "-b", "+d", " c", "+e"]
    assert list(changed_lines(["a"], ["a"])) == [" a"] and list(changed_lines([], ["a"])) == ["+a"]
