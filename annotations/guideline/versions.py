"""Guidelines in versions that never change."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from sqlite3 import Connection
from typing import NamedTuple

from annotations.database.store import Store
from annotations.types import Choice, Guideline, Kind, Project
from core.errors import N_, NotFound, Refused
from core.files.timestamps import timestamp
from core.guidelines import builtin, generations

# Letters that the desk uses itself; see annotations/desk/static/keys.js and generations_keys.js.
DESK_KEYS: dict[Kind, str] = {"sentences": "SUXNHO", "generations": "FMBTNXUH"}

CHOICES: dict[Kind, tuple[str, ...]] = {
    "sentences": ("accept", "reject"),
    "generations": ("correct", "misgendering", "no_pronoun", "plural_they"),
}


def guideline(store: Store, project: Project, version: int | None = None) -> Guideline:
    """One version of the guideline; None = the newest. Raises NotFound."""
    found = [each for each in guidelines(store, project) if version in (None, each.version)]
    if not found:
        raise NotFound(N_("This guideline has no version {version}."), version=version)
    return found[-1]


def newest_version(store: Store, project: Project) -> int:
    """The number of the newest version."""
    return int(store.db.execute("SELECT max(version) FROM guideline WHERE project = ?", (project.id,)).fetchone()[0])


def guidelines(store: Store, project: Project) -> list[Guideline]:
    """Every version, oldest first."""
    rows = store.db.execute(
        "SELECT id, version, text, choices, reasons, created, changes FROM guideline"
        " WHERE project = ? ORDER BY version",
        (project.id,),
    )
    return [
        Guideline(row_id, version, text, _options(choices), _options(reasons), created, changes)
        for row_id, version, text, choices, reasons, created, changes in rows
    ]


def add_guideline(
    store: Store,
    project: Project,
    text: str,
    choices: Sequence[Choice],
    reasons: Sequence[Choice],
    *,
    changes: str = "",
    created: str | None = None,
) -> Guideline:
    """Store a changed guideline as the next version; labels keep the version they were made under.

    `changes`: what is new, shown to annotators at their desk; "": no text beside the new version. `created`: when an
    imported version was written (UTC, ISO 8601); None: now. Raises Refused if labels could not be made with these
    choices and reasons.
    """
    check_options(project.kind, choices, reasons)
    with store.write() as db:
        query = "SELECT coalesce(max(version), 0) + 1 FROM guideline WHERE project = ?"
        version = int(db.execute(query, (project.id,)).fetchone()[0])
        insert_guideline(store, project, version, text, choices, reasons, changes, created)
    return guideline(store, project, version)


class ChangedCodes(NamedTuple):
    """Codes of choices and reasons that a version adds, drops or renames, in the order of a guideline."""

    added: tuple[str, ...]
    dropped: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def touched(self) -> frozenset[str]:
        """Codes that existing labels may name and whose meaning has changed."""
        return frozenset((*self.dropped, *self.changed))


def changed_codes(old: Iterable[Choice], new: Iterable[Choice]) -> ChangedCodes:
    """How the *new* choices or reasons differ from the *old* ones.

    A code is changed if its Chinese or English name differs; its key does not matter.
    """
    was, now = ({one.code: (one.zh.strip(), one.en.strip()) for one in options} for options in (old, new))
    return ChangedCodes(
        added=tuple(code for code in now if code not in was),
        dropped=tuple(code for code in was if code not in now),
        changed=tuple(code for code in was if code in now and was[code] != now[code]),
    )


def guideline_parts(
    kind: Kind, language: str, text: str | None, choices: Sequence[Choice] | None, reasons: Sequence[Choice] | None
) -> tuple[str, Sequence[Choice], Sequence[Choice]]:
    """Text, choices and reasons, by default those of the built-in guideline (for sentences: the journal's)."""
    built = generations(language) if kind == "generations" else builtin("journal", language)
    if choices is None:
        choices = [Choice(o.code, o.key, o.zh, o.en) for o in built.choices]
    if reasons is None:
        reasons = [Choice(o.code, o.key, o.zh, o.en) for o in built.reasons]
    return built.text if text is None else text, choices, reasons


def check_options(kind: Kind, choices: Sequence[Choice], reasons: Sequence[Choice]) -> None:
    """Raise Refused unless labels can be made with these: choices of this kind, unique codes and keys."""
    allowed = CHOICES[kind]
    if not choices or any(choice.code not in allowed for choice in choices):
        raise Refused(N_("The choices of this kind of project are {allowed}."), allowed=", ".join(allowed))
    for options in (choices, reasons):
        codes, keys = [o.code for o in options], [o.key.lower() for o in options if o.key]
        if len(set(codes)) < len(codes) or len(set(keys)) < len(keys) or not all(code.strip() for code in codes):
            raise Refused(N_("Every choice and reason needs its own code and key."))
        if any(";" in code for code in codes):
            raise Refused(N_("A code must not contain a semicolon: files join codes with it."))
    for choice in choices:  # a reason can be clicked; a choice needs a key
        key = choice.key.upper()
        if len(key) != 1 or not (key.isascii() and key.isalnum()) or key in DESK_KEYS[kind]:
            message = N_("{key} cannot be the key of a choice: use one letter or digit, but none of {taken}.")
            raise Refused(message, key=repr(choice.key), taken=", ".join(DESK_KEYS[kind]))


@lru_cache(maxsize=256)
def _options(stored: str) -> tuple[Choice, ...]:
    return tuple(Choice(**option) for option in json.loads(stored))


def insert_guideline(
    store: Store,
    project: Project,
    version: int,
    text: str,
    choices: Sequence[Choice],
    reasons: Sequence[Choice],
    changes: str = "",
    created: str | None = None,
) -> None:
    """Store a version, inside the caller's transaction; `created` None: now."""
    packed = [json.dumps([asdict(option) for option in options], ensure_ascii=False) for options in (choices, reasons)]
    store.db.execute(
        "INSERT INTO guideline (project, version, text, choices, reasons, changes, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (project.id, version, text, *packed, changes.strip(), created or timestamp()),
    )


def mark_read(db: Connection, project: Project, annotator: int, version: int) -> bool:
    """Record that an annotator (row id) has read the changes up to *version*; False: that was recorded before."""
    query = "UPDATE member SET told = ? WHERE project = ? AND annotator = ? AND told < ?"
    return bool(db.execute(query, (version, project.id, annotator, version)).rowcount)
