"""A small provider of identities: discovery, authorization with PKCE, tokens with real signatures, keys."""

import base64
import hashlib
import time
from dataclasses import dataclass, field
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.support.browser import free_port
from tests.support.waiting import until


@dataclass
class IdentityProvider:
    """It signs in *subject* without asking.

    `claims` replace those of the token, None takes one away; `signs_with`: another key.
    """

    client: str = "evenhand"
    secret: str = "a secret of the client"
    subject: str = "person-1"
    name: str = "Ada Lovelace"
    claims: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] | None = None  # its data about the person apart from the token

    def __post_init__(self) -> None:
        self.port = free_port()
        self.issuer = f"http://127.0.0.1:{self.port}/realm"
        self.key = self.signs_with = RSAKey.generate_key(2048, {"kid": "one"})
        self.asked: dict[str, dict[str, str]] = {}  # code -> the parameters of its request

    def start(self) -> "IdentityProvider":
        """Answer on a port of this machine."""
        routes = [
            Route("/realm/.well-known/openid-configuration", self._metadata),
            Route("/realm/authorize", self._authorize),
            Route("/realm/token", self._token, methods=["POST"]),
            Route("/realm/userinfo", self._userinfo),
            Route("/realm/keys", lambda _: JSONResponse({"keys": [self.key.as_dict(private=False)]})),
        ]
        config = uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=self.port, log_level="error")
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, daemon=True)
        self._thread.start()
        until(lambda: self._server.started)
        return self

    def stop(self) -> None:
        """End the server."""
        self._server.should_exit = True
        self._thread.join()

    def _metadata(self, _: Request) -> Response:
        at = self.issuer
        endpoints = {"authorization_endpoint": f"{at}/authorize", "token_endpoint": f"{at}/token"}
        if self.userinfo is not None:
            endpoints["userinfo_endpoint"] = f"{at}/userinfo"
        return JSONResponse({"issuer": at, "jwks_uri": f"{at}/keys", **endpoints})

    def _authorize(self, request: Request) -> Response:
        query = dict(request.query_params)
        assert query["response_type"] == "code" and query["code_challenge_method"] == "S256"
        code = f"code-{len(self.asked)}"
        self.asked[code] = query
        return RedirectResponse(f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}", 303)

    def _userinfo(self, request: Request) -> Response:
        known = request.headers.get("authorization") == "Bearer x"
        return JSONResponse(self.userinfo if known else {"error": "invalid_token"}, 200 if known else 401)

    async def _token(self, request: Request) -> Response:
        sent = dict(await request.form())
        basic = base64.b64encode(f"{self.client}:{self.secret.replace(' ', '+')}".encode()).decode()
        plain = base64.b64encode(f"{self.client}:{self.secret}".encode()).decode()
        asked = self.asked.pop(str(sent.get("code")), None)
        challenge = hashlib.sha256(str(sent.get("code_verifier")).encode()).digest()
        proven = asked and base64.urlsafe_b64encode(challenge).rstrip(b"=").decode() == asked["code_challenge"]
        if request.headers.get("authorization") not in (f"Basic {basic}", f"Basic {plain}") or not proven:
            return JSONResponse({"error": "invalid_grant"}, 400)
        assert asked is not None and sent["redirect_uri"] == asked["redirect_uri"]
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": self.client, "sub": self.subject, "preferred_username": self.name,
            "email": "ada@example.org", "iat": now, "exp": now + 60, "nonce": asked["nonce"],
        }  # fmt: skip
        said = {kind: value for kind, value in {**claims, **self.claims}.items() if value is not None}
        token = jwt.encode({"alg": "RS256", "kid": "one"}, said, self.signs_with)
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "id_token": token})
