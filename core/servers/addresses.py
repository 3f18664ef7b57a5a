"""Addresses and keys of servers that speak the OpenAI protocol (vLLM, llama.cpp, hosted ones).

The key comes from the environment only; no file, record or message contains it.
"""

import os
import socket
import unicodedata
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from evenhand.core.errors import N_, Refused

SERVER, SERVERS = "EVENHAND_SERVER", "EVENHAND_SERVERS"
# Hosts at which clouds hand out the keys of a machine, in addition to link-local addresses.
METADATA = frozenset({
    "metadata", "metadata.google.internal", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192",
    "168.63.129.16",
})  # fmt: skip
DOTS = str.maketrans("\u3002\uff0e\uff61", "...")  # what a resolver takes for a dot in a name
# IPv6 networks whose addresses contain an IPv4 address: the bits by which that is shifted to the left.
EMBEDDING = {
    ip_network("::ffff:0:0/96"): 0, ip_network("::/96"): 0, ip_network("64:ff9b::/96"): 0,
    ip_network("64:ff9b:1::/48"): 0, ip_network("2002::/16"): 80,
}  # fmt: skip
KEYS = ("EVENHAND_API_KEY", "OPENAI_API_KEY")


def is_internal(host: str) -> bool:
    """Return whether a host is one at which clouds hand out the keys of their machines: the addresses of a link, names.

    An address may be written in any way that a system's resolver takes: 169.254.169.254, 0xa9fea9fe, 2852039166, with
    full-width digits and dots, or as one of IPv6 that leads to it (mapped, NAT64, 6to4, Teredo).
    """
    bare = unicodedata.normalize("NFKC", host).translate(DOTS).rstrip(".").lower()
    if bare in METADATA:
        return True
    try:
        address = ip_address(bare.partition("%")[0])
    except ValueError:
        try:
            address = ip_address(socket.inet_aton(bare))
        except (OSError, UnicodeError, ValueError):  # ValueError: a NUL
            return False
    return any(form.is_link_local or str(form) in METADATA for form in _forms(address))


def _forms(address: IPv4Address | IPv6Address) -> list[IPv4Address | IPv6Address]:
    """Return an address and the IPv4 addresses that it leads to."""
    if isinstance(address, IPv4Address):
        return [address]
    inside = [IPv4Address(int(address) >> shift & 0xFFFFFFFF) for net, shift in EMBEDDING.items() if address in net]
    return [address, *inside, *(address.teredo or ())]


def servers_allowed() -> list[str]:
    """Return the addresses that leads of a server with accounts may use.

    These are EVENHAND_SERVER and those in EVENHAND_SERVERS, separated by commas.
    """
    named = [os.environ.get(SERVER, ""), *os.environ.get(SERVERS, "").split(",")]
    return list(dict.fromkeys(text.strip() for text in named if text.strip()))


def check_address(address: str) -> None:
    """Raise Refused for text that is not the address of a model server, or that contains a key."""
    try:
        parts = urlsplit(address)
    except ValueError as error:  # a bracket without its other half
        raise Refused(NO_ADDRESS, address="''") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Refused(NO_ADDRESS, address=parts.hostname or "''")
    if is_internal(parts.hostname):
        raise Refused(NO_SERVER, address=parts.hostname)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise Refused(N_("Do not put a key into the server address; set the environment variable EVENHAND_API_KEY."))


NO_SERVER = N_("{address} is not the address of a model server.")
NO_ADDRESS = N_("{address} is not a server address; it should look like http://localhost:8000/v1.")


def key_from_environment() -> str | None:
    """Return the key of the server: EVENHAND_API_KEY, else OPENAI_API_KEY; None where neither is set."""
    return next((os.environ[name] for name in KEYS if os.environ.get(name)), None)


def is_trusted(address: str) -> bool:
    """Return whether pages may send the key of the installation to *address*: True for EVENHAND_SERVER only."""
    return address.rstrip("/") == os.environ.get(SERVER, "").rstrip("/")


def place_of(url: str) -> str:
    """Return host and port, as messages name them."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
