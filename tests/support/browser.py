"""A real Chromium and a real server for the tests that need both; the fixtures are in tests/conftest.py.

Chromium: EVENHAND_CHROMIUM, /usr/bin/chromium-headless-shell, /usr/bin/chromium, or Playwright's own. Where
there is none the tests are skipped with a message; with CI=true that is a failure.
"""

import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from evenhand.annotations.database.store import Store

ROOT = Path(__file__).resolve().parents[2]
# Of a switch that is given twice Chromium reads the last, so this list is Playwright's own, then the two parts of the
# address bar that Chromium loads as pages of their own for every window (a quarter of the cost of opening a desk), and
# the process that it starts in advance for a page that may come.
FEATURES_OFF = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "SpareRendererForSitePerProcess",
)
FLAGS = [
    f"--disable-features={','.join(FEATURES_OFF)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The first is Debian's package chromium-headless-shell: the same without windows, for three quarters of the work.
INSTALLED = ("/usr/bin/chromium-headless-shell", "/usr/bin/chromium")
START_S = 300.0  # a busy machine may need long
_ports = itertools.count()


def chromium_path(playwright: Playwright) -> str | None:
    """Return the path of Chromium, or None if it is not installed."""
    named = os.environ.get("EVENHAND_CHROMIUM")
    if named:
        return named if shutil.which(named) else None
    results = [path for path in (*INSTALLED, playwright.chromium.executable_path) if Path(path).is_file()]
    return results[0] if results else None


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Start one browser for all tests; each test opens a context of its own."""
    with sync_playwright() as playwright:
        path = chromium_path(playwright)
        if path is None:
            reason = "There is no Chromium: set EVENHAND_CHROMIUM to one, or install /usr/bin/chromium."
            pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=START_S * 1000)
        yield browser
        browser.close()


def free_port() -> int:
    """Return a port of 127.0.0.1 on which no program listens, and from which none connects before a server is there.

    The system's own free ports are not used, since connections of other programs get them too in the meantime.
    Processes that share a suite have consecutive numbers, and a hundred ports of their own each.
    """
    while True:
        port = 20_000 + (os.getpid() * 100 + next(_ports)) % 12_000
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class Server:
    """The app as a person starts it, on a port and a database of its own."""

    def __init__(self, database: Path, port: int | None = None) -> None:
        self.database, self.port = database, port or free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return the address of the server."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """Return the file of what the server writes to the terminal."""
        return self.database.with_suffix(".log")

    def page(self, name: str = "", **query: str) -> str:
        """Return the address of a page."""
        return f"{self.url}/{name}?{urlencode(query)}"

    @property
    def command(self) -> list[str]:
        """Return the command that starts the server."""
        return [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]

    def start(self) -> "Server":
        """Start it and wait until it answers."""
        environment = {"EVENHAND_WORKER": "later", **os.environ, "EVENHAND_DB": str(self.database)}
        with Store.open(self.database):  # there already, so that no demo project is made
            pass
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=30) as reply:
                    if reply.status == 200:
                        return self
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.05)
        raise AssertionError(f"The server did not start: {self.log.read_text()[-2000:]}")

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End it in order."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.kill()


class DeskServer(Server):
    """Desks on a page of their own (tests/support/desk_page.py), at the addresses of the app."""

    @property
    def command(self) -> list[str]:
        """Return the command that starts the server."""
        return [sys.executable, "-m", "tests.support.desk_page", str(self.port)]


@pytest.fixture(scope="session")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start one server for all tests; each test makes a project of its own, and leaves the server running."""
    server = Server(tmp_path_factory.mktemp("app") / "evenhand.db").start()
    yield server
    server.stop()


def restored(server: Server) -> Iterator[Server]:
    """Yield a server for a test that kills it, or starts it on another database; afterwards it runs as before."""
    database = server.database
    yield server
    assert server.process is not None
    if server.database != database or server.process.poll() is not None:
        server.stop()
        server.database = database
        server.start()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """Yield a server with a database of its own, for a test that counts everything in it."""
    server = Server(tmp_path / "own.db").start()
    yield server
    server.stop()
