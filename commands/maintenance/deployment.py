"""The checks of `doctor` that matter where others reach the server: who gets in, the proxy, rights, backups."""

import ipaddress
import os
import resource
import sqlite3
import stat
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from evenhand.annotations.accounts.accounts import accounts_exist
from evenhand.annotations.database.backup import newest
from evenhand.annotations.database.connections import connect
from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, EvenhandError
from evenhand.web.gate import LOOPBACK, guests_allowed, hosts
from evenhand.web.requests import proxies

State = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: a sentence with {names}, their values, and the state."""

    name: str
    state: State
    message: str
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The English sentence."""
        return self.message.format(**self.values) if self.values else self.message


OLD_H, FEW_DESCRIPTORS, SHORT = 48.0, 1024, 16


def examine_deployment(database: Path) -> list[Finding]:
    """Return findings about a server with its environment; on one's own machine few of them apply."""
    checks: list[Callable[[], Finding | None]] = [
        lambda: _access(_has_accounts(database)),
        lambda: _rights(database),
        lambda: _backups(_has_accounts(database)),
    ]
    if _others():
        checks += [_proxy, _descriptors, _user, _token]
    return [finding for check in checks if (finding := check()) is not None]


def _others() -> list[str]:
    """Return the names under which others reach this server."""
    return sorted(hosts() - LOOPBACK)


def _listens() -> str:
    return os.environ.get("STREAMLIT_SERVER_ADDRESS", "127.0.0.1")


def _has_accounts(database: Path) -> bool:
    if not database.is_file():
        return False
    try:
        with closing(connect(database, read_only=True)) as connection:  # an older database is not brought up to date
            return accounts_exist(Store(connection, database))
    except (OSError, sqlite3.Error):  # the check of the database says so
        return False


def _access(accounts: bool) -> Finding:
    others, outside = _others(), _listens() not in LOOPBACK
    if outside and not others:
        message = N_("The app listens on {address}, but EVENHAND_HOSTS is empty: requests from outside are refused.")
        return Finding("access", "problem", message, {"address": _listens()})
    if others and not accounts:
        message = N_(
            "EVENHAND_HOSTS lists {names}, but there are no accounts, so no one can sign in. Run: accounts first."
        )
        return Finding("access", "problem", message, {"names": ", ".join(others)})
    if others and guests_allowed():
        message = N_("{names}: anyone who knows the address can try the built-in models (EVENHAND_GUESTS=1).")
        return Finding("access", "warning", message, {"names": ", ".join(others)})
    if others:
        return Finding("access", "ok", N_("{names}: people with an account can sign in."), {"names": ", ".join(others)})
    if accounts:
        return Finding("access", "ok", N_("People with an account can sign in, on this machine only."))
    return Finding(
        "access",
        "ok",
        N_("There are no accounts: anyone using this machine can do everything; no one else has access."),
    )


def _proxy() -> Finding:
    named = proxies()
    if not named:
        message = N_(
            "EVENHAND_PROXY is empty: behind a proxy, all visitors share its address and its sign-in"
            " attempts, and the cookie is not Secure."
        )
        return Finding("proxy", "problem" if _listens() in LOOPBACK else "warning", message)
    for text in named:
        try:
            ipaddress.ip_address(text)
        except ValueError:
            message = N_("EVENHAND_PROXY: {name} is not an address, so the proxy is not trusted.")
            return Finding("proxy", "problem", message, {"name": text})
    return Finding("proxy", "ok", N_("The proxy {names} is trusted."), {"names": ", ".join(named)})


def _rights(database: Path) -> Finding | None:
    if not database.is_file():
        return None
    for path, open_to in ((database, 0o077), (database.resolve().parent, 0o022)):
        result = path.stat()
        if stat.S_IMODE(result.st_mode) & open_to and not result.st_mode & stat.S_ISVTX:
            message = N_("{path} can be read or written by other users of this machine (mode {mode}): chmod go-rwx.")
            return Finding(
                "rights", "problem", message, {"path": str(path), "mode": f"{stat.S_IMODE(result.st_mode):o}"}
            )
    if os.geteuid() not in (0, database.stat().st_uid):
        message = N_("{path} does not belong to the user running this command.")
        return Finding("rights", "problem", message, {"path": str(database)})
    return Finding("rights", "ok", N_("The database is accessible only to its owner."))


def _backups(accounts: bool) -> Finding | None:
    place = os.environ.get("EVENHAND_BACKUPS", "")
    if not place:
        if not accounts and not _others():
            return None
        message = N_("EVENHAND_BACKUPS is empty, so backups cannot be checked: see backup --every.")
        return Finding("backups", "warning", message)
    try:
        last = newest(place)
    except EvenhandError as error:
        return Finding("backups", "problem", error.message, error.values)
    if last is None:
        return Finding("backups", "problem", N_("There is no backup at the location in EVENHAND_BACKUPS."))
    hours = (datetime.now(UTC) - last).total_seconds() / 3600
    values = {"hours": f"{hours:.0f}"}
    if hours > OLD_H:
        return Finding(
            "backups", "problem", N_("The newest backup is {hours} hours old. Is backup --every running?"), values
        )
    return Finding("backups", "ok", N_("The newest backup is {hours} hours old."), values)


def _descriptors() -> Finding | None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard == resource.RLIM_INFINITY or hard >= FEW_DESCRIPTORS:
        return None
    message = N_("Only {number} files can be open at once, enough for about {people} users. Raise the limit (nofile).")
    return Finding("limits", "warning", message, {"number": hard, "people": max(1, (hard - max(48, hard // 4)) // 7)})


def _user() -> Finding | None:
    if os.geteuid() != 0:
        return None
    return Finding("user", "warning", N_("The app runs as root: run it as a dedicated user."))


def _token() -> Finding | None:
    from evenhand.web.status import metrics_token

    file = os.environ.get("EVENHAND_METRICS_TOKEN_FILE", "")
    token = metrics_token()
    if file and not token:
        message = N_("EVENHAND_METRICS_TOKEN_FILE points to {path}, which is empty or cannot be read.")
        return Finding("metrics", "problem", message, {"path": file})
    if token and len(token) < SHORT:
        return Finding("metrics", "warning", N_("The /metrics token is too short: use 16 characters or more."))
    return None
