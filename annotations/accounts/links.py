"""Links for people without a sign-in: to make the first account, to join a project, to set a new password.

A link is opened by a POST only, so that the preview of a mail program does not use it up. Only its hash is stored. It
may be used with an identity at a provider (OpenID Connect) in place of a password: issuer and subject identify one
account. E-mail addresses are ignored, since a provider may give an address to another person later.
"""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evenhand.annotations.accounts.accounts import (
    Account,
    account,
    account_name,
    account_of_uid,
    accounts,
    accounts_exist,
    grant,
    hashed,
    insert_account,
    keyed,
    name_key,
    record_access,
    store_password,
)
from evenhand.annotations.database.store import Store, delete_rows, insert
from evenhand.annotations.permissions import Role
from evenhand.annotations.projects.annotators import annotators, participants
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp

Purpose = Literal["first", "invite", "reset"]
FIRST_S, INVITE_S, RESET_S = 24 * 3600.0, 14 * 24 * 3600.0, 3600.0
ID_DIGITS = 12  # of an invitation
SPENT = N_("This link is no longer valid: it has been used or withdrawn, or has expired. Ask for a new one.")


@dataclass(frozen=True, slots=True)
class Link:
    """What a link gives. `project` and `role` for an invite, `account` (its name) for a reset, `name`: of the desk."""

    purpose: Purpose
    project: Project | None
    role: Role | None
    account: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation that is still open. `id`: the first digits of the stored hash, which open nothing; `uses`: how many
    more people may use it; `expires`: unix seconds."""

    id: str
    project: Project | None
    role: Role
    name: str
    uses: int
    created: str
    expires: float


def first_link(store: Store) -> str:
    """Return the secret of a link that makes the first account, owner of the server; older links become invalid.

    Raises Refused if an account exists.
    """
    with store.write() as db:
        if accounts_exist(store):
            raise Refused(N_("This server already has accounts: an owner or lead can invite you."))
        delete_rows(db, "access_link", purpose="first")
        return _insert(store, "first", FIRST_S)


def first_link_to_print(store: Store, address: str) -> str | None:
    """Return the console message with the link for the first account; None if an account exists.

    It is for the console of a server that others reach.
    """
    if accounts_exist(store):
        return None
    link = f"{address.rstrip('/')}/account/link#{first_link(store)}"
    return f"There is no account yet, so nobody gets in. Make the first one within a day: {link}"


def invite_link(
    store: Store,
    role: Role,
    project: Project | None,
    *,
    name: str = "",
    uses: int = 1,
    hours: float = INVITE_S / 3600,
    author: Account | None = None,
) -> str:
    """Return the secret of a link by which *uses* people get an account with a role.

    *name*: of the annotator it is for. An earlier open invitation for this annotator and project is withdrawn.
    """
    if name and uses != 1:
        raise Refused(N_("A link for a single name can be used only once."))
    with store.write():
        if former := invitation_for(store, project, name):
            withdraw_invitation(store, former, author=author)
        secret = _insert(store, "invite", hours * 3600, role=role, project=project, name=name.strip(), uses=uses)
        record_access(
            store, "invited", None, author=author, role=role, project=project.uid if project else None, uses=uses
        )
        return secret


class _Stored(NamedTuple):
    """A link that still opens something: hash in hex, public id of the project, name of the account of a reset."""

    hash: str
    purpose: Purpose
    project: str | None
    role: Role | None
    account: str | None
    name: str
    uses: int
    created: str
    expires: float


def _valid_links(store: Store, which: str, *values: bytes) -> list[_Stored]:
    """Return the links that are neither used up nor too old and for which an SQL condition holds, oldest first."""
    query = (
        "SELECT lower(hex(hash)) AS hash, purpose, project.uid AS project, role, account.name AS account,"
        " access_link.name, uses - used AS uses, access_link.created, expires FROM access_link"
        " LEFT JOIN project ON project.id = access_link.project LEFT JOIN account ON account.id = access_link.account"
        f" WHERE used < uses AND expires > ? AND {which} ORDER BY access_link.created, hash"
    )
    return store.rows(_Stored, query, (time.time(), *values))


def invitations(store: Store) -> list[Invitation]:
    """Return every open invitation, oldest first."""
    known = {project.uid: project for project in (*projects(store), *projects(store, archived=True))}
    return [
        Invitation(
            one.hash[:ID_DIGITS], known[one.project] if one.project else None, one.role, one.name, one.uses,
            one.created, one.expires,
        )
        for one in _valid_links(store, "purpose = 'invite'")
        if one.role is not None  # as each invite has one
    ]  # fmt: skip


def invitation_for(store: Store, project: Project | None, name: str) -> Invitation | None:
    """Return the open invitation for the annotator *name* in *project*; None if there is none, or without a name."""
    wanted, place = name.strip().casefold(), project and project.uid
    return next(
        (
            invitation
            for invitation in invitations(store)
            if wanted
            and invitation.name.casefold() == wanted
            and (invitation.project and invitation.project.uid) == place
        ),
        None,
    )


def uninvited(store: Store, project: Project) -> list[str]:
    """Return the active annotators of *project* who have neither an open account nor an open invitation.

    Participants of online studies need neither. Empty on a server without accounts.
    """
    if not accounts_exist(store):
        return []
    held = {stored_account.annotator for stored_account in accounts(store) if stored_account.closed is None}
    by_link = participants(store, project)
    return [
        annotator.name
        for annotator in annotators(store, project)
        if annotator.id not in by_link
        and annotator.name not in held
        and invitation_for(store, project, annotator.name) is None
    ]


def find_invitation(store: Store, id: str) -> Invitation:
    """Return the open invitation with this id. Raises NotFound."""
    result = next((invitation for invitation in invitations(store) if invitation.id == id.strip().lower()), None)
    if result is None:
        raise NotFound(N_("There is no open invitation {id}."), id=id)
    return result


def withdraw_invitation(store: Store, invitation: Invitation, *, author: Account | None = None) -> None:
    """End an open invitation: its link opens nothing from now on."""
    query = "DELETE FROM access_link WHERE purpose = 'invite' AND substr(lower(hex(hash)), 1, ?) = ?"
    place = invitation.project and invitation.project.uid
    with store.write() as db:
        db.execute(query, (ID_DIGITS, invitation.id))
        record_access(store, "invitation withdrawn", None, author=author, role=invitation.role, project=place)


def reset_link(store: Store, who: Account, *, author: Account | None = None) -> str:
    """Return the secret of a link that sets a new password of an account, once, within an hour.

    Hand it to that person only, never to a visitor who asks for it.
    """
    with store.write() as db:
        delete_rows(db, "access_link", purpose="reset", account=who.id)
        record_access(store, "reset offered", who, author=author)
        return _insert(store, "reset", RESET_S, account=who)


def link(store: Store, secret: str) -> Link:
    """Return what a link gives, without using it up. Raises NotAllowed if the link is not valid."""
    valid = _valid_links(store, "access_link.hash = ?", keyed(store, secret))
    if not valid:
        raise NotAllowed(SPENT)
    (one,) = valid
    project = next((stored_project for stored_project in projects(store) if stored_project.uid == one.project), None)
    if one.project is not None and project is None:
        raise NotAllowed(SPENT)
    return Link(one.purpose, project, one.role, one.account, one.name)


def spend(store: Store, secret: str, name: str, password: str) -> Account:
    """Use a link: the new account, or the one whose password was set.

    Raises NotAllowed if the link does not hold, Refused for a name that is taken or a password that is too short;
    then nothing is spent.
    """
    stored = hashed(password)  # slow, so outside the transaction
    with store.write():
        stored_link = link(store, secret)
        if stored_link.account is None:
            who = insert_account(store, name, stored)
            use(store, secret, who, stored_link)
            return account(store, who.name)
        who = account(store, stored_link.account)
        _count_use(store, secret)
        store_password(store, who, stored, author=who)
        return who


def use(store: Store, secret: str, who: Account, stored_link: Link) -> None:
    """Count one use of a link and grant its role, inside the caller's transaction."""
    _count_use(store, secret)
    if stored_link.purpose == "first":
        if len(accounts(store)) != 1:
            raise NotAllowed(SPENT)
        grant(store, who, "owner", None, author=who)
    elif stored_link.role is not None:
        grant(store, who, stored_link.role, stored_link.project, annotator=stored_link.name or None, author=who)


