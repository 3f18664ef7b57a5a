"""A release to the hub: the frozen files, byte for byte, in one commit that bears the release's version as its tag."""

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evenhand.annotations.database.events import EXPORTED, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.hub.client import checked_repo, endpoint, hub, hub_errors
from evenhand.annotations.projects.projects import named_project
from evenhand.annotations.release.files import FACTS
from evenhand.annotations.release.make import TEXTS, leaving_files
from evenhand.annotations.release.stored_releases import Release, release
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Refused
from evenhand.core.runs.kinds import JobKind, Place

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    CommitOperation = CommitOperationAdd | CommitOperationDelete

Gate = Literal["auto", "manual"]
GATES: tuple[Gate, ...] = ("auto", "manual")
OF_THE_HUB = (".gitattributes",)  # made by the hub in each repository


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of the command `hub push`: with `uid` the project of that id."""

    name: str
    version: str
    repo: str
    private: bool = False
    gated: Gate | None = None
    package: bool = False
    author: str = ""
    uid: str | None = None


@dataclass(frozen=True, slots=True)
class Pushed:
    """What was done: address of the data set, commit, files sent, files of an earlier release taken away."""

    url: str
    commit: str
    files: int
    removed: int


def run(settings: Settings, place: Place) -> Pushed:
    """Put a release of a project on the hub. Raises as `push_release`, NotFound."""
    with Store.open_existing(place.database) as store:
        project = named_project(store, settings.name, settings.uid)
        made = release(store, project, settings.version)
        return push_release(
            store, project, made, settings.repo, private=settings.private, gated=settings.gated,
            package=settings.package, password=place.password, author=settings.author or getuser(),
        )  # fmt: skip


def push_release(
    store: Store,
    project: Project,
    release: Release,
    repo: str,
    *,
    private: bool = False,
    gated: Gate | None = None,
    package: bool = False,
    password: str | None = None,
    author: str = "",
) -> Pushed:
    """Put *release* on the hub as the data set *repo* (OWNER/NAME), which is made if needed.

    `private`, `gated`: set before any file is sent; an existing data set is never opened. Text that may not leave in
    plain goes as an encrypted archive. Raises Refused if the data set holds something else than releases of Evenhand,
    or another release under the same tag; NotAllowed without a token that may write.
    """
    from huggingface_hub import RepoFile

    name = checked_repo(repo)
    files = leaving_files(store, project, release, password, package=package)
    with hub_errors(name):
        api = hub()
        api.create_repo(name, repo_type="dataset", private=private or None, exist_ok=True)
        if private or gated:
            api.update_repo_settings(name, repo_type="dataset", private=private or None, gated=gated)
        tree = api.list_repo_tree(name, repo_type="dataset", recursive=True)
        there = [entry.path for entry in tree if isinstance(entry, RepoFile)]
        _refuse_other(name, there)
        _refuse_other_release(api, name, release)
        old = sorted(set(there) - files.keys() - set(OF_THE_HUB))
        commit = api.create_commit(
            name,
            _operations(files, old),
            repo_type="dataset",
            commit_message=f"Release {release.version}",
            commit_description=f"Contents (SHA-256): {release.hash}",
        )
        api.create_tag(name, tag=tag_of(release), revision=commit.oid, repo_type="dataset", exist_ok=True)
    with store.write():
        record(
            store, project, EXPORTED, author=author, format="hub", version=release.version, repo=name,
            endpoint=endpoint(), encrypted=TEXTS in files,
        )  # fmt: skip
    return Pushed(f"{endpoint()}/datasets/{name}", commit.oid, len(files), len(old))


def tag_of(release: Release) -> str:
    """Return the tag of a release: its version with replacements for blanks, which git does not allow."""
    return release.version.replace(" ", "-")


def _operations(files: dict[str, bytes], old: Iterable[str]) -> "list[CommitOperation]":
    """Return the operations of one commit: add every file of the release, delete the *old* ones."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    added = [CommitOperationAdd(name, content) for name, content in sorted(files.items())]
    return [*added, *(CommitOperationDelete(name) for name in old)]


def _refuse_other(repo: str, there: list[str]) -> None:
    others = [text for text in there if text not in (*OF_THE_HUB, "README.md")]
    if others and FACTS not in there:
        message = N_(
            "{repo} contains files that do not belong to a release ({file}). Choose another name: existing"
            " files are never replaced."
        )
        raise Refused(message, repo=repo, file=others[0])


def _refuse_other_release(api: "HfApi", repo: str, release: Release) -> None:
    """Raise Refused if the tag of this release is taken by another one: a tag never changes."""
    tags = [tag.name for tag in api.list_repo_refs(repo, repo_type="dataset").tags]
    if tag_of(release) not in tags:
        return
    with tempfile.TemporaryDirectory(prefix="evenhand-hub-") as folder:
        path = api.hf_hub_download(repo, FACTS, repo_type="dataset", revision=tag_of(release), local_dir=folder)
        known = json.loads(Path(path).read_text(encoding="utf-8")).get("release", {}).get("hash")
    if known != release.hash:
        message = N_("{repo} already has a different release {version}. Tags never change: choose another data set.")
        raise Refused(message, repo=repo, version=release.version)


PUSH = JobKind("hub push", Settings, Pushed, run)
