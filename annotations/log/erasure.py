"""Erasure of a person: delete the identity, keep the labels, leave the log valid.

The account, its sign-ins, roles and links are deleted. A code replaces the name in every place: as annotator, as
author, in events. The salts of the names are destroyed, so their hashes in the log no longer reveal anything. Notes and
comments may name people; they are listed, and are scrubbed only by a decision of their own.

`own_data` returns everything that is stored about one person, for this person.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.annotations.accounts.accounts import Account, accounts, erase_account, record_access, refuse_without_owner
from evenhand.annotations.database.hash_chain import forget_names, moment_of, scrub
from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.projects.annotators import annotator_with, projects_of, replace_name
from evenhand.annotations.projects.consent import forget_groups
from evenhand.annotations.projects.projects import remove_annotator
from evenhand.annotations.record.files import record_json
from evenhand.annotations.types import Annotator
from evenhand.core.errors import N_, NotFound
from evenhand.core.types import TableRow

SCRUBBED = "[scrubbed]"  # in place of a comment or reason; a note or tag is empty
# The columns that hold a name as that of an author.
_AUTHORS = (
    ("event", "author"), ("comment", "author"), ("settlement", "adjudicator"), ("known", "author"),
    ("release", "author"),
)  # fmt: skip
_OF_ITEM = "{0} JOIN item ON item.id = {0}.item"
_OF_RETEST = "retest_label JOIN retest ON retest.id = retest_label.retest JOIN item ON item.id = retest.item"
# Kind, part, tables, and whose it is.
_TEXTS = (
    ("label", "note", _OF_ITEM.format("label"), "label.annotator = :who"),
    ("label", "tags", _OF_ITEM.format("label"), "label.annotator = :who"),
    ("retest_label", "note", _OF_RETEST, "retest.annotator = :who"),
    ("retest_label", "tags", _OF_RETEST, "retest.annotator = :who"),
    ("comment", "text", _OF_ITEM.format("comment"), "(comment.annotator = :who OR comment.author = :name)"),
    ("settlement", "why", _OF_ITEM.format("settlement"), "settlement.adjudicator = :name"),
    ("known", "why", _OF_ITEM.format("known"), "known.author = :name"),
)


@dataclass(frozen=True, slots=True)
class OwnText:
    """A note, tags, a comment or a reason of a person: where it is stored, and on which item (public id)."""

    kind: str
    row: int
    part: str
    text: str
    item: str


@dataclass(frozen=True, slots=True)
class Erased:
    """The code in place of the name, how often a name was replaced, and the texts that are left to scrub."""

    code: str
    replaced: int
    texts: tuple[OwnText, ...]


def person_named(store: Store, name: str) -> tuple[Account | None, Annotator | None]:
    """Return the account and the annotator of that name, one of which may be None. Raises NotFound for neither."""
    who = next((account for account in accounts(store) if account.name.casefold() == name.strip().casefold()), None)
    desk = who.annotator if who else name.strip()
    annotator = annotator_with(store, desk, "name")
    if who is None and annotator is None:
        raise NotFound(N_("There is neither an account nor an annotator named {name}."), name=name)
    if who is None and annotator is not None:
        who = next((account for account in accounts(store) if account.annotator == annotator.name), None)
    return who, annotator


def texts_of(store: Store, name: str) -> list[OwnText]:
    """Return the texts of a person that are not scrubbed: notes, tags, comments, reasons. Raises NotFound."""
    who, annotator = person_named(store, name)
    names = {word for word in (who and who.name, annotator and annotator.name) if word}
    result: dict[tuple[str, int, str], OwnText] = {}
    for word in sorted(names):
        values = {"who": annotator.id if annotator else None, "name": word}
        for kind, part, tables, whose in _TEXTS:
            text = f"{kind}.{part}"
            query = f"SELECT {kind}.id, {text}, item.uid FROM {tables}"
            query += f" WHERE {whose} AND {text} NOT IN ('', '[]', '{SCRUBBED}') ORDER BY {kind}.id"
            for row, written, item in store.db.execute(query, values).fetchall():
                result[kind, row, part] = OwnText(kind, row, part, written, item)
    return list(result.values())


def scrub_texts(store: Store, texts: Sequence[OwnText], *, author: Account | None = None) -> int:
    """Scrub texts permanently; return how many. The log keeps their salted hashes, and the salts are destroyed."""
    number = 0
    with store.write() as db:
        for text in texts:
            empty = {"note": "", "tags": "[]"}.get(text.part, SCRUBBED)
            number += scrub(db, text.kind, text.row, text.part, empty)
        if number:
            record_access(store, "scrubbed", None, author=author, texts=number)
    return number


def erase(store: Store, name: str, *, author: Account | None = None) -> Erased:
    """Erase the person with that account or that annotator's name. Raises NotFound, Refused for the last owner."""
    who, annotator = person_named(store, name)
    code = f"P-{(annotator or who).uid[:8]}"  # type: ignore[union-attr]  # one of them is there
    if who is not None:
        refuse_without_owner(store, who)
    if annotator is not None:
        for project in projects_of(store, annotator, active=True):  # its leases end everywhere
            remove_annotator(store, project, annotator)
    with store.write() as db:
        names = {one for one in (who and who.name, annotator and annotator.name) if one}
        if annotator is not None:
            former = "SELECT DISTINCT data ->> 'old' FROM event WHERE annotator = ? AND action = 'renamed'"
            names |= {old for (old,) in store.db.execute(former, (annotator.id,)) if old}
            replace_name(store, annotator, code)
            forget_groups(store, annotator)
            forget_names(db, "annotator", annotator.id)
        if who is not None:
            erase_account(store, who, code, author=author)
            forget_names(db, "account", who.id)
        replaced = 0
        for text in sorted(names):
            for table, part in _AUTHORS:
                for (row,) in db.execute(f"SELECT id FROM {table} WHERE {part} = ?", (text,)).fetchall():
                    replaced += scrub(db, table, row, part, code)
        replaced += _replace_in_events(store, names, code)
        record_access(store, "erased", who, author=author, code=code)
    return Erased(code, replaced, tuple(texts_of(store, code)))


