"""Accounts, their roles, names and passwords. A server without an account is in the open mode.

Passwords are stored as Argon2id hashes only, secrets of cookies and links as keyed hashes only.
"""

import hashlib
import hmac
import json
import unicodedata
import uuid
from dataclasses import dataclass
from sqlite3 import Connection
from threading import Lock
from typing import Any, NamedTuple

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from evenhand.annotations.database.events import acting, record
from evenhand.annotations.database.store import Store, delete_rows, insert, update_rows
from evenhand.annotations.permissions import Person, Role, allowed
from evenhand.annotations.projects.annotators import (
    add_annotators,
    annotator,
    annotators,
    checked_name,
    remove_annotator,
)
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp

SHORTEST, LONGEST = 12, 512  # characters
# The least that OWASP recommends for Argon2id (2024): 19 MiB, two passes.
_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_one_at_a_time = Lock()  # a hundred attempts at once would take 2 GB
_NOBODY = _hasher.hash("nobody has this password")


def keyed(store: Store, secret: str) -> bytes:
    """Return the hash under which the random secret of a cookie or a link is stored.

    The hash is keyed with the secret of the database. A restore renews that secret, so cookies and links from before a
    restore are not valid after it.
    """
    return hmac.new(store.secret, secret.encode("utf-8", "replace"), hashlib.sha256).digest()


def hashed(password: str) -> str:
    """Return the hash of a new password. Raises Refused if it is shorter than 12 or longer than 512 characters."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise Refused(
            N_("A password needs {least} to {most} characters; all characters are allowed."),
            least=SHORTEST,
            most=LONGEST,
        )
    with _one_at_a_time:
        return _hasher.hash(password)


def matches(stored: str | None, password: str) -> bool:
    """Return whether *password* matches the hash; takes equally long without a hash (None)."""
    try:
        with _one_at_a_time:
            return _hasher.verify(stored or _NOBODY, password[: LONGEST + 1]) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


def is_outdated(stored: str) -> bool:
    """Return whether the hash was made with weaker settings than today's."""
    return _hasher.check_needs_rehash(stored)


# Scripts that are written together (the level "highly restrictive" of Unicode's UTS 39), by the first word of the names
# of their characters.
TOGETHER = (
    {"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA"},
    {"LATIN", "CJK", "IDEOGRAPHIC", "BOPOMOFO"},
    {"LATIN", "CJK", "IDEOGRAPHIC", "HANGUL"},
)
SHARED = {"MODIFIER", "KATAKANA-HIRAGANA", "MASCULINE", "FEMININE"}  # letters of no script
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5"  # letters and marks that are invisible
SHOWN = {"CJK": "Han", "IDEOGRAPHIC": "Han"}
MIXED = N_(
    "The name {name} mixes scripts ({scripts}), so it could be mistaken for another name. Use letters of one script;"
    " Chinese, Japanese and Korean names may also have Latin letters."
)

INVISIBLE = N_("Enter a name with visible characters.")


