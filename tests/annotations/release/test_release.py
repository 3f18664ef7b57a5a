"""Releases: what is in them, that they never change, what is refused, what differs between two, and the way back."""

import hashlib
import json
import os
import random
import shutil
import sqlite3
import stat
import threading
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.backup import snapshot
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.package.write_package import import_package
from evenhand.annotations.items.batch import items
from evenhand.annotations.pilot.pilots import start_pilot
from evenhand.annotations.projects.annotators import pseudonyms
from evenhand.annotations.projects.projects import (
    annotators,
    change_project,
    counts,
    create_project,
    project,
)
from evenhand.annotations.quality.known_answers import scores, set_known
from evenhand.annotations.release.changes import changes, content_hash, contents_of
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.make import make_release, release_archive, write_release
from evenhand.annotations.release.readiness import checked_version, readiness
from evenhand.annotations.release.stored_releases import (
    discard_broken,
    file_facts,
    release,
    release_file,
    release_files,
    releases,
)
from evenhand.annotations.release.verify import verify
from evenhand.annotations.text_policy import CANARY_ID
from evenhand.commands.agreement import report_json
from evenhand.core.errors import BadFile, NotAllowed, NotFound, Refused
from tests.support.released_project import label, ready_project, rehearse

BARE = ("licence", "source", "items")  # missing where there is nothing; and of nothing nothing is done
PARTS = ("items.jsonl", "gold.jsonl", "labels.jsonl", "records.jsonl")


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory):
    """Return a whole rehearsal with its release 1.0, made once."""
    path = tmp_path_factory.mktemp("rehearsed") / "labels.db"
    with Store.open(path) as store:
        study = rehearse(store)
        make_release(store, study, "1.0", author="Vera", notes="The first.")
    return path


@pytest.fixture
def store(rehearsed, tmp_path):
    shutil.copy(rehearsed, tmp_path / "own.db")
    with Store.open(tmp_path / "own.db") as opened:
        yield opened


@pytest.fixture
def study(store):
    return project(store, "set")


def rows(data):
    return [json.loads(line) for line in data.decode().split("\n") if line]


# --- what is in it


def test_a_release_has_the_numbers_of_the_database(store, study):
    frozen = release(store, study, "1.0")
    kept = list(items(store, study, accepted_only=True))
    files = release_files(store, frozen)
    assert frozen.items == len(kept) == counts(store, study).accepted > 3
    assert {row["id"] for row in rows(files["data/train.jsonl"])} == {item.uid for item in kept}
    assert [row["text"] for row in rows(files["data/train.jsonl"])] == [item.text for item in kept]
    assert files["slguset.csv"].decode().count("\r\n") == len(kept) + 1
    assert len(json.loads(files["label_studio.json"])) == len(kept) == len(rows(files["doccano.jsonl"]))
    data = json.loads(files["release.json"])
    assert data["release"]["hash"] == frozen.hash and "codes" not in data
    assert data["agreement"]["krippendorff_alpha"]["value"] == agreement(store, study).overall.alpha.value


def test_every_rejected_or_split_item_is_a_hard_case_with_its_reasons(store, study):
    result = rows(release_file(store, release(store, study, "1.0"), "hard_cases.jsonl"))
    query = "SELECT uid FROM item WHERE project = ? AND (status = 'rejected' OR split = 1 OR settlement IS NOT NULL)"
    assert {row["item"] for row in result} == {uid for (uid,) in store.db.execute(query, (study.id,))}
    settled = [row["settlement"] for row in result if row["settlement"]]
    assert [(decision["choice"], decision["why"]) for decision in settled] == [("reject", "read twice")]
    rejects = [label for row in result for label in row["labels"] if label["choice"] == "reject"]
    assert rejects and all(reject["reasons"] == ["biological"] for reject in rejects)
    assert {row["why_here"] for row in result} <= {"split", "rejected", "rejected_by_all", "settled"}


