"""Guidelines in versions that never change."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from sqlite3 import Connection
from typing import NamedTuple

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.reason_keys import DESK_KEYS, with_keys
from evenhand.annotations.guideline.scheme import OwnScheme, check_scheme, more_in, more_out, scheme_text
from evenhand.annotations.types import Choice, Guideline, Kind, Project, Scheme
from evenhand.core.errors import N_, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.guidelines import builtin, generations

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


def guidelines(store: Store, project: Project) -> list[Guideline]:
    """Return every version, oldest first. Its reasons have the keys of the desk (`reason_keys`)."""
    rows = store.db.execute(
        "SELECT id, version, text, choices, reasons, created, changes, content FROM guideline"
        " LEFT JOIN scheme ON scheme.guideline = guideline.id WHERE project = ? ORDER BY version",
        (project.id,),
    )
    return [
        Guideline(
            row_id, version, text, _options(choices), _reasons(project.kind, reasons, scheme), created, changes,
            _scheme(scheme),
        )
        for row_id, version, text, choices, reasons, created, changes, scheme in rows
    ]  # fmt: skip


def add_guideline(
    store: Store,
    project: Project,
    text: str,
    choices: Sequence[Choice],
    reasons: Sequence[Choice],
    *,
    changes: str = "",
    created: str | None = None,
    scheme: Scheme | None = None,
) -> Guideline:
    """Store a changed guideline as the next version; labels keep the version they were made under.

    `scheme`: of an own scheme what it has beside choices and flags; None: the built-in one. `changes`: what is new,
    shown to annotators at their desk; "": no text beside the new version. `created`: when an imported version was
    written (UTC, ISO 8601); None: now. Raises Refused if labels could not be made with these choices and reasons.
    """
    check_options(project.kind, choices, reasons, scheme)
    with store.write() as db:
        query = "SELECT coalesce(max(version), 0) + 1 FROM guideline WHERE project = ?"
        version = int(db.execute(query, (project.id,)).fetchone()[0])
        insert_guideline(store, project, version, text, choices, reasons, changes, created, scheme)
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
    kind: Kind,
    language: str,
    text: str | None,
    choices: Sequence[Choice] | None,
    reasons: Sequence[Choice] | None,
    scheme: Scheme | None = None,
) -> tuple[str, Sequence[Choice], Sequence[Choice]]:
    """Text, choices and reasons, by default those of the built-in guideline (for sentences: the journal's).

    With a *scheme*, whose choices and flags must be there, the text says by default what it has.
    """
    if scheme is not None:
        own = OwnScheme(tuple(choices or ()), tuple(reasons or ()), scheme)
        return scheme_text(own, language) if text is None else text, own.choices, own.flags
    built = generations(language) if kind == "generations" else builtin("journal", language)
    if choices is None:
        choices = [Choice(o.code, o.key, o.zh, o.en) for o in built.choices]
    if reasons is None:
        reasons = [Choice(o.code, o.key, o.zh, o.en) for o in built.reasons]
    return built.text if text is None else text, choices, reasons


def check_options(
    kind: Kind, choices: Sequence[Choice], reasons: Sequence[Choice], scheme: Scheme | None = None
) -> None:
    """Raise Refused unless labels can be made with these: choices of this kind, unique codes and keys.

    With a *scheme* the choices are the project's own, and the reasons are its flags.
    """
    if scheme is not None:
        if kind != "generations":
            raise Refused(N_("Only projects of generations can have a scheme of their own."))
        check_scheme(choices, reasons, scheme)
        return
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


def choice_codes(store: Store, project: Project) -> tuple[str, ...]:
    """What a label of the project can be, and what one of an older version was: codes, the newest version first."""
    versions = guidelines(store, project)
    found = dict.fromkeys(choice.code for version in reversed(versions) for choice in version.choices)
    if versions[-1].scheme is None:
        found |= dict.fromkeys(CHOICES[project.kind])
    return tuple(found)


OWN_SCHEME = N_("{project} has a scheme of its own, but this needs the four built-in labels.")


def newest_scheme(store: Store, project: Project) -> Scheme | None:
    """Return the scheme of the newest version of the guideline; None: it is the built-in one."""
    query = (
        "SELECT content FROM current_guideline AS one JOIN scheme ON scheme.guideline = one.id WHERE one.project = ?"
    )
    return _scheme(store.value(query, (project.id,)))


def has_own_scheme(store: Store, project: Project) -> bool:
    """Return whether the newest version of the guideline has a scheme of the project's own."""
    return newest_scheme(store, project) is not None


def refuse_own_scheme(store: Store, project: Project) -> None:
    """Raise Refused where labels need not be the four of the built-in scheme."""
    if has_own_scheme(store, project):
        raise Refused(OWN_SCHEME, project=project.name)


@lru_cache(maxsize=256)
def _scheme(stored: str | None) -> Scheme | None:
    return None if stored is None else more_in(json.loads(stored))


@lru_cache(maxsize=256)
def _reasons(kind: Kind, stored: str, scheme: str | None) -> tuple[Choice, ...]:
    """The reasons with the keys of the desk; flags of an own scheme as they are: one without a key is clicked."""
    found = _options(stored)
    return found if scheme is not None else with_keys(kind, found)


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
    scheme: Scheme | None = None,
) -> None:
    """Store a version, inside the caller's transaction; `created` None: now. Raises Refused where the items that the
    project has are comparisons and those of the version are none, or the other way round."""
    _refuse_other_items(store.db, project, scheme)
    packed = [json.dumps([asdict(option) for option in options], ensure_ascii=False) for options in (choices, reasons)]
    row = store.db.execute(
        "INSERT INTO guideline (project, version, text, choices, reasons, changes, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (project.id, version, text, *packed, changes.strip(), created or timestamp()),
    ).lastrowid
    if scheme is not None:
        content = json.dumps(more_out(scheme), ensure_ascii=False)
        store.db.execute("INSERT INTO scheme (guideline, content) VALUES (?, ?)", (row, content))


def _refuse_other_items(db: Connection, project: Project, scheme: Scheme | None) -> None:
    query = "SELECT second IS NOT NULL FROM item WHERE project = ? LIMIT 1"
    row = db.execute(query, (project.id,)).fetchone()
    if row is None or bool(row[0]) == (scheme is not None and scheme.compares):
        return
    if row[0]:
        message = N_("{project} holds comparisons, so its scheme must be one of comparisons.")
        raise Refused(message, project=project.name)
    message = N_("{project} holds single texts. For comparisons, create a project with the scheme “preference”.")
    raise Refused(message, project=project.name)


def mark_read(db: Connection, project: Project, annotator: int, version: int) -> bool:
    """Record that an annotator (row id) has read the changes up to *version*; False: that was recorded before."""
    query = "UPDATE member SET told = ? WHERE project = ? AND annotator = ? AND told < ?"
    return bool(db.execute(query, (version, project.id, annotator, version)).rowcount)
