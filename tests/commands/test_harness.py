"""`harness task` and `harness read`, from a release to a table that the measures read."""

import json
from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.release.make import make_release
from tests.support.generations import generations_project
from tests.support.released_project import ready_project, work
from tests.support.terminal import answered, typed


@pytest.fixture
def db(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "e.db") as store:
        made = ready_project(store, 12)
        work(store, made)
        make_release(store, made, "1.0")
        generations_project(store, "texts", 2)
    return tmp_path / "e.db"


def test_a_release_becomes_a_task_and_its_log_is_measured(db: Path, tmp_path: Path) -> None:
    task = answered("harness", "task", "set", "1.0", tmp_path / "task", "--for", "lm-eval", "--db", db)
    lines = (tmp_path / "task" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    assert task["pairs"] == len(lines) > 0 and set(task["files"]) == {"pairs.jsonl", "utils.py", f"{task['task']}.yaml"}
    logged = tmp_path / "out" / "org__m" / "samples_t_2026.jsonl"
    logged.parent.mkdir(parents=True)
    with logged.open("w", encoding="utf-8") as file:
        for number, line in enumerate(lines):
            results = [[[str(-10.0 - number), "False"]], [["-12.0", "False"]]]
            file.write(
                json.dumps({"doc_id": number, "doc": json.loads(line), "arguments": {}, "resps": results}) + "\n"
            )
    table = tmp_path / "scores.csv"
    read = answered("harness", "read", tmp_path / "out", "--out", table, "--db", db)
    assert read["logs"][0]["scores"] == len(lines) and read["logs"][0]["model"] == "org__m"
    measured = answered("bias", table)
    ((name, model),) = measured["models"].items()
    assert name.startswith("org__m") and model["n"] == len(lines)


def test_logged_texts_are_imported_as_generations(db: Path, tmp_path: Path) -> None:
    row = {"doc_id": 0, "doc": {}, "arguments": {"gen_args_0": {"arg_0": "Sam said that"}}, "resps": [["he was late."]]}
    logged = tmp_path / "samples_t_2026.jsonl"
    logged.write_text(json.dumps(row) + "\n")
    texts = tmp_path / "texts.jsonl"
    answered("harness", "read", logged, "--texts", texts, "--model", "org/m", "--db", db)
    assert answered("import", "new", texts, "--format", "generations", "--db", db)["imported"] == 1
    ended = typed("harness", "read", logged, "--out", tmp_path / "x.csv", "--db", db)
    assert (
        ended.code == 2
        and "These logs contain no scores of sentence pairs. Use --texts to read generated texts." in ended.stderr
        and not (tmp_path / "x.csv").exists()
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("task", "texts", "1.0", "OUT", "--for", "inspect"), "no release 1.0"),
        (("task", "set", "9", "OUT", "--for", "inspect"), "no release 9"),
        (("read", "OUT/none.jsonl"), "no file or folder"),
    ],
)
def test_unknown_releases_and_wrong_options_are_refused(
    db: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    ended = typed("harness", *(argument.replace("OUT", str(tmp_path / "new")) for argument in arguments), "--db", db)
    assert ended.code == 2 and words in ended.stderr and not (tmp_path / "new").exists()
