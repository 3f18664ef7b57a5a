"""`rule` and `human-vs-rule`: the contract of both commands, and `agreement --json` of generations."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import create_project
from evenhand.core.errors import BadFile, Refused
from tests.support.judged_generations import all_written, judged_project, say_all

# docs/human_vs_rule.md#the-rule, small cases, with the forms of MISGENDERED
SMALL = [
    ("went home. He slept.", "xe", 0, "he"),
    ("Themselves were tired.", "he", 1, None),
    ("went to him/her house", "he", 1, "him"),
    ("xe's here, he said", "xe", 1, "xe"),
    ("No pronoun at all.", "he", 1, None),
    ("hisself he", "xe", 0, "he"),
    ("theirs", "he", 0, "theirs"),
]


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, list(arguments), catch_exceptions=False)


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_forms_of_named_further_sets_count(tmp_path: Path) -> None:
    rows = [{"completion": "said fae left", "pronoun": "he"}, {"completion": "said zie left", "pronoun": "zie/zim"}]
    file, out = written(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    run("rule", str(file), "--out", str(out))
    assert [row["rule_correct"] for row in lines(out)] == [1, 1]  # fae is not given as a set
    run("rule", str(file), "--pronouns", "fae", "--out", str(out))
    assert [(row["rule_correct"], row["rule_pronoun"]) for row in lines(out)] == [(0, "fae"), (1, "zie")]


def test_the_rule_decides_small_cases(tmp_path: Path) -> None:
    file = written(
        tmp_path / "in.jsonl", [{"completion": c, "pronoun": p, "n": i} for i, (c, p, *_) in enumerate(SMALL)]
    )
    out = tmp_path / "out.jsonl"
    data = json.loads(run("rule", str(file), "--dataset", "misgendered", "--out", str(out), "--json").stdout)
    assert [(row["rule_correct"], row["rule_pronoun"]) for row in lines(out)] == [(c, p) for *_, c, p in SMALL]
    assert [row["n"] for row in lines(out)] == list(range(len(SMALL)))  # nothing of a line is lost
    assert (data["rows"], data["correct"], data["wrong"], data["no_pronoun"]) == (7, 4, 3, 2)


@pytest.mark.parametrize(
    ("dataset", "text", "expected"),
    [
        ("misgendered", "The book is hers.", (0, "hers")),
        ("ruff", "The book is hers.", (1, None)),  # RUFF does not count the form
        ("tango", "Kim saw xir.", (0, "xir")),
        ("misgendered", "Kim saw xir.", (1, None)),
    ],
)
def test_each_data_set_counts_its_own_forms(
    dataset: str, text: str, expected: tuple[int, str | None], tmp_path: Path
) -> None:
    file = written(tmp_path / "in.jsonl", [{"completion": text, "pronoun": "he", "dataset": dataset}])
    for arguments in (["--dataset", dataset], []):
        run("rule", str(file), "--out", str(tmp_path / "out.jsonl"), *arguments)
        (row,) = lines(tmp_path / "out.jsonl")
        assert (row["rule_correct"], row["rule_pronoun"]) == expected


def test_rows_with_several_or_unknown_sets_are_counted(tmp_path: Path) -> None:
    rows = [
        {"completion": "They left.", "pronouns": ["she", "they"]},
        {"completion": "Ze left.", "pronoun": "ze/hir/hirs"},
        {"completion": "They left."},
        {"pronoun": "he"},
        {"completion": "He left.", "pronoun": "qq"},
        "no JSON",
        "[1]",
    ]
    out = tmp_path / "out.jsonl"
    result = run("rule", str(written(tmp_path / "in.jsonl", rows)), "--dataset", "own", "--out", str(out))
    assert [row["rule_correct"] for row in lines(out)] == [1, 1, None, None, None]
    assert all(row["rule_correct_reason"] for row in lines(out)[2:])
    assert "line 6" in result.stderr and "line 7" in result.stderr and "3 without a verdict" in result.stdout


def test_a_file_without_verdicts_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    for rows in ([], ["x"], [{"completion": "They left."}]):
        with pytest.raises(BadFile):
            run("rule", str(written(tmp_path / "in.jsonl", rows)), "--dataset", "own", "--out", str(out))
    assert not out.exists()


def test_people_and_rule_are_compared(fresh_store: Store) -> None:
    texts = all_written(1)
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts[:60])
    data = json.loads(run("human-vs-rule", "made", "--json", "--resamples", "200").stdout)
    assert (data["generations"], data["finished"], data["labels"]) == (80, 60, 120)
    assert 0 < data["agreement"]["value"] < 1 and data["agreement"]["contexts"] == 20
    assert data["agreement"]["se"] > 0 and data["agreement"]["se_published"] > 0
    table = [row[key] for row in data["confusion"].values() for key in ("rule_correct", "rule_misgendering")]
    assert sum(table) == 120
    apart = data["rule_less_people"]
    assert apart["value"] == pytest.approx(data["rule_misgendering"]["value"] - data["misgendering"]["value"])
    assert apart["low"] < apart["value"] < apart["high"] and apart["equivalence"]["smallest_shown"] > 0
    assert {"later_pronoun", "other_referent", "plural_they", "not_person"} <= set(data["disagreements"])
    assert sum(cell["generations"] for cell in data["cells"]) == 60
    assert data["weighted"]["misgendering"]["generations"] == 80
    assert set(data["repetition"]) == {"published", "completion"}
    assert data["signature"].startswith("human-vs-rule|") and "unit:context" in data["signature"]
    text = run("human-vs-rule", "made").stdout
    assert "60 of 80 generations are finished" in text and "nan" not in text
    assert not any(text.text in json.dumps(data) for text in texts)  # numbers only: no text leaves


def test_projects_without_labels_or_of_sentences_are_refused(fresh_store: Store) -> None:
    judged_project(fresh_store, all_written(1)[:5])
    data = json.loads(run("human-vs-rule", "made", "--json").stdout)
    assert data["agreement"]["value"] is None and data["agreement"]["value_reason"]
    assert data["cells"] == [] and data["kappa"]["value"] is None
    create_project(fresh_store, "sentences")
    with pytest.raises(Refused):
        run("human-vs-rule", "sentences")


def test_agreement_of_generations_is_printed_in_four_ways(fresh_store: Store) -> None:
    texts = all_written(1)[:40]
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts)
    data = json.loads(run("agreement", "made", "--json", "--resamples", "200").stdout)
    assert {"items", "labels", "percent", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1", "cohen_kappa"} <= set(data)
    assert set(data["ways"]) == {"four", "three", "two", "flag"}
    assert data["ways"]["four"]["percent"] == data["percent"]
    assert data["ways"]["two"]["percent"]["value"] >= data["percent"]["value"]
    assert len(data["ways"]["four"]["by_model_and_pronoun"]) == 4
    assert set(data["marks"]) == {"pronoun", "extraneous"} and 0 < data["marks"]["pronoun"]["f1"]["value"] <= 1
