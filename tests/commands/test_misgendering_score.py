"""`misgendering score` and `convert` on the command line: tables, runs, records, and error messages."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli import cli
from evenhand.core.errors import EvenhandError
from evenhand.core.misgendering.generations import read_generations
from evenhand.core.misgendering.run import NEED_GENERATIONS
from evenhand.core.runs.records import Failure, runs_folder, runs_in

MODEL = "planted:pronouns"


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(cli, ["misgendering", *map(str, arguments)])


def answer(*arguments: Any) -> dict[str, Any]:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.exception
    data: dict[str, Any] = json.loads(result.stdout)
    return data


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_the_built_in_set_is_scored(tmp_path: Path) -> None:
    result = answer("score", "--model", MODEL, "--run", "first", "--limit", 60, "--seed", 1)
    (run,) = runs_in(runs_folder(tmp_path / "evenhand.db", "misgendering"))
    rows = table(run.table)
    assert (run.name, run.models, run.sentences, run.scored) == ("first", (MODEL,), 60, 60)
    assert len(rows) == 60 == result["rows"]
    model = result["models"][0]
    assert sum(cell["n"] for cell in model["by_pronoun"].values()) == 60
    for name, cell in model["by_pronoun"].items():
        assert cell["right"] == sum(int(row["prob"]) for row in rows if row["pronoun"] == name)
    assert model["tokens"]["factor"] > 1.5
    again = answer("score", "--model", MODEL, "--out", tmp_path / "again.csv", "--limit", 60, "--seed", 1)
    assert again["models"][0]["remembered"] == 60
    assert again["models"][0]["tokens"]["factor"] is None
    assert table(tmp_path / "again.csv") == rows
    assert call("score", "--model", MODEL, "--run", "first").exit_code != 0  # the name is taken


def test_an_unusable_model_is_in_the_record(tmp_path: Path) -> None:
    result = answer("score", "--model", MODEL, "--model", "known", "--run", "two", "--limit", 4)
    (run,) = runs_in(runs_folder(tmp_path / "evenhand.db", "misgendering"))
    assert run.models == (MODEL,)
    for failure in (*run.failures, Failure.read(result["failed"][0])):
        assert (failure.model, failure.values["name"]) == ("known", "known")
        assert "{" in failure.error and "{" not in failure.text


def test_converted_contexts_and_their_generations_become_a_table_of_both_ways(tmp_path: Path) -> None:
    contexts = tmp_path / "c.jsonl"
    result = answer("convert", "--limit", 12, "--seed", 2, "--out", contexts)
    lines = [json.loads(line) for line in contexts.read_text(encoding="utf-8").splitlines()]
    assert result["instances"] == 12
    assert len(lines) == 24 == result["contexts"]
    generations = tmp_path / "g.jsonl"
    form = {"he": "he", "she": "hers", "they": "their", "xe": "he"}
    written = [
        {**line, "completion": f" and {form[line['pronouns'][0]]} sang", "model": MODEL, "index": k}
        for line in lines
        for k in range(2)
    ]
    generations.write_text("\n".join(map(json.dumps, written)), encoding="utf-8")
    options = ("--model", MODEL, "--limit", 12, "--seed", 2, "--generations", generations)
    data = answer("score", "--run", "both", *options)
    rows = table(Path(data["out"]))
    assert len(rows) == 24
    assert {row["setting"] for row in rows} == {"pre", "post"}
    assert all(row["gen1"] == row["gen2"] == str(int(row["pronoun"] != "xe")) for row in rows)
    assert data["generations_of_no_instance"] == 0
    assert len(list(read_generations(data["texts"], []))) == 48
    assert (Path(data["texts"]).stat().st_mode & 0o777) == 0o600
    assert answer("metrics", data["out"])["n"] == 24


def test_tango_templates_are_taken_from_generations(tmp_path: Path) -> None:
    prompts = tmp_path / "misgendering_prompts.csv"
    prompts.write_text(
        "template_idx,ante,ante_type,pronoun_family,template\n1,Kim,name,they,Kim went home. they\n"
        "1,Kim,name,he,Kim went home. he\n",
        encoding="utf-8",
    )
    refused = call("score", prompts, "--model", MODEL, "--out", tmp_path / "t.csv")
    assert isinstance(refused.exception, EvenhandError)
    assert str(refused.exception) == NEED_GENERATIONS
    contexts = tmp_path / "c.jsonl"
    assert answer("convert", prompts, "--out", contexts)["contexts"] == 2
    lines = [json.loads(line) for line in contexts.read_text(encoding="utf-8").splitlines()]
    generations = tmp_path / "g.jsonl"
    written = [
        {**line, "completion": completion, "model": MODEL, "index": k}
        for line in lines
        for k, completion in enumerate([" and he walked home", " walked home"])
    ]
    generations.write_text("\n".join(map(json.dumps, written)), encoding="utf-8")
    result = answer(
        "score", prompts, "--model", MODEL, "--out", tmp_path / "t.csv", "--generations", generations, "--no-cache"
    )
    rows = table(tmp_path / "t.csv")
    assert result["sentences"] == 2
    assert [row["gen1"] for row in rows] == ["0", "1"]
    assert [(row["prob1"] != "", row["prob2"]) for row in rows] == [(True, "")] * 2  # the second refers to no person


def test_own_templates_names_and_sets_are_scored(tmp_path: Path) -> None:
    templates, names = tmp_path / "t.tsv", tmp_path / "n.tsv"
    templates.write_text("case\ttext\nacc\t{name} uses {pronouns}. I saw [MASK].\n", encoding="utf-8")
    names.write_text("name\tpronouns\nRobin\tshe; they\nKim\tze/hir/hir/hirs/hirself\n", encoding="utf-8")
    result = call("convert", templates, "--names", names, "--setting", "post", "--passes", 2)
    contexts = {json.loads(line)["context"] for line in result.stdout.splitlines()}
    assert contexts == {"Robin uses she/they. I saw her.", "Kim uses ze/hir/hirs. I saw hir."}
    data = answer("score", templates, "--names", names, "--passes", 2, "--model", MODEL, "--out", tmp_path / "o.csv")
    rows = {row["name"]: row for row in table(tmp_path / "o.csv")}
    assert rows["Robin"]["prob"] in "01"
    assert rows["Kim"]["prob"] == ""  # the planted model does not know the word hir
    assert (
        "A word of these texts is not in the vocabulary of the model's tokenizer, so they cannot be compared."
        in rows["Kim"]["status"]
    )
    assert data["models"][0]["undefined"] == 1


@pytest.mark.parametrize(
    "arguments, why",
    [
        (
            ("--model", "known", "--out", "x.csv"),
            "is not a left-to-right model, so the probability of a sentence is not defined.",
        ),
        (("--model", MODEL), "Give an output for the table: --out FILE or --run NAME."),
        (
            ("--model", MODEL, "--out", "x.csv", "--pronouns", "zorp"),
            (
                "zorp is not a known pronoun set. Write he, she, they or xe, or give the forms of another set "
                "separated by slashes, nominative first: ze/hir/hir/hirs/hirself."
            ),
        ),
        (("--model", MODEL, "--model", MODEL, "--out", "x.csv"), "is given twice; give each model once."),
        (("--model", MODEL, "--out", "x.csv", "--generations", "none.jsonl"), "There is no file"),
        (("none.tsv", "--model", MODEL, "--out", "x.csv"), "There is no file"),
    ],
)
def test_impossible_requests_are_refused_with_one_sentence(
    arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call("score", *arguments)
    assert isinstance(result.exception, EvenhandError)
    assert why in str(result.exception)
    assert not Path("x.csv").exists()


def test_the_printed_report_has_a_result_for_each_model(tmp_path: Path) -> None:
    result = call("score", "--model", MODEL, "--model", "known", "--out", tmp_path / "v.csv", "--limit", 20)
    assert result.exit_code == 0
    assert "20 judged" in result.stdout
    assert "beginnings are shared" in result.stdout
    assert (
        "is not a left-to-right model, so the probability of a sentence is not defined." in result.stderr
    )  # the other model went on


def test_the_table_cannot_overwrite_the_templates(tmp_path: Path) -> None:
    templates = tmp_path / "t.tsv"
    templates.write_text("case\ttext\nacc\t{name} [MASK].\n", encoding="utf-8")
    result = call("score", templates, "--model", MODEL, "--out", templates)
    assert "cannot be both input and output." in str(result.exception)
    assert templates.read_text(encoding="utf-8").startswith("case")
