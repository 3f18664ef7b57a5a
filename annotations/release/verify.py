"""Verification of a release in a folder or archive, or as it is frozen: the checks of `proof.checks`.

Gold labels are checked against the published labels, and against all labels of the database, by the code that decides
gold.
"""

import hashlib
import json
import zipfile
from collections import Counter
from dataclasses import dataclass
from functools import partial
from io import BufferedIOBase, BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

import pyzipper  # type: ignore[import-untyped]

from evenhand.annotations.database.schema.log_kinds import KINDS
from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.items.check_derived import item_states
from evenhand.annotations.items.wanted_labels import open_recount
from evenhand.annotations.release.files import FACTS, FORMAT, SUMS
from evenhand.annotations.release.make import PACKAGE, TEXTS
from evenhand.annotations.release.proof.checks import CHECKS, Difference, Result, State
from evenhand.annotations.release.proof.published import DASH, Opener, Published, Stated
from evenhand.annotations.release.proof.recount import compared, recount, same, unchecked
from evenhand.annotations.release.stored_releases import (
    LOG_HEAD,
    Release,
    file_facts,
    frozen_state,
    has_changed_pilot,
    log_head_of,
    project_changes,
    project_of,
    release_file,
    touched_items,
)
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadFile, EvenhandError, NotFound

# Settings that decide gold: what was frozen under others cannot be decided again from the present ones.
RULES = ("per_item", "gold", "rescue", "doubled", "plan", "share", "seed")


@dataclass(frozen=True, slots=True)
class FrozenGold:
    """The check of the gold labels of a release.

    `stale`: public ids of items that do not follow from their labels and decisions, in the release or in the database
    now. `unchecked`: items of the release that could not be decided again, because a label, a decision or a setting
    has changed since. `log_known`: whether the log still holds the entry that was the last one at the release; None
    if the release does not name it.
    """

    stale: tuple[str, ...]
    unchecked: int
    log_known: bool | None


@consistent_read
def check_frozen_gold(store: Store, release: Release) -> FrozenGold:
    """Decide the gold label and status of each item again, and compare them with the release and the database."""
    project, head = project_of(store, release), log_head_of(store, release)
    entry = head and head.entry
    # Which items are in a doubly labelled sample depends on every later import too.
    comparable = entry is not None and project.doubled is None and not _rules_changed(store, project, entry)
    touched = touched_items(store, entry) if comparable and entry is not None else set[int]()
    recounting = open_recount(store, project) is not None
    stale: list[str] = []
    unchecked = 0
    for state in item_states(store, project):
        due = state.recounted.status, state.recounted.gold
        frozen = frozen_state(store, release, state.id)
        reviewed = frozen is not None or due != ("pending", None)
        if not recounting and state.stored != state.recounted:
            stale.append(state.item)
        elif not comparable or state.id in touched:
            unchecked += frozen is not None
        elif reviewed and (frozen or ("pending", None)) != due:
            stale.append(state.item)
    return FrozenGold(tuple(stale), unchecked, None if head is None else entry is not None)


def _rules_changed(store: Store, project: Project, entry: int) -> bool:
    """Return whether a setting that decides gold, or a pilot, has changed after an entry."""
    columns = next(kind.watched for kind in KINDS if kind.table == "project")
    places = [columns.index(name) for name in RULES]
    return has_changed_pilot(store, project, entry) or any(
        before is None or any(before[place] != after[place] for place in places)
        for before, after in project_changes(store, project, entry)
    )


