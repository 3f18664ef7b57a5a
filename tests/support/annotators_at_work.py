"""Annotators who label over HTTP while something happens to the server, and a recount of what is stored.

Each keeps what it has sent until it is acknowledged, and sends it again, as desk/static/queue.js does.
"""

import http.client
import json
import random
import shutil
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import PATH
from evenhand.annotations.desk.session import issue
from evenhand.annotations.log.verify import verify
from evenhand.annotations.projects.projects import annotators, project
from evenhand.core.errors import EvenhandError
from tests.support.browser import Server
from tests.support.desk_driver import make_project
from tests.support.projects import broken_rules

FULL, LOW = 40, 30
OPERATIONS = "SELECT op_id FROM label UNION ALL SELECT op_id FROM skip UNION ALL SELECT op_id FROM retest_label"


class AtWork(threading.Thread):
    """One annotator: accepts, rejects, skips, undoes and changes, at random but the same in every run."""

    def __init__(
        self, ports: list[int], owner: dict[str, str], sign_in: Callable[..., str], number: int, pause: float
    ) -> None:
        super().__init__(daemon=True)
        self.ports, self.owner, self.sign_in, self.pause = ports, owner, sign_in, pause
        self.token = sign_in(**owner)
        self.rng, self.desk, self.revision = random.Random(number), f"desk-{number}", 0
        self.items: list[str] = []
        self.done: list[tuple[str, str]] = []  # item, operation
        self.outbox: list[dict[str, Any]] = []
        self.sent: set[str] = set()
        self.acked: set[str] = set()
        self.replies: Counter[str] = Counter()  # what else came than an acknowledgement
        self.connection: http.client.HTTPConnection | None = None
        self.ended = threading.Event()

    def run(self) -> None:
        """Work until `ended`."""
        while not self.ended.is_set():
            if not self.outbox and (operation := self.operation()):
                self.outbox.append(operation)
            self.sync()
            self.ended.wait(self.pause * self.rng.uniform(0.5, 1.5))
        self.hang_up()

    def operation(self) -> dict[str, Any] | None:
        """Return the next decision to send, or None if there is nothing to decide."""
        chance, base = self.rng.random(), None
        if chance < 0.12 and self.done:
            item, base = self.done.pop()
            choice = None if chance < 0.05 else self.rng.choice(["accept", "reject"])
        elif self.items:
            item = self.items.pop(0)
            choice = "skip" if chance < 0.2 else self.rng.choice(["accept", "accept", "reject"])
        else:
            return None
        self.revision += 1
        made = {
            **self.owner, "op": uuid.uuid4().hex, "item": item, "desk": self.desk, "revision": self.revision,
            "base": base, "choice": choice, "reasons": ["name"] if choice == "reject" else [], "note": "",
            "seconds": 1.0, "form": "masked",
        }  # fmt: skip
        if choice not in (None, "skip"):
            self.done.append((item, made["op"]))
        self.sent.add(made["op"])
        return made

    def sync(self) -> None:
        """Send one request; without an answer the outbox stays unchanged."""
        want = FULL - len(self.items) if len(self.items) < LOW else 0
        body = {"desk": self.desk, "ops": self.outbox, "have": self.items if want else [], "want": want, "hello": 0}
        try:
            status, reply = self.post(json.dumps(body))
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.replies[type(error).__name__] += 1
            self.hang_up()
            return
        if status == 401:  # the desk is opened again; decisions that wait to be sent are kept
            self.token = self.sign_in(**self.owner)
        if status != 200:
            self.replies[f"{status} {reply.get('message')}"] += 1
            return
        self.outbox, self.token = [], reply["token"]
        self.items += [item["id"] for item in reply["items"] if item["id"] not in self.items]
        for answer in reply["answers"]:
            if answer["result"] == "acked":
                self.acked.add(answer["op"])
            else:
                self.replies[f"refused: {answer['reason']}"] += 1

    def post(self, body: str) -> tuple[int, dict[str, Any]]:
        """Return status and reply; each connection goes to the next of the ports."""
        if self.connection is None:
            self.ports = [*self.ports[1:], self.ports[0]]
            self.connection = http.client.HTTPConnection("127.0.0.1", self.ports[0], timeout=60)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request("POST", f"{PATH}/sync", body, headers)
        response = self.connection.getresponse()
        data = response.read()
        if response.headers.get("connection") == "close" or len(self.ports) > 1:
            self.hang_up()
        return response.status, json.loads(data)

    def hang_up(self) -> None:
        """End the connection."""
        if self.connection is not None:
            with suppress(OSError):
                self.connection.close()
        self.connection = None