def name_key(name: str) -> str:
    """Return what names that count as the same share: no width, case, invisible characters or extra blanks."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join("".join(sign for sign in folded if not _is_invisible(sign)).split())


def account_name(name: str) -> str:
    """Return *name* as it is stored. Raises Refused as `checked_name` does, and for letters of several scripts."""
    bare = checked_name(unicodedata.normalize("NFKC", name))
    scripts = {_script(sign) for sign in bare} - SHARED - {""}
    if len(scripts) > 1 and not any(scripts <= together for together in TOGETHER):
        listed = sorted({SHOWN.get(script, script.capitalize()) for script in scripts})
        raise Refused(MIXED, name=bare, scripts=", ".join(listed))
    if not name_key(bare):
        raise Refused(INVISIBLE)
    return bare


def _script(sign: str) -> str:
    return unicodedata.name(sign, "").partition(" ")[0] if unicodedata.category(sign)[0] == "L" else ""


def _is_invisible(sign: str) -> bool:
    return sign in FILLERS or unicodedata.category(sign) == "Cf" or "VARIATION SELECTOR" in unicodedata.name(sign, "")


LABELLING = ("annotator", "lead", "owner")  # roles whose holder may have a desk
TAKEN = N_("There is already an account named {name}.")
NO_ACCOUNT = N_("There is no account named {name}.")
WRONG = N_("Wrong name or password.")  # never which of the two is wrong


@dataclass(frozen=True, slots=True)
class Account:
    """A person who may sign in. `annotator`: the name under which the person labels, or None; `closed`: since when."""

    id: int
    uid: str
    name: str
    annotator: str | None
    closed: str | None
    created: str


_ACCOUNTS = """
SELECT account.id, account.uid, account.name, annotator.name AS annotator, account.closed, account.created
FROM account LEFT JOIN annotator ON annotator.id = account.annotator
"""


def accounts_exist(store: Store) -> bool:
    """Return whether the server has an account; if so, every action needs a sign-in."""
    return store.has("account")


def accounts(store: Store) -> list[Account]:
    """Return every account, closed ones too, in the order in which they were made."""
    return store.rows(Account, f"{_ACCOUNTS} ORDER BY account.id")


def account(store: Store, name: str) -> Account:
    """Return the account of that name, in any case and width of letters. Raises NotFound."""
    missing = NotFound(NO_ACCOUNT, name=name)
    return store.required_row(Account, f"{_ACCOUNTS} WHERE account.id = ?", (_id_of(store, name),), missing)


def _id_of(store: Store, name: str, table: str = "account") -> int | None:
    """Return the row of the account that a typed name means, None for none.

    The name itself comes first: servers of earlier versions may have accounts whose names differ in width only.
    """
    key = name_key(name)
    rows = store.db.execute(f"SELECT id, name, name = ? FROM {table}", (name.strip(),)).fetchall()
    alike = [row for row, stored, _same in rows if name_key(stored) == key]
    same = [row for row, _stored, is_same in rows if is_same]
    return same[0] if same else alike[0] if len(alike) == 1 else None


def account_of_uid(store: Store, uid: str) -> Account:
    """Return the account of that public id. Raises NotFound."""
    return store.required_row(Account, f"{_ACCOUNTS} WHERE account.uid = ?", (uid,), NotFound(NO_ACCOUNT, name=uid))


def add_account(store: Store, name: str, *, password: str | None = None, author: Account | None = None) -> Account:
    """Make a new account without a role and return it.

    Raises Refused if the name is taken or invalid, or the password too short.
    """
    bare, stored = account_name(name), hashed(password) if password is not None else None
    with store.write():
        return insert_account(store, bare, stored, author=author)


def insert_account(store: Store, name: str, stored: str | None, *, author: Account | None = None) -> Account:
    """Add an account inside the caller's transaction and return it; *stored* is the hash of the password."""
    bare = account_name(name)
    if name_key(bare) in {name_key(stored_account.name) for stored_account in accounts(store)}:
        raise Refused(TAKEN, name=bare)
    values = {"uid": uuid.uuid4().hex, "name": bare, "password": stored, "created": timestamp()}
    insert(store.db, "account", values)
    added = account(store, bare)
    record_access(store, "added", added, author=author)
    return added


def grant(
    store: Store,
    who: Account,
    role: Role,
    project: Project | None,
    *,
    annotator: str | None = None,
    author: Account | None = None,
) -> None:
    """Give an account a role in a project (None: server-wide), replacing its former role there.

    `annotator`: the name of the desk, for roles that label; an annotator without one labels under the account's name.
    Raises Refused if that name belongs to another account, if the last owner would go, or if the role is guest.
    """
    if role == "guest":
        raise Refused(N_("A guest has no account."))
    with store.write() as db:
        if project is not None and (annotator or role == "annotator"):
            if role not in LABELLING:
                raise Refused(N_("The role {role} has no desk."), role=role)
            _open_desk(store, who, annotator or who.annotator or who.name, project, author)
        if project is None and role != "owner":
            refuse_without_owner(store, who)
        _delete_role(store, who, project)
        row = {"account": who.id, "project": project and project.id, "role": role, "created": timestamp()}
        insert(db, "account_role", row)
        record_access(store, "granted", who, author=author, role=role, project=project.uid if project else None)


