"""Allowed addresses of servers, and the key sent to them."""

import pytest

from evenhand.core.errors import Refused
from evenhand.core.servers.addresses import check_address, is_internal, is_trusted, key_from_environment, place_of


@pytest.mark.parametrize(
    "address",
    ["localhost:8000", "ftp://x/v1", "http://", "http://me:secret@host/v1", "http://host/v1?key=secret", "http://[::1",
     "http://169.254.169.254/v1", "http://0xa9fea9fe/v1", "http://metadata.google.internal/v1", "http://[fe80::1]/v1"],
)  # fmt: skip
def test_forbidden_addresses_are_refused(address: str) -> None:
    with pytest.raises(Refused) as caught:
        check_address(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254", "169.254.169.254.", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "0xa9.254.43518",
        "169\u3002254\u3002169\u3002254", "169\uff0e254\uff0e169\uff0e254", "169\uff61254\uff61169\uff61254",
        "\uff11\uff16\uff19.254.169.254", "\u2460\u2465\u2468.254.169.254", "METADATA.Google.Internal.",
        "\uff4detadata", "::169.254.169.254", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe",
        "64:ff9b::169.254.169.254", "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::", "2002:a9fe:a9fe:1::5",
        "2001:0:a9fe:a9fe::1", "2001:0:1:1:0:0:5601:5601", "fe80::1", "fe80::1%eth0", "fd00:ec2::254",
        "100.100.100.200", "::ffff:100.100.100.200", "168.63.129.16",
    ],
)  # fmt: skip
def test_every_spelling_of_a_metadata_server_is_refused(host: str) -> None:
    assert is_internal(host)


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "::1", "::", "10.0.0.4", "192.168.1.2", "fd00::1", "2001:db8::1", "::ffff:10.0.0.4",
     "models.example", "metadata.example", "64:ff9b::10.0.0.4", "2002:0a00:0001::", "", "模型.例子", "a\0b"],
)  # fmt: skip
def test_servers_of_this_machine_and_network_are_allowed(host: str) -> None:
    assert not is_internal(host)


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000/v1", "https://models.example/v1", "http://10.0.0.4/v1"])
def test_valid_addresses_are_accepted(address: str) -> None:
    check_address(address)
    assert address.split("/")[2] == place_of(address)


@pytest.mark.parametrize(
    ("set_to", "expected"),
    [({"EVENHAND_API_KEY": "a", "OPENAI_API_KEY": "b"}, "a"), ({"OPENAI_API_KEY": "b"}, "b"), ({}, None)],
    ids=["own", "usual", "none"],
)
def test_the_key_is_read_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, set_to: dict[str, str], expected: str | None
) -> None:
    for name in ("EVENHAND_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in set_to.items():
        monkeypatch.setenv(name, value)
    assert key_from_environment() == expected


def test_the_key_of_the_installation_goes_to_its_server_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_SERVER", "https://models.example/v1/")
    assert is_trusted("https://models.example/v1") and not is_trusted("https://other.example/v1")
