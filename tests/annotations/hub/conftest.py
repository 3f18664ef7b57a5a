"""A hub that runs here for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.support.hub_server import Hub, hub_server


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Serve the hub of HF_ENDPOINT, to which no account has signed in."""
    with hub_server() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)  # tests reach no other hub
        yield server
