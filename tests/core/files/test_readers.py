"""Bytes to rows: shapes, lines, encodings, and mislabelled files."""

import json
from pathlib import Path

import pytest

from evenhand.core.errors import BadFile
from evenhand.core.files.readers import open_source, rows


def written(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.csv", "sentence,year\r\n他来了,2020\r\n", [(2, {"sentence": "他来了", "year": "2020"})]),
        ("a.csv", "\ufeffsentence\n他来了", [(2, {"sentence": "他来了"})]),
        (
            "a.csv",
            'sentence,n\n"他,来\n了",1\n她,2\n',
            [(2, {"sentence": "他,来\n了", "n": "1"}), (4, {"sentence": "她", "n": "2"})],
        ),
        ("a.csv", "sentence;n\n他,来了;1\n", [(2, {"sentence": "他,来了", "n": "1"})]),
        ("a.csv", "sentence,n\n\n他,1\n\n", [(3, {"sentence": "他", "n": "1"})]),
        ("a.csv", "sentence\n\n他\n", [(2, {"sentence": ""}), (3, {"sentence": "他"})]),
        ("a.csv", "sentence,\n他,x\n", [(2, {"sentence": "他", "column 2": "x"})]),
        ("a.csv", "sentence\n'=他\n", [(2, {"sentence": "=他"})]),
        ("a.csv", "'=a,sentence\nx,他\n", [(2, {"=a": "x", "sentence": "他"})]),
        ("a.csv", "sentence\r他\r她\r", [(2, {"sentence": "他"}), (3, {"sentence": "她"})]),
        ("a.tsv", "sentence\tn\n他,来\t1\n", [(2, {"sentence": "他,来", "n": "1"})]),
        ("a.txt", "　他来了 \r\n\n她", [(1, {"sentence": "他来了"}), (2, {"sentence": ""}), (3, {"sentence": "她"})]),
        ("a.txt", "'=他", [(1, {"sentence": "'=他"})]),
        ("a.md", "他", [(1, {"sentence": "他"})]),
        (
            "a.jsonl",
            '{"sentence": "他\\n"}\n\n{"n": [1, {"b": null}]}',
            [(1, {"sentence": "他\n"}), (3, {"n": [1, {"b": None}]})],
        ),
        ("a.jsonl", '{"n": NaN, "m": 1e999, "k": 0.5}', [(1, {"n": None, "m": None, "k": 0.5})]),
        ("a.jsonl", "", []),
    ],
)
def test_rows_are_read_from_each_format(
    tmp_path: Path, name: str, data: str, expected: list[tuple[int, dict[str, object]]]
) -> None:
    source = open_source(written(tmp_path, name, data))
    assert [(row.line, row.values) for row in rows(source)] == expected
    assert all(row.problem is None for row in rows(source))


def test_gb18030_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    source = open_source(written(tmp_path, "a.csv", "\ufeff句子\n他来了\n".encode("gb18030")))
    assert (source.encoding, source.columns) == ("gb18030", ("句子",))
    assert [row.values for row in rows(source)] == [{"句子": "他来了"}]


@pytest.mark.parametrize("line", ["他,来了,1", "他"])
def test_a_row_with_a_wrong_number_of_cells_is_reported(tmp_path: Path, line: str) -> None:
    source = open_source(written(tmp_path, "a.csv", f"sentence,n\n{line}\n她,2\n"))
    bad, good = rows(source)
    assert bad.problem is not None and (bad.problem.reason, bad.problem.line) == ("columns", 2)
    assert good.problem is None


def test_a_json_line_that_cannot_be_stored_is_reported(tmp_path: Path) -> None:
    deep = "[" * 600 + "]" * 600
    wide = json.dumps([[]] * 600)
    source = open_source(written(tmp_path, "a.jsonl", f'{{"a": "\\ud800"}}\n{{"a": {deep}}}\n{{"a": {wide}}}\n'))
    assert [row.problem and row.problem.reason for row in rows(source)] == ["control_characters", "columns", None]


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"PK\x03\x04rest", "ZIP"),
        ("a.csv", "sentence\n他\n".encode("utf-16"), "UTF-16"),
        ("a.csv", "sentence,sentence\n他,她\n", "two columns named sentence"),
        ("a.csv", 'sentence\n"他来了\n她来了\n', "line 2: the table cannot be read"),
        ("a.csv", 'sentence\n"他"来了\n', "line 2: the table cannot be read"),
        ("a.csv", 'sentence\n"' + "他来了\n" * 50_000, "line 2: the table cannot be read"),
        ("a.txt", "他" * 200_001, "more than 200000 characters"),
        ("a.csv", "sentence\n" + "他" * 200_001, "line 2 has more than 200000 characters"),
        ("a.jsonl", '{"sentence": "他"}\n{"sentence": "她', "line 2 is not JSON"),
        ("a.jsonl", '["他"]\n', ", line 1 is JSON but not an object: a line must look like"),
        ("a.json", '["他"]\n', ", element 1 is JSON but not an object."),
        ("a.json", '{\n  "sentence": "他"\n}\n', "line 1 is not JSON"),
        ("a.txt", "句子,关键词位置\n他,x\n", "looks like a table"),
        ("a.txt", "n\tsentence\n1\t他\n", "looks like a table"),
        ("a.txt", '{"sentence": "他"}\n', "looks like JSON Lines"),
        ("a.jsonl", "他来了\n", "line 1 is not JSON"),
        ("a.jsonl", '{"a": ' + "[" * 50_000 + "\n", "line 1 is not JSON"),
        ("a.jsonl", '{"a": ' + "9" * 5_000 + "}\n", ", line 1 contains a number with 5000 digits; the limit is 300."),
        ("a.jsonl", '{"a": -' + "9" * 301 + "}\n", ", line 1 contains a number with 301 digits; the limit is"),
    ],
)
def test_mislabelled_and_damaged_files_are_refused(tmp_path: Path, name: str, data: str | bytes, says: str) -> None:
    with pytest.raises(BadFile, match=says) as error:
        list(rows(open_source(written(tmp_path, name, data), "shown.name")))
    assert str(error.value).startswith("shown.name")


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(BadFile, match="cannot be read"):
            open_source(path)


def test_an_endless_line_is_not_read_into_memory(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "endless.txt"
    with path.open("wb") as file:
        for _ in range(32):
            file.write(b"a" * (1 << 20))
    tracemalloc.start()
    with pytest.raises(BadFile, match="more than"):
        list(rows(open_source(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 << 20  # the file has 32 MiB; a chunk of 1 MiB is read, decoded and dropped


def test_columns_of_json_lines_are_taken_from_the_first_rows(tmp_path: Path) -> None:
    source = open_source(written(tmp_path, "a.jsonl", '{"text": "他"}\n{"text": "她", "n": 1}\n'))
    assert source.columns == ("text", "n")
