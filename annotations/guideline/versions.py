"""Guidelines in versions that never change: how they are stored and read, built-in ones and those of files.

A reject reason or tag keeps the key that its guideline names. One without a key, or with a key that no desk can type,
gets the next free key of `KEYS`; beyond these it is clicked.

Of a comparison, an item with two texts, a label says which one is better, or that neither is. It stores `first` or
`second` as the item has its texts. A desk shows them left and right in an order that is drawn for each annotator and
item, and knows no other: `mirrored` turns what it says into what is stored, and back.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from sqlite3 import Connection
from typing import Literal, NamedTuple

from evenhand.annotations.database.store import Store, insert
from evenhand.annotations.guideline.scheme import (
    FIRST,
    SECOND,
    TIE,
    OwnScheme,
    check_scheme,
    more_in,
    more_out,
    scheme_text,
)
from evenhand.annotations.types import Choice, Guideline, Kind, Project, Scheme
from evenhand.core.errors import N_, BadFile, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.guidelines import Option, Version, builtin, generations
from evenhand.core.resources import read_table
from evenhand.core.text.sentences import decode

# Letters that the desk uses itself; see annotations/desk/static/keys.js and generations_keys.js.
DESK_KEYS: dict[Kind, str] = {"sentences": "SUXNHO", "generations": "FMBTNXUH"}
# Letters that keep their meaning while reasons are chosen, or would be mistaken for the key of a choice.
RESERVED: dict[Kind, str] = {"sentences": f"{DESK_KEYS['sentences']}TJK", "generations": "T"}
# In the order in which they are given. Of generations digits are the keys of labels, so tags get letters.
KEYS: dict[Kind, str] = {
    "sentences": "1234567890" + "".join(name for name in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if name not in "SUXNHOTJK"),
    "generations": "".join(text for text in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if text not in DESK_KEYS["generations"]),
}
_NUMBERED = re.compile(r"^ {0,3}(\d{1,3})[.)]\s", re.MULTILINE)


def is_reachable(kind: Kind, key: str) -> bool:
    """Return whether a desk of this kind takes *key* for a reason: one letter or digit that it does not use itself."""
    return len(key) == 1 and key.isascii() and key.isalnum() and key.upper() not in RESERVED[kind]


def free_keys(kind: Kind, reasons: Sequence[Choice]) -> list[str]:
    """Return the keys of `KEYS` that none of the *reasons* has."""
    taken = {reason.key.upper() for reason in reasons}
    return [key for key in KEYS[kind] if key not in taken]


def with_keys(kind: Kind, reasons: Sequence[Choice]) -> tuple[Choice, ...]:
    """Return the *reasons* with a key each, as long as there are free ones."""
    free = iter(free_keys(kind, [reason for reason in reasons if is_reachable(kind, reason.key)]))
    return tuple(
        reason if is_reachable(kind, reason.key) else replace(reason, key=next(free, "")) for reason in reasons
    )


def clashing_numbers(
    before: str, text: str, old: Sequence[Choice], reasons: Sequence[Choice]
) -> list[tuple[int, Choice]]:
    """Return the numbers of list items that *text* has and *before* has not, whose key is an older reason's.

    At the desk such a number would choose that reason, not the criterion with this number in the text.
    """
    new = {int(number) for number in _NUMBERED.findall(text)} - {int(number) for number in _NUMBERED.findall(before)}
    known = {(choice.code, choice.key) for choice in old}
    by_key = {reason.key: reason for reason in reasons if (reason.code, reason.key) in known}
    keys = {number: "0" if number == 10 else str(number) for number in sorted(new)}
    return [(number, by_key[key]) for number, key in keys.items() if key in by_key]


CHOICES: dict[Kind, tuple[str, ...]] = {
    "sentences": ("accept", "reject"),
    "generations": ("correct", "misgendering", "no_pronoun", "plural_they"),
}


def guideline(store: Store, project: Project, version: int | None = None) -> Guideline:
    """Return one version of the guideline; None: the newest. Raises NotFound."""
    stored_guidelines = [
        stored_guideline
        for stored_guideline in guidelines(store, project)
        if version in (None, stored_guideline.version)
    ]
    if not stored_guidelines:
        raise NotFound(N_("This guideline has no version {version}."), version=version)
    return stored_guidelines[-1]


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

    `scheme`: the parts of an own scheme in addition to choices and flags; None: the built-in one. `changes`: the news,
    shown to annotators at their desk; "": no text about the new version. `created`: when an imported version was
    written (UTC, ISO 8601); None: now. Raises Refused if labels could not be made with these choices and reasons, or
    if only one of the project's items and the version is for comparisons.
    """
    check_options(project.kind, choices, reasons, scheme)
    packed = [json.dumps([asdict(option) for option in options], ensure_ascii=False) for options in (choices, reasons)]
    with store.write() as db:
        _refuse_other_items(db, project, scheme)
        query = "SELECT coalesce(max(version), 0) + 1 FROM guideline WHERE project = ?"
        version = store.value(query, (project.id,))
        row = insert(db, "guideline", {
            "project": project.id, "version": version, "text": text, "choices": packed[0], "reasons": packed[1],
            "changes": changes.strip(), "created": created or timestamp(),
        })  # fmt: skip
        if scheme is not None:
            insert(db, "scheme", {"guideline": row, "content": json.dumps(more_out(scheme), ensure_ascii=False)})
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
    """Return how the *new* choices or reasons differ from the *old* ones.

    A code is changed if its Chinese or English name differs; its key does not matter.
    """
    was, now = ({option.code: (option.zh.strip(), option.en.strip()) for option in options} for options in (old, new))
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
    """Return text, choices and reasons, by default those of the built-in guideline (for sentences: the journal's).

    With a *scheme*, which must have choices and flags, the default text describes it.
    """
    if scheme is not None:
        own = OwnScheme(tuple(choices or ()), tuple(reasons or ()), scheme)
        return scheme_text(own, language) if text is None else text, own.choices, own.flags
    built = generations(language) if kind == "generations" else builtin("journal", language)
    if choices is None:
        choices = _choices(built.choices)
    if reasons is None:
        reasons = _choices(built.reasons)
    return built.text if text is None else text, choices, reasons


