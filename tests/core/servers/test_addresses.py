"""Which addresses may be asked, and with which key."""

import pytest

from core.errors import Refused
from core.servers.addresses import check_address, is_trusted, key_from_environment, place_of


@pytest.mark.parametrize(
    "address",
    ["localhost:8000", "ftp://x/v1", "http://", "http://me:secret@host/v1", "http://host/v1?key=secret", "http://[::1",
     "http://169.254.169.254/v1", "http://0xa9fea9fe/v1", "http://metadata.google.internal/v1", "http://[fe80::1]/v1"],
)  # fmt: skip
def test_addresses_that_may_not_be_asked(address: str) -> None:
    with pytest.raises(Refused) as caught:
        check_address(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000/v1", "https://models.example/v1", "http://10.0.0.4/v1"])
def test_addresses_that_may(address: str) -> None:
    check_address(address)
    assert address.split("/")[2] == place_of(address)


@pytest.mark.parametrize(
    ("set_to", "expected"),
    [({"EVENHAND_API_KEY": "a", "OPENAI_API_KEY": "b"}, "a"), ({"OPENAI_API_KEY": "b"}, "b"), ({}, None)],
    ids=["own", "usual", "none"],
)
def test_where_the_key_comes_from(
    monkeypatch: pytest.MonkeyPatch, set_to: dict[str, str], expected: str | None
) -> None:
    for name in ("EVENHAND_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in set_to.items():
        monkeypatch.setenv(name, value)
    assert key_from_environment() == expected


def test_the_key_of_the_installation_is_for_its_own_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_SERVER", "https://models.example/v1/")
    assert is_trusted("https://models.example/v1") and not is_trusted("https://other.example/v1")
