"""Copies of tables for spreadsheet programs: which cells are numbers."""

import csv
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.files.csv_out import LONGEST_NUMBER, data_line, has_formula, spreadsheet_copy, spreadsheet_lines

LIMIT = 131_072  # characters of a cell, with which every process of Python begins


@pytest.fixture
def limit_of_python() -> Iterator[None]:
    before = csv.field_size_limit(LIMIT)
    yield
    csv.field_size_limit(before)


def column(tmp_path, *cells: str) -> list[str]:
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["name", *cells]) + "\n", encoding="utf-8")
    return spreadsheet_copy(table).splitlines()[1:]


def test_a_column_of_numbers_keeps_its_signs(tmp_path):
    numbers = ["-0.5", "-1.", "-.5", "+1e-05", "-inf", "nan", "-12345678901234567890"]
    assert column(tmp_path, *numbers) == numbers
    assert column(tmp_path, "-0.5", "text") == ["'-0.5", "text"]


def test_a_cell_longer_than_any_number_is_text(tmp_path):
    longest = "-" + "1" * (LONGEST_NUMBER - 1)
    assert column(tmp_path, longest) == [longest]
    assert column(tmp_path, longest + "1") == [f"'{longest}1"]


@pytest.mark.parametrize("digits", [20_000, 100_000])
def test_a_long_text_of_digits_is_guarded_in_linear_time(tmp_path, digits):
    assert column(tmp_path, "-" + "1" * digits + "。") == ["'-" + "1" * digits + "。"]


@pytest.mark.usefixtures("limit_of_python")
@pytest.mark.parametrize("length", [LIMIT - 1, LIMIT, 10 * LIMIT])
def test_a_long_text_is_copied_completely(tmp_path, length):
    text = "=" + "他" * length
    assert column(tmp_path, text) == ["'" + text]
    row = data_line([text, 1])
    assert next(iter(spreadsheet_lines([row]))).endswith(f"'{text},1\r\n")
    assert has_formula(row)


@given(st.floats())
def test_every_float_is_written_as_a_number(number: float) -> None:
    from evenhand.core.files.csv_out import _is_number

    assert _is_number(repr(number))