def check_options(
    kind: Kind, choices: Sequence[Choice], reasons: Sequence[Choice], scheme: Scheme | None = None
) -> None:
    """Raise Refused unless labels can be made with these: choices of this kind, unique codes and keys.

    With a *scheme* the choices are the project's own, and the reasons are its flags.
    """
    if scheme is not None:
        if kind != "generations":
            raise Refused(N_("Only projects of generations can have a custom scheme."))
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


def every_choice(store: Store, project: Project, more: Iterable[str] = ()) -> tuple[Choice, ...]:
    """Return the choices of every version of the guideline, newest first, then the codes *more* by themselves."""
    result: dict[str, Choice] = {}
    for version in reversed(guidelines(store, project)):
        for choice in version.choices:
            result.setdefault(choice.code, choice)
    for code in more:
        result.setdefault(code, Choice(code, "", code, code))
    return tuple(result.values())


def choice_codes(store: Store, project: Project) -> tuple[str, ...]:
    """Return the codes that labels of the project can have under any version, the newest version first."""
    versions = guidelines(store, project)
    result = dict.fromkeys(choice.code for version in reversed(versions) for choice in version.choices)
    if versions[-1].scheme is None:
        result |= dict.fromkeys(CHOICES[project.kind])
    return tuple(result)


OWN_SCHEME = N_("{project} has a custom scheme, but this requires the four built-in labels.")


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
    """Raise Refused if labels need not be the four of the built-in scheme."""
    if has_own_scheme(store, project):
        raise Refused(OWN_SCHEME, project=project.name)


@lru_cache(maxsize=256)
def _scheme(stored: str | None) -> Scheme | None:
    return None if stored is None else more_in(json.loads(stored))


@lru_cache(maxsize=256)
def _reasons(kind: Kind, stored: str, scheme: str | None) -> tuple[Choice, ...]:
    """Return the reasons with the keys of the desk; flags of an own scheme unchanged: one without a key is clicked."""
    choices = _options(stored)
    return choices if scheme is not None else with_keys(kind, choices)


@lru_cache(maxsize=256)
def _options(stored: str) -> tuple[Choice, ...]:
    return tuple(Choice(**option) for option in json.loads(stored))