def test_a_release_contains_no_names(store, study):
    files = release_files(store, release(store, study, "1.0"))
    for name, content in files.items():
        if name.startswith("guideline/") or name.endswith(".xml"):
            continue
        table = name.endswith(".parquet")
        text = str(parquet.read_table(BytesIO(content)).to_pylist()) if table else content.decode()
        for person in ("Ada", "Chen", "Vera", '"Lead"', '"Bo"', ",Bo,"):
            assert person not in text, (name, person)
    assert "Between us." not in "".join(files[f"package/{part}"].decode() for part in (*PARTS, "decisions.jsonl"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_method_section_names_what_was_done(store, study, language):
    text = release_file(store, release(store, study, "1.0"), f"method.{language}.md").decode()
    report, total = agreement(store, study), counts(store, study)
    assert f"{report.overall.alpha.value:.3f}" in text and report.signature.replace("|", "\\|") in text.replace(
        "\\_", "_"
    )
    assert all(
        words in text for words in (f"{total.items:,}", f"{total.accepted:,}", "Read twice.", "30.0%", "CC BY 4.0")
    )
    assert ("random share" if language == "en" else "随机子集") in text
    assert "再读一遍。" in text
    modified = (
        "(Wilson's 95% interval, modified for rare counts)"
        if language == "en"
        else "（对罕见计数作了修正的 Wilson 95% 区间）"
    )
    assert "|share:modified-wilson|" in gather(store, study)["retests"]["signature"] and modified in text
    # No sentence contains the line that asks to keep the set out of training data: it is named where it is.
    files = release_files(store, release(store, study, "1.0"))
    holding = {name for name, content in files.items() if CANARY_ID.encode() in content}
    assert holding == {"README.md", "release.json", "method.en.md", "method.zh.md"}  # in LaTeX it may break
    assert "README.md" in text.replace("\\", "")


def test_checksums_match_and_archives_are_reproducible(store, study):
    frozen = release(store, study, "1.0")
    files = release_files(store, frozen)
    sums = dict(line.split("  ")[::-1] for line in files["SHA256SUMS"].decode().splitlines())
    assert sums.keys() == files.keys() - {"SHA256SUMS"}
    assert sums == {fact.name: fact.sha256 for fact in file_facts(store, frozen) if fact.name != "SHA256SUMS"}
    assert release_archive(store, study, frozen, None) == release_archive(store, study, frozen, None)


# --- it never changes


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE release SET hash = 'x'",
        "DELETE FROM release",
        "UPDATE release_file SET content = x'00'",
        "DELETE FROM release_file",
        "UPDATE release_item SET gold = 'accept'",
        "DELETE FROM release_item",
        "INSERT INTO release_file (release, name, part, sha256, bytes, content) "
        "SELECT id, 'x', 0, '', 0, x'00' FROM release",
    ],
)
def test_the_database_refuses_changes_of_a_release(store, statement):
    with pytest.raises(sqlite3.IntegrityError, match="never changes"):
        store.db.execute(statement)


def test_later_changes_of_the_project_leave_a_release_unchanged(store, study):
    before = release_files(store, release(store, study, "1.0"))
    relabel(store, study, 3)
    change_project(store, study, name="renamed", licence="MIT")
    assert release_files(store, release(store, project(store, "renamed"), "1.0")) == before


def test_a_taken_version_is_refused(store, study):
    with pytest.raises(NotAllowed):
        make_release(store, study, " 1.0 ")
    assert [release.version for release in releases(store, study)] == ["1.0"]


def test_simultaneous_releases_make_one(store, study):
    outcomes = []

    def go():
        with Store.open(store.path) as own:
            try:
                outcomes.append(make_release(own, project(own, "set"), "2.0").version)
            except NotAllowed:
                outcomes.append("refused")

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["2.0", "refused"]
    assert [release.version for release in releases(store, study)] == ["1.0", "2.0"]


def test_a_release_left_by_a_dead_process_is_removed(store, study):
    store.db.execute(
        "INSERT INTO release (uid, project, version, hash, items, labels, facts, created, pid, started_process)"
        " VALUES ('u', ?, '2.0', '', 0, 0, '{}', '', 4194304, 1.0)",
        (study.id,),
    )
    row = store.db.execute("SELECT max(id) FROM release").fetchone()[0]
    store.db.execute("INSERT INTO release_file VALUES (?, 'a', 0, '', 0, x'00')", (row,))
    assert [release.version for release in releases(store, study)] == ["1.0"]
    assert make_release(store, study, "2.0").version == "2.0"
    assert discard_broken(store) == 0


def test_a_failed_release_is_rolled_back(store, study, monkeypatch):
    monkeypatch.setattr(
        "evenhand.annotations.release.stored_releases.record", lambda *a, **k: (_ for _ in ()).throw(RuntimeError())
    )
    with pytest.raises(RuntimeError):
        make_release(store, study, "2.0")
    assert store.db.execute("SELECT count(*) FROM release").fetchone()[0] == 1
    assert store.db.execute("SELECT count(DISTINCT release) FROM release_file").fetchone()[0] == 1


def test_a_snapshot_does_not_see_later_changes(store, study):
    with snapshot(store) as seen:
        before = counts(seen, study)
        relabel(store, study, 5)
        assert counts(seen, study) == before
        with pytest.raises(sqlite3.OperationalError):
            seen.db.execute("DELETE FROM tag_draft")


