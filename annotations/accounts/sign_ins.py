"""Sign-ins: an opaque secret in a cookie, its hash here, looked up at every request."""

import secrets
import time
import uuid
from dataclasses import dataclass

from evenhand.annotations.accounts.accounts import Account, end_access, keyed, person_of, record_access
from evenhand.annotations.database.store import Store, insert, update_rows
from evenhand.annotations.permissions import Person

IDLE_S = 12 * 3600.0  # without a request, a sign-in ends
LONGEST_S = 30 * 24 * 3600.0  # even with requests
SEEN_EVERY_S = 60.0  # one write a minute, not one a request
# The sign-ins that hold: of an open account, not ended, and neither idle nor begun for too long (two moments).
THAT_HOLD = (
    "FROM sign_in JOIN open_account AS account ON account.id = sign_in.account"
    " WHERE ended IS NULL AND sign_in.version = account.version AND sign_in.seen > ? AND sign_in.created > ?"
)


@dataclass(frozen=True, slots=True)
class SignIn:
    """One browser that is signed in. `created` and `seen` are unix seconds, `browser` is how it names itself."""

    uid: str
    browser: str
    created: float
    seen: float


def sign_in(store: Store, who: Account, browser: str = "", *, now: float | None = None) -> str:
    """Begin a sign-in. Returns the secret for the cookie, which is stored nowhere."""
    secret, moment = secrets.token_urlsafe(32), time.time() if now is None else now
    with store.write() as db:
        insert(db, "sign_in", {
            "uid": uuid.uuid4().hex, "hash": keyed(store, secret), "account": who.id, "browser": browser[:200],
            "version": store.value("SELECT version FROM account WHERE id = ?", (who.id,)),
            "created": moment, "seen": moment,
        })  # fmt: skip
        record_access(store, "signed in", who, author=who)
    return secret


def signed_in(store: Store, secret: str, *, now: float | None = None) -> Person | None:
    """Return the person signed in by a cookie's secret.

    None if the secret is unknown, has ended or is too old, or if its account was closed.
    """
    if not secret:
        return None
    moment = time.time() if now is None else now
    row = store.db.execute(
        f"SELECT sign_in.id, account.uid, sign_in.seen {THAT_HOLD} AND hash = ?",
        (moment - IDLE_S, moment - LONGEST_S, keyed(store, secret)),
    ).fetchone()
    if row is None:
        return None
    if moment - row[2] > SEEN_EVERY_S and not store.frozen and not store.db.in_transaction:
        with store.write() as db:
            update_rows(db, "sign_in", {"seen": moment}, id=row[0])
    return person_of(store, row[1])


def sign_in_of(store: Store, secret: str) -> str | None:
    """Return the public id of the sign-in to which a cookie belongs; None for an unknown one."""
    uid: str | None = store.value("SELECT uid FROM sign_in WHERE hash = ?", (keyed(store, secret),))
    return uid


def sign_out(store: Store, secret: str) -> None:
    """End the sign-in of a cookie."""
    with store.write() as db:
        update_rows(db, "sign_in", {"ended": time.time()}, hash=keyed(store, secret), ended=None)


def sign_ins(store: Store, who: Account) -> list[SignIn]:
    """Return the valid sign-ins of an account, newest first."""
    moment = time.time()
    query = (
        f"SELECT sign_in.uid, browser, sign_in.created, seen {THAT_HOLD} AND account.id = ? ORDER BY sign_in.id DESC"
    )
    return store.rows(SignIn, query, (moment - IDLE_S, moment - LONGEST_S, who.id))


def end_sign_in(store: Store, who: Account, uid: str, *, author: Account | None = None) -> bool:
    """End one sign-in of an account (public id of the sign-in). Returns whether it was one that held."""
    with store.write() as db:
        ended = update_rows(db, "sign_in", {"ended": time.time()}, uid=uid, account=who.id, ended=None)
        if ended:
            record_access(store, "sign-in ended", who, author=author)
    return bool(ended)


def end_all(store: Store, who: Account, *, author: Account | None = None) -> None:
    """End every sign-in and token of an account."""
    with store.write() as db:
        end_access(db, who)
        record_access(store, "all sign-ins ended", who, author=author)
