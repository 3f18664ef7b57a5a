"""`demo-page`: one file, made by the worker; nothing is replaced."""

from pathlib import Path

import pytest

from tests.support.terminal import answered, typed


def test_the_demo_page_is_written_as_one_file(tmp_path: Path) -> None:
    rows = tmp_path / "rows.tsv"
    rows.write_text("language\ttext\toptions\nzh\t[MASK]坐在窗边。\t他 她\n", encoding="utf-8")
    out = tmp_path / "page.html"
    result = answered("demo-page", out, "--sentences", rows, "--model", "demo-zh", "--model", "no/such")
    text = out.read_text(encoding="utf-8")
    assert (result["sentences"], result["models"]) == (1, ["demo-zh", "no/such"]) and result["bytes"] == len(
        text.encode()
    )
    assert "坐在窗边" in text and "no/such" in text and "masked|demo-zh" in text
    ended = typed("demo-page", out)
    assert (
        ended.code == 2
        and "already exists. Choose another name." in ended.stderr
        and out.read_text(encoding="utf-8") == text
    )


@pytest.mark.parametrize("content", ["language\ttext\n", "a\tb\nc\n"])
def test_a_bad_table_is_refused(tmp_path: Path, content: str) -> None:
    rows = tmp_path / "rows.tsv"
    rows.write_text(content, encoding="utf-8")
    assert typed("demo-page", tmp_path / "page.html", "--sentences", rows).code == 2
    assert not (tmp_path / "page.html").exists()
