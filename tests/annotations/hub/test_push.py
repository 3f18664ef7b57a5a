"""Releases on a hub that runs here: the client of huggingface_hub itself sends them, over HTTP."""

import io
import json
import logging
from pathlib import Path

import pytest
from huggingface_hub import snapshot_download

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.hub.client import checked_repo
from evenhand.annotations.hub.push import push_release
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import annotators, change_project
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.stored_releases import release_files
from evenhand.annotations.release.verify import verify
from evenhand.core.errors import BadFile, EvenhandError, NotAllowed, Refused
from tests.support.generations import generations_project
from tests.support.hub_server import TOKEN, Hub
from tests.support.released_project import label, ready_project, work

PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch, hub: Hub) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)


def test_pushed_files_equal_the_frozen_release(
    hub: Hub, fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = io.StringIO()
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [logging.StreamHandler(logged)])
    monkeypatch.setattr(root, "level", logging.DEBUG)
    made = ready_project(fresh_store, 12)
    work(fresh_store, made)
    first = make_release(fresh_store, made, "1.0")
    pushed = push_release(fresh_store, made, first, "team/set", private=True, gated="manual", author="Vera")
    there = hub.repositories["team/set"]
    sent = {name: data for name, data in there.commits[there.head].items() if name != ".gitattributes"}
    frozen = release_files(fresh_store, first)
    assert sent == {name: data for name, data in frozen.items() if not name.startswith("package/")}
    assert (pushed.url, pushed.commit, pushed.removed) == (f"{hub.address}/datasets/team/set", there.head, 0)
    assert there.settings == {"visibility": "private", "gated": "manual"} and there.tags == {"1.0": there.head}
    copy = snapshot_download(
        "team/set", repo_type="dataset", revision="1.0", local_dir=tmp_path / "copy", endpoint=hub.address, token=TOKEN
    )
    assert (Path(copy) / ".gitattributes").exists() and verify(Path(copy)).intact
    # Closed before the first file arrives.
    paths = [path for _method, path in hub.requests]
    assert paths.index("/api/datasets/team/set/settings") < paths.index("/api/datasets/team/set/commit/main")
    (event,) = events(fresh_store, made, action="exported")
    assert event.data["repo"] == "team/set" and event.author == "Vera"
    assert hub.tokens == {TOKEN} and TOKEN not in logged.getvalue() and TOKEN not in json.dumps(event.data)
    assert push_release(fresh_store, made, first, "team/set").commit == there.head  # once more changes nothing
    assert there.messages == ["Release 1.0"]


def test_the_next_release_replaces_the_previous_one(hub: Hub, fresh_store: Store) -> None:
    made = ready_project(fresh_store, 12)
    work(fresh_store, made)
    push_release(fresh_store, made, make_release(fresh_store, made, "1.0"), "team/set", package=True)
    there = hub.repositories["team/set"]
    old = set(there.commits[there.head])
    assert "package/items.jsonl" in old
    done = push_release(fresh_store, made, make_release(fresh_store, made, "1.1", notes="More."), "team/set")
    new = set(there.commits[there.head])
    assert done.removed == len(old - new) > 0 and not any(name.startswith("package/") for name in new)
    assert set(there.tags) == {"1.0", "1.1"} and set(there.commits[there.tags["1.0"]]) == old


def test_protected_texts_are_pushed_encrypted(hub: Hub, fresh_store: Store) -> None:
    made = generations_project(fresh_store, "g", 3)
    made = change_project(fresh_store, made, licence="CC BY 4.0", source_statement="Own texts.")
    texts = [item.text for item in items(fresh_store, made)]
    for who in annotators(fresh_store, made):
        for item in items(fresh_store, made):
            label(fresh_store, made, who, item.uid, "correct")
    release = make_release(fresh_store, made, "1.0")
    with pytest.raises(Refused, match="can only be exported encrypted"):
        push_release(fresh_store, made, release, "team/g")
    assert not hub.requests  # refused before the first request to the hub
    push_release(fresh_store, made, release, "team/g", password=PASSWORD)
    there = hub.repositories["team/g"]
    files = there.commits[there.head]
    assert "texts.zip" in files and "data/train.jsonl" not in files
    assert not [name for name, data in files.items() for text in texts if text.encode() in data]


def refused(hub: Hub, store: Store, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ready_project(store, 3)
    work(store, made)
    release = make_release(store, made, "1.0")
    if case == "other files":
        hub.put("team/set", {"README.md": b"theirs", "weights.bin": b"1"})
    elif case == "another release":
        files = {"release.json": json.dumps({"release": {"version": "1.0", "hash": "f" * 64}}).encode()}
        repo = hub.put("team/set", files)
        repo.tags["1.0"] = repo.head
    elif case == "no token":
        monkeypatch.setenv("HF_TOKEN", "hf_anothers")
    elif case == "nobody there":
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    push_release(store, made, release, "team/set")


@pytest.mark.parametrize(
    ("case", "kind", "words"),
    [
        ("other files", Refused, "contains files that do not belong to a release (weights.bin)"),
        ("another release", Refused, "already has a different release 1.0"),
        ("no token", NotAllowed, "does not allow this token to read or write"),
        ("nobody there", Refused, "did not respond"),
    ],
)
def test_invalid_pushes_are_refused_without_a_commit(
    hub: Hub, fresh_store: Store, monkeypatch: pytest.MonkeyPatch, case: str, kind: type[EvenhandError], words: str
) -> None:
    with pytest.raises(kind) as error:
        refused(hub, fresh_store, case, monkeypatch)
    assert words in str(error.value) and "hf_" not in str(error.value).replace("HF_TOKEN", "").replace("hf auth", "")
    assert not any(path.endswith("/commit/main") for _method, path in hub.requests)


@pytest.mark.parametrize("name", ["set", "a/b/c", "https://x.org/a/b", "../b", "a/..", "a/b?x=1", "", "a /b", "ä/b"])
def test_a_repository_name_needs_owner_and_name(name: str) -> None:
    with pytest.raises(BadFile, match="OWNER/NAME"):
        checked_repo(name)
