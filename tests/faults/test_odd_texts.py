"""Half characters, values of another type, cells too long, nesting too deep: one sentence each, and no traceback."""

import io
import json
import sqlite3
import sys
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.imports.run import IMPORT, Settings
from evenhand.annotations.jobs import jobs
from evenhand.annotations.jobs.process import perform
from evenhand.annotations.types import Project
from evenhand.core.errors import BadFile, EvenhandError, ModelUnavailable
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.models.loading import read_config
from evenhand.core.text.pronouns import parse_sets
from tests.support.terminal import typed

HALF = "\\ud800"  # as JSON writes half a character
FILES = {
    "half.jsonl": f'{{"sentence": "他在河边{HALF}散步。", "source": "x{HALF}"}}\n{{"sentence": "她在山上散步。"}}\n',
    "half.json": f'[{{"sentence": "他在河边{HALF}散步。"}}, {{"sentence": "她在山上散步。"}}]',
    "corpus.jsonl": f'{{"text": "今天早上他在河边{HALF}散步然后回家吃饭。", "name": "n{HALF}"}}\n',
    "generations.jsonl": f'{{"context": "Casey is", "completion": " he{HALF}", "pronouns": ["they"], "model": "m"}}\n'
    '{"context": "Casey is", "completion": " they wrote it.", "pronouns": [5], "model": "m"}\n',
    "settings.json": '{"column": "x", "settings": 5, "funnel": 5}',
    "pairs.json": '{"pairs": [5], "modes": 5, "funnel": []}',
    "deep.json": "[" * 100_000,
    "reasons.tsv": "code\tkey\tzh\ten\n" + "a" * 140_000 + "\t1\tx\ty\n",
    "long.tsv": "male\tfemale\n" + "他" * 200_000 + "\t她\n",
}
COMMANDS = [
    "import S {half.jsonl} --json",
    "import S {half.json} --json",
    "import G {generations.jsonl} --json",
    "describe --file {half.jsonl} --json",
    "describe --file {half.jsonl}",
    "describe --file {generations.jsonl} --json",
    "mine {corpus.jsonl} --out {out}",
    "mine {corpus.jsonl} --out {out} --settings {settings.json}",
    "mine {corpus.jsonl} --out {out} --settings {pairs.json}",
    "mine {corpus.jsonl} --out {out} --settings {deep.json}",
    "concord 散步 {corpus.jsonl} --csv",
    "rule {generations.jsonl} --out {out}",
    "forecast {settings.json} --json",
    "forecast {deep.json} --json",
    "project create Z --annotators A --reasons {reasons.tsv}",
    "misgendering metrics {long.tsv}",
    "association --language zh --corpus {out} --persons {long.tsv}",
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "evenhand.db"))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / name for name in (*FILES, "out")}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_ends_with_an_answer_or_a_sentence(command: str, files: dict[str, Path], fresh_store: Store) -> None:
    for name, kind in (("S", "sentences"), ("G", "generations")):
        typed("project", "create", name, "--annotators", "A", "--kind", kind)
    words = [str(files[word[1:-1]]) if word.startswith("{") else word for word in command.split()]
    ended = CliRunner().invoke(cli, words)
    known = ended.exception is None or isinstance(ended.exception, EvenhandError | SystemExit)
    assert known, repr(ended.exception)


def test_a_job_whose_result_has_a_lone_surrogate_is_done(fresh_store: Store) -> None:
    with mock.patch.object(jobs, "_spawn"):
        made = jobs.start(fresh_store, IMPORT, Settings("S", Path("x.jsonl")), "t")
    with mock.patch("evenhand.annotations.jobs.process.os.nice"):
        perform(fresh_store, made.uid, lambda *_: {"errors": ["他\ud800"]})
    done = jobs.find(fresh_store, made.uid)
    assert done.state == "done" and done.result == {"errors": ["他\ud800"]}


def test_a_lone_surrogate_is_printed_and_written_escaped(tmp_path: Path) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with mock.patch.object(sys, "stdout", out):
        assert cli.callback is not None
        cli.callback(None)
    out.write("\ud800")
    with whole_file(tmp_path / "a.jsonl") as write:
        write(json.dumps({"a": "\ud800"}, ensure_ascii=False))
    assert json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8")) == {"a": "\ud800"}


@pytest.mark.parametrize("value", [5, [5], [{}], "[" * 5_000, '["she", 5]'])
def test_an_invalid_pronoun_set_is_refused(value: object) -> None:
    with pytest.raises(BadFile):
        parse_sets(value)  # type: ignore[arg-type]


def test_a_too_deeply_nested_config_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(ModelUnavailable, match=r"config\.json of m cannot be read"):
        read_config("m", tmp_path)


def test_undecodable_text_in_the_database_is_damage(sample_project: Project, fresh_store: Store) -> None:
    """Python's module raises this without an error code of SQLite."""
    watching = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'project'"
    for (trigger,) in fresh_store.db.execute(watching).fetchall():  # the log would read it
        fresh_store.db.execute(f"DROP TRIGGER {trigger}")
    fresh_store.db.execute("UPDATE project SET name = CAST(x'ff' AS TEXT)")
    with pytest.raises(BadFile, match="is damaged"), Store.open(fresh_store.path) as store:
        store.db.execute("SELECT name FROM project").fetchall()
    with pytest.raises(sqlite3.OperationalError, match="no such table"), fresh_store.write() as db:
        db.execute("SELECT 1 FROM nowhere")
