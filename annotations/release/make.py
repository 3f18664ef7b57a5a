"""Making a release: compose and freeze its files from a snapshot, while people go on labelling.

It is written as a folder or an archive, completely or not at all, with texts encrypted if necessary.
"""

import os
import zipfile
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from evenhand.annotations.database.backup import snapshot
from evenhand.annotations.database.hash_chain import hash_of_items, imports_without_entry, record_items
from evenhand.annotations.database.store import Store
from evenhand.annotations.plan.recount import finish_recount
from evenhand.annotations.projects.annotators import annotators, by_uid, pseudonyms
from evenhand.annotations.projects.projects import change_project, named_project, project_by_uid
from evenhand.annotations.release.files import Composer, DraftRelease
from evenhand.annotations.release.readiness import checked_creators, checked_reason, checked_version, refuse_unready
from evenhand.annotations.release.stored_releases import (
    Release,
    ReleaseItem,
    refuse_taken,
    release,
    release_files,
    releases,
    reviewed_items,
    store_release,
)
from evenhand.annotations.text_policy import checked_password, packed, text_may_leave
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadFile, NotAllowed, NotFound, Refused
from evenhand.core.files.atomic_file import make_folder, new_file, refused, whole_path
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.runs.kinds import JobKind, Place

TEXTS = "texts.zip"  # in a folder: encrypted files with text
DAY = (1980, 1, 1, 0, 0, 0)  # of every file, so that the same release gives the same archive
PACKAGE = "package/"
SECONDS = 900  # of processor time


def write_release(
    store: Store, project: Project, release: Release, out: Path, *, password: str | None = None, package: bool = True
) -> Path:
    """Write the files of *release* to *out*: a new or empty folder, or a new .zip file.

    Text that may not leave in plain goes into an encrypted archive: `texts.zip` in a folder, or the whole .zip.
    `package`: with the folder that Evenhand can import; it reveals known answers and the random share. Raises Refused
    if a password is needed, NotAllowed if *out* exists.
    """
    refuse_out(project, out, password, locked=bool(locked_texts(project, release)))
    if out.suffix.lower() == ".zip":
        archive = release_archive(store, project, release, password, package=package)
        with refused(out), whole_path(out) as part, new_file(part) as file:
            file.write(archive)
        return out
    files = leaving_files(store, project, release, password, package=package)
    with refused(out), whole_path(out) as part:
        make_folder(part)
        for name, content in files.items():
            make_folder((part / name).parent)
            with new_file(part / name) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
    return out


def refuse_out(project: Project, out: Path, password: str | None, *, locked: bool) -> None:
    """Raise NotAllowed or Refused if *out* cannot be written; call it before a release is made.

    `locked`: whether the release holds text that may not leave in plain.
    """
    if out.exists() and (out.suffix.lower() == ".zip" or not out.is_dir() or any(out.iterdir())):
        message = N_("{path} already exists. Choose another name: a release never overwrites anything.")
        raise NotAllowed(message, path=str(out))
    if not out.absolute().parent.is_dir():
        raise BadFile(N_("There is no folder {path}."), path=str(out.absolute().parent))
    if locked:
        _password(project, password)


def leaving_files(
    store: Store, project: Project, release: Release, password: str | None, *, package: bool = True
) -> dict[str, bytes]:
    """Return the content of the files for a folder by name. Raises Refused if protected text would be unencrypted."""
    files = _selected_files(release_files(store, release), package)
    locked = locked_texts(project, release) & files.keys()
    if not locked:
        return files
    secret = _password(project, password)
    inner = packed({name: files[name] for name in sorted(locked)}, secret)
    return {name: content for name, content in files.items() if name not in locked} | {TEXTS: inner}


def release_archive(
    store: Store, project: Project, release: Release, password: str | None, *, package: bool = True
) -> bytes:
    """Return all files in one ZIP, encrypted with a password; without one always the same bytes.

    Raises Refused if protected text would be unencrypted.
    """
    files = _selected_files(release_files(store, release), package)
    if password or locked_texts(project, release):
        return packed(files, _password(project, password))
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, DAY), files[name], zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def archive_elsewhere(
    store: Store, project: Project, release: Release, password: str | None, *, package: bool = True
) -> bytes:
    """Return `release_archive`, made in a child process, so that the server is not blocked."""
    name = f"{project.name} {release.version}"
    return run_bounded(_archive_of, store.path, project, release, password, package, file=name, seconds=SECONDS)


