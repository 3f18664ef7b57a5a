"""Tables of labels: the rows that are read, and the messages about lines that cannot be read."""

from pathlib import Path

import pytest

from evenhand.core.errors import BadFile, BadLine
from evenhand.core.judges.label_tables import read_judge, read_people, read_rates


def table(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_tables_give_items_of_both_and_of_the_judge_alone(tmp_path: Path) -> None:
    people = table(tmp_path, "p.csv", "item,label,context,drawn\na,1,x,0.5\nb,0,x,1\nc,1,y,0.25\n")
    judge = table(tmp_path, "j.tsv", "item\tlabel\tcontext\nb\t0\tx\na\t0\tx\nd\t1\tz\n")
    result = read_rates(people, judge, "context", "drawn")
    assert (result.labels.people, result.labels.automatic, result.labels.further) == ([1, 0], [0, 0], [1])
    assert (result.labels.clusters, result.labels.further_clusters) == (["x", "x"], ["z"])
    assert result.labels.inclusion == [0.5, 1]
    assert result.without_judge == 1


@pytest.mark.parametrize(
    ("line", "reason", "words"),
    [
        ("b,maybe", "label", "people.csv, line 3: maybe cannot be used for a rate; use 0 or 1."),
        ("a,0", "again", "people.csv, line 3: item a appears twice; the first label counts."),
        (",1", "item", "people.csv, line 3: column item is empty."),
        ("b,", "label", "people.csv, line 3: column label is empty."),
    ],
)
def test_a_bad_line_is_reported_and_others_are_read(tmp_path: Path, line: str, reason: str, words: str) -> None:
    people = table(tmp_path, "people.csv", f"item,label\na,1\n{line}\nc,0\n")
    judge = table(tmp_path, "judge.csv", "item,label\na,1\nb,1\nc,1\nd,0\n")
    result = read_rates(people, judge)
    assert [(error.line, error.reason, str(error)) for error in result.errors] == [(3, reason, words)]
    assert result.labels.people == [1, 0]


@pytest.mark.parametrize("drawn", ["0", "1.5", "often", "nan"])
def test_a_probability_is_above_0_and_at_most_1(tmp_path: Path, drawn: str) -> None:
    people = table(tmp_path, "p.csv", f"item,label,pi\na,1,{drawn}\nb,1,0.5\n")
    judge = table(tmp_path, "j.csv", "item,label\na,1\nb,1\n")
    result = read_rates(people, judge, inclusion="pi")
    assert "is not a probability" in str(result.errors[0]) and result.labels.people == [1]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("item,note\na,1\n", BadFile, "j.csv has no column label; it needs item, label."),
        ("item,label\n", BadFile, "j.csv contains no usable line."),
        ("item,label\na,x\n", BadLine, "use 0 or 1"),
    ],
)
def test_a_table_without_its_columns_is_one_sentence(
    tmp_path: Path, text: str, kind: type[BadFile], words: str
) -> None:
    people = table(tmp_path, "p.csv", "item,label\na,1\n")
    with pytest.raises(kind, match=words):
        read_rates(people, table(tmp_path, "j.csv", text))


def test_the_test_reads_labels_of_any_kind(tmp_path: Path) -> None:
    people, errors = read_people(
        table(tmp_path, "p.jsonl", '{"item": 1, "annotator": "Ada", "label": "correct"}\n{"item": 2}\n')
    )
    assert people == [("1", "Ada", "correct")]
    assert [error.line for error in errors] == [2]
    judge, errors = read_judge(table(tmp_path, "j.csv", "item,label\n1,correct\n1,wrong\n"))
    assert judge == {"1": "correct"} and "twice" in str(errors[0])
