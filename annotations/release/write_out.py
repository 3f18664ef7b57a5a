"""Writing a release as a folder or an archive, whole or not at all, with texts encrypted if necessary."""

import os
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from evenhand.annotations.database.store import Store
from evenhand.annotations.release.records import Release, release_files
from evenhand.annotations.text_policy import checked_password, packed, text_may_leave
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadFile, NotAllowed, Refused
from evenhand.core.files.bounded import run_bounded
from evenhand.core.files.whole_file import make_folder, new_file, refused, whole_path

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
    """Name -> content of the files for a folder. Raises Refused if protected text would leave in plain."""
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
    """All files in one ZIP, encrypted with a password; without one always the same bytes.

    Raises Refused if protected text would leave in plain.
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
    """`release_archive`, made in a child: the server goes on meanwhile."""
    name = f"{project.name} {release.version}"
    return run_bounded(_archive_of, store.path, project, release, password, package, file=name, seconds=SECONDS)


def _archive_of(path: Path, project: Project, release: Release, password: str | None, package: bool) -> bytes:
    with Store.open(path) as store:
        return release_archive(store, project, release, password, package=package)


def locked_texts(project: Project, release: Release) -> set[str]:
    """The files that may only leave encrypted: those with text, if the text of the project is protected."""
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
