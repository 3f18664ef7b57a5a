"""The desk's routes without a server."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from evenhand.annotations.desk.routes import routes


@pytest.fixture
def client() -> Iterator[TestClient]:
    """Yield a client that sends requests to the routes in this process."""
    with TestClient(Starlette(routes=routes())) as made:
        yield made
