"""Backups at a place: sealed, read back, pruned, restored; and what a copy does not carry."""

import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from evenhand.annotations.accounts.accounts import add_account, authenticate, grant
from evenhand.annotations.accounts.links import first_link, invite_link, link
from evenhand.annotations.accounts.sign_ins import sign_in, signed_in
from evenhand.annotations.database import backup as backups
from evenhand.annotations.database.backup import back_up_to, backup, fetched, newest, read_key, restore
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.session import issue, verify
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import project
from evenhand.annotations.queue.leases import claim
from evenhand.core.errors import BadFile, EvenhandError, NotAllowed, NotFound, Refused
from tests.support.projects import broken_rules, decide, filled_project

PASSWORD = "correct horse battery"
KEY = b"0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize("place", ["folder/of/backups", "memory://backups"])
def test_a_backup_at_a_place_is_listed_and_restored(
    fresh_store: Store, tmp_path: Path, place: str, key: bytes | None
) -> None:
    filled_project(fresh_store, 12)
    place = place if "://" in place else str(tmp_path / place)
    made, name = back_up_to(fresh_store, place, key=key)
    assert (made.projects, made.items) == (1, 12)
    assert made.bytes == fsspec.url_to_fs(f"{place}/{name}")[0].size(fsspec.url_to_fs(f"{place}/{name}")[1])
    with fetched(f"{place}/{name}", tmp_path / "new.db", key=key) as plain:
        assert restore(plain, tmp_path / "new.db").items == 12
    assert {path.name for path in tmp_path.iterdir()} <= {
        "new.db",
        "folder",
        "test.db",
        "test.db-wal",
        "test.db-shm",
    } | {path.name for path in fresh_store.path.parent.iterdir()}
    assert not list(tmp_path.glob(".*backup*"))
    if "://" not in place:
        assert stat.S_IMODE((Path(place) / name).stat().st_mode) == 0o600
        assert stat.S_IMODE(Path(place).stat().st_mode) == 0o700
    assert datetime.now(UTC) - (newest(place) or datetime.min.replace(tzinfo=UTC)) < timedelta(minutes=5)