def _replace_in_events(store: Store, names: set[str], code: str) -> int:
    """Replace names that are values in the data of events by a code; return the number of events."""
    number = 0
    for table in ("event", "account_event"):
        for row, data in store.db.execute(f"SELECT id, data FROM {table} WHERE data <> '{{}}'").fetchall():
            before = json.loads(data)
            after = _without(before, names, code)
            if after != before:
                number += scrub(store.db, table, row, "data", json.dumps(after, ensure_ascii=False, sort_keys=True))
    return number


def _without(value: Any, names: set[str], code: str) -> Any:
    if isinstance(value, str):
        return code if value in names else value
    if isinstance(value, list):
        return [_without(entry, names, code) for entry in value]
    if isinstance(value, dict):
        return {code if key in names else key: _without(entry, names, code) for key, entry in value.items()}
    return value


def erasable_names(store: Store) -> list[str]:
    """Return names of accounts, and of annotators without one, that are not codes; study participants have codes."""
    query = (
        "SELECT annotator.name FROM annotator LEFT JOIN account ON account.annotator = annotator.id"
        " LEFT JOIN study_person AS person ON person.annotator = annotator.id"
        " WHERE account.annotator IS NULL AND person.annotator IS NULL"
    )
    free = [row[0] for row in store.db.execute(f"{query} ORDER BY annotator.id")]
    codes = set(erased_codes(store))
    return [
        name for name in dict.fromkeys([*(account.name for account in accounts(store)), *free]) if name not in codes
    ]


def erased_codes(store: Store) -> list[str]:
    """Return the codes in place of erased people."""
    query = "SELECT DISTINCT data ->> 'code' FROM account_event WHERE action = 'erased' ORDER BY id"
    return [row[0] for row in store.db.execute(query) if row[0]]


_ROLES = """
SELECT project.name AS project, role, account_role.created AS since
FROM account_role LEFT JOIN project ON project.id = account_role.project WHERE account = ? ORDER BY account_role.rowid
"""
_SIGN_INS = "SELECT browser, created, seen AS last_seen, ended FROM sign_in WHERE account = ? ORDER BY id"
_EVENTS = """
SELECT created, action, account = :id AS about_you, author = :id AS by_you, data FROM account_event
WHERE account = :id OR author = :id ORDER BY id
"""
_CONSENTS = """
SELECT project.name AS project, one.use, one.given, one.recorded_by, one.language, one.text, one.created
FROM label_consent AS one JOIN project ON project.id = one.project WHERE one.annotator = ? ORDER BY one.id
"""
_GROUPS = """
SELECT project.name AS project, grouping.name AS grouping, value AS "group", recorded_by, annotator_group.created
FROM annotator_group JOIN grouping ON grouping.id = annotator_group.grouping
     JOIN project ON project.id = grouping.project
WHERE annotator = ? ORDER BY annotator_group.id
"""


@consistent_read
def own_data(store: Store, who: Account) -> str:
    """Return everything that is stored about a person, as one JSON object.

    Events name no other person: they say whether an event is about this person or by this person. All answers on
    consent are included; the newest one for a project and use counts.
    """

    def rows(query: str, of: int | None) -> list[TableRow]:
        return store.rows(TableRow, query, (of,))

    annotator = annotator_with(store, who.annotator, "name")
    own = annotator.id if annotator else None
    events = []
    for row in store.rows(dict[str, Any], _EVENTS, {"id": who.id}):
        told = json.loads(row.pop("data"))
        row |= {key: bool(row[key]) for key in ("about_you", "by_you")}
        events.append(row | ({"data": told} if row["about_you"] else {}))
    data = {
        "account": {"name": who.name, "id": who.uid, "created": who.created, "annotator": who.annotator},
        "roles": rows(_ROLES, who.id),
        "sign_ins": [
            row | {key: _utc(row[key]) for key in ("created", "last_seen", "ended")} for row in rows(_SIGN_INS, who.id)
        ],
        "events": events,
        "consents": [row | {"given": bool(row["given"])} for row in rows(_CONSENTS, own)],
        "groups": rows(_GROUPS, own),
        "records": [
            json.loads("".join(record_json(store, project, annotator))) for project in projects_of(store, annotator)
        ] if annotator else [],
    }  # fmt: skip
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _utc(seconds: Any) -> str | None:
    return None if seconds is None else moment_of(int(seconds * 1000))
