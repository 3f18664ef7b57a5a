"""Make the first account and sign in through a proxy with TLS, as a browser does: image_sign_in.py URL AUTHORITY LINK.

Part of `make image-check`. AUTHORITY is the certificate of the proxy's own authority, LINK the secret of the first
account's link, as the server prints it at its start. Nothing beyond Python's own library.
"""

import base64
import http.client
import os
import re
import secrets
import socket
import ssl
import sys
from urllib.parse import urlencode, urlsplit

Reply = tuple[int, dict[str, str], str]


class Visitor:
    """A browser as far as this needs one: TLS that is checked, a cookie, an origin."""

    def __init__(self, url: str, authority: str) -> None:
        self.url, self.cookie = url, ""
        self.host, self.port = urlsplit(url).hostname or "", urlsplit(url).port or 443
        self.context = ssl.create_default_context(cafile=authority)

    def ask(self, method: str, path: str, sent: dict[str, str] | None = None, **headers: str) -> Reply:
        """One request; the cookie of the answer is kept."""
        connection = http.client.HTTPSConnection(self.host, self.port)
        connection.sock = self.connected()
        body = urlencode(sent) if sent is not None else None
        base = {"Origin": self.url, "Content-Type": "application/x-www-form-urlencoded"} if sent is not None else {}
        base |= {"Cookie": self.cookie} if self.cookie else {}
        connection.request(method, path, body, base | {key.replace("_", "-"): text for key, text in headers.items()})
        reply = connection.getresponse()
        text = reply.read().decode("utf-8", "replace")
        result = {key.lower(): value for key, value in reply.getheaders()}
        connection.close()
        return reply.status, result, text

    def connected(self) -> ssl.SSLSocket:
        """Return a TLS connection to the proxy, which runs on this machine under any host name."""
        plain = socket.create_connection(("127.0.0.1", self.port), 30)
        return self.context.wrap_socket(plain, server_hostname=self.host)

    def socket(self, origin: str) -> int:
        """The status of opening the socket of a page, from *origin*."""
        lines = [
            "GET /_stcore/stream HTTP/1.1", f"Host: {self.host}:{self.port}", "Upgrade: websocket",
            "Connection: Upgrade", f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: streamlit", f"Origin: {origin}",
            f"Cookie: {self.cookie}", "", "",
        ]  # fmt: skip
        with self.connected() as secure:
            secure.sendall("\r\n".join(lines).encode())
            return int(secure.recv(4096).split(b" ")[1])


def expect(what: str, found: object, wanted: object) -> None:
    """Print what is right; end with what is not."""
    if found != wanted:
        sys.exit(f"FAILED  {what}: {found!r} instead of {wanted!r}")
    print(f"ok  {what}", flush=True)


def main(url: str, authority: str, link: str) -> None:
    """The way of the first person."""
    visitor, password = Visitor(url, authority), secrets.token_urlsafe(16)
    expect("healthz through the proxy", visitor.ask("GET", "/healthz")[0], 200)
    expect("metrics are not served through the proxy", visitor.ask("GET", "/metrics")[0], 404)
    expect("nobody gets in without an account", visitor.ask("GET", "/")[0], 403)
    made = visitor.ask(
        "POST", "/account/link", {"link": link, "name": "owner", "password": password, "again": password}
    )
    expect("the first account is made", made[0], 303)
    expect(
        "a foreign origin signs nobody in", visitor.ask("POST", "/sign-in", {}, Origin="https://evil.example")[0], 403
    )
    expect("a page asks who is not signed in", visitor.ask("GET", "/", Accept="text/html")[0], 303)
    wrong = visitor.ask("POST", "/sign-in", {"name": "owner", "password": password + "x"})
    expect("a wrong password is refused", wrong[0], 403)
    status, headers, _ = visitor.ask("POST", "/sign-in", {"name": "owner", "password": password})
    expect("the password signs in", status, 303)
    cookie = headers.get("set-cookie", "")
    expect("the cookie is __Host-, Secure, HttpOnly", bool(re.match("__Host-evenhand=", cookie)), True)
    expect("the cookie's marks", {"secure", "httponly"} <= set(re.split(r"; ?", cookie.lower())), True)
    visitor.cookie = cookie.split(";")[0]
    status, headers, text = visitor.ask("GET", "/")
    expect("the page opens", (status, "<script" in text), (200, True))
    expect("with a Content-Security-Policy", "frame-ancestors 'none'" in headers["content-security-policy"], True)
    expect("and with Strict-Transport-Security", "strict-transport-security" in headers, True)
    expect("the socket of a page opens", visitor.socket(url), 101)
    expect("not from another origin", visitor.socket("https://evil.example"), 403)


if __name__ == "__main__":
    main(*sys.argv[1:])
