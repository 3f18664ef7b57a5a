"""`app`: start the server."""

import os
import socket
import sys

import click

from evenhand.commands.permissions import needs
from evenhand.core.errors import N_, Refused
from evenhand.core.resources import ROOT

PORT_TAKEN = N_("Port {port} is in use or not allowed: stop the other program, or choose another with --port.")


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), envvar="EVENHAND_PORT", default=8501, show_default=True)
@needs("back_up", "server")
def app(port: int) -> None:
    """Start the app on 127.0.0.1 and print its address; Ctrl+C ends it.

    Its database is EVENHAND_DB, else evenhand.db in the current folder; a new one holds the demo projects.
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
