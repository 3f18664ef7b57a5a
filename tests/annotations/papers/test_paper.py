"""Papers from templates: both languages have equal contents, a missing fact is an error, no value becomes markup."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError, meta

from evenhand.annotations.papers import datasheet
from evenhand.annotations.papers.blocks import Answered, Heading, Points, Table, Text, Verbatim, one_line
from evenhand.annotations.papers.paper import _environment, paper_blocks
from evenhand.annotations.release.changes import TEMPLATES as RELEASE
from evenhand.core.language import LANGUAGES, Language

TEMPLATES = [
    *((datasheet.TEMPLATES, name) for name in ("datasheet", "labelling")),
    *((RELEASE, name) for name in ("method", "changes", "preregistration", "dataset_card", "annotator_card")),
]
ALL = """
# {{ one }}

{{ one }}
{{ two }}

- {{ one }}
- x {{ two }}

| {{ one }} | n |
| --- | ---: |
| {{ two }} | {{ 1000 | cell }} |

**Why?** {{ one }}

{{ lines | verbatim }}
"""
words = st.text(min_size=1, max_size=30).filter(one_line)


def source(folder: Path, name: str, language: Language) -> str:
    return (folder / language / f"{name}.md.jinja").read_text(encoding="utf-8")


def test_every_template_exists_in_every_language() -> None:
    for folder in {folder for folder, _name in TEMPLATES}:
        results = {language: sorted(file.name for file in (folder / language).iterdir()) for language in LANGUAGES}
        assert len({tuple(names) for names in results.values()}) == 1
        assert {(folder, name.partition(".")[0]) for name in results["en"]} <= set(TEMPLATES)


@pytest.mark.parametrize(("folder", "name"), TEMPLATES)
def test_both_languages_use_equal_facts_and_blocks(folder: Path, name: str) -> None:
    """Both have equal facts, under equal conditions, in blocks of the same kinds."""
    english, chinese = (source(folder, name, language) for language in ("en", "zh"))
    used = [
        meta.find_undeclared_variables(_environment(folder, language).parse(text))
        for language, text in (("en", english), ("zh", chinese))
    ]
    assert used[0] == used[1] != set()
    for part in (r"^\{%.*?%\}", r"^(?:#+|- |\||\*\*)", r"^\|[ :|-]+\|"):
        results = [re.findall(part, text, re.M) for text in (english, chinese)]
        assert results[0] == results[1]
        assert results[0] or name in ("labelling", "annotator_card")  # they have no table
    values = [
        sorted(re.findall(r"\{\{ (.*?) \}\}", text)) for text in (english, chinese.replace("{{ zh or", "{{ en or"))
    ]
    assert values[0] == [value.replace("choice.zh", "choice.en") for value in values[1]]


@pytest.mark.parametrize(("folder", "name"), TEMPLATES)
def test_chinese_templates_are_in_chinese(folder: Path, name: str) -> None:
    text = re.sub(r"\{[{%].*?[}%]\}", "", source(folder, name, "zh"))
    sentences = [line for line in text.splitlines() if re.search(r"[A-Za-z]{2,}.* [A-Za-z]{2,}.* [A-Za-z]{2,}", line)]
    assert not [line for line in sentences if not re.search("[\u4e00-\u9fff]", line)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_missing_fact_is_an_error(language: Language) -> None:
    with pytest.raises(UndefinedError, match="project"):
        paper_blocks(datasheet.TEMPLATES, "datasheet", language, {})


@given(words, words, st.lists(st.text(max_size=20), min_size=1, max_size=5))
def test_values_of_a_template_stay_text(tmp_path_factory, one, two, lines) -> None:
    folder = tmp_path_factory.getbasetemp() / "templates"
    for language in LANGUAGES:
        (folder / language).mkdir(parents=True, exist_ok=True)
        (folder / language / "all.md.jinja").write_text(ALL, encoding="utf-8")
    text = "\n".join(["x", *lines])
    first, second = one_line(one), one_line(two)
    for language, between in (("en", " "), ("zh", "")):
        result = paper_blocks(folder, "all", language, {"one": one, "two": two, "lines": text})
        assert result[:5] == [
            Heading(first, 1),
            Text(f"{first}{between}{second}"),
            Points((first, f"x {second}")),
            Table((first, "n"), ((second, "1,000"),), (False, True)),
            Answered("Why?", first),
        ]
        assert isinstance(result[5], Verbatim) and len(result) == 6