class Crew:
    """Annotators of a new project at work at one server, or in turns at several of the same database."""

    def __init__(self, *servers: Server, people: int = 20, items: int = 2_000, pause: float = 0.1) -> None:
        names = tuple(f"annotator {number}" for number in range(people))
        name = make_project(servers[0], items, annotators=names)
        self.database = servers[0].database
        with Store.open(self.database) as store:
            made = project(store, name)
            owners = [
                {"database": store.uid, "project": made.uid, "annotator": person.uid}
                for person in annotators(store, made)
            ]
            secret = store.secret
        self.ahead = 0.0  # of the server's clock, in seconds

        def sign_in(**owner: str) -> str:
            return issue(secret, now=time.time() + self.ahead, **owner)  # type: ignore[arg-type]

        ports = [server.port for server in servers]
        self.people = [AtWork(ports, owner, sign_in, number, pause) for number, owner in enumerate(owners)]

    @property
    def acked(self) -> set[str]:
        """Return the operations that were acknowledged up to now."""
        return {op for person in self.people for op in list(person.acked)}

    @property
    def replies(self) -> Counter[str]:
        """Count the further messages of the server."""
        return sum((person.replies for person in self.people), Counter[str]())

    @property
    def answers(self) -> list[str]:
        """Return the answers of the server other than acknowledgements; broken connections do not count as answers."""
        return [reply for reply in self.replies if " " in reply]

    @contextmanager
    def at_work(self) -> Iterator["Crew"]:
        """Let the annotators work in the block; at its end each finishes the request under way."""
        for person in self.people:
            person.start()
        try:
            yield self
        finally:
            for person in self.people:
                person.ended.set()
            for person in self.people:
                person.join(90)

    def work_on(self, labels: int, seconds: float = 120.0) -> None:
        """Wait until so many more operations have been acknowledged."""
        goal, end = len(self.acked) + labels, time.monotonic() + seconds
        while len(self.acked) < goal:
            assert time.monotonic() < end, f"{len(self.acked)} of {goal} operations acknowledged; told {self.replies}"
            time.sleep(0.02)

    def faults(self, acked: set[str], copy: Path | None = None) -> list[str]:
        """Return the errors of the database (or a copy of its files at *copy*), which must contain all of *acked*."""
        database = copy or self.database
        if copy is not None:
            for ending in ("", "-wal"):
                if (file := Path(f"{self.database}{ending}")).exists():
                    shutil.copyfile(file, f"{copy}{ending}")
        with Store.open(database) as store:
            stored = Counter(row[0] for row in store.db.execute(OPERATIONS))
            result = recounted(store)
        known = {op for person in self.people for op in list(person.sent)}
        result += [f"lost: {len(lost)} {sorted(lost)[:3]}"] if (lost := acked - set(stored)) else []
        result += [f"doubled: {doubled[:3]}"] if (doubled := [op for op, n in stored.items() if n > 1]) else []
        return result + ([f"unknown: {sorted(odd)[:3]}"] if (odd := set(stored) - known) else [])


def recounted(store: Store) -> list[str]:
    """Return the errors that a recount of all derived values and the checks of SQLite and of the log find."""
    results = [f"integrity: {row[0]}" for row in store.db.execute("PRAGMA integrity_check") if row[0] != "ok"]
    results += [f"foreign key: {row}" for row in store.db.execute("PRAGMA foreign_key_check")]
    results += broken_rules(store)
    try:
        verify(store)
    except EvenhandError as error:
        results.append(f"log: {error}")
    return results
