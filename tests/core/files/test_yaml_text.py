"""YAML of strangers: bounded, without aliases, and never an error of the library."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import BadFile
from evenhand.core.files import sandbox
from evenhand.core.files.sandbox import DEEPEST, LARGEST_BYTES, read_yaml, yaml_value

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + level)}: &{chr(98 + level)} [{','.join(['*' + chr(97 + level)] * 9)}]\n" for level in range(8)
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BOMB, "alias"),
        ("x" * (LARGEST_BYTES + 1), "64 kB"),
        ("[" * (DEEPEST + 1), "40 levels"),
        ("- " * (DEEPEST + 1), "40 levels"),
        ("!!python/object/apply:os.system ['true']", "constructor"),
        (": : :", "block mapping"),
        ("? [a]\n: b", "unhashable"),
        ("\0", "special characters"),
    ],
)
def test_dangerous_yaml_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        yaml_value(text)


def test_ordinary_yaml_is_read() -> None:
    assert yaml_value("configs:\n- config_name: default\n  data_files: a.csv\n") == {
        "configs": [{"config_name": "default", "data_files": "a.csv"}]
    }


@given(st.text(alphabet="ab:-[]{}&*!|>%@`'\"#?,\n \t0123.~<=é", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        yaml_value(text)
    except ValueError:
        return


def test_a_server_reads_yaml_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    questions: list[str] = []

    def elsewhere(work, *arguments, file, **limits):
        questions.append(file)
        return work(*arguments)

    monkeypatch.setattr("evenhand.core.files.sandbox.run_bounded", elsewhere)
    assert read_yaml("a: 1", "README.md") == {"a": 1} and questions == []
    monkeypatch.setattr(sandbox, "_in_children", [True])
    assert read_yaml("a: 1", "README.md") == {"a": 1} and questions == ["README.md"]
    with pytest.raises(BadFile, match=r"README\.md cannot be read as YAML: YAML with an alias"):
        read_yaml(BOMB, "README.md")
