"""Gold labels of a release are decided again: before it is made, and when it is verified."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.plan.recount import correct_derived
from evenhand.annotations.projects.projects import annotators, change_project, project
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.release.readiness import readiness
from evenhand.annotations.release.stored_releases import release
from evenhand.annotations.release.verify import FrozenGold, Verification, verify
from evenhand.annotations.types import Project
from evenhand.core.errors import Refused
from tests.support.released_project import label, rehearse
from tests.support.tampering import changed_outside


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a whole rehearsal with its release 1.0, made once."""
    path = tmp_path_factory.mktemp("rehearsed") / "labels.db"
    with Store.open(path) as store:
        make_release(store, rehearse(store), "1.0", author="Vera")
    return path


@pytest.fixture
def store(rehearsed: Path, tmp_path: Path) -> Iterator[Store]:
    shutil.copy(rehearsed, tmp_path / "own.db")
    with Store.open(tmp_path / "own.db") as opened:
        yield opened


@pytest.fixture
def study(store: Store) -> Project:
    return project(store, "set")


def flip(store: Store, number: int = 2) -> list[str]:
    """Set the verdicts of items that all rejected to accepted; return their public ids."""
    query = "SELECT id, uid FROM item WHERE status = 'rejected' AND settlement IS NULL LIMIT ?"
    rows = store.db.execute(query, (number,)).fetchall()
    for row, _ in rows:
        changed_outside(store, "UPDATE item SET gold = 'accept', status = 'accepted' WHERE id = ?", row)
    return [uid for _, uid in rows]


def gold_of(found: Verification) -> FrozenGold:
    assert found.gold is not None
    return found.gold


def test_gold_that_does_not_follow_from_labels_blocks_a_release(store: Store, study: Project) -> None:
    flipped = flip(store)
    with pytest.raises(Refused, match=r"In 2 items of set .*labels and decisions") as refused:
        make_release(store, study, "2.0")
    assert all(uid in str(refused.value) for uid in flipped) and "project recount" in str(refused.value)
    assert [requirement.code for requirement in readiness(store, study) if requirement.state == "missing"] == ["gold"]
    assert correct_derived(store, study) == 2
    assert make_release(store, study, "2.0").hash == release(store, study, "1.0").hash


def test_a_large_project_is_checked_when_its_release_is_made(
    store: Store, study: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sys.modules["evenhand.annotations.release.readiness"], "QUICK", 3
    )  # the package names a function so
    flip(store)
    assert "gold" not in {requirement.code for requirement in readiness(store, study)}
    assert "gold" in {requirement.code for requirement in readiness(store, study, whole=True)}
    with pytest.raises(Refused, match="In 2 items of set"):
        make_release(store, study, "2.0")


def test_the_check_decides_gold_labels_again(store: Store, study: Project, tmp_path: Path) -> None:
    frozen = release(store, study, "1.0")
    out = write_release(store, study, frozen, tmp_path / "r")
    assert verify(out, store=store, release=frozen).gold == FrozenGold((), 0, True)
    flipped = flip(store, 1)
    result = verify(out, store=store, release=frozen)
    assert gold_of(result).stale == tuple(flipped) and not result.intact
    assert result.problems == (("package/gold.jsonl", "stale"),)
    correct_derived(store, study)
    # A release that an older version made of flipped verdicts, whose database was put right since.
    changed_outside(store, "UPDATE release_item SET status = 'accepted', gold = 'accept' WHERE item ="
                    " (SELECT id FROM item WHERE uid = ?)", flipped[0])  # fmt: skip
    assert gold_of(verify(out, store=store, release=frozen)).stale == tuple(flipped)


def test_gold_labels_that_changed_since_are_not_compared(store: Store, study: Project, tmp_path: Path) -> None:
    frozen = release(store, study, "1.0")
    out = write_release(store, study, frozen, tmp_path / "r")
    item = next(iter(items(store, study, accepted_only=True)))
    label(store, study, annotators(store, study)[0], item.uid, "reject", reasons=("name",))
    result = verify(out, store=store, release=frozen)
    assert result.intact and gold_of(result).unchecked == 1
    change_project(store, study, gold="majority" if study.plan == "all" else study.gold, rescue=not study.rescue)
    result = verify(out, store=store, release=frozen)
    assert result.intact and gold_of(result).unchecked == frozen.facts["total"]["reviewed"]


def test_a_log_without_the_last_entry_of_a_release_is_found(store: Store, study: Project, tmp_path: Path) -> None:
    """The log was rewritten from its beginning, or comes from an older copy."""
    frozen = release(store, study, "1.0")
    out = write_release(store, study, frozen, tmp_path / "r")
    head = json.loads((out / "log_head.json").read_text())["log_head"]["hash"]
    changed_outside(store, "UPDATE log SET hash = randomblob(32) WHERE hash = ?", bytes.fromhex(head))
    result = verify(out, store=store, release=frozen)
    assert result.problems == (("log_head.json", "not in the log"),) and gold_of(result).log_known is False
