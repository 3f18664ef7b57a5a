"""Generations of two models, blind in one project: bytes that reveal nothing, and the difference judged by people."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evenhand.annotations.before_after.blind import FILE, file_text, judgements, key_of, mix, mixed_project
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.messages import item_out
from evenhand.annotations.items.batch import items
from evenhand.core.before_after.appendix import runs_appendix
from evenhand.core.before_after.two_runs import judged
from evenhand.core.errors import Refused
from evenhand.core.runs.records import runs_folder, runs_in
from tests.support.judged_generations import Said, say

WRONG = Said("misgendering", False, (("He", "pronoun"),))
NAMES = ("Noa", "Ilya", "Robin", "Sam")


def written(model: str, word: str, contexts: int = 6, each: int = 2) -> list[dict[str, Any]]:
    """Return rows as `generate` writes them: the text with all columns that would reveal who wrote it."""
    return [
        {"context": f"{NAMES[i % 4]} keeps bees ({i}).", "completion": f" {word} is number {k} of {i}.", "model": model,
         "name": NAMES[i % 4], "pronouns": ["she"], "dataset": "own", "setting": "pre", "template": f"t{i}",
         "signature": f"sampling|{model}|weights:1|k50|fp32|v1", "seed": 7, "index": k, "file": f"{model}.jsonl"}
        for i in range(contexts)
        for k in range(each)
    ]  # fmt: skip


def test_exchanging_the_sides_leaves_the_file_unchanged() -> None:
    before, after = written("Old-7B", "He"), written("New-7B", "She")
    first, second = mix(before, after, seed=3), mix(after, before, seed=3)
    assert file_text(first.rows) == file_text(second.rows)
    assert all(first.key[token] != second.key[token] for token in first.key)
    assert file_text(mix(before, after, seed=4).rows) != file_text(first.rows)


def test_rows_do_not_reveal_their_side() -> None:
    result = mix(written("Old-7B", "He"), written("New-7B", "She"))
    text = file_text(result.rows)
    assert not any(word in text for word in ("Old", "New", "7B", "sampling", "jsonl", "seed"))
    assert {tuple(sorted(row)) for row in result.rows} == {tuple(sorted(result.rows[0]))}
    sides = [result.key[str(row["index"])] for row in result.rows]
    assert sides != sorted(sides) and sides.count("before") == sides.count("after") == 12


def test_equal_texts_of_both_models_are_both_judged() -> None:
    result = mix(written("Old", "He"), written("New", "He"))
    assert len(result.rows) == 24 and len(result.key) == 24


def test_contexts_of_one_side_alone_are_left_out() -> None:
    before, after = written("Old", "He", contexts=4, each=3), written("New", "She", contexts=6, each=2)
    result = mix(before, after, per_context=9)
    assert (len(result.rows), result.contexts, result.left) == (16, 4, 8)
    assert len(mix(before, after, per_context=1).rows) == 8
    with pytest.raises(Refused, match="no context in common"):
        mix(before, [{"context": "Other.", "completion": "x"}])


def mixed(store: Store, tmp_path: Path) -> Any:
    files = []
    for model, word in (("Old-7B", "He"), ("New-7B", "She")):
        files.append(tmp_path / f"{model}.jsonl")
        files[-1].write_text("".join(json.dumps(row) + "\n" for row in written(model, word)), encoding="utf-8")
    out = runs_folder(store.path, "comparisons") / "blind.csv"
    project, _ = mixed_project(store, "mixed", (files[0], files[1]), out, annotators=("Ada", "Bo"), per_item=2)
    (run,) = runs_in(runs_folder(store.path, "comparisons"))
    return project, run


def test_a_project_does_not_reveal_the_models(fresh_store: Store, tmp_path: Path) -> None:
    project, run = mixed(fresh_store, tmp_path)
    stored = list(items(fresh_store, project))
    assert len(stored) == 24 and {item.file for item in stored} == {FILE}
    for item in stored:
        text = json.dumps(item.extra) + str(item_out(item, kind="generations"))
        assert "7B" not in text and "sampling" not in text and "before" not in text and "after" not in text
    assert sorted(key_of(run).values()) == ["after"] * 12 + ["before"] * 12
    assert run.owner[0] == project.uid and run.models == ("Old-7B", "New-7B")


def test_labels_are_assigned_to_the_side_of_their_text(fresh_store: Store, tmp_path: Path) -> None:
    project, run = mixed(fresh_store, tmp_path)
    empty = judgements(fresh_store, run)
    assert empty.measures[0].change.value is None and empty.verdict == "no result yet"
    texts = [item.text for item in items(fresh_store, project)]
    for who in ("Ada", "Bo"):
        say(fresh_store, project, who, [(text, WRONG if " He " in text else Said("correct")) for text in texts])
    record = judgements(fresh_store, run)
    first = record.measures[0]
    assert (first.before, first.after, first.change.value) == (1.0, 0.0, -1.0)
    assert record.contexts == 6 and record.annotators == 2 and record.before.model == "Old-7B"
    assert "24 generations from 6 templates or contexts" in runs_appendix(record)


def judgement(item: str, side: str, context: str, who: str, wrong: bool) -> dict[str, str]:
    choice = "misgendering" if wrong else "correct"
    return {"item": item, "side": side, "context": context, "annotator": who, "choice": choice}


def test_the_interval_of_the_difference_is_over_contexts() -> None:
    """Ten contexts, two people: before 6 of 10 wrong by both and one by Ada alone (0.65), after 1 of 10."""
    rows = []
    for c in range(10):
        for who in ("Ada", "Bo"):
            rows.append(judgement(f"b{c}", "before", str(c), who, c < 6 or (c == 6 and who == "Ada")))
            rows.append(judgement(f"a{c}", "after", str(c), who, c == 0))
    rows.append(judgement("b99", "before", "99", "Ada", True))  # a context without an after
    record = judged(pd.DataFrame(rows), 3)
    first = record.measures[0]
    assert first.before == pytest.approx(0.65) and first.after == pytest.approx(0.1) and record.contexts == 10
    # Differences of contexts: five of -1, one of -0.5, four of 0: sd .4972 (ddof 1), se .1572.
    assert first.change.value == pytest.approx(-0.55) and record.verdict == "misgenders less"
    assert first.change.low == pytest.approx(-0.55 - 2.2622 * 0.1572, abs=0.06)
    assert record.notes[1].values == {"waiting": "3"}
    assert [measure.label[1] for measure in record.measures if len(measure.label) > 1] == ["Ada", "Bo"]


def test_without_a_label_of_both_models_there_is_no_verdict() -> None:
    rows = [judgement("b1", "before", "1", "Ada", True), judgement("a2", "after", "2", "Ada", False)]
    for labels in (pd.DataFrame(rows), pd.DataFrame(rows[:0], columns=list(rows[0]))):
        assert judged(labels, 4).verdict == "no result yet"
