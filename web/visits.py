"""Which account a visit belongs to: a session of Streamlit, known by its id.

The id of a session opens it, and stands in the address of its uploads. So what belongs to a session is given only to
the account that opened it: its state, its uploads, the files that its pages offer.
"""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

MOST = 20_000  # sessions that are remembered; Streamlit forgets most of them sooner

_accounts: OrderedDict[str, str | None] = OrderedDict()
_files: OrderedDict[str, frozenset[str]] = OrderedDict()
_lock = Lock()


def remember_visit(session: str, account: str | None) -> None:
    """A page ran in *session* for *account* (public id; None: in the open mode, or a guest)."""
    with _lock:
        _accounts[session] = account
        _accounts.move_to_end(session)
        while len(_accounts) > MOST:
            _accounts.popitem(last=False)


def is_visit_of(session: str, account: str | None) -> bool:
    """Whether *session* belongs to *account*; one that is not known belongs to nobody yet."""
    with _lock:
        return _accounts.get(session, account) == account


def is_file_of(sessions: Iterable[str], account: str | None) -> bool:
    """Whether one of the *sessions* that offer a file is a visit of *account*."""
    with _lock:
        return any(one in _accounts and _accounts[one] == account for one in sessions)


def remember_file(file: str, session: str) -> None:
    """A file (its name without ending) was made for *session*. Two sessions may make the same one."""
    with _lock:
        _files[file] = _files.get(file, frozenset()) | {session}
        _files.move_to_end(file)
        while len(_files) > MOST:
            _files.popitem(last=False)


def sessions_that_made(file: str) -> frozenset[str]:
    """The sessions for which a file was made."""
    with _lock:
        return _files.get(file, frozenset())