OF_A_DOWNLOAD = (".gitattributes", ".git", ".cache")  # what the Hugging Face hub and its clients add to the files
CHANGED, MISSING, ADDED, OTHER, LATER, STALE = "changed", "missing", "added", "other", "not in the log", "stale"
GOLD = f"{PACKAGE}gold.jsonl"


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification.

    `problems`: (file, kind): "changed" (differs from SHA256SUMS), "missing", "added" (unknown), "other" (differs from
    the database), "not in the log" (the log of the database lacks the entry that the release names) and "stale" (of the
    gold labels: items in `gold`). `unread`: files that are encrypted or were left out on purpose. `hash`: as the
    release states it; `found`: of its contents, None if they cannot be read. `known`: whether a release of the database
    was compared too. `gold`: then, whether its gold labels follow from the labels and decisions in the database.
    `checks`: the result of every check of the list, in its order.
    """

    version: str
    hash: str
    found: str | None
    files: int
    problems: tuple[tuple[str, str], ...]
    unread: tuple[str, ...]
    known: bool
    gold: FrozenGold | None
    checks: tuple[Result, ...]

    @property
    def intact(self) -> bool:
        """Tell whether no check found a difference."""
        return not self.problems and all(result.state != "different" for result in self.checks)


def verify(path: Path, *, password: str | None = None, store: Store | None = None, release: Release | None = None) -> (
    Verification
):  # fmt: skip
    """Check a release in a folder or .zip; with *store* and *release* also against the database.

    Raises NotFound if nothing exists at *path*, and BadFile if it is not a release or an archive does not open.
    """
    files = _folder(path) if path.is_dir() else _archive(path, password)
    if TEXTS in files and password is not None:
        with files.pop(TEXTS)() as locked_file:
            files |= _unlocked(locked_file, password, TEXTS)
    return _verified(files, str(path), store, release)


def verify_frozen(store: Store, release: Release) -> Verification:
    """Check a release as the database holds it. Raises BadFile if the content of a file differs from the frozen one."""
    names = [file_fact.name for file_fact in file_facts(store, release)]
    files: dict[str, Opener] = {name: partial(_frozen_file, store, release, name) for name in names}
    return _verified(files, release.version, store, release)


def _frozen_file(store: Store, release: Release, name: str) -> BytesIO:
    return BytesIO(release_file(store, release, name))


def _verified(files: dict[str, Opener], path: str, store: Store | None, release: Release | None) -> Verification:
    facts = _release_facts(files, path)
    published = Published(files, facts, TEXTS in files)
    sums = _sums(files, path)
    unread = _left_out(files, sums, facts["text_in"] if published.locked else [])
    digests = {name: _digest(opened) for name, opened in files.items() if name != TEXTS}
    problems = _file_problems(sums, digests, unread)
    results = [_sums_result(published, sums, digests, unread), *recount(published)]
    gold: FrozenGold | None = None
    if store is None or release is None:
        results += [unchecked(check.id, "absent") for check in CHECKS if check.place == "server"]
    else:
        gold = check_frozen_gold(store, release)
        frozen = {file_fact.name: file_fact.sha256 for file_fact in file_facts(store, release)}
        seen = {name for name, _ in problems}
        problems += [(n, OTHER) for n, digest in digests.items() if n not in seen and frozen.get(n) != digest]
        problems += [(LOG_HEAD, LATER)] if gold.log_known is False else []
        problems += [(GOLD, STALE)] if gold.stale else []
        results += _database_results(gold, frozen, digests)
    content = next(result for result in results if result.check == "content.hash")
    found = "" if content.reason == "damaged" else content.found
    about = facts["release"]
    return Verification(about["version"], about["hash"], found, len(digests), tuple(sorted(problems)),
                        tuple(sorted(unread)), release is not None, gold, tuple(results))  # fmt: skip


def _file_problems(sums: dict[str, str], digests: dict[str, str], unread: set[str]) -> list[tuple[str, str]]:
    problems = [(name, MISSING) for name in sums if name not in digests and name not in unread]
    problems += [(name, CHANGED) for name, digest in sums.items() if digests.get(name, digest) != digest]
    return problems + [(name, ADDED) for name in digests if name not in sums and name != SUMS]


def _sums_result(published: Published, sums: dict[str, str], digests: dict[str, str], unread: set[str]) -> Result:
    stated = {name: digest for name, digest in sums.items() if name not in unread}
    found = {name: digest for name, digest in digests.items() if name != SUMS}
    reasons = Counter("locked" if published.missing(name) == "locked" else "left_out" for name in unread)
    return compared("files.sums", stated, found, reasons)


def _database_results(gold: FrozenGold, frozen: dict[str, str], digests: dict[str, str]) -> list[Result]:
    """Return the results of the checks that need the database; files that are not in the folder are not compared."""
    files = compared("database.files", {name: frozen.get(name, DASH) for name in digests}, digests)
    stale = tuple(Difference(item, DASH, DASH) for item in gold.stale)
    reason = "changed" if gold.unchecked else ""
    state: State = "different" if stale else "equal"
    derived = Result("database.gold", state, 0, len(stale), stale, reason, gold.unchecked)
    if gold.log_known is None:
        return [files, derived, unchecked("database.log", "unstated")]
    return [files, derived, same("database.log", True, gold.log_known)]


def _digest(opened: Opener) -> str:
    with opened() as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(opened: Opener) -> bytes:
    with opened() as file:
        return file.read()


def _left_out(files: dict[str, Opener], sums: dict[str, str], locked: list[str]) -> set[str]:
    absent = {name for name in sums if name not in files}
    package = {name for name in sums if name.startswith(PACKAGE)}
    # The package may be left out as a whole, but not in part.
    return (absent & set(locked)) | (package if package <= absent | set(locked) else set())


def _release_facts(files: dict[str, Opener], path: str) -> dict[str, Any]:
    try:
        facts = json.loads(_read(files[FACTS]), object_hook=Stated)
        if facts["format"] != FORMAT or not {"version", "hash"} <= facts["release"].keys():
            raise BadFile(_NONE, path=path)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadFile(_NONE, path=path) from error
    checked: dict[str, Any] = facts
    return checked


_NONE = N_("{path} is not an Evenhand release: its release.json or SHA256SUMS is missing or does not match.")


def _sums(files: dict[str, Opener], path: str) -> dict[str, str]:
    try:
        lines = _read(files[SUMS]).decode().splitlines()
        return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    except (KeyError, UnicodeDecodeError) as error:
        raise BadFile(_NONE, path=path) from error


def _folder(path: Path) -> dict[str, Opener]:
    result = {one.relative_to(path): _opener(one) for one in sorted(path.rglob("*")) if one.is_file()}
    return {name.as_posix(): opened for name, opened in result.items() if name.parts[0] not in OF_A_DOWNLOAD}


def _opener(path: Path) -> Opener:
    return lambda: path.open("rb")


def _archive(path: Path, password: str | None) -> dict[str, Opener]:
    if not path.exists():
        raise NotFound(N_("There is no file {path}."), path=str(path))
    with path.open("rb") as file:
        return _unlocked(file, password, path.name)


def _unlocked(file: BufferedIOBase, password: str | None, name: str) -> dict[str, Opener]:
    """Return the files of an archive, unpacked in memory, so that damage is found before anything is reported."""
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
