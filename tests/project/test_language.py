"""Every string that a visitor can read has a Chinese translation, with the same places for values."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po

from evenhand.core.errors import NotFound
from evenhand.core.language import catalogue, explain, translate

pytestmark = pytest.mark.scan

ROOT = Path(__file__).resolve().parents[2]
KEYWORDS = {"_", "N_"}
WRITERS = {"caption", "inform", "page_head", "warn", "write"}  # functions of pages.ui that translate
LAYERS = ("core", "annotations", "web", "commands", "pages", "evenhand")
CATALOGUES = sorted((ROOT / "locale" / "zh").glob("*.po"))
SOURCES = [
    *ROOT.glob("*.py"),
    *(ROOT / "web" / "templates").glob("*.html"),
    *(file for layer in LAYERS for file in (ROOT / layer).rglob("*.py")),
]


@cache
def marked() -> dict[str, set[str]]:
    """Return every marked string -> the files it is in."""
    result: dict[str, set[str]] = defaultdict(set)
    for file in SOURCES:
        for message in in_template(file) if file.suffix == ".html" else in_code(file):
            assert isinstance(message, str), f"{file.name}: a marked string must be one literal"
            result[message].add(str(file.relative_to(ROOT)))
    return result


def in_template(file: Path) -> list[object]:
    return [message for _line, message, *_rest in extract_from_file("jinja2.ext:babel_extract", str(file))]


def in_code(file: Path) -> list[object]:
    """Return marked strings that are values of another one, which Babel does not find."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    writers = {
        name.name for node in nodes if node.module.startswith("evenhand.pages.ui.") for name in node.names
    } & WRITERS
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    marked = [call for call in calls if call.func.id in writers | KEYWORDS and call.args]
    texts = [(call.func.id, getattr(call.args[0], "value", None)) for call in marked]
    return [text for name, text in texts if isinstance(text, str) or name in writers]


@cache
def messages() -> list[tuple[str, Message]]:
    """Return (catalogue, message) for every translation."""
    results = []
    for path in CATALOGUES:
        with path.open("rb") as file:
            results += [
                (path.name, message) for message in read_po(file, locale="zh", abort_invalid=True) if message.id
            ]
    return results


def places(text: str) -> set[str]:
    """Return the names in braces; a brace that is not a placeholder (JSON, a set) makes the text a plain one."""
    try:
        return {name for _text, name, _spec, _conversion in Formatter().parse(text) if name is not None}
    except ValueError:
        return set()


def test_strings_and_catalogues_are_listed() -> None:
    assert "Home" in marked()
    assert CATALOGUES


def test_every_marked_string_is_translated() -> None:
    known = catalogue("zh")
    missing = {text: sorted(files) for text, files in marked().items() if not known.get(text)}
    assert not missing


def test_no_translation_is_left_over() -> None:
    used = marked().keys()
    assert not [(file, message.id) for file, message in messages() if message.id not in used]


def test_no_translation_is_fuzzy() -> None:
    assert not [(file, message.id) for file, message in messages() if message.fuzzy]


def test_a_string_has_one_translation() -> None:
    result: dict[str, set[str]] = defaultdict(set)
    for _file, message in messages():
        result[str(message.id)].add(str(message.string))
    assert not {text: several for text, several in result.items() if len(several) > 1}


def test_translations_have_the_placeholders_of_the_original() -> None:
    wrong = [(f, m.id) for f, m in messages() if places(str(m.id)) != places(str(m.string))]
    assert not wrong


NAMES = {"Fleiss' kappa", "Krippendorff's alpha", "Cohen's kappa", "Gwet's AC1"}  # known by these names in Chinese too


def test_translations_are_chinese() -> None:
    """A string of letters that was copied instead of translated; names and signs stay as they are."""
    han = re.compile(r"[\u4e00-\u9fff]")
    copied = [
        (f, m.id)
        for f, m in messages()
        if re.search(r"[a-z]{3}.* .*[a-z]{3}", re.sub(r"{\w*}", "", str(m.id)))
        and not han.search(str(m.string))
        and m.id not in NAMES
    ]
    assert not copied


def never() -> list[re.Pattern[str]]:
    """Return the patterns that the table of words in docs/contributing.md excludes from the interface."""
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    rows = text.split("| English | Chinese | never |")[1].split("\n\n")[0].splitlines()[2:]
    cells = [re.split(r"(?<!\\)\|", row)[3].strip().replace("\\|", "|") for row in rows]
    return [re.compile(word) for cell in cells if cell for word in cell.split(", ")]


def test_strings_follow_the_glossary() -> None:
    refused = never()
    assert len(refused) > 30
    strings = [(f, text) for f, m in messages() for text in (str(m.id), str(m.string))]
    assert not [(f, text, word.pattern) for f, text in strings for word in refused if word.search(text)]


@pytest.mark.parametrize(("language", "expected"), [("en", "Home"), ("zh", "首页")])
def test_translate_returns_the_string_in_the_language(language: str, expected: str) -> None:
    assert translate("Home", language) == expected


def test_a_string_without_translation_stays_english() -> None:
    assert translate("no such string", "zh") == "no such string"


def test_an_error_is_translated_before_its_values_are_filled_in() -> None:
    error = NotFound("There is no packaged table named {name}.", name="Home {x}")
    assert explain(error, "en") == "There is no packaged table named Home {x}."
    assert "Home {x}" in explain(error, "zh")
    assert explain(error, "zh") != explain(error, "en")


def test_pages_do_not_join_sentences_with_a_space() -> None:
    """Chinese has none there: `paragraph` of pages/ui/text.py knows."""
    joined = re.compile(r"""\+=? \(?["'] ["'] \+""")
    pages = (ROOT / "pages").rglob("*.py")
    assert [file.name for file in pages if joined.search(file.read_text(encoding="utf-8"))] == []


# The content of a file that is the same in every language, or text that a person types literally.
AS_IT_STANDS = {"published/claims.py", "pilot/guideline.py"}


def test_pages_use_punctuation_of_the_visitors_language() -> None:
    """Chinese has its own signs: `named`, `aside`, `series` and `clauses` of pages/ui/text.py know them."""
    results = []
    for file in (ROOT / "pages").rglob("*.py"):
        name = file.relative_to(ROOT / "pages").as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if name in AS_IT_STANDS:
                continue
            if isinstance(node, ast.JoinedStr):
                texts = [str(part.value) for part in node.values if isinstance(part, ast.Constant)]
                results += [f"{name}:{node.lineno}" for text in texts if re.search(r"^: | \($", text)]
            elif isinstance(node, ast.Attribute) and node.attr == "join" and isinstance(node.value, ast.Constant):
                results += [f"{name}:{node.lineno}"] * (node.value.value in (", ", "; ", ": "))
    assert results == []
