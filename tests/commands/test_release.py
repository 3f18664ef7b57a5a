"""The command release: made, listed, written, checked, brought back; texts of generations leave locked only."""

import json
import zipfile

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import NAME, make_generations_demo
from evenhand.annotations.projects.projects import change_project, project
from evenhand.annotations.release.make import locked_texts
from evenhand.annotations.release.stored_releases import release, release_files
from evenhand.annotations.text_policy import CANARY_ID
from tests.support.released_project import ready_project, work
from tests.support.tampering import changed_outside

PASSWORD = "correct horse"


@pytest.fixture
def path(tmp_path):
    where = tmp_path / "labels.db"
    with Store.open(where) as store:
        work(store, ready_project(store, 12))
    return where


WHY = ("--reason", "A workshop needs it.")


def run(path, *arguments, code=0, env=None):
    result = CliRunner().invoke(cli, [*arguments, "--db", str(path)], env=env)
    failed = result.exception if code else None
    assert bool(code) == (result.exception is not None), result.output
    return str(failed) if failed else result.output


def answer(path, *arguments, **more):
    return json.loads(run(path, *arguments, "--json", **more))


def test_a_release_is_made_verified_and_restored(path, tmp_path):
    made = answer(path, "release", "set", "1.0", *WHY, "--out", str(tmp_path / "out"), "--author", "Vera")
    assert made["new"] and made["items"] > 0 and len(made["hash"]) == 64
    listed = answer(path, "release", "set", "--list")
    assert [release["hash"] for release in listed["releases"]] == [made["hash"]]
    checked = answer(path, "release", "set", "--verify", str(tmp_path / "out"))
    assert checked["whole"] and checked["in_database"] and checked["hash_found"] == made["hash"]
    again = answer(path, "release", "set", "1.0", *WHY, "--out", str(tmp_path / "again.zip"))
    assert not again["new"] and again["hash"] == made["hash"]
    new = tmp_path / "new.db"
    CliRunner().invoke(cli, ["import", "back", str(tmp_path / "out"), "--db", str(new)], catch_exceptions=False)
    assert answer(new, "release", "back", "1.0", *WHY)["hash"] == made["hash"]
    with Store.open(path) as store, Store.open(new) as fresh:
        old, back = agreement(store, project(store, "set")), agreement(fresh, project(fresh, "back"))
        assert abs(old.overall.alpha.value - back.overall.alpha.value) <= 1e-12
        assert back.annotators == ("A1", "A2", "A3")


def test_missing_licence_and_source_can_be_given_as_options(path, tmp_path):
    with Store.open(path) as store:
        change_project(store, project(store, "set"), licence="", source_statement="")
    assert "licence" in run(path, "release", "set", "1.0", code=1)
    missing = [
        check["code"] for check in answer(path, "release", "set", "--check")["checks"] if check["state"] == "missing"
    ]
    assert sorted(missing) == ["licence", "source"]
    made = answer(path, "release", "set", "1.0", *WHY, "--licence", "MIT", "--source", "Written by hand.")
    assert made["facts"]["project"]["licence"] == "MIT" and "codes" not in made["facts"]


def test_a_taken_output_path_stops_the_release_before_it_is_made(path, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    run(path, "release", "set", "1.0", *WHY, "--out", str(tmp_path / "out"), code=1)
    assert answer(path, "release", "set", "--list")["releases"] == []
    run(path, "release", "set", "1.0", *WHY)
    assert "already" in run(path, "release", "set", "1.0", code=1)


def test_a_changed_release_is_refused(path, tmp_path):
    run(path, "release", "set", "1.0", *WHY, "--out", str(tmp_path / "out"))
    (tmp_path / "out" / "labels.csv").write_bytes(b"item\r\n")
    result = CliRunner().invoke(cli, ["release", "set", "--verify", str(tmp_path / "out"), "--db", str(path)])
    assert "changed  labels.csv" in result.output and result.exit_code == 1


def test_flipped_verdicts_are_refused_and_found(path, tmp_path):
    out = str(tmp_path / "out")
    run(path, "release", "set", "1.0", *WHY, "--out", out)
    with Store.open(path) as store:
        (uid,) = store.db.execute("SELECT uid FROM item WHERE status = 'rejected' LIMIT 1").fetchone()
        changed_outside(store, "UPDATE item SET gold = 'accept', status = 'accepted' WHERE uid = ?", uid)
    assert f"({uid})" in run(path, "release", "set", "2.0", *WHY, code=2)
    assert "missing" in run(path, "release", "set", "--check").splitlines()[0]
    assert f"({uid})" in run(path, "release", "set", "--verify", out, code=2)
    run(path, "project", "recount", "set")
    assert answer(path, "release", "set", "--verify", out)["stale_gold"] == []
    run(path, "release", "set", "2.0", *WHY)


@pytest.fixture
def generations(tmp_path):
    where = tmp_path / "generations.db"
    with Store.open(where) as store:
        made = make_generations_demo(store)
        change_project(store, made, licence="CC BY 4.0", source_statement="Written by the built-in model.")
    return where


def test_texts_of_generations_are_written_encrypted_only(generations, tmp_path):
    out = tmp_path / "out"
    assert "can only be exported encrypted" in run(generations, "release", NAME, "1.0", *WHY, "--out", str(out), code=1)
    env = {"EVENHAND_PASSWORD": PASSWORD}
    run(generations, "release", NAME, "1.0", *WHY, "--out", str(out), env=env)
    with Store.open(generations) as store:
        stored = project(store, NAME)
        frozen = release(store, stored, "1.0")
        files = release_files(store, frozen)
        texts = [row[0] for row in store.db.execute("SELECT text FROM item WHERE project = ?", (stored.id,))]
    plain = {path.relative_to(out).as_posix(): path.read_text() for path in out.rglob("*") if path.suffix != ".zip"
             and path.is_file()}  # fmt: skip
    assert plain.keys() | {"texts.zip"} == {*files.keys() - locked_texts(stored, frozen), "texts.zip"}
    assert not [name for name, content in plain.items() for text in texts if len(text) > 20 and text in content]
    carriers = {name for name, content in files.items() if CANARY_ID.encode() in content}
    assert {"kept.jsonl", "data/train.jsonl", "label_studio.json", "doccano.jsonl"} <= carriers
    assert {f"package/{part}.jsonl" for part in ("items", "labels", "decisions", "records")} <= carriers
    assert "Files with text contain this line" in plain["method.en.md"]
    with zipfile.ZipFile(out / "texts.zip") as archive, pytest.raises(RuntimeError):
        archive.read("kept.jsonl")
    locked = answer(generations, "release", NAME, "--verify", str(out))
    assert locked["whole"] and locked["hash_found"] is None and "kept.jsonl" in locked["unread"]
    opened = answer(generations, "release", NAME, "--verify", str(out), env=env)
    assert opened["whole"] and opened["hash_found"] == opened["hash"] and not opened["unread"]


def test_generations_are_restored_from_an_encrypted_archive(generations, tmp_path):
    env = {"EVENHAND_PASSWORD": PASSWORD}
    made = answer(generations, "release", NAME, "1.0", *WHY, "--out", str(tmp_path / "r.zip"), env=env)
    new = tmp_path / "new.db"
    arguments = ["import", "back", str(tmp_path / "r.zip"), "--db", str(new)]
    CliRunner().invoke(cli, arguments, env=env, catch_exceptions=False)
    with Store.open(new) as store:
        change_project(store, project(store, "back"), licence="CC BY 4.0", source_statement="The same.")
    assert answer(new, "release", "back", "1.0", *WHY)["hash"] == made["hash"]