def test_a_sealed_backup_opens_with_its_key_only(fresh_store: Store, tmp_path: Path) -> None:
    add_account(fresh_store, "Ada of the sealed backup")  # three bytes alone may occur by chance in encrypted data
    _, name = back_up_to(fresh_store, str(tmp_path / "b"), key=KEY)
    sealed = tmp_path / "b" / name
    assert b"Ada of the sealed backup" not in sealed.read_bytes()
    assert b"SQLite format" not in sealed.read_bytes()
    for key in (None, b"another key of some length"):
        with pytest.raises(BadFile), fetched(str(sealed), tmp_path / "new.db", key=key):
            pass
    data = bytearray(sealed.read_bytes())
    data[len(data) // 2] ^= 1
    sealed.write_bytes(data)
    with pytest.raises(BadFile), fetched(str(sealed), tmp_path / "new.db", key=KEY):
        pass
    assert not (tmp_path / "new.db").exists()


def test_pruning_keeps_the_newest_backups_and_other_files(
    fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "b"
    place.mkdir()
    for other in ("notes.txt", "evenhand.db", "evenhand-old.db"):
        (place / other).write_text("mine", encoding="utf-8")
    for day in range(5):
        monkeypatch.setattr(backups.time, "time", lambda day=day: 1_700_000_000.0 + day * 86_400)
        back_up_to(fresh_store, str(place), keep=3, key=KEY if day % 2 else None)
    names = sorted(path.name for path in place.iterdir())
    assert [name[:17] for name in names if backups.NAME.fullmatch(name)] == [
        "evenhand-20231116", "evenhand-20231117", "evenhand-20231118",
    ]  # fmt: skip
    assert {"notes.txt", "evenhand.db", "evenhand-old.db"} < set(names)
    assert len(names) == 6


def test_an_incomplete_upload_is_removed_and_reported(
    fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send_half(files: object, source: Path, path: str) -> None:
        Path(path).write_bytes(source.read_bytes()[:5000])

    back_up_to(fresh_store, str(tmp_path / "b"))
    monkeypatch.setattr(backups, "_send", send_half)
    with pytest.raises(Refused, match="removed"):
        back_up_to(fresh_store, str(tmp_path / "b"), keep=1)
    assert len(list((tmp_path / "b").iterdir())) == 1  # and the one before is kept


def test_the_error_of_an_unusable_place_hides_its_password(fresh_store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for place in (str(tmp_path / "file" / "b") + "/", "nowhere://me:hunter2@host/b?token=abc"):
        with pytest.raises(Refused) as error:
            back_up_to(fresh_store, place)
        assert "hunter2" not in str(error.value)
        assert "abc" not in str(error.value)
    for source in (str(tmp_path / "no.db"), "memory://nowhere/no.db"):
        with pytest.raises(EvenhandError), fetched(source, tmp_path / "new.db") as plain:
            restore(plain, tmp_path / "new.db")


@pytest.mark.parametrize(("kind", "package"), [("s3", "s3fs"), ("gs", "gcsfs"), ("sftp", "paramiko")])
def test_the_missing_library_of_a_place_is_named(
    fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as where it is not installed
    for module in ("s3fs", "gcsfs", "fsspec.implementations.sftp"):
        if module != package:
            monkeypatch.delitem(sys.modules, module, raising=False)
    place = f"{kind}://me:hunter2@bucket/backups"
    for work in (lambda: back_up_to(fresh_store, place), lambda: newest(place)):
        with pytest.raises(Refused, match=f"pip install {package}$") as caught:
            work()
        assert "hunter2" not in str(caught.value)


class Buckets(MemoryFileSystem):
    """A service of buckets, as s3fs is one: its first folder is a bucket, which it makes without a word."""

    protocol = ("s3", "s3a")
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.split("://")[-1].split("@")[-1].strip("/")


def test_a_bucket_that_does_not_exist_is_refused_and_not_made(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, "s3", Buckets)  # what an installed s3fs does
    Buckets().mkdir("/there")
    with pytest.raises(Refused, match="there is no bucket their"):
        back_up_to(fresh_store, "s3://me:hunter2@their/backups")
    assert not Buckets().exists("/their")
    back_up_to(fresh_store, "s3://there/backups")
    assert Buckets().exists("/there/backups")


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("short\n", encoding="utf-8")
    with pytest.raises(Refused, match="at least 20"):
        read_key(tmp_path / "key")
    with pytest.raises(NotFound):
        read_key(tmp_path / "nothing")
    (tmp_path / "key").write_bytes(KEY + b"\n")
    assert read_key(tmp_path / "key") == KEY


def test_a_restore_invalidates_links_cookies_and_tokens(fresh_store: Store, tmp_path: Path) -> None:
    ids = {"database": fresh_store.uid, "project": "p", "annotator": "a"}
    first = first_link(fresh_store)
    ada = add_account(fresh_store, "Ada")
    grant(fresh_store, ada, "owner", None)
    cookie, token = sign_in(fresh_store, ada), issue(fresh_store.secret, **ids)
    invited = invite_link(fresh_store, "lead", None)
    backup(fresh_store, tmp_path / "saved.db")
    restore(tmp_path / "saved.db", tmp_path / "new.db")
    assert signed_in(fresh_store, cookie) is not None  # the server itself continues
    link(fresh_store, invited)
    secrets = {fresh_store.secret}
    for copy in ("saved.db", "new.db"):
        assert fresh_store.secret not in (tmp_path / copy).read_bytes()  # the file alone is not enough to sign anything
        with Store.open(tmp_path / copy) as store:
            assert signed_in(store, cookie) is None
            with pytest.raises(NotAllowed):
                verify(store.secret, token)
            for old in (first, invited):
                with pytest.raises(NotAllowed):
                    link(store, old)
            secrets.add(store.secret)
    assert len(secrets) == 3


def test_a_sealed_backup_restores_a_lost_server(fresh_store: Store, tmp_path: Path) -> None:
    """The machine is gone; what is left is a sealed backup and its key."""
    made, people = filled_project(fresh_store, 6)
    grant(fresh_store, add_account(fresh_store, "Ada", password=PASSWORD), "owner", None)
    store_operations(
        fresh_store, made, people[0], [decide(item) for item in claim(fresh_store, made, people[0], want=4)]
    )
    labels = label_rows(fresh_store, made)
    _, name = back_up_to(fresh_store, "memory://drill", key=KEY)
    with fetched(f"memory://drill/{name}", tmp_path / "new.db", key=KEY) as plain:
        restore(plain, tmp_path / "new.db")
    with Store.open(tmp_path / "new.db") as store:
        assert label_rows(store, project(store, made.name)) == labels
        assert broken_rules(store) == []
        assert sign_in(store, authenticate(store, "Ada", PASSWORD))
        again = project(store, made.name)
        store_operations(store, again, people[0], [decide(item) for item in claim(store, again, people[0], want=1)])
        assert len(label_rows(store, again)) == len(labels) + 1
