"""`before-after`: items of a file, held-out text, the report and the run that the page lists."""

import json
from pathlib import Path

from evenhand.core.runs.records import runs_folder, runs_in
from tests.support.terminal import answered, typed

ITEMS = "".join(
    f"{word}来了，很好。\n" for word in ("他", "男孩", "爸爸", "父亲", "儿子", "叔叔", "哥哥", "弟弟", "爷爷")
)


def test_two_models_are_compared_on_items_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_text(ITEMS, encoding="utf-8")
    (tmp_path / "held.txt").write_text("雨停了。\n男孩在家，爸爸来了。\n老师说他好。\n", encoding="utf-8")
    result = answered("before-after", tmp_path / "items.txt", "--before", "planted:+1", "--after", "planted:pairs",
                     "--text", tmp_path / "held.txt", "--report", tmp_path / "r.md", "--run", "first", "--no-cache",
                     "--db", tmp_path / "lab.db")  # fmt: skip
    assert result["verdict"] == "leans less" and result["text"]["name"] == "held.txt"
    assert (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# Before and after")
    assert [run.name for run in runs_in(runs_folder(tmp_path / "lab.db", "comparisons"))] == ["first"]


def test_the_number_of_placebos_must_match_the_seeds() -> None:
    ended = typed("before-after", "built-in", "--before", "planted:+1", "--after", "planted:0",
                  "--after", "planted:pairs", "--placebo", "planted:+1", "--no-cache")  # fmt: skip
    assert ended.code == 2 and "one placebo for each seed" in ended.stderr


def test_two_finished_runs_are_compared(tmp_path: Path) -> None:
    for name, word in (("old", "entailment"), ("new", "neutral")):
        rows = [
            f"{kind},o{i},p{i},{kind},{word if kind == 'PS' else 'neutral'}"
            for kind in ("PS", "AS", "NS")
            for i in range(9)
        ]
        text = "\n".join(["set,occupation,premise,hypothesis,label", *rows]) + "\n"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    result = answered("before-after-runs", "nli", tmp_path / "old.csv", tmp_path / "new.csv", "--run", "both",
                     "--report", tmp_path / "r.md", "--db", tmp_path / "lab.db")  # fmt: skip
    assert result["measures"][0]["change"]["value"] == -0.5 and result["before"]["model"] == "old"
    assert result["margin"] == 0.05 and "only after" in (tmp_path / "r.md").read_text(encoding="utf-8")
    assert [run.name for run in runs_in(runs_folder(tmp_path / "lab.db", "comparisons"))] == ["both"]
    several = answered("before-after-runs", "nli", tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "new.csv",
                       "--placebo", tmp_path / "old.csv", "--db", tmp_path / "lab.db")  # fmt: skip
    assert [len(several[key]) for key in ("afters", "placebos")] == [2, 1]
    ended = typed("before-after-runs", "nli", "nowhere", tmp_path / "new.csv", "--db", tmp_path / "lab.db")
    assert ended.code == 2 and "no run or file nowhere" in ended.stderr


def test_generations_of_two_models_are_mixed_blind_in_one_project(tmp_path: Path) -> None:
    for model, word in (("old", "he"), ("new", "she")):
        rows = [{"context": f"Noa ({i}).", "completion": f" {word} left", "model": model} for i in range(4)]
        (tmp_path / f"{model}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    at = ("--db", tmp_path / "lab.db")
    made = answered("before-after-people", "mix", tmp_path / "old.jsonl", tmp_path / "new.jsonl", "--project", "p",
                    "--run", "key", "--annotators", "Ada,Bo", *at)  # fmt: skip
    assert (made["generations"], made["contexts"], made["left"]) == (8, 4, 0)
    result = answered("before-after-people", "result", "key", *at)
    assert result["measures"][0]["change"]["value"] is None and result["after"]["model"] == "new"
    ended = typed("before-after-people", "result", "other", *at)
    assert ended.code == 2 and "no run of mixed generations other" in ended.stderr