def _count_use(store: Store, secret: str) -> None:
    store.db.execute("UPDATE access_link SET used = used + 1 WHERE hash = ?", (keyed(store, secret),))


def accept(store: Store, secret: str, who: Account) -> None:
    """Use an invite with an account that exists already. Raises NotAllowed for an unknown or invalid link."""
    with store.write():
        stored_link = link(store, secret)
        if stored_link.role is None:
            raise NotAllowed(SPENT)
        use(store, secret, who, stored_link)


def _insert(
    store: Store,
    purpose: Purpose,
    seconds: float,
    *,
    role: Role | None = None,
    project: Project | None = None,
    account: Account | None = None,
    name: str = "",
    uses: int = 1,
) -> str:
    secret = secrets.token_urlsafe(24)
    values = {
        "hash": keyed(store, secret), "purpose": purpose, "project": project and project.id, "role": role,
        "account": account and account.id, "name": name, "uses": uses, "expires": time.time() + seconds,
        "created": timestamp(),
    }  # fmt: skip
    insert(store.db, "access_link", values)
    return secret


UNKNOWN = N_("No account is linked to this identity. Open your invitation link first and continue from there.")
CLOSED = N_("This account is closed.")
MOST_OF_ONE_NAME = 100
LONGEST_FROM_PROVIDER = 70  # characters of a name, to which a number may be added