def _refuse_other_items(db: Connection, project: Project, scheme: Scheme | None) -> None:
    query = "SELECT second IS NOT NULL FROM item WHERE project = ? LIMIT 1"
    row = db.execute(query, (project.id,)).fetchone()
    if row is None or bool(row[0]) == (scheme is not None and scheme.compares):
        return
    if row[0]:
        message = N_("{project} holds comparisons, so its scheme must be a comparison scheme.")
        raise Refused(message, project=project.name)
    message = N_("{project} holds single texts. For comparisons, create a project with the scheme “preference”.")
    raise Refused(message, project=project.name)


def mark_read(db: Connection, project: Project, annotator: int, version: int) -> bool:
    """Record that an annotator (row id) has read the changes up to *version*; False: that was recorded before."""
    query = "UPDATE member SET told = ? WHERE project = ? AND annotator = ? AND told < ?"
    return bool(db.execute(query, (version, project.id, annotator, version)).rowcount)


Place = Literal["first", "second"]
PREFERENCE = OwnScheme(  # the built-in one
    (
        Choice(FIRST, "1", "第一篇更好", "First is better"),
        Choice(SECOND, "2", "第二篇更好", "Second is better"),
        Choice(TIE, "0", "不分高下", "Tie"),
    ),
    (),
    Scheme(compares=True),
)


def compares(store: Store, project: Project) -> bool:
    """Return whether the items of a project are comparisons: the newest version of its guideline says so."""
    scheme = newest_scheme(store, project) if project.kind == "generations" else None
    return scheme is not None and scheme.compares


def place_on_left(seed: int, item: str, reader: str) -> Place:
    """Return the text of an item (public id) that an annotator (public id) sees on the left, or a judge first.

    The place is drawn from the seed of the project, so that a reload shows the same; the two items of a retest are
    drawn independently.
    """
    digest = hashlib.blake2b(f"{item}\n{reader}".encode(), digest_size=8, key=str(seed).encode()).digest()
    return SECOND if digest[0] & 1 else FIRST


def mirrored(choice: str | None, left: str | None) -> str | None:
    """Return a choice of left and right as first or second, or the other way round; *left*: the text on the left."""
    if left != SECOND:
        return choice
    return {FIRST: SECOND, SECOND: FIRST}.get(choice or "", choice)


LARGEST_BYTES = 200_000  # people have to read it


@dataclass(frozen=True, slots=True)
class Criteria:
    """The parts of a guideline before it is stored with a version: Markdown text, choices, reject reasons.

    `scheme`: the further parts of an own scheme.
    """

    text: str
    choices: tuple[Choice, ...]
    reasons: tuple[Choice, ...]
    scheme: Scheme | None = None


def built_in(version: Version = "journal", language: str = "zh") -> Criteria:
    """Return a built-in guideline (docs/methods.md#criteria) as a project stores it."""
    guideline = builtin(version, language)
    return Criteria(guideline.text, _choices(guideline.choices), _choices(guideline.reasons))


def generations_criteria(language: str = "zh") -> Criteria:
    """Return the built-in guideline for generations; the reasons are tags that a label may carry.

    See docs/human_vs_rule.md#labels-of-generations.
    """
    guideline = generations(language)
    return Criteria(guideline.text, _choices(guideline.choices), _choices(guideline.reasons))


def _choices(options: tuple[Option, ...]) -> tuple[Choice, ...]:
    return tuple(Choice(option.code, option.key, option.zh, option.en) for option in options)


def read_text(path: Path) -> str:
    """Read a guideline from a Markdown file. Raises BadFile if it cannot be read or is too long for people."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadFile(N_("{file} cannot be read ({why})."), file=path.name, why=error.strerror or "") from error
    if len(data) > LARGEST_BYTES:
        raise BadFile(N_("{file} is too long for a guideline: the limit is 200 kB."), file=path.name)
    return decode(data, path.name).text


def read_reasons(path: Path) -> tuple[Choice, ...]:
    """Read reject reasons from a TSV file with the columns code, key, zh, en. Raises BadFile for another file."""
    read_text(path)  # raises BadFile with the problem of the file
    try:
        rows = read_table(path)
    except UnicodeDecodeError as error:
        raise BadFile(N_("{file} is not UTF-8 text; save it as UTF-8."), file=path.name) from error
    if not rows or set(rows[0]) != {"code", "key", "zh", "en"}:
        raise BadFile(N_("{file} needs a header line with the columns code, key, zh, en."), file=path.name)
    return tuple(Choice(**row) for row in rows)
