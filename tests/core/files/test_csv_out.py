"""Copies of tables for spreadsheet programs: which cells are numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.files.csv_out import LONGEST_NUMBER, spreadsheet_copy


def column(tmp_path, *cells: str) -> list[str]:
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["name", *cells]) + "\n", encoding="utf-8")
    return spreadsheet_copy(table).splitlines()[1:]


def test_a_column_of_numbers_keeps_its_signs(tmp_path):
    numbers = ["-0.5", "-1.", "-.5", "+1e-05", "-inf", "nan", "-12345678901234567890"]
    assert column(tmp_path, *numbers) == numbers
    assert column(tmp_path, "-0.5", "text") == ["'-0.5", "text"]


def test_a_cell_that_is_longer_than_any_number_is_text(tmp_path):
    longest = "-" + "1" * (LONGEST_NUMBER - 1)
    assert column(tmp_path, longest) == [longest]
    assert column(tmp_path, longest + "1") == [f"'{longest}1"]


@pytest.mark.parametrize("digits", [20_000, 100_000])
def test_a_text_of_digits_ends_the_look_at_once(tmp_path, digits):
    assert column(tmp_path, "-" + "1" * digits + "。") == ["'-" + "1" * digits + "。"]


@given(st.floats())
def test_every_float_is_a_number(number: float) -> None:
    from evenhand.core.files.csv_out import _is_number

    assert _is_number(repr(number))
