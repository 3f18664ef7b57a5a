"""Tables of verdicts: what is read, and the one sentence for an invalid file."""

import math
from pathlib import Path

import numpy as np
import pytest

from evenhand.core.errors import BadFile
from evenhand.core.misgendering.verdict_table import (
    cell_columns,
    generations_of,
    has_templates,
    read_verdicts,
    templates_of,
)


def written(folder: Path, text: str, name: str = "v.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_verdicts_are_read_as_numbers_and_other_columns_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeffinstance,model,pronoun,prob,gen1,gen2\r\n007,m,xe,1,0,\r\n8,m,he,,1.0,0\r\n")
    frame = read_verdicts(path)
    assert frame["instance"].tolist() == ["007", "8"]
    assert frame["prob"].tolist() == pytest.approx([1, math.nan], nan_ok=True)
    assert generations_of(frame) == pytest.approx(np.array([[0, math.nan], [1, 0]]), nan_ok=True)
    assert cell_columns(frame) == ["model", "pronoun"]
    assert not has_templates(frame)


def test_generations_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    head = ",".join(f"gen{n}" for n in range(10, 0, -1))
    frame = read_verdicts(written(tmp_path, f"instance,prob,{head}\n1,1,0,1,1,1,1,1,1,1,1,1\n"))
    assert generations_of(frame)[0].tolist() == [1.0] * 9 + [0.0]


def test_verdicts_of_several_templates_are_read(tmp_path: Path) -> None:
    frame = read_verdicts(written(tmp_path, "instance\tprob1\tprob2\tgen1\n1\t\t1\t1\n2\t0\t1\t1\n", "v.tsv"))
    assert has_templates(frame)
    assert templates_of(frame) == pytest.approx(np.array([[math.nan, 1], [0, 1]]), nan_ok=True)
    assert frame["prob"].tolist() == pytest.approx([math.nan, 0], nan_ok=True)


def test_generations_are_optional_if_allowed(tmp_path: Path) -> None:
    path = written(tmp_path, "instance,prob\n1,1\n")
    assert generations_of(read_verdicts(path, generations=False)).shape == (1, 0)
    with pytest.raises(BadFile, match="lacks the columns gen1"):
        read_verdicts(path)


def test_an_instance_of_two_models_is_two_rows(tmp_path: Path) -> None:
    frame = read_verdicts(written(tmp_path, "instance,model,prob,gen1\n1,a,1,1\n1,b,0,1\n"))
    assert len(frame) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("instance,prob,gen1\n", "no row"),
        ("a,b\n1,2\n", "lacks the columns instance, prob, gen1"),
        ("instance,prob,gen1,prob\n1,1,1,1\n", "column prob twice"),
        ("instance,prob,gen1\n1,1,1\n2,1\n", "line 3: 2 columns where the header has 3"),
        ("instance,prob,gen1\n1,1,1\n\n2,0.6,1\n", "line 4: 0.6 in the column prob"),
        ("instance,prob,gen1\n1,1,yes\n", "line 2: yes in the column gen1"),
        (
            "instance,prob,gen1\n1,1,1\n2,1,1\n1,0,1\n",
            ", line 4: the instance 1 appears twice and would be counted twice.",
        ),
    ],
)
def test_invalid_tables_of_verdicts_are_refused(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=why):
        read_verdicts(written(tmp_path, text))


def test_missing_and_undecodable_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no file"):
        read_verdicts(tmp_path / "none.csv")
    (tmp_path / "v.csv").write_bytes(b"\xff\xfe\x00instance")
    with pytest.raises(BadFile, match="UTF-8"):
        read_verdicts(tmp_path / "v.csv")
