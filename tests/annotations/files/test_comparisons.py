"""Comparisons from generations: each two models with the same probability, models in balance, nothing made up."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.generation_sample import draw_comparisons, texts_of_files, texts_of_project
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import create_project, project
from evenhand.core.errors import Refused
from tests.support.projects import database, new_store


def texts(models: str, contexts: int = 30, each: int = 2) -> list[dict[str, object]]:
    return [
        {"context": f"Question {at}?", "completion": f"{model} {k} of {at}", "model": model, "name": "Noa", "seed": k}
        for at in range(contexts) for model in models for k in range(each)
    ]  # fmt: skip


@pytest.mark.parametrize("models", ["abcd", "abcde"])
def test_each_pair_of_models_is_equally_likely_and_models_are_balanced(models: str) -> None:
    """Over 600 contexts each pair is within four standard errors of its probability; no model is ever ahead by two."""
    drawn = draw_comparisons(texts(models, 600), per_context=2, seed=1)
    pairs = Counter(frozenset((row["model"], row["second_model"])) for row in drawn.rows)
    of = len(list(combinations(models, 2)))
    share = 2 / of
    assert set(pairs) == set(map(frozenset, combinations(models, 2)))
    for number in pairs.values():
        assert abs(number / 600 - share) < 4 * (share * (1 - share) / 600) ** 0.5
    for at in range(600):
        here = Counter(
            row[side] for row in drawn.rows if row["context"] == f"Question {at}?" for side in ("model", "second_model")
        )
        assert set(here.values()) == {1}, "two pairs of four models and more are of four different ones"
    assert {row["probability"] for row in drawn.rows} == {round(share / 4, 6)}
    firsts = sum(row["model"] < row["second_model"] for row in drawn.rows)
    assert 0.45 < firsts / len(drawn.rows) < 0.55


def test_a_large_request_draws_each_pair_once_by_seed() -> None:
    drawn = draw_comparisons(texts("abc", 5), per_context=9, seed=2)
    assert len(drawn.rows) == 15 and drawn.compared == {"a": 10, "b": 10, "c": 10}
    assert draw_comparisons(texts("abc", 5)[::-1], per_context=9, seed=2).rows == drawn.rows
    assert draw_comparisons(texts("abc", 5), per_context=9, seed=3).rows != drawn.rows


def test_contexts_without_two_texts_by_named_models_are_left_out() -> None:
    alone = [{"context": "Only a.", "completion": "x", "model": "a"}]
    same = [{"context": "The same.", "completion": "x", "model": model} for model in "ab"]
    unnamed = [{"context": "No name.", "completion": text, "model": ""} for text in "xy"]
    drawn = draw_comparisons([*alone, *same, *unnamed, *texts("ab", 1)])
    assert (len(drawn.rows), drawn.contexts, drawn.alone, drawn.same) == (1, 1, 2, 1)
    assert "seed" not in drawn.rows[0] and drawn.rows[0]["name"] == "Noa"
    with pytest.raises(Refused, match="nothing to compare"):
        draw_comparisons([*alone, *same])


def test_comparisons_are_drawn_from_files_and_from_a_project(tmp_path: Path) -> None:
    for name, model in (("before", "m"), ("after", "m"), ("other", "n")):
        rows = [{"context": f"Q {at}?", "completion": f"{name} says {at}", "model": model} for at in range(4)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    files = [tmp_path / f"{name}.jsonl" for name in ("before", "after", "other")]
    assert {row["model"] for row in texts_of_files(files)} == {"m (before)", "m (after)", "n"}
    db = str(database(tmp_path))
    with new_store(database(tmp_path)) as store:
        create_project(store, "sentences")
        with pytest.raises(Refused, match="not generations"):
            texts_of_project(store, project(store, "sentences"))
    made = CliRunner().invoke(
        cli, ["compare-texts", *map(str, files), "--project", "three", "--per-context", "3", "--db", db, "--json"]
    )
    assert json.loads(made.stdout)["comparisons"] == 12
    with Store.open(db) as store:
        results = list(items(store, project(store, "three")))
        assert all(item.second and item.extra["probability"] == 1.0 for item in results)
        with pytest.raises(Refused, match="already holds comparisons"):
            texts_of_project(store, project(store, "three"))
    single = CliRunner().invoke(cli, ["project", "create", "single", "--kind", "generations", "--db", db])
    assert single.exit_code == 0, single.output
    for file in files:
        assert CliRunner().invoke(cli, ["import", "single", str(file), "--db", db]).exit_code == 0
    of = CliRunner().invoke(cli, ["compare-texts", "--from", "single", "--project", "two", "--db", db])
    assert "4 comparisons of 4 contexts in two; m 4, n 4" in of.output
