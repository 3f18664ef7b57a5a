"""What the app writes is for its owner: labels, texts and scores of others are on the same machine."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.types import Project
from evenhand.core.scoring.cache import CachedScorer
from tests.conftest import FakeScorer


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    """Yield a umask that takes nothing away."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


def test_new_and_older_score_caches_become_private(tmp_path: Path) -> None:
    for _ in range(2):
        with CachedScorer(FakeScorer(), tmp_path / "new" / "scores.db"):
            pass
        files = list((tmp_path / "new").iterdir())
        assert {mode(file) for file in files} == {"0o600"} and mode(tmp_path / "new") == "0o700"
        (tmp_path / "new" / "scores.db").chmod(0o644)


@pytest.mark.parametrize(("name", "format"), [("a.csv", "slguset"), ("a.jsonl", "jsonl"), ("a.zip", "package")])
def test_an_export_is_private(
    fresh_store: Store, sample_project: Project, tmp_path: Path, name: str, format: str
) -> None:
    export_file(fresh_store, sample_project, tmp_path / name, format=format)
    assert mode(tmp_path / name) == "0o600"
