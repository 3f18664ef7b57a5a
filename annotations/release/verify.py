"""Verification of a release in a folder or archive: every byte, the hash of its contents, the database."""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BufferedIOBase, BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

import pyzipper  # type: ignore[import-untyped]

from evenhand.annotations.database.store import Store
from evenhand.annotations.release.changes import PARTS
from evenhand.annotations.release.content_hash import content_hash, contents_of
from evenhand.annotations.release.files import FACTS, FORMAT, SUMS
from evenhand.annotations.release.frozen_gold import FrozenGold, check_frozen_gold
from evenhand.annotations.release.records import LOG_HEAD, Release, file_facts
from evenhand.annotations.release.write_out import PACKAGE, TEXTS
from evenhand.core.errors import N_, BadFile, EvenhandError, NotFound

OF_A_DOWNLOAD = (".gitattributes", ".git", ".cache")  # what the Hugging Face hub and its clients put beside the files
CHANGED, MISSING, ADDED, OTHER, LATER, STALE = "changed", "missing", "added", "other", "not in the log", "stale"
GOLD = f"{PACKAGE}gold.jsonl"
Opener = Callable[[], BufferedIOBase]


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification.

    `problems`: (file, kind): "changed" (differs from SHA256SUMS), "missing", "added" (unknown), "other" (differs from
    the database), "not in the log" (the log of the database lacks the entry that the release names) and "stale" (of the
    gold labels: items in `gold`). `unread`: files that are encrypted or were left out on purpose. `hash`: as the
    release states it; `found`: of its contents, None if they cannot be read. `known`: whether a release of the database
    was compared too. `gold`: then, whether its gold labels follow from the labels and decisions in the database.
    """

    version: str
    hash: str
    found: str | None
    files: int
    problems: tuple[tuple[str, str], ...]
    unread: tuple[str, ...]
    known: bool
    gold: FrozenGold | None = None

    @property
    def intact(self) -> bool:
        """Whether all files that could be read are correct."""
        return not self.problems and self.found in (None, self.hash)


def verify(path: Path, *, password: str | None = None, store: Store | None = None, release: Release | None = None) -> (
    Verification
):  # fmt: skip
    """Check a release in a folder or .zip; with *store* and *release* also against the database.

    Raises NotFound if there is nothing at *path*, BadFile if it is no release or an archive that does not open.
    """
    files = _folder(path) if path.is_dir() else _archive(path, password)
    if TEXTS in files and password is not None:
        with files.pop(TEXTS)() as locked_file:
            files |= _unlocked(locked_file, password, TEXTS)
    facts = _release_facts(files, path)
    locked = TEXTS in files
    sums = _sums(files, path)
    problems: list[tuple[str, str]] = []
    unread = _left_out(files, sums, facts["text_in"] if locked else [])
    digests = {name: _digest(opened) for name, opened in files.items() if name != TEXTS}
    for name, digest in sums.items():
        if name not in files and name not in unread:
            problems.append((name, MISSING))
        elif name in files and digests[name] != digest:
            problems.append((name, CHANGED))
    problems += [(name, ADDED) for name in digests if name not in sums and name != SUMS]
    gold: FrozenGold | None = None
    if store is not None and release is not None:
        gold = check_frozen_gold(store, release)
        problems += [(LOG_HEAD, LATER)] if gold.log_known is False else []
        problems += [(GOLD, STALE)] if gold.stale else []
        frozen = {one.name: one.sha256 for one in file_facts(store, release)}
        seen = {name for name, _ in problems}
        problems += [(n, OTHER) for n, digest in digests.items() if n not in seen and frozen.get(n) != digest]
    found = _contents(files)
    about = facts["release"]
    return Verification(about["version"], about["hash"], found, len(digests), tuple(sorted(problems)),
                        tuple(sorted(unread)), release is not None, gold)  # fmt: skip


def _digest(opened: Opener) -> str:
    with opened() as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(opened: Opener) -> bytes:
    with opened() as file:
        return file.read()


def _rows(opened: Opener) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; one line at a time is in memory."""
    with opened() as file:
        yield from (json.loads(line.decode()) for line in file if line != b"\n")


def _left_out(files: dict[str, Opener], sums: dict[str, str], locked: list[str]) -> set[str]:
    absent = {name for name in sums if name not in files}
    package = {name for name in sums if name.startswith(PACKAGE)}
    # The package may be left out as a whole, but not in part.
    return (absent & set(locked)) | (package if package <= absent | set(locked) else set())


def _release_facts(files: dict[str, Opener], path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(_read(files[FACTS]))
        if facts["format"] != FORMAT or not {"version", "hash"} <= facts["release"].keys():
            raise BadFile(_NONE, path=str(path))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadFile(_NONE, path=str(path)) from error
    checked: dict[str, Any] = facts
    return checked


_NONE = N_("{path} is not an Evenhand release: its release.json or SHA256SUMS is missing or does not match.")


def _sums(files: dict[str, Opener], path: Path) -> dict[str, str]:
    try:
        lines = _read(files[SUMS]).decode().splitlines()
        return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    except (KeyError, UnicodeDecodeError) as error:
        raise BadFile(_NONE, path=str(path)) from error


def _contents(files: dict[str, Opener]) -> str | None:
    names = [f"{PACKAGE}{name}" for name in PARTS]
    if not set(names) <= files.keys():
        return None
    try:
        return content_hash(contents_of(*(_rows(files[name]) for name in names)).entries.values())
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""  # not a valid package: the file is among the problems


def _folder(path: Path) -> dict[str, Opener]:
    found = {one.relative_to(path): _opener(one) for one in sorted(path.rglob("*")) if one.is_file()}
    return {name.as_posix(): opened for name, opened in found.items() if name.parts[0] not in OF_A_DOWNLOAD}


def _opener(path: Path) -> Opener:
    return lambda: path.open("rb")


def _archive(path: Path, password: str | None) -> dict[str, Opener]:
    if not path.exists():
        raise NotFound(N_("There is no file {path}."), path=str(path))
    with path.open("rb") as file:
        return _unlocked(file, password, path.name)


def _unlocked(file: BufferedIOBase, password: str | None, name: str) -> dict[str, Opener]:
    """The files of an archive, unpacked in memory: a damaged one is found before anything is said of it."""
    try:
        with pyzipper.AESZipFile(file) as archive:
            secret = password.encode() if password else None
            contents = {
                info.filename: archive.read(info.filename, pwd=secret)
                for info in archive.infolist()
                if not info.is_dir() and ".." not in PurePosixPath(info.filename).parts
            }
    except RuntimeError as error:  # raised for a missing or wrong password
        message = (
            N_("Wrong password for {file}.")
            if password
            else N_("{file} is encrypted. Give its password (on the command line: EVENHAND_PASSWORD).")
        )
        raise BadFile(message, file=name) from error
    except (zipfile.BadZipFile, pyzipper.BadZipFile, OSError, ValueError, EvenhandError) as error:
        raise BadFile(N_("{file} is a damaged archive ({why})."), file=name, why=str(error)) from error
    return {each: partial(BytesIO, content) for each, content in contents.items()}
