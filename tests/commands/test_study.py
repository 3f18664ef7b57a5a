"""`study`: what it prints and does."""

import json
from typing import Any

from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.study.people import Outside, agree
from evenhand.annotations.study.studies import consent, study_named
from tests.support.projects import filled_project
from tests.support.studies import person


def run(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(cli, ["study", *words, "--json"])
    assert done.exit_code == 0, done.output
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def test_a_study_is_made_and_closed_by_command(fresh_store: Store, tmp_path: Any) -> None:
    project, _ = filled_project(fresh_store, 4)
    for item in list(items(fresh_store, project))[:2]:
        set_known(fresh_store, project, item.uid, "accept")
    made = run(
        *(
            "create",
            project.name,
            "Spring",
            "--contact",
            "lead",
            "--service",
            "mturk",
            "--questions",
            "1",
            "--pass-mark",
            "1",
        ),
        *("--pause", "0", "--url", "https://h.example/"),
    )
    study = study_named(fresh_store, "Spring")
    assert made["link"].startswith(f"https://h.example/study/{study.uid}.")
    assert made["codes"]["withdrew"] == study.settings.code_withdrew
    assert study.settings.pause is None
    secret = agree(fresh_store, study, consent(fresh_store, study), "en", Outside("w1", "h", "a"))
    assert run("list")["studies"][0]["people"] == {"test": 1}
    shown = run("show", "Spring")
    assert (shown["participants"][0]["state"], shown["pay"]["hourly"]) == ("test", None)
    assert run("ids", "Spring") == {"ids": [{"id": "w1", "state": "test"}]}
    for name in ("en", "zh"):
        (tmp_path / name).write_text("新的", encoding="utf-8")
    assert run("consent", "Spring", "--en", str(tmp_path / "en"), "--zh", str(tmp_path / "zh")) == {"version": 2}
    assert run("close", "Spring")["closed"] is not None
    assert run("reopen", "Spring")["closed"] is None
    assert run("sweep") == {"away": 0}
    assert run("withdraw", "Spring", "w1") == {"withdrawn": 0}
    assert person(fresh_store, study, secret).state == "withdrew"
    unknown = CliRunner().invoke(cli, ["study", "withdraw", "Spring", "w2"])
    assert unknown.exit_code != 0
    plain = CliRunner().invoke(cli, ["study", "list"])
    assert "Spring: 1 withdrew" in plain.stdout
