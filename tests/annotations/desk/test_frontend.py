"""The desk's files: one module that parses, every word known and translated, a guideline that can load nothing."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import frontend
from evenhand.annotations.desk.session import verify
from evenhand.annotations.desk.strings import WORDS
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.types import Project
from evenhand.core.language import translate


def test_the_joined_script_parses(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here: the desk's JavaScript is not parsed")
    joined = tmp_path / "desk.mjs"
    joined.write_text(frontend.script(), encoding="utf-8")
    done = subprocess.run([node, "--check", str(joined)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_script_is_joined_once_and_none_writes_html() -> None:
    folder = Path(frontend.__file__).parent / "static"
    assert sorted(frontend.SCRIPTS) == sorted(path.stem for path in folder.glob("*.js"))
    forbidden = re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", frontend.script())
    assert forbidden == []


def test_words_of_the_script_match_the_list_of_words() -> None:
    used = set(re.findall(r'\bt\(\s*"((?:[^"\\]|\\.)+)"', frontend.script()))
    chosen = re.findall(r'"(\{accepted\}[^"]+)"', frontend.script())  # picked by a condition before it is translated
    assert used - set(WORDS) == set()
    assert set(WORDS) - used - set(chosen) == set()


@pytest.mark.parametrize("word", WORDS)
def test_every_word_is_translated_with_its_placeholders(word: str) -> None:
    chinese = translate(word, "zh")
    assert chinese != word
    assert sorted(re.findall(r"\{\w+\}", chinese)) == sorted(re.findall(r"\{\w+\}", word))


BLOCKS = [
    ("# Head\n\ntext", [{"kind": "head", "runs": [("Head", False)]}, {"kind": "p", "runs": [("text", False)]}]),
    ("a **b** c", [{"kind": "p", "runs": [("a ", False), ("b", True), (" c", False)]}]),
    ("one\ntwo", [{"kind": "p", "runs": [("one", False), (" ", False), ("two", False)]}]),
    (
        "3. x\n4. **y**",
        [{"kind": "list", "ordered": True, "start": 3, "items": [[("x", False)], [("y", True)]]}],
    ),
    ("- x", [{"kind": "list", "ordered": False, "start": 1, "items": [[("x", False)]]}]),
    ("<img src=x onerror=1>", [{"kind": "p", "runs": [("<img src=x onerror=1>", False)]}]),
    ("![p](http://x.invalid)", [{"kind": "p", "runs": [("![p](http://x.invalid)", False)]}]),
    ("", []),
]


@pytest.mark.parametrize(("markdown", "expected"), BLOCKS)
def test_a_guideline_becomes_blocks_of_plain_text(markdown: str, expected: list[dict[str, Any]]) -> None:
    assert frontend.blocks(markdown) == expected


@pytest.mark.parametrize(("language", "keep"), [("zh", "保留"), ("en", "Keep")])
def test_start_data_has_token_project_and_words(
    fresh_store: Store, sample_project: Project, language: Any, keep: str
) -> None:
    ada = annotators(fresh_store, sample_project)[0]
    data = frontend.start_data(fresh_store, sample_project, ada, language=language, api="/api/desk")
    grant = verify(fresh_store.secret, data["token"])
    assert (grant.database, grant.project, grant.annotator) == (fresh_store.uid, sample_project.uid, ada.uid)
    assert data["choices"][0] == {"code": "accept", "key": "j", "label": keep}
    assert [reason["key"] for reason in data["reasons"]] == [str(n) for n in range(1, 10)]
    lists = [block for block in data["guideline"]["blocks"] if block["kind"] == "list" and block["ordered"]]
    assert len(lists[0]["items"]) == 5, "the numbered criteria are in view"
    assert set(data["words"]) == set(WORDS)
