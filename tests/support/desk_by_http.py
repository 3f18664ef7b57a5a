"""A desk without a browser: what it sends over HTTP is what desk/static/queue.js sends."""

import json
from collections.abc import Sequence
from typing import Any, Protocol

import httpx

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import PATH
from evenhand.annotations.desk.session import issue
from evenhand.annotations.projects.projects import annotator, project
from evenhand.annotations.types import Project
from tests.support.browser import Server

PATIENCE_S = 240.0


class Client(Protocol):
    """What sends a request: a test client over the routes alone, or one over a server."""

    def post(self, url: str, *, content: Any, headers: Any) -> httpx.Response: ...


class RouteDesk:
    """One desk of one annotator; each method is one request."""

    def __init__(self, client: Client, store: Store, project: Project, name: str, desk: str = "desk-1") -> None:
        self.client, self.store, self.project, self.desk = client, store, project, desk
        self.who = annotator(store, project, name)
        ids = {"database": store.uid, "project": project.uid, "annotator": self.who.uid}
        self.owner, self.token, self.revision = ids, issue(store.secret, **ids), 0

    def post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        data = body if isinstance(body, bytes) else json.dumps(body if body is not None else {})
        return self.client.post(f"{PATH}/{path}", content=data, headers=sent)

    def op(self, item: str, choice: str | None, **more: Any) -> dict[str, Any]:
        self.revision += 1
        made = {"op": f"{self.desk}-{self.revision}", "item": item, "desk": self.desk, "revision": self.revision}
        rest = {"base": None, "choice": choice, "reasons": [], "note": "", "seconds": 1.5, "form": "masked"}
        return {**self.owner, **made, **rest, **more}

    def sync(self, *ops: Any, **more: Any) -> dict[str, Any]:
        response = self.post("sync", {"desk": self.desk, "ops": ops, "have": [], "want": 0, "hello": 0, **more})
        assert response.status_code == 200, response.text
        reply: dict[str, Any] = response.json()
        return reply


class HttpDesk:
    """An annotator at work over HTTP on a server, with *ready* items at hand; the first of them is being judged."""

    def __init__(self, server: Server, name: str, who: str, ready: int = 1) -> None:
        self.server, self.project, self.who = server, name, who
        self.ready, self.items = ready, list[dict[str, Any]]()
        self.client = httpx.Client(base_url=server.url, timeout=PATIENCE_S)
        with Store.open(server.database) as store:
            self.desk = RouteDesk(self.client, store, project(store, name), who, desk=f"http-{who}")

    @property
    def item(self) -> str | None:
        """Return the id of the item that is being labelled."""
        return self.items[0]["id"] if self.items else None

    @property
    def text(self) -> str:
        """Return the text of the item that is being labelled."""
        return str(self.items[0]["text"])

    def fetch(self, ops: Sequence[dict[str, Any]] = ()) -> None:
        """Send *ops*, which are all taken, and fill up what is at hand."""
        have = [item["id"] for item in self.items]
        reply = self.desk.sync(*ops, have=have, want=self.ready - len(have))
        assert [answer["result"] for answer in reply["answers"]] == ["acked"] * len(ops), reply["answers"]
        self.items += reply["items"]

    def decide(self, choice: str, **more: Any) -> str:
        """Store a label of the item that is being judged; returns its id."""
        item = self.items.pop(0)
        self.fetch([self.desk.op(item["id"], choice, base=item["base"], **more)])
        return str(item["id"])

    def settle(self) -> None:
        """Do nothing, since each request has been answered."""

    def close(self) -> None:
        """End the connection."""
        self.client.close()
