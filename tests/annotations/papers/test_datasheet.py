"""The data sheet: numbers from the database, in both languages, no text and no names."""

import re

import pytest

from annotations.database.store import Store
from annotations.demo.generation_texts import make_generations_demo
from annotations.items.batch import Batch, NewItem, items
from annotations.papers.datasheet import datasheet
from annotations.projects.projects import change_project, create_project


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("sheet") / "demo.db") as store:
        yield store, make_generations_demo(store)


@pytest.mark.parametrize(
    ("language", "title", "says"),
    [
        ("en", "# Data sheet: ", ("120 texts that language models wrote", "24 distinct contexts", "136 labels stand")),
        ("zh", "# 数据说明：", ("120 条语言模型写的续文，", "24 个不同的上文", "有效标注 136 条")),
    ],
)
def test_its_numbers(demo, language, title, says):
    store, project = demo
    sheet = datasheet(store, project, language)
    assert sheet.startswith(title)
    for text in says:
        assert text in sheet
    table = re.findall(r"^\| .* \| (\d+) \|$", sheet.split("\n## ")[1], re.M)
    way = re.findall(r"^\| .* \| (\d+) \|$", sheet.split("\n## ")[2], re.M)
    assert len(way) == 4 and int(way[0]) == 120 >= int(way[1]) >= int(way[2]) > 0
    assert sum(map(int, table)) == 120
    for item in items(store, project):
        assert item.text.strip() not in sheet
    assert "虚构" not in sheet  # no annotator's name


def test_it_says_how_texts_leave(demo):
    store, project = demo
    assert "encrypted archives" in datasheet(store, project, "en")
    opened = change_project(store, project, open_text=True)
    assert "Texts leave in plain." in datasheet(store, opened, "en")
    change_project(store, project, open_text=None)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_latex_says_what_markdown_says(demo, language):
    """One writer makes both: the same words in the same order, and nothing of an item in either."""
    store, project = demo
    markdown, paper = (datasheet(store, project, language, form) for form in ("md", "tex"))
    start = paper.index("\\begingroup\\sloppy")
    bare = re.sub(r"(?m)^\\(begin|end).*$|\\[a-z]+", "", paper[start:])  # no commands
    said, written = ("".join(re.findall("[A-Za-z0-9\u4e00-\u9fff]", text)) for text in (markdown, bare))
    assert len(said) > 1_000 and said == written
    for item in items(store, project):
        assert item.text.strip() not in paper


def test_of_sentences_without_labels(fresh_store, sample_project):
    sheet = datasheet(fresh_store, sample_project, "en")
    assert "8 sentences" in sheet
    assert "Fewer than two people have labelled" in sheet
    assert "canary" not in sheet


def test_names_from_files_stay_in_their_cells(fresh_store):
    project = create_project(fresh_store, "g | *x*", kind="generations")
    extra = {"model": "a | b\n# c `d` <script>", "pronouns": ["she"]}
    with Batch.begin(fresh_store, project, "f") as batch:
        batch.add([NewItem("text", None, "f", 1, extra, context="c", key="k")])
        named = {"model": "Label", "pronouns": ["Kept"]}
        batch.add([NewItem("another", None, "f", 2, named, context="c", key="l")])
        batch.publish()
    assert "| Label | — | Kept | — | 1 |" in datasheet(fresh_store, project, "zh")  # names, not words of the sheet
    sheet = datasheet(fresh_store, project, "en")
    assert r"| a \| b \# c \`d\` \<script\> |" in sheet
    assert sheet.startswith("# Data sheet: g \\| \\*x\\*\n")
