"""`app`, `backup`, `restore`, `doctor`: start the server, keep the database safe, find out what is wrong."""

import os
import socket
import sys
import time
from dataclasses import asdict
from pathlib import Path

import click

from evenhand.annotations.database import backup as snapshots
from evenhand.commands.maintenance.doctor import examine
from evenhand.commands.permissions import guarded, needs
from evenhand.commands.shared import answer, existing_store, option, table
from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.resources import ROOT

SIGNS = {"ok": "ok", "warning": "warning", "problem": "PROBLEM"}
NEEDS_A_PLACE = N_("--every, --keep and --key-file are for a folder or an address; {out} is a file.")


@click.command()
@click.argument("out", envvar="EVENHAND_BACKUPS")
@option(
    "--every",
    type=click.FloatRange(min=0, min_open=True),
    metavar="HOURS",
    help="Continue, with a backup every HOURS hours.",
)
@option("--keep", type=click.IntRange(min=1), metavar="N", help="Remove all but the newest N backups at OUT.")
@option("--key-file", type=click.Path(path_type=Path, dir_okay=False), help="Encrypt it with the key in this file.")
@guarded("back_up", "server")
def backup(out: str, every: float | None, keep: int | None, key_file: Path | None, db: str) -> None:
    """Copy the whole database to OUT, also while people are labelling.

    OUT is a new file, a folder, or an address that fsspec knows (s3://...,
    sftp://...; its library has to be installed). The default is
    EVENHAND_BACKUPS. In a folder and at an address the backup gets a new name.

    The copy is a consistent snapshot of the database. It is checked
    completely before it gets its name, and never replaces a file; a backup in
    a folder or at an address is downloaded and restored for that check. It
    contains no keys of the server, so everybody signs in again after a restore.
    """
    if not snapshots.is_place(out):
        if every or keep or key_file:
            raise Refused(NEEDS_A_PLACE, out=out)
        with existing_store(db) as store:
            made = snapshots.backup(store, Path(out))
        _report(made, "Saved {path}: {contents}.")
        return
    key = snapshots.read_key(key_file) if key_file else None
    while True:
        try:
            with existing_store(db) as store:
                made, _ = snapshots.back_up_to(store, out, key=key, keep=keep)
            _report(made, "Saved {path}: {contents}.")
        except EvenhandError as error:
            if every is None:
                raise
            click.echo(str(error), err=True)  # the next one may succeed; `doctor` says how old the newest is
        if every is None:
            return
        time.sleep(every * 3600)


@click.command()
@click.argument("file")
@option("--force", is_flag=True, help="Replace an existing database; the old one is kept next to it.")
@option("--key-file", type=click.Path(path_type=Path, dir_okay=False), help="The key with which FILE was encrypted.")
@guarded("back_up", "server", opens=False)
def restore(file: str, force: bool, key_file: Path | None, db: str) -> None:
    """Replace the database by the backup FILE. Stop the app first.

    FILE is a file or an address that fsspec knows. It is checked completely
    before anything is changed. Everybody signs in again afterwards: earlier
    cookies, links and open desks are invalid.
    """
    key = snapshots.read_key(key_file) if key_file else None
    with snapshots.fetched(file, Path(db), key=key) as plain:
        restored = snapshots.restore(plain, Path(db), force=force)
    _report(restored, "Restored {path}: {contents}.")


@click.command()
@option("--worker/--no-worker", default=True, help="Start the inference worker and ask it.")
@guarded("back_up", "server", opens=False)
def doctor(worker: bool, db: str) -> None:
    """Check whether everything that the app needs is present; exit code 1 if there is a problem."""
    findings = examine(Path(db), worker=worker)
    bad = any(finding.state == "problem" for finding in findings)
    lines = [(SIGNS[finding.state], finding.name, finding.text) for finding in findings]
    rows = [{"name": finding.name, "state": finding.state, "message": finding.text} for finding in findings]
    answer({"ok": not bad, "findings": rows}, table(lines))
    if bad:
        sys.exit(1)


def _contents(made: snapshots.Snapshot) -> str:
    return f"{made.projects} projects, {made.items} items, {made.labels} labels, {made.bytes / 1e6:.1f} MB"


def _report(made: snapshots.Snapshot, text: str) -> None:
    data = asdict(made) | {"path": str(made.path)}
    answer(data, text.format(path=made.path, contents=_contents(made)))


PORT_TAKEN = N_("Port {port} is in use or not allowed: stop the other program, or choose another with --port.")


@click.command()
@option("--port", type=click.IntRange(1, 65535), envvar="EVENHAND_PORT", default=8501)
@needs("back_up", "server")
def app(port: int) -> None:
    """Start the app on 127.0.0.1 and print its address; Ctrl+C ends it.

    Its database is EVENHAND_DB, else evenhand.db in the current folder; a new database holds the demo projects.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise Refused(PORT_TAKEN, port=port) from error
    click.echo(f"Evenhand opens at http://127.0.0.1:{port} (Ctrl+C ends it)")
    sys.stdout.flush()
    command = ["-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", str(port)]
    os.execv(sys.executable, [sys.executable, *command])  # noqa: S606  the server replaces this process