def test_only_snapshots_of_dead_processes_are_deleted(store):
    dead = store.path.with_name(f".{store.path.name}.4194304.abc.snapshot")
    mine = store.path.with_name(f".{store.path.name}.{os.getpid()}.abc.snapshot")
    for file in (dead, mine):
        file.write_bytes(b"x")
    with snapshot(store) as seen:
        assert not dead.exists() and mine.exists()
        assert stat.S_IMODE(seen.path.stat().st_mode) == 0o600
        copy = seen.path
    assert not copy.exists()


# --- what is refused


def test_missing_requirements_of_a_release_are_listed(fresh_store):
    bare = create_project(fresh_store, "bare", annotators=("Ada",))
    assert {(requirement.code, requirement.state) for requirement in readiness(fresh_store, bare)} == {
        (c, "missing") for c in BARE
    }
    with pytest.raises(Refused, match="licence"):
        make_release(fresh_store, bare, "1.0")
    ready = ready_project(fresh_store, 8)
    start_pilot(fresh_store, ready, 4)
    assert {requirement.code for requirement in readiness(fresh_store, ready) if requirement.state == "missing"} == {
        "kept",
        "pilot",
    }
    fresh_store.db.execute("INSERT INTO batch (project, file, heard, created) VALUES (?, 'x', 0, '')", (ready.id,))
    assert "import" in {requirement.code for requirement in readiness(fresh_store, ready)}


@pytest.mark.parametrize("name", ["1.0", "2026-05", "beta_2", "版本1", "v1+a"])
def test_plain_version_names_are_accepted(name):
    assert checked_version(f" {name} ") == name


@pytest.mark.parametrize("name", ["", "..", ".1", "a/b", "a\\b", "1.0.", "-1", "a b", "x" * 41, "1\n0", "\0"])
def test_other_version_names_are_refused(name):
    with pytest.raises(Refused):
        checked_version(name)


# --- what differs


def relabel(store, study, number):
    """Turn the first *number* kept items of Ada into rejects."""
    first = annotators(store, study)[0]
    turned = []
    for item in list(items(store, study, accepted_only=True))[:number]:
        label(store, study, first, item.uid, "reject", reasons=("name",))
        turned.append(item.uid)
    return turned


def test_the_list_of_changes_counts_changed_labels(store, study):
    turned = relabel(store, study, 3)
    second = make_release(store, study, "1.1")
    data = json.loads(release_file(store, second, "changes.json"))
    assert (data["from"], data["to"]) == ("1.0", "1.1")
    assert data["kept"] == {"added": [], "removed": sorted(turned)}
    assert data["gold"] == [{"item": uid, "before": "accept", "after": "reject"} for uid in sorted(turned)]
    assert data["labels"] == {"added": 0, "changed": 3, "removed": 0, "items": sorted(turned)}
    first = release(store, study, "1.0")
    assert changes(store, first, second)["kept"] == data["kept"]
    assert data["agreement"]["before"]["krippendorff_alpha"] == first.facts["agreement"]["krippendorff_alpha"]
    text = release_file(store, second, "changes.en.md").decode()
    assert all(uid in text for uid in turned)
    third = make_release(store, study, "1.2")
    assert third.hash == second.hash and third.facts["changes"]["labels_changed"] == 0


def test_a_withdrawn_label_is_in_the_list_of_changes(store, study):
    first = annotators(store, study)[0]
    uid = next(items(store, study, accepted_only=True)).uid
    label(store, study, first, uid, None)
    before = sum(item.gold is not None for item in items(store, study)) + 1
    made = make_release(store, study, "1.1")
    data = json.loads(release_file(store, made, "changes.json"))
    assert data["labels"]["removed"] == 1 and data["kept"]["removed"] == [uid]
    assert data["gold_states"] == {"same": before - 1, "another": 0, "none_now": 1, "first": 0}
    text = release_file(store, made, "method.en.md").decode()
    assert f"{before - 1} have the same label, 0 a different one and 1 none now; 0 have their first gold label." in text
    assert "0 条改为另一标签，1 条不再有最终标签" in release_file(store, made, "method.zh.md").decode()


def test_annotators_keep_their_codes(store, study):
    before = pseudonyms(store, study)
    store.db.execute("UPDATE annotator SET name = 'Zoe' WHERE name = 'Ada'")
    # An annotator who was in the database first joins only now: the codes of the others stay the same.
    create_project(store, "other", annotators=("Early",))
    store.db.execute("INSERT INTO annotator (id, uid, name, created) VALUES (-5, 'u5', 'First', '')")
    store.db.execute("INSERT INTO member (project, annotator) VALUES (?, -5)", (study.id,))
    after = pseudonyms(store, study)
    assert after["Zoe"] == before["Ada"] and after["Bo"] == before["Bo"] and after["Chen"] == before["Chen"]
    assert after["First"] == "A4"