def _archive_of(path: Path, project: Project, release: Release, password: str | None, package: bool) -> bytes:
    with Store.open(path) as store:
        return release_archive(store, project, release, password, package=package)


def locked_texts(project: Project, release: Release) -> set[str]:
    """Return the files that may only be exported encrypted: those with text, if the project's text is protected."""
    return set() if text_may_leave(project) else set(release.facts["text_in"])


def _selected_files(files: Mapping[str, bytes], package: bool) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if package or not name.startswith(PACKAGE)}


def _password(project: Project, password: str | None) -> str:
    if password is None:
        message = N_(
            "The texts of {project} can only be exported encrypted. Give a password (on the command line"
            " --password, or EVENHAND_PASSWORD)."
        )
        raise Refused(message, project=project.name)
    return checked_password(password)


LONGEST_NOTES = 4_000
FILES = 36  # about as many as a release has, for a progress bar
Progress = Callable[[int, int], None]


def make_release(
    store: Store,
    project: Project,
    version: str,
    *,
    author: str = "",
    notes: str = "",
    reason: str = "",
    creators: Sequence[str] = (),
    progress: Progress | None = None,
) -> Release:
    """Freeze the present state of *project* as *version*. The project may change at once; the release never does.

    `reason`: why it is released although something speaks against it (`readiness.to_explain`); for the data sheet.
    `creators`: who is cited, "Family, Given" or an organisation; those of the release before if none.

    Raises Refused with what is missing (licence, source statement, a kept item) or open (an import, a pilot), or with
    the items whose gold label or status does not follow from their labels and decisions; NotAllowed if that version
    exists.
    """
    version = checked_version(version)
    if max(len(notes), len(reason)) > LONGEST_NOTES:
        raise Refused(N_("The notes exceed {most} characters."), most=LONGEST_NOTES)
    creators = checked_creators(creators)
    refuse_taken(store, project, version)
    finish_recount(store, project)  # gold labels under the present settings
    for batch, created in imports_without_entry(store.db, project.id):
        hashed = hash_of_items(store.db, batch)
        with store.write() as db:
            record_items(db, batch, created, hashed)
    with snapshot(store) as seen:
        stored_project = project_by_uid(seen, project.uid)
        refuse_unready(seen, stored_project, whole=True)
        last = next(reversed(releases(seen, stored_project)), None)
        counted = [0]

        def step(_name: str) -> None:
            counted[0] += 1
            if progress is not None:
                progress(min(counted[0], FILES - 1), FILES)

        made = Composer(seen, stored_project, step).compose(version, notes.strip(), reason.strip(), last, creators)
        codes = by_uid(annotators(seen, stored_project, active=False), pseudonyms(seen, stored_project))
        items = _reviewed(seen, stored_project)
    return _stored(store, stored_project, made, codes, items, author)


def _reviewed(store: Store, project: Project) -> Iterator[ReleaseItem]:
    """Yield the items of the release, read now and held in 16 bytes each: as rows, a million takes 200 MB."""
    ids, states = array("q"), list[tuple[str, str | None]]()
    alike: dict[tuple[str, str | None], tuple[str, str | None]] = {}
    for item, status, gold in reviewed_items(store, project):
        ids.append(item)
        states.append(alike.setdefault((status, gold), (status, gold)))
    return ((item, *state) for item, state in zip(ids, states, strict=True))


def _stored(
    store: Store, project: Project, made: DraftRelease, codes: dict[str, str], items: Iterator[ReleaseItem], author: str
) -> Release:
    facts = made.facts
    values = {
        "version": facts["release"]["version"],
        "hash": facts["release"]["hash"],
        "items": facts["quantities"]["items.kept"]["value"],
        "labels": facts["quantities"]["labels.valid"]["value"],
        "facts": facts | {"codes": codes},  # codes stay in the database: no file maps them to people
        "author": author.strip(),
    }
    return store_release(store, project, values, made.files, items)


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
    creators: tuple[str, ...] = ()
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
            creators=settings.creators, progress=place.progress,
        )  # fmt: skip
        return made, True


def _released(settings: Settings, place: Place) -> Released:
    made = run(settings, place).release
    return Released(made.version, made.hash, made.items, made.labels)


RELEASE = JobKind("release", Settings, Released, _released)
