"""Desks in a browser: on a page of their own, or in the app."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.support.browser import DeskServer, Server, restored
from tests.support.desk_driver import Opener


@pytest.fixture(scope="session")
def desk_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start one server of desks without the app for all tests; each test makes a project of its own."""
    server = DeskServer(tmp_path_factory.mktemp("desks") / "evenhand.db").start()
    yield server
    server.stop()


@pytest.fixture
def mortal_server(desk_server: Server) -> Iterator[Server]:
    """Yield the server for a test that kills it or starts it on another database; afterwards it runs as before."""
    yield from restored(desk_server)


@pytest.fixture
def mortal_app(app_server: Server) -> Iterator[Server]:
    """Yield the app's server for such a test."""
    yield from restored(app_server)


@pytest.fixture
def desks(chromium: Browser, desk_server: Server) -> Iterator[Opener]:
    """Open desks on pages without an app, for keys, marks, storage and answers."""
    yield from opened(chromium, desk_server)


@pytest.fixture
def mortal_desks(chromium: Browser, mortal_server: Server) -> Iterator[Opener]:
    """Open desks on a server that may end."""
    yield from opened(chromium, mortal_server)


@pytest.fixture
def app_desks(chromium: Browser, app_server: Server) -> Iterator[Opener]:
    """Open desks in the app, where Streamlit mounts, themes, reloads and reruns them and has keys of its own."""
    yield from opened(chromium, app_server)


@pytest.fixture
def mortal_app_desks(chromium: Browser, mortal_app: Server) -> Iterator[Opener]:
    """Open desks on an app that may end."""
    yield from opened(chromium, mortal_app)


@pytest.fixture
def own_desks(chromium: Browser, own_server: Server) -> Iterator[Opener]:
    """Open desks in an app whose database belongs to this test alone."""
    yield from opened(chromium, own_server)


def opened(browser: Browser, server: Server) -> Iterator[Opener]:
    """Open desks of *server*, and close them after the test."""
    opener = Opener(browser, server)
    yield opener
    opener.close()
