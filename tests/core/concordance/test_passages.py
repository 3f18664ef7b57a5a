"""Texts of a concordance: files of every kind to passages, and the command over them."""

import csv
import gzip
import io
import json
import zipfile

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.projects.projects import create_project
from evenhand.core.concordance import Line
from evenhand.core.concordance.answer_text import terminal_line
from evenhand.core.concordance.passages import passages
from evenhand.core.errors import BadFile
from evenhand.core.mining.report import Read
from evenhand.core.text.keywords import find

TEXT = "她已经在医院当护士。\r\n\r\n护士问他来不来。天黑了。\n"
ROWS = "来源,日期,正文\n晚报,2019-03-04,她已经在医院当护士。\n晚报,2019-03-05,护士问他来不来。天黑了。\n"
OBJECTS = "".join(
    json.dumps(row, ensure_ascii=False) + "\n"
    for row in ({"body": text} for text in ("她已经在医院当护士。", "护士问他来不来。"))
)
PAGE = "<html><script>他()</script><p>她已经在医院当&#25252;士。</p>\n<!-- 他 -->\n<p>护士问他来不来。天黑了。</p>"


def zipped(name, data):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, data)
    return file.getvalue()


FILES = {
    "utf-8": ("a.txt", TEXT.encode(), ["a.txt", "a.txt"], [1, 3]),
    "gb18030": ("a.txt", TEXT.encode("gb18030"), ["a.txt", "a.txt"], [1, 3]),
    "byte-order mark": ("a.txt", b"\xef\xbb\xbf" + TEXT.encode(), ["a.txt", "a.txt"], [1, 3]),
    "packed": ("a.txt.gz", gzip.compress(TEXT.encode()), ["a.txt.gz", "a.txt.gz"], [1, 3]),
    "archive": ("a.zip", zipped("b.txt", TEXT), ["b.txt", "b.txt"], [1, 3]),
    "table": ("a.csv", ROWS.encode(), ["a.csv:2 晚报 2019-03-04", "a.csv:3 晚报 2019-03-05"], [2, 3]),
    "objects": ("a.jsonl", OBJECTS.encode(), ["a.jsonl:1", "a.jsonl:2"], [1, 2]),
    "page": ("a.html", PAGE.encode(), ["a.html", "a.html"], [1, 3]),
}


@pytest.mark.parametrize(("name", "data", "documents", "places"), FILES.values(), ids=FILES)
def test_passages_are_read_from_every_kind_of_file(tmp_path, name, data, documents, places):
    (tmp_path / name).write_bytes(data)
    results = list(passages([tmp_path]))
    assert [passage.document for passage in results] == documents
    assert [passage.place for passage in results] == places
    assert results[0].text == "她已经在医院当护士。" and results[1].text.startswith("护士问他来不来。")


def test_unreadable_files_are_noted(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "b.txt").write_bytes(b"PK\x03\x04" + bytes(200))
    read = Read()
    assert len(list(passages([tmp_path], read=read))) == 2
    assert [problem.reason for problem in read.problems] == ["not_text"]
    with pytest.raises(BadFile, match="No file could be read"):
        list(passages([tmp_path / "nothing.txt"]))


def test_progress_counts_bytes_of_files(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(TEXT, encoding="utf-8")
    results = []
    list(passages([tmp_path], progress=results.append))
    size = len(TEXT.encode())
    assert results == [size, 2 * size]


def called(*arguments):
    return CliRunner().invoke(cli, ["concord", *map(str, arguments)])


@pytest.fixture
def corpus(tmp_path):
    for number in range(12):
        text = "她在医院当护士。" * 2 + "护士问他来不来。" + "他在家。她在家。天黑了。" * 20
        (tmp_path / f"{number:02}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_command_answers_in_json(corpus):
    answer = called("护士", corpus, "--json", "--lines", "2")
    assert answer.exit_code == 0, answer.output
    data = json.loads(answer.stdout)
    assert (data["occurrences"], data["sentences_with"], data["documents"], data["unit"]) == (
        36,
        36,
        12,
        "document",
    )
    assert [(row["word"], row["with_near"], row["near_only"]) for row in data["near"]] == [
        ("他", 12, 240),
        ("她", 24, 240),
    ]
    assert data["contrast"]["log_odds"]["value"] == pytest.approx(-0.6931, abs=1e-3)  # 12 : 24 against 240 : 240
    assert len(data["lines"]) == 2 and data["lines"][0]["word"] == "护士"


def test_the_command_prints_a_readable_report(corpus):
    answer = called("护士", corpus, "--lines", "1")
    assert "[护士]" in answer.stdout and "1 of 36 lines" in answer.stdout
    assert "Sentences with 护士 contain 她 2.0 times as often as sentences without it" in answer.stdout
    assert "concord|word:护士|near:他,她|window:sentence|unit:document|v1" in answer.stdout


def test_lines_exported_as_csv_contain_no_formulas(tmp_path):
    (tmp_path / "a.txt").write_text("=1+1 她叫护士来。\n护士来了。\n", encoding="utf-8")
    answer = called("护士", tmp_path, "--csv")
    rows = list(csv.reader(io.StringIO(answer.stdout)))
    assert rows[0] == ["document", "place", "left", "word", "right", "near"]
    assert rows[1][1:] == ["1", "'=1+1 她叫", "护士", "来。", "她"]
    assert len(rows) == 3


def test_the_command_reads_a_project(fresh_store):
    project = create_project(fresh_store, "报纸")
    texts = ("她昨天问护士。", "他昨天在家。")
    with Batch.begin(fresh_store, project, "a.txt") as batch:
        batch.add(NewItem(text, find(text)[0], "a.txt", line) for line, text in enumerate(texts, 1))
        batch.publish()
    data = json.loads(called("护士", "--project", "报纸", "--json").stdout)
    assert (data["sentences"], data["sentences_with"], data["near"][1]["with_near"]) == (2, 1, 1)


def test_neither_files_nor_project_is_one_sentence():
    answer = called("护士")
    assert answer.exit_code != 0 and "--project" in str(answer.exception)


def test_control_characters_of_a_line_are_removed():
    line = Line("a.txt", 1, "一\x1b[31m二护士三\u202e四", (7, 9), ())
    shown = terminal_line(line, 60)
    assert "\x1b" not in shown and "\u202e" not in shown and "[护士]" in shown
