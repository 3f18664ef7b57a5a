"""Annotators over HTTP for `benchmarks.desk_load`: what a desk in a browser sends, without the browser."""

import asyncio
import json
import random
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from evenhand.annotations.desk.routes import PATH
from evenhand.core.types import JsonObject

FULL, LOW, AT_ONCE = 40, 30, 50  # as in desk/queue.js


class Connection:
    """One connection of one browser; a request at a time, opened again where the server has closed it."""

    def __init__(self, port: int, cookie: str) -> None:
        self.port, self.cookie = port, cookie
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None
        self.opened = 0

    async def request(self, method: str, path: str, body: bytes = b"", token: str = "") -> tuple[int, Any]:
        """Return status and JSON of an answer. Raises OSError or EOFError where the connection breaks."""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: {self.cookie}\r\n"
        head += f"Authorization: Bearer {token}\r\n" if token else ""
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        if self.writer is None or self.reader is None or self.reader.at_eof() or self.writer.is_closing():
            self.close()
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
            self.opened += 1
        try:
            self.writer.write(head.encode() + body)
            answer = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = int(answer.partition("content-length:")[2].partition("\r\n")[0])
            return int(answer.split(" ", 2)[1]), json.loads(await self.reader.readexactly(length) or b"null")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close it."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


@dataclass
class Person:
    """An annotator: the desk, what waits to be sent, what was acknowledged, and how long each label took (ms).

    *accepts*: the share of labels that are "accept".
    """

    connection: Connection
    rng: random.Random
    accepts: float = 1.0
    owner: dict[str, str] = field(default_factory=dict)
    token: str = ""
    items: list[str] = field(default_factory=list)
    outbox: list[tuple[float, JsonObject]] = field(default_factory=list)  # when it was made, the operation
    acked: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    made: int = 0
    failed: int = 0
    again: int = 0
    desk: str = field(default_factory=lambda: uuid.uuid4().hex)

    async def arrive(self, link: str) -> float:
        """Open the desk of a study and get the first items; return how long that took (ms)."""
        begun = time.perf_counter()
        status, reply = await self.connection.request("GET", f"/study/{link}/desk.json")
        if status != 200:
            raise RuntimeError(f"the desk does not open: {status} {reply}")
        data = reply["data"]
        self.token = data["token"]
        self.owner = {
            "database": data["database"], "project": data["project"]["uid"], "annotator": data["annotator"]["uid"],
        }  # fmt: skip
        await self.sync(hello=30)
        return (time.perf_counter() - begun) * 1000

    async def sync(self, hello: int = 0) -> None:
        """Send what waits; it is sent again where the connection breaks or the server is busy, and stored once."""
        sent = self.outbox[:AT_ONCE]
        want = FULL - len(self.items) if len(self.items) < LOW else 0
        if hello:  # as if they had come one after the other: not all ask for more at the same moment
            want = self.rng.randint(LOW, FULL)
        have = self.items if want else []
        body = {"desk": self.desk, "ops": [op for _, op in sent], "have": have, "want": want, "hello": hello}
        data = json.dumps({**body, "version": 1, "language": "en"}).encode()
        while True:
            try:
                status, reply = await self.connection.request("POST", f"{PATH}/sync", data, self.token)
            except (OSError, EOFError):
                self.again += 1
                await asyncio.sleep(0.05)
                continue
            if status == 200:
                break
            self.failed, self.again = self.failed + 1, self.again + 1
            if status != 503:
                self.refused.append(f"{status} {reply}")
            await asyncio.sleep(0.3)
        now = asyncio.get_running_loop().time()
        self.outbox = self.outbox[len(sent) :]
        self.token = reply["token"]
        self.items += [item["id"] for item in reply["items"]]
        for (made, op), answer in zip(sent, reply["answers"], strict=True):
            if answer["result"] == "acked":
                self.acked.append(op["op"])
                self.times.append((now - made) * 1000)
            else:
                self.refused.append(str(answer))

    async def work_steadily(self, begin: float, seconds: int) -> None:
        """Label once a second from *begin* on (clock of the event loop), each when the one before is answered."""
        loop = asyncio.get_running_loop()
        for second in range(seconds):
            await asyncio.sleep(max(0.0, begin + second - loop.time()))
            self.outbox.append((loop.time(), self.label(self.items.pop(0))))
            await self.sync()

    async def work(self, begin: float, every: float, seconds: float) -> None:
        """Label from *begin* to *seconds* later; the time of a label runs from when it is made, sent at once or not."""
        loop = asyncio.get_running_loop()
        moment, sending = begin + self.rng.uniform(0, every), asyncio.create_task(asyncio.sleep(0))
        while moment < begin + seconds:
            await asyncio.sleep(max(0.0, moment - loop.time()))
            if self.items:
                self.outbox.append((moment, self.label(self.items.pop(0))))
            if sending.done():
                sending = asyncio.create_task(self.send())
            moment += self.rng.uniform(0.7 * every, 1.3 * every)
        await sending
        await self.send()

    async def send(self) -> None:
        """Send until nothing waits."""
        while self.outbox:
            await self.sync()

    def label(self, item: str) -> JsonObject:
        """Return an operation as the desk makes it."""
        self.made += 1
        choice = "accept" if self.rng.random() < self.accepts else "reject"
        return {
            **self.owner, "op": uuid.uuid4().hex, "item": item, "desk": self.desk, "revision": self.made, "base": None,
            "choice": choice, "reasons": ["name"] if choice == "reject" else [], "tags": [], "note": "",
            "extraneous": None, "spans": [], "seconds": 5.0, "form": "masked", "guideline": 1,
        }  # fmt: skip
