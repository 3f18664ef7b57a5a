"""Cells that a spreadsheet would run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.files.csv_out import is_guarded, neutralised, restored
from evenhand.core.resources import ROOT

STARTS = "=+-@＝＋－＠\t\r\n'"


def test_every_csv_writer_guards_its_cells() -> None:
    """A new CSV writer guards its cells, or writes lines of `csv_out`, which come with a copy for spreadsheets."""
    writers = {
        file.relative_to(ROOT).as_posix(): text
        for layer in ("core", "annotations", "pages", "commands")
        for file in (ROOT / layer).rglob("*.py")
        if "csv.writer(" in (text := file.read_text(encoding="utf-8"))
    }
    assert "pages/browse/results.py" in writers
    assert [name for name, text in writers.items() if "neutralised(" not in text] == []


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ('=HYPERLINK("http://example.org";"她")', '\'=HYPERLINK("http://example.org";"她")'),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("＝1", "'＝1"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\n=1", "'\n=1"),
        ("'=1", "''=1"),
        ("''=1", "'''=1"),
        ("'她说'", "'她说'"),
        ("1=1", "1=1"),
        ("", ""),
        ("他", "他"),
    ],
)
def test_guarded_cells_are_restored(cell: str, written: str) -> None:
    assert neutralised(cell) == written
    assert restored(written) == cell


@given(st.text() | st.text(alphabet=STARTS + "a", max_size=8))
def test_every_cell_survives_guarding_without_a_formula(cell: str) -> None:
    assert restored(neutralised(cell)) == cell
    assert neutralised(cell)[:1] not in set(STARTS) - {"'"}


@pytest.mark.parametrize(
    ("cells", "guarded"),
    [(["他", "'=1"], True), (["'=1", "=2"], False), (["=2", "'=1"], False), (["'他'"], False), ([], False)],
)
def test_a_table_with_one_unguarded_formula_is_not_guarded(cells, guarded):
    assert is_guarded(cells) == guarded