# --- the way back


@pytest.mark.parametrize("shape", ["folder", "zip"])
def test_a_release_is_restored_completely(store, study, tmp_path, shape):
    out = tmp_path / ("r.zip" if shape == "zip" else "r")
    first = release(store, study, "1.0")
    write_release(store, study, first, out)
    with Store.open(tmp_path / "new.db") as fresh, tables_in(out) as members:
        brought = import_package(fresh, "back", members, out.name)
        back = brought.project
        assert brought.labels.rejected == 0
        assert {item.uid: (item.status, item.gold) for item in items(fresh, back)} == {
            item.uid: (item.status, item.gold) for item in items(store, study)
        }
        codes = pseudonyms(store, study)
        old, new = report_json(agreement(store, study)), report_json(agreement(fresh, back))
        assert close({**renamed(old, codes), "project": ""}, {**new, "project": ""})
        again = make_release(fresh, back, "1.0")
        assert again.hash == first.hash
        data = json.loads(release_file(fresh, again, "release.json"))
        before = json.loads(release_file(store, first, "release.json"))
        data["statistics"]["name"] = before["statistics"]["name"]
        for key in ("guidelines", "pilots", "retests", "adjudication", "people", "funnel", "statistics", "labels"):
            assert data[key] == before[key], key
        # Coming back is written down too: who had left leaves once more.
        own = {"deactivated": 1}
        assert data["events"] == {key: number + own.get(key, 0) for key, number in before["events"].items()}


def test_the_author_of_a_known_answer_survives_a_release(fresh_store, tmp_path):
    """Ada, who comes first in every list, labels after the answer was made from the labels of the others."""
    study = ready_project(fresh_store, 1)
    ada, *others = annotators(fresh_store, study)
    (item,) = items(fresh_store, study)
    for who in others:
        label(fresh_store, study, who, item.uid, "accept")
    set_known(fresh_store, study, item.uid, "accept", from_labels=True)
    label(fresh_store, study, ada, item.uid, "accept")
    expected = [(1, 0), (0, 1), (0, 1)]
    assert [(score.right, score.unlabelled) for score in scores(fresh_store, study)] == expected
    out = write_release(fresh_store, study, make_release(fresh_store, study, "1.0"), tmp_path / "r")
    with Store.open(tmp_path / "new.db") as fresh, tables_in(out) as members:
        back = import_package(fresh, "back", members, "r").project
        assert [(score.right, score.unlabelled) for score in scores(fresh, back)] == expected


def renamed(value, codes):
    """Return the report with codes in place of names, at all places."""
    if isinstance(value, dict):
        return {codes.get(key, key): renamed(part, codes) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(part, codes) for part in value]
    return codes.get(value, value) if isinstance(value, str) else value