def lead_new_project(store: Store, person: Person, project: Project) -> None:
    """Make the person who has just created a project its lead, unless a server-wide role is wider."""
    if person.account is not None and not allowed(person, "change_projects", project=project.uid):
        maker = account_of_uid(store, person.account)
        grant(store, maker, "lead", project, author=maker)


def take_over_roles(store: Store, project: Project, new: Project) -> None:
    """Give everyone with a role in *project* the same role in *new*, which a package made to replace it."""
    if new.id == project.id:
        return
    with store.write():
        for who, role in roles_in(store, project):
            grant(store, who, role, new)


def label_own_project(store: Store, who: Account, project: Project, *, labels: bool) -> None:
    """Set whether the lead of a project also labels in it, under the name of the account, and log the choice.

    Raises Refused if another account labels under that name. Existing labels are kept.
    """
    with store.write():
        if labels:
            _open_desk(store, who, who.annotator or who.name, project, who)
        record(store, project, "lead_labels", author=who.name, labels=labels)
    mine = next(
        (annotator for annotator in annotators(store, project) if annotator.name == account(store, who.name).annotator),
        None,
    )
    if not labels and mine is not None:
        remove_annotator(store, project, mine, author=who.name)


def withdraw(store: Store, who: Account, project: Project | None, *, author: Account | None = None) -> None:
    """Remove the role of an account in a project (None: server-wide). Labels are kept.

    Raises Refused for the last owner of the server.
    """
    with store.write():
        if project is None:
            refuse_without_owner(store, who)
        _delete_role(store, who, project)
        record_access(store, "withdrawn", who, author=author, project=project.uid if project else None)


def _delete_role(store: Store, who: Account, project: Project | None) -> None:
    delete_rows(store.db, "account_role", account=who.id, project=project and project.id)


def close_account(store: Store, who: Account, *, author: Account | None = None) -> None:
    """End an account: its sign-ins and tokens stop at once, its labels stay. Raises Refused for the last owner."""
    with store.write() as db:
        refuse_without_owner(store, who)
        end_access(db, who, closed=timestamp())
        record_access(store, "closed", who, author=author)


def end_access(db: Connection, who: Account, **columns: str | None) -> None:
    """End every sign-in and token of an account, inside the caller's transaction, and set *columns* of its row."""
    names = "".join(f", {name} = :{name}" for name in columns)
    db.execute(f"UPDATE account SET version = version + 1{names} WHERE id = :account", columns | {"account": who.id})


def reopen_account(store: Store, who: Account, *, author: Account | None = None) -> None:
    """Let a closed account sign in again."""
    with store.write() as db:
        update_rows(db, "account", {"closed": None}, id=who.id)
        record_access(store, "reopened", who, author=author)


def erase_account(store: Store, who: Account, code: str, *, author: Account | None = None) -> None:
    """Remove everything that identifies a person from an account, inside the caller's transaction.

    *code* replaces the name. Sign-ins, roles, the password and links are deleted, and no one can sign in with
    it. Raises Refused for the last owner.
    """
    refuse_without_owner(store, who)
    delete_rows(store.db, "sign_in", account=who.id)
    delete_rows(store.db, "account_role", account=who.id)
    delete_rows(store.db, "account_identity", account=who.id)
    delete_rows(store.db, "access_link", account=who.id)
    delete_rows(store.db, "access_link", name=(who.name, who.annotator or who.name))
    closed = account_of_uid(store, who.uid).closed or timestamp()
    end_access(store.db, who, name=code, password=None, closed=closed)


def store_password(store: Store, who: Account, stored: str, *, author: Account | None = None) -> None:
    """Set a password, by its hash; every sign-in of the account ends."""
    with store.write() as db:
        end_access(db, who, password=stored)
        record_access(store, "password changed", who, author=author)


def authenticate(store: Store, name: str, password: str) -> Account:
    """Return the account that this name and password open. Raises NotAllowed with one message for every cause."""
    place = _id_of(store, name, "open_account")
    row = store.db.execute("SELECT id, password, name FROM open_account WHERE id = ?", (place,)).fetchone()
    if not matches(row[1] if row else None, password):
        raise NotAllowed(WRONG)
    if is_outdated(row[1]):
        with store.write() as db:
            update_rows(db, "account", {"password": hashed(password)}, id=row[0])
    return account(store, row[2])


