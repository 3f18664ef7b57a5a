"""Identities at a provider (OpenID Connect): issuer and subject, which stand for one account.

A new identity needs an invitation. An e-mail address decides nothing: a provider may give it to somebody else.
"""

from collections.abc import Sequence

from evenhand.annotations.accounts.accounts import Account, account_of_uid, accounts, insert_account, record_access
from evenhand.annotations.accounts.links import SPENT, link, use
from evenhand.annotations.accounts.names import account_name, name_key
from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, NotAllowed, Refused
from evenhand.core.files.timestamps import timestamp

UNKNOWN = N_("No account is linked to this identity. Open your invitation link first and continue from there.")
CLOSED = N_("This account is closed.")
MOST_OF_ONE_NAME = 100
LONGEST_FROM_PROVIDER = 70  # characters of a name, to which a number may be added


def account_of_identity(store: Store, issuer: str, subject: str) -> Account:
    """The open account that a provider's identity stands for. Raises NotAllowed."""
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
        found = link(store, secret)
        if found.purpose == "reset":
            raise NotAllowed(SPENT)
        try:
            who = account_of_identity(store, issuer, subject)
        except NotAllowed as error:
            if error.message != UNKNOWN:
                raise
            who = insert_account(store, _free_name(store, [*names, found.name, found.role or found.purpose]), None)
            store.db.execute(
                "INSERT INTO account_identity (issuer, subject, account, created) VALUES (?, ?, ?, ?)",
                (issuer, subject, who.id, timestamp()),
            )
            record_access(store, "identity connected", who, author=who, issuer=issuer)
        use(store, secret, who, found)
        return who


def _free_name(store: Store, names: Sequence[str]) -> str:
    taken = {name_key(one.name) for one in accounts(store)}
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
