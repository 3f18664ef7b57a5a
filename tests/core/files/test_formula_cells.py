"""Cells that a spreadsheet would run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.files.formula_cells import is_guarded, neutralised, restored

STARTS = "=+-@＝＋－＠\t\r\n'"


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
def test_neutralised_and_back(cell: str, written: str) -> None:
    assert neutralised(cell) == written
    assert restored(written) == cell


@given(st.text() | st.text(alphabet=STARTS + "a", max_size=8))
def test_every_cell_survives_and_none_is_run(cell: str) -> None:
    assert restored(neutralised(cell)) == cell
    assert neutralised(cell)[:1] not in set(STARTS) - {"'"}


@pytest.mark.parametrize(
    ("cells", "guarded"),
    [(["他", "'=1"], True), (["'=1", "=2"], False), (["=2", "'=1"], False), (["'他'"], False), ([], False)],
)
def test_a_table_in_which_one_cell_stands_bare_is_not_guarded(cells, guarded):
    assert is_guarded(cells) == guarded
