"""Making a release as it is asked for, and writing it out."""

from dataclasses import dataclass
from pathlib import Path

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import change_project, named_project
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.readiness import checked_reason, refuse_unready
from evenhand.annotations.release.records import Release, release
from evenhand.annotations.release.write_out import refuse_out, write_release
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, NotFound, Refused
from evenhand.core.runs.kinds import JobKind, Place


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of the command `release`: with `uid` the project of that id; `out`: a folder or a .zip."""

    name: str
    version: str
    out: Path | None = None
    licence: str | None = None
    statement: str | None = None
    notes: str = ""
    reason: str = ""
    author: str = ""
    without_package: bool = False
    uid: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A release, whether it is new, and where it was written."""

    release: Release
    new: bool
    out: Path | None


@dataclass(frozen=True, slots=True)
class Released:
    """The numbers of a release."""

    version: str
    hash: str
    items: int
    labels: int


def run(settings: Settings, place: Place) -> Made:
    """Make the release if it does not exist yet, and write it to `out`. Raises Refused, NotAllowed, NotFound."""
    with Store.open_existing(place.database) as store:
        project = state_rights(store, named_project(store, settings.name, settings.uid), settings)
        if settings.out is not None:
            refuse_out(project, settings.out, place.password, locked=not text_may_leave(project))
        made, new = _release_of(store, project, settings, place)
        if not new and settings.out is None:
            message = N_(
                "Release {version} already exists. Use --out to write it to a folder, or give another version to"
                " create a new one."
            )
            raise Refused(message, version=made.version)
        out = settings.out
        if out is not None:
            package = not settings.without_package
            out = write_release(store, project, made, out, password=place.password, package=package)
        return Made(made, new, out)


def state_rights(store: Store, project: Project, settings: Settings) -> Project:
    """Store licence and source of a project where they are given."""
    stated = {"licence": settings.licence, "source_statement": settings.statement}
    fields = {key: value.strip() for key, value in stated.items() if value is not None}
    return change_project(store, project, author=settings.author, **fields) if fields else project


def _release_of(store: Store, project: Project, settings: Settings, place: Place) -> tuple[Release, bool]:
    """Return the release with that version, made if needed, and whether it was made."""
    try:
        return release(store, project, settings.version), False
    except NotFound:
        refuse_unready(store, project)  # what is missing is said first
        reason = checked_reason(store, project, settings.reason)
        made = make_release(
            store, project, settings.version, author=settings.author, notes=settings.notes, reason=reason,
            progress=place.progress,
        )  # fmt: skip
        return made, True


def _released(settings: Settings, place: Place) -> Released:
    made = run(settings, place).release
    return Released(made.version, made.hash, made.items, made.labels)


RELEASE = JobKind("release", Settings, Released, _released)