def account_of_identity(store: Store, issuer: str, subject: str) -> Account:
    """Return the open account to which a provider's identity belongs. Raises NotAllowed."""
    query = (
        "SELECT account.uid, closed FROM account_identity JOIN account ON account.id = account_identity.account"
        " WHERE issuer = ? AND subject = ?"
    )
    row = store.db.execute(query, (issuer, subject)).fetchone()
    if row is None:
        raise NotAllowed(UNKNOWN)
    if row[1] is not None:
        raise NotAllowed(CLOSED)
    return account_of_uid(store, row[0])


def spend_with_identity(store: Store, secret: str, issuer: str, subject: str, names: Sequence[str]) -> Account:
    """Use the link of an invitation, or of the first account, with an identity in place of a password.

    A new account gets the first of *names* that an account may have, else the name or the role of the invitation, with
    a number where that is taken; an identity that has an account gets the role with it.
    Raises NotAllowed if the link does not hold or sets a password.
    """
    with store.write():
        stored_link = link(store, secret)
        if stored_link.purpose == "reset":
            raise NotAllowed(SPENT)
        try:
            who = account_of_identity(store, issuer, subject)
        except NotAllowed as error:
            if error.message != UNKNOWN:
                raise
            who = insert_account(
                store, _free_name(store, [*names, stored_link.name, stored_link.role or stored_link.purpose]), None
            )
            row = {"issuer": issuer, "subject": subject, "account": who.id, "created": timestamp()}
            insert(store.db, "account_identity", row)
            record_access(store, "identity connected", who, author=who, issuer=issuer)
        use(store, secret, who, stored_link)
        return who


def _free_name(store: Store, names: Sequence[str]) -> str:
    taken = {name_key(stored_account.name) for stored_account in accounts(store)}
    bare = next(filter(None, map(_usable, names)))
    for number in range(1, MOST_OF_ONE_NAME):
        wanted = bare if number == 1 else f"{bare} {number}"
        if name_key(wanted) not in taken:
            return wanted
    raise Refused(N_("There is already an account named {name}."), name=bare)


def _usable(name: str) -> str:
    """Return a name of a provider as an account may have it, "" for one that no account may have."""
    try:
        return account_name(name[:LONGEST_FROM_PROVIDER])
    except Refused:
        return ""
