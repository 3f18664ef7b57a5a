"""A client of some routes behind the gate: what tests of the server share."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.testclient import TestClient

from evenhand.annotations.database.pool import stores
from evenhand.core.resources import ROOT
from evenhand.web.gate import Gate
from evenhand.web.requests import below


@contextmanager
def gated(routes: Iterable[Route], base: str = "") -> Iterator[TestClient]:
    """Yield a client on this machine that follows no redirect; *base*: the path below which the app is."""
    gate = Middleware(Gate, page=ROOT / "web/templates/base.html", base=base)
    app = Starlette(routes=below(base, routes), middleware=[gate])
    with TestClient(app, base_url="http://localhost", client=("127.0.0.1", 5000), follow_redirects=False) as client:
        yield client
    stores.close()
