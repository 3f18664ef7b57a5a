"""Rows of a run that is still writing: whole ones only, each once, and nothing that no living process writes."""

import csv
import json
from pathlib import Path

import pytest

from evenhand.core.files.atomic_file import growing_part, whole_file
from evenhand.core.files.csv_out import data_line
from evenhand.core.generation.resumable_file import GrowingFile
from evenhand.core.scoring import report
from evenhand.core.scoring.report import SoFar
from evenhand.core.scoring.run import COLUMNS


def scored(model: str, bias: str, sentence: str = "他说，“好\n的”。") -> str:
    values = {"model": model, "sentence": sentence, "bias_log10": bias, "status": "ok" if bias else "no_keyword"}
    return data_line(values.get(name, "") for name in COLUMNS)


def begun(path: Path) -> Path:
    part = growing_part(path)
    assert part is not None
    return part


def test_complete_rows_are_counted_while_scores_are_written(tmp_path: Path) -> None:
    """A sentence contains a line break, so not every line break ends a row; its second half is written later."""
    out = tmp_path / "run [1].csv"
    result = SoFar(out)
    assert not result.read_on(), "nothing is begun"
    with whole_file(out):
        part = begun(out)
        whole, torn = scored("m", "0.5") + scored("m", "-0.25") + scored("n", ""), scored("n", "-inf")
        middle = torn.index("\n") + 1  # inside the quoted sentence
        part.write_text(data_line(COLUMNS) + whole + torn[:middle], encoding="utf-8", newline="")
        assert result.read_on() and result.rows == 3
        with part.open("a", encoding="utf-8", newline="") as more:
            more.write(torn[middle:])
        assert result.read_on() and result.read_on() and result.rows == 4
        assert {name: dict(model) for name, model in result.models.items()} == {
            "m": {"rows": 2, "scored": 2, "male": 1, "female": 1},
            "n": {"rows": 2, "scored": 1, "female": 1},
        }
    assert not result.read_on(), "the table is whole: it is no partial result any more"


def test_a_very_long_text_is_one_row(tmp_path: Path) -> None:
    out = tmp_path / "run.csv"
    before = csv.field_size_limit(131_072)
    try:
        with whole_file(out):
            rows = data_line(COLUMNS) + scored("m", "0.5", "他" * 140_000)
            begun(out).write_text(rows, encoding="utf-8", newline="")
            result = SoFar(out)
            assert result.read_on() and result.rows == 1
    finally:
        csv.field_size_limit(before)


def test_a_restarted_run_is_counted_from_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "candidates.jsonl"
    result = SoFar(out)
    for number in (5, 2):
        with whole_file(out):
            lines = [json.dumps({"sentence": f"{n}"}) + "\n" for n in range(number)]
            begun(out).write_text("".join(lines) + '{"sente', encoding="utf-8")
            assert result.read_on() and result.rows == number
            assert [row["sentence"] for row in result.last] == [f"{n}" for n in range(number)][-report.LAST :]
    monkeypatch.setattr(report, "MOST", 40)  # a look reads a limited number of rows; the next one continues
    with whole_file(out):
        begun(out).write_text("".join(json.dumps({"sentence": f"{n}"}) + "\n" for n in range(9)), encoding="utf-8")
        looks = []
        while result.read_on() and result.rows not in looks:
            looks.append(result.rows)
        assert looks[0] < 9 and looks[-1] == 9


def test_generations_are_counted_in_their_growing_file(tmp_path: Path) -> None:
    out = tmp_path / "texts.jsonl"
    result = SoFar(out)
    with GrowingFile(out, {}) as file:
        file.append([(0, {"context": "Ola ", "completion": "left."}), (3, {"context": "Bo ", "completion": "came."})])
        assert result.read_on() and result.rows == 2
        assert [row["completion"] for row in result.last] == ["left.", "came."]


def test_files_of_a_dead_process_are_not_partial_results(tmp_path: Path) -> None:
    out = tmp_path / "run.csv"
    (tmp_path / ".run.csv.999999999-0123abcd.part").write_text(data_line(COLUMNS), encoding="utf-8")
    assert growing_part(out) is None and not SoFar(out).read_on()
