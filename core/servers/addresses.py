"""Addresses and keys of servers that speak the OpenAI protocol (vLLM, llama.cpp, hosted ones).

The key comes from the environment alone and stands in no file, record or message.
"""

import os
import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from core.errors import N_, Refused

SERVER, SERVERS = "EVENHAND_SERVER", "EVENHAND_SERVERS"
# Where clouds hand out the keys of a machine, beside the addresses of a link.
METADATA = frozenset({"metadata", "metadata.google.internal", "fd00:ec2::254", "100.100.100.200"})
KEYS = ("EVENHAND_API_KEY", "OPENAI_API_KEY")


def is_internal(host: str) -> bool:
    """Whether a host is one at which clouds hand out the keys of their machines: the addresses of a link, and names.

    An address may be written in any way that the system's resolver takes: 169.254.169.254, 0xa9fea9fe, 2852039166.
    """
    bare = host.rstrip(".").lower()
    if bare in METADATA:
        return True
    try:
        found = ip_address(bare.partition("%")[0])
    except ValueError:
        try:
            found = ip_address(socket.inet_aton(bare))
        except OSError:
            return False
    mapped = getattr(found, "ipv4_mapped", None) or found
    return mapped.is_link_local or str(mapped) in METADATA


def servers_allowed() -> list[str]:
    """The addresses that leads of a server with accounts may use: EVENHAND_SERVER, and those of EVENHAND_SERVERS
    (separated by commas)."""
    named = [os.environ.get(SERVER, ""), *os.environ.get(SERVERS, "").split(",")]
    return list(dict.fromkeys(one.strip() for one in named if one.strip()))


def check_address(address: str) -> None:
    """Raise Refused for what is no address of a model server, or holds a key."""
    try:
        parts = urlsplit(address)
    except ValueError as error:  # a bracket without its other half
        raise Refused(NO_ADDRESS, address="''") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Refused(NO_ADDRESS, address=parts.hostname or "''")
    if is_internal(parts.hostname):
        raise Refused(N_("{address} is not the address of a model server."), address=parts.hostname)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise Refused(N_("Do not put a key into the server address; set the environment variable EVENHAND_API_KEY."))


NO_ADDRESS = N_("{address} is not a server address; it should look like http://localhost:8000/v1.")


def key_from_environment() -> str | None:
    """The key of the server: EVENHAND_API_KEY, else OPENAI_API_KEY; None where neither is set."""
    return next((os.environ[name] for name in KEYS if os.environ.get(name)), None)


def is_trusted(address: str) -> bool:
    """Whether the key of the installation may be sent to *address* for somebody on a page: EVENHAND_SERVER alone."""
    return address.rstrip("/") == os.environ.get(SERVER, "").rstrip("/")


def place_of(url: str) -> str:
    """Host and port, as messages name them."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
