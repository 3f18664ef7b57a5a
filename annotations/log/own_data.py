"""Everything that is stored about one person, for this person: account, roles, sign-ins, events, records, own log."""

import json
from typing import Any

from evenhand.annotations.accounts.accounts import Account
from evenhand.annotations.database.chain import moment_of
from evenhand.annotations.database.store import Store, at_one_moment
from evenhand.annotations.projects.annotators import annotator_with, projects_of
from evenhand.annotations.record.files import record_json
from evenhand.annotations.types import Annotator

_ROLES = """
SELECT project.name, role, account_role.created FROM account_role LEFT JOIN project ON project.id = account_role.project
WHERE account = ? ORDER BY account_role.rowid
"""
_EVENTS = """
SELECT created, action, data, account = :id, author = :id FROM account_event
WHERE account = :id OR author = :id ORDER BY id
"""
_CONSENTS = """
SELECT project.name, one.use, one.given, one.recorded_by, one.language, one.text, one.created
FROM label_consent AS one JOIN project ON project.id = one.project WHERE one.annotator = ? ORDER BY one.id
"""
_GROUPS = """
SELECT project.name, grouping.name, value, recorded_by, annotator_group.created
FROM annotator_group JOIN grouping ON grouping.id = annotator_group.grouping
     JOIN project ON project.id = grouping.project
WHERE annotator = ? ORDER BY annotator_group.id
"""


@at_one_moment
def own_data(store: Store, who: Account) -> str:
    """One JSON object. Events name nobody else: they say whether this person did something, or had it done."""
    roles = store.db.execute(_ROLES, (who.id,)).fetchall()
    annotator = annotator_with(store, who.annotator, "name")
    data: dict[str, Any] = {
        "account": {"name": who.name, "id": who.uid, "created": who.created, "annotator": who.annotator},
        "roles": [{"project": place, "role": role, "since": since} for place, role, since in roles],
        "sign_ins": _sign_ins(store, who),
        "events": _events(store, who),
        "consents": _consents(store, annotator) if annotator else [],
        "groups": _groups(store, annotator) if annotator else [],
        "records": _records(store, annotator) if annotator else [],
    }
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _sign_ins(store: Store, who: Account) -> list[dict[str, Any]]:
    query = "SELECT browser, created, seen, ended FROM sign_in WHERE account = ? ORDER BY id"
    return [
        {"browser": browser, "created": _utc(created), "last_seen": _utc(seen), "ended": _utc(ended)}
        for browser, created, seen, ended in store.db.execute(query, (who.id,)).fetchall()
    ]


def _events(store: Store, who: Account) -> list[dict[str, Any]]:
    rows = store.db.execute(_EVENTS, {"id": who.id}).fetchall()
    return [
        {
            "created": created, "action": action, "about_you": bool(about), "by_you": bool(by),
            **({"data": json.loads(data)} if about else {}),
        }
        for created, action, data, about, by in rows
    ]  # fmt: skip


def _consents(store: Store, annotator: Annotator) -> list[dict[str, Any]]:
    """Every answer, the newest of a project and use counts."""
    names = ("project", "use", "given", "recorded_by", "language", "text", "created")
    rows = store.db.execute(_CONSENTS, (annotator.id,)).fetchall()
    return [dict(zip(names, row, strict=True)) | {"given": bool(row[2])} for row in rows]


def _groups(store: Store, annotator: Annotator) -> list[dict[str, Any]]:
    names = ("project", "grouping", "group", "recorded_by", "created")
    return [dict(zip(names, row, strict=True)) for row in store.db.execute(_GROUPS, (annotator.id,)).fetchall()]


def _records(store: Store, annotator: Annotator) -> list[Any]:
    projects = projects_of(store, annotator)
    return [json.loads("".join(record_json(store, project, annotator))) for project in projects]


def _utc(seconds: float | None) -> str | None:
    return None if seconds is None else moment_of(int(seconds * 1000))