def person_of(store: Store, uid: str) -> Person | None:
    """Return the person of an account (public id) with roles and desk; None if it is closed or missing."""
    row = store.db.execute(
        "SELECT account.id, account.name, annotator.uid FROM open_account AS account"
        " LEFT JOIN annotator ON annotator.id = account.annotator WHERE account.uid = ?",
        (uid,),
    ).fetchone()
    if row is None:
        return None
    roles = {granted.project: granted.role for granted in _granted(store, "account = ?", row[0])}
    everywhere = roles.pop(None, None)
    return Person(everywhere, row[2], {project: role for project, role in roles.items() if project}, uid, row[1])


class _Granted(NamedTuple):
    """A role of an account (row id) in a project (public id); None: everywhere on the server."""

    account: int
    project: str | None
    role: Role


def _granted(store: Store, which: str, *values: int) -> list[_Granted]:
    """Return the roles for which an SQL condition holds, by account."""
    query = (
        "SELECT account, project.uid AS project, role FROM account_role"
        f" LEFT JOIN project ON project.id = account_role.project WHERE {which} ORDER BY account"
    )
    return store.rows(_Granted, query, values)


def roles_in(store: Store, project: Project) -> list[tuple[Account, Role]]:
    """Return the accounts with a role in a project itself, in the order in which they were made."""
    by_id = {stored_account.id: stored_account for stored_account in accounts(store)}
    return [(by_id[granted.account], granted.role) for granted in _granted(store, "project.id = ?", project.id)]


def record_access(
    store: Store, action: str, who: Account | None, *, author: Account | None = None, **data: Any
) -> None:
    """Store what was done to an account, inside the caller's transaction; without an *author*, who acts here."""
    if author is None and acting.get():
        data["by"] = acting.get()
    insert(store.db, "account_event", {
        "account": who and who.id, "author": author and author.id, "action": action,
        "data": json.dumps(data, ensure_ascii=False), "created": timestamp(),
    })  # fmt: skip


def _open_desk(store: Store, who: Account, name: str, project: Project, author: Account | None) -> None:
    """Let the account label in a project under the name of an annotator, who joins it where that is needed."""
    bare = checked_name(name)
    add_annotators(store, project, [bare], author=author.name if author else "")
    if any(holder.annotator == bare and holder.id != who.id for holder in accounts(store)):
        raise Refused(N_("The desk {name} belongs to another account."), name=bare)
    if who.annotator not in (None, bare):
        raise Refused(N_("This account labels as {name}. Each person has one desk."), name=who.annotator)
    update_rows(store.db, "account", {"annotator": annotator(store, project, bare).id}, id=who.id)


def refuse_without_owner(store: Store, who: Account) -> None:
    """Raise Refused if the server would have no owner without this account."""
    owners = {granted.account for granted in _granted(store, "account_role.project IS NULL AND role = 'owner'")}
    if {stored.id for stored in accounts(store) if stored.closed is None and stored.id in owners} == {who.id}:
        raise Refused(N_("This is the last owner. Make another user owner first."))


def roles_to_give(person: Person, project: Project | None) -> list[Role]:
    """Return the roles that *person* may give in a project (None: server-wide), the widest first."""
    if person.everywhere == "owner":
        return ["owner", "lead", "adjudicator", "annotator", "reader"] if project else ["owner", "lead", "reader"]
    if project is None or not allowed(person, "change_accounts", project=project.uid):
        return []
    widest: list[Role] = ["owner"] if person.roles.get(project.uid) == "owner" else []
    return [*widest, "lead", "adjudicator", "annotator", "reader"]


def manages(person: Person, other: Person) -> bool:
    """Return whether *person* may reset, close or sign out the account of *other*.

    An account opens every project in which it has a role. A lead therefore manages only people whose roles are all in
    projects that this lead may manage. An owner of the server manages everyone.
    """
    if person.everywhere == "owner":
        return True
    if other.everywhere is not None or not other.roles:
        return False
    return all(
        allowed(person, "change_accounts", project=project)
        and (role != "owner" or person.roles.get(project) == "owner")
        for project, role in other.roles.items()
    )
