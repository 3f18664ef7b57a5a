"""Connecting to a model server at an address that was checked: a name may lead where clouds hand out their keys."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from evenhand.core.errors import Refused
from evenhand.core.servers.addresses import NO_SERVER, is_internal

Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a name, as the system has them."""
    rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(row[4][0]) for row in rows))


class CheckedTransport(httpx.AsyncBaseTransport):
    """Sends each request to an address that was checked, so that a name cannot change between check and connection."""

    def __init__(self, inner: httpx.AsyncBaseTransport, resolved: Resolve = resolve) -> None:
        self._inner, self._resolved = inner, resolved

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Raises Refused where any address of the host is one of a cloud's metadata."""
        host = request.url.host
        failure = httpx.ConnectError(f"{host} has no address", request=request)
        for address in await self._checked(request):
            # Host and the name in the certificate stay those of the address that was given.
            extensions = {**request.extensions, "sni_hostname": host}
            url = request.url.copy_with(host=address)
            pinned = httpx.Request(
                request.method, url, headers=request.headers, stream=request.stream, extensions=extensions
            )
            try:
                return await self._inner.handle_async_request(pinned)
            except httpx.ConnectError as error:  # the next one may answer: localhost has two
                failure = error
        raise failure

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _checked(self, request: httpx.Request) -> list[str]:
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        patience = request.extensions.get("timeout", {}).get("connect")
        try:
            addresses = await asyncio.wait_for(self._resolved(host, port), patience)
        except TimeoutError as error:
            raise httpx.ConnectTimeout(f"{host} was not resolved", request=request) from error
        except (OSError, UnicodeError) as error:
            raise httpx.ConnectError(str(error), request=request) from error
        if any(map(is_internal, [host, *addresses])):
            raise Refused(NO_SERVER, address=host)
        return addresses


def client_of(url: str, limits: httpx.Limits, timeout: float, headers: dict[str, str]) -> httpx.AsyncClient:
    """Return a client for requests to *url*. Where the system names a proxy for it, the proxy resolves the name."""
    parts = urlsplit(url)
    proxies = getproxies()
    if (parts.scheme in proxies or "all" in proxies) and not proxy_bypass(parts.hostname or ""):
        return httpx.AsyncClient(timeout=timeout, limits=limits, headers=headers)
    transport = CheckedTransport(httpx.AsyncHTTPTransport(limits=limits))
    return httpx.AsyncClient(transport=transport, timeout=timeout, headers=headers)