def close(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-12
    return one == other


def test_importing_a_release_twice_adds_nothing(store, study, tmp_path):
    out = write_release(store, study, release(store, study, "1.0"), tmp_path / "r")
    tables = (
        "item",
        "label",
        "event",
        "known",
        "pilot",
        "retest",
        "retest_label",
        "settlement",
        "comment",
        "assignment",
    )
    with Store.open(tmp_path / "new.db") as fresh:

        def counted():
            return {table: fresh.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}

        with tables_in(out) as members:
            import_package(fresh, "back", members, "r")
        before = counted()
        with tables_in(out) as members:
            import_package(fresh, "back", members, "r")
        assert counted() == before
        assert before["retest_label"] and before["known"] and before["pilot"] and before["event"]


# --- the check


def test_an_intact_release_is_verified(store, study, tmp_path):
    frozen = release(store, study, "1.0")
    result = verify(write_release(store, study, frozen, tmp_path / "r"), store=store, release=frozen)
    assert result.intact and result.known and result.found == frozen.hash and not result.unread
    result = verify(write_release(store, study, frozen, tmp_path / "p", package=False), store=store, release=frozen)
    assert result.intact and result.found is None and {name.partition("/")[0] for name in result.unread} == {"package"}


def test_an_older_release_without_latex_is_verified(store, study, tmp_path):
    """The files of a release are those of its checksums, not those that this version would write."""
    out = write_release(store, study, release(store, study, "1.0"), tmp_path / "r")
    sheets = sorted(out.glob("datasheet.*"))
    assert [path.name for path in sheets] == [f"datasheet.{language}.{form}" for language in ("en", "zh")
                                              for form in ("md", "tex")]  # fmt: skip
    known = verify(out).files
    sums = (out / "SHA256SUMS").read_text().splitlines(keepends=True)
    (out / "SHA256SUMS").write_text("".join(line for line in sums if ".tex" not in line or "datasheet" not in line))
    for path in sheets:
        if path.suffix == ".tex":
            assert path.read_text().endswith("\\evenhandend\n")
            path.unlink()
    result = verify(out)
    assert result.intact and result.found and result.files == known - 2


def test_a_changed_byte_anywhere_is_found(store, study, tmp_path):
    frozen = release(store, study, "1.0")
    out = write_release(store, study, frozen, tmp_path / "r")
    for path in sorted(file for file in out.rglob("*") if file.is_file() and file.stat().st_size):
        whole_file = path.read_bytes()
        at = random.Random(path.name).randrange(len(whole_file))
        path.write_bytes(whole_file[:at] + bytes([whole_file[at] ^ 1]) + whole_file[at + 1 :])
        try:
            result = verify(out, store=store, release=frozen)
        except BadFile:  # release.json or SHA256SUMS is changed
            assert path.name in ("release.json", "SHA256SUMS")
        else:
            assert not result.intact, path
        path.write_bytes(whole_file)
    assert verify(out, store=store, release=frozen).intact


def test_missing_added_and_forged_files_are_named(store, study, tmp_path):
    frozen = release(store, study, "1.0")
    out = write_release(store, study, frozen, tmp_path / "r")
    (out / "labels.csv").unlink()
    (out / "more.csv").write_text("x")
    assert verify(out).problems == (("labels.csv", "missing"), ("more.csv", "added"))
    # A change of a file and its checksum is found through the database, and through the hash of the contents.
    forged = write_release(store, study, frozen, tmp_path / "f")
    path = forged / "package" / "gold.jsonl"
    path.write_text(path.read_text().replace('"accept"', '"reject"', 1))
    sums = (forged / "SHA256SUMS").read_text()
    old = next(line for line in sums.splitlines() if line.endswith("  package/gold.jsonl"))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    (forged / "SHA256SUMS").write_text(sums.replace(old, f"{digest}  package/gold.jsonl"))
    assert verify(forged).problems == () and not verify(forged).intact
    assert ("package/gold.jsonl", "other") in verify(forged, store=store, release=frozen).problems


def test_other_files_are_refused_as_a_release(tmp_path):
    with pytest.raises(NotFound):
        verify(tmp_path / "nothing.zip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadFile):
        verify(tmp_path / "empty")
    (tmp_path / "odd.zip").write_bytes(b"PK no")
    with pytest.raises(BadFile):
        verify(tmp_path / "odd.zip")


def test_existing_files_are_kept_and_failed_writes_removed(store, study, tmp_path, monkeypatch):
    frozen = release(store, study, "1.0")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("mine")
    (tmp_path / "there.zip").write_text("mine")
    for name in ("full", "there.zip"):
        with pytest.raises(NotAllowed):
            write_release(store, study, frozen, tmp_path / name)
    with pytest.raises(BadFile):
        write_release(store, study, frozen, tmp_path / "no" / "where")
    monkeypatch.setattr("os.fsync", lambda _file: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(BadFile, match="No space"):
        write_release(store, study, frozen, tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir() if "own.db" not in path.name) == ["full", "there.zip"]


def parts_of(store, study):
    frozen = release(store, study, "1.0")
    return [rows(release_file(store, frozen, f"package/{name}")) for name in PARTS]


@given(seed=st.integers(0, 2**32))
def test_the_hash_does_not_depend_on_order_place_or_time(rehearsed, seed):
    with Store.open(rehearsed) as opened:
        study = project(opened, "set")
        parts, expected = parts_of(opened, study), release(opened, study, "1.0").hash
    draw = random.Random(seed)
    names = {row["item"]: f"{draw.getrandbits(128):032x}" for row in parts[0]}
    for part in parts:
        for row in part:
            if row.get("item"):
                row["item"] = names[row["item"]]
            row.update({key: draw.random() for key in ("created", "seconds", "line") if key in row})
    draw.shuffle(parts[0])
    draw.shuffle(parts[1])
    blocks: dict[tuple[str, str], list[dict]] = {}
    for row in parts[2]:
        blocks.setdefault((row["item"], row["annotator"]), []).append(row)
    order = list(blocks.values())
    draw.shuffle(order)
    parts[2] = [row for block in order for row in block]
    assert content_hash(contents_of(*parts).entries.values()) == expected
