"""Settings of every kind of job agree with the parameters of its command; words made from settings do too."""

import json
import shlex
from dataclasses import MISSING, fields

import click
import pytest
from click.testing import CliRunner

from evenhand.annotations.jobs import jobs, process
from evenhand.annotations.jobs.kinds import KINDS, kind_named, report_of
from evenhand.commands.jobs import read_words, words_of
from evenhand.commands.main import cli
from evenhand.commands.shared import settings_from
from evenhand.core.association.run import Settings
from evenhand.core.typed_json import to_json


def params_of(words):
    """Return the parameters that the command association is given with these words."""
    command = cli.get_command(click.Context(cli), "association")
    return command.make_context("association", words).params


@pytest.mark.parametrize("name", KINDS)
def test_settings_match_the_parameters_of_the_command(name):
    kind = kind_named(name)
    assert kind.name == name
    command = cli
    for word in name.split():
        command = command.get_command(click.Context(command), word)
    params = {param.name: param for param in command.params}
    defaults = command.make_context(name, [], resilient_parsing=True).params
    assert {field.name for field in fields(kind.settings)} <= set(params)
    for field in fields(kind.settings):
        if field.default is not MISSING:
            assert to_json(field.default) == to_json(defaults[field.name]), field.name


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(language="zh", models=("a", "b")), "association --language zh --model a --model b"),
        (
            Settings(language="en", models=("--x",), run_name="a b", an=True, threads=2),
            "association --language en --model --x --run 'a b' --an --threads 2",
        ),
    ],
)
def test_words_list_settings_that_differ_from_defaults(settings, words):
    result = words_of("association", to_json(settings))
    assert shlex.join(result) == words
    assert settings_from(Settings, params_of(result[1:])) == settings


OLD = [  # the words that pages of earlier versions stored
    ("import --json --format candidates --project-uid u -- --all /x/c.jsonl", "import", {"layout": "candidates"}),
    ("undo --yes --json --project-uid u -- p items-1", "undo", {"key": "items-1", "yes": True, "uid": "u"}),
    ("mine --out /r/name/c.jsonl --report /r/name/r.json --settings /r/s.json --json -- /t", "mine", {"paths": ["/t"]}),
    ("score --model a --model b --run r --json -- /x/t.csv", "score", {"models": ["a", "b"], "run_name": "r"}),
    ("nli ask --model m --language ja --sample --run my --json", "nli ask", {"language": "ja", "sample": True}),
    ("hub push --project-uid u --json --private -- p 1.0 team/set", "hub push", {"repo": "team/set", "private": True}),
    ("release set 1.0 --project-uid u --json --author=A --notes=--json", "release", {"notes": "--json", "author": "A"}),
    ("judge run --rule --json -- p", "judge run", {"project": "p", "rule": True}),
    ("guideline send-back --version 2 --which all --json -- p", "guideline send-back", {"version": 2, "which": "all"}),
    ("no-such-command --json", "", {}),
    ("agreement p --json", "", {}),
]


@pytest.mark.parametrize(("words", "name", "settings"), OLD)
def test_a_stored_command_is_read_as_kind_and_settings(words, name, settings):
    kind, found = read_words(words.split())
    assert kind == name
    assert settings.items() <= found.items()


def test_a_job_of_an_earlier_version_is_listed_and_resumed(fresh_store, monkeypatch, tmp_path):
    monkeypatch.setattr(jobs, "_spawn", lambda *_: None)
    monkeypatch.setattr(process, "_stand_back", lambda: None)
    command = ["import", "--json", "--", "p", str(tmp_path / "a.txt")]
    (tmp_path / "a.txt").write_text("他走了。\n", encoding="utf-8")
    counts = {"rows": 1, "imported": 1, "duplicates": 0, "rejected": 0, "spans": {}, "errors": []}
    rows = [("a", command, "failed", None), ("b", command, "done", counts), ("c", ["gone"], "failed", None)]
    with fresh_store.write() as db:
        for uid, words, state, result in rows:
            db.execute(
                "INSERT INTO job (uid, command, title, state, created, result) VALUES (?, ?, 't', ?, '2020', ?)",
                (uid, json.dumps(words), state, json.dumps(result)),
            )
    path = str(fresh_store.path)
    listed = json.loads(CliRunner().invoke(cli, ["job", "list", "--db", path, "--json"]).stdout)["jobs"]
    words = ["import", "--", "p", str(tmp_path / "a.txt")]
    assert [job["command"] for job in listed] == [["gone"], words, words]
    done = jobs.find(fresh_store, "b")
    assert [notice.text for notice in kind_named("import").summary(report_of(done))] == [
        "1 rows: 1 imported, 0 duplicates, 0 unusable."
    ]
    jobs.resume(fresh_store, jobs.find(fresh_store, "a"))
    assert CliRunner().invoke(cli, ["job", "run", "--db", path, "a"]).exit_code == 0
    assert jobs.find(fresh_store, "a").state == "done"
