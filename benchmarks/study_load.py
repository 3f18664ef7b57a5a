"""Thousands of people who came by the link of a study, each at a desk over HTTP: latency, memory, nothing lost.

    python -m benchmarks.study_load [--people 2000] [--every 6] [--seconds 120]

Each person labels one text in --every seconds, some sooner and some later, and sends what the desk sends: the
operation, what it has, how many items it wants. The time of a label runs from the moment at which it was made until its
answer is there, also where the request before it was still under way. Server and client share the processors.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import resource
import statistics
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import PATH
from evenhand.annotations.projects.projects import project
from evenhand.annotations.study.links import signed
from evenhand.annotations.study.people import agree, begin, participant
from evenhand.annotations.study.studies import Settings, consent, create_study
from evenhand.web.gate import STUDY_COOKIE
from tests.support.browser import Server
from tests.support.desk_driver import make_project

FULL, LOW, AT_ONCE = 40, 30, 50  # as in desk/queue.js
ITEMS = 60  # that each person is asked to judge
PER_ITEM = 2  # labels of an item, as make_project has it
DESCRIPTORS = 16_384


class Connection:
    """One connection of one browser; a request at a time, opened anew where the server has closed it."""

    def __init__(self, port: int, cookie: str) -> None:
        self.port, self.cookie = port, cookie
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None
        self.opened = 0

    async def request(self, method: str, path: str, body: bytes = b"", token: str = "") -> tuple[int, Any]:
        """Status and JSON of an answer. Raises OSError or EOFError where the connection breaks."""
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
        """End it."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


@dataclass
class Person:
    """One who takes part: the desk, what waits to be sent, what was acknowledged, and how long each label took (ms)."""

    connection: Connection
    link: str
    rng: random.Random
    owner: dict[str, str] = field(default_factory=dict)
    token: str = ""
    items: list[str] = field(default_factory=list)
    outbox: list[tuple[float, dict[str, Any]]] = field(default_factory=list)  # when it was made, the operation
    acked: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    made: int = 0
    again: int = 0
    desk: str = field(default_factory=lambda: uuid.uuid4().hex)

    async def arrive(self) -> float:
        """Open the desk and get the first items; returns how long that took (ms)."""
        begun = time.perf_counter()
        status, reply = await self.connection.request("GET", f"/study/{self.link}/desk.json")
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
        if hello:  # as if they had come one after the other: not everybody asks for more at the same moment
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
            self.again += 1
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

    async def work(self, begin: float, every: float, seconds: float) -> None:
        """Label from *begin* to *seconds* later (clock of the event loop)."""
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

    def label(self, item: str) -> dict[str, Any]:
        """An operation as the desk makes it."""
        self.made += 1
        choice = "accept" if self.rng.random() < 0.7 else "reject"
        return {
            **self.owner, "op": uuid.uuid4().hex, "item": item, "desk": self.desk, "revision": self.made, "base": None,
            "choice": choice, "reasons": ["name"] if choice == "reject" else [], "tags": [], "note": "",
            "extraneous": None, "spans": [], "seconds": 5.0, "form": "masked", "guideline": 1,
        }  # fmt: skip


def seated(server: Server, people: int, seconds: float, every: float) -> list[Person]:
    """A project with enough sentences, a study in it, and people who have agreed and begun."""
    at_most = min(ITEMS, round(seconds / every * 1.1) + FULL)
    name = make_project(server, people * at_most // PER_ITEM + 100, annotators=())
    found = []
    with Store.open(server.database) as store:
        made = project(store, name)
        study = create_study(store, made, "load", Settings(contact="lead@example.org", items=ITEMS, places=people))
        link, newest = signed(store, study), consent(store, study)
        for number in range(people):
            secret = agree(store, study, newest, "en", None)
            who = participant(store, study, [secret])
            if who is None:
                raise RuntimeError("nobody came")
            begin(store, study, who)
            cookie = f"{STUDY_COOKIE}{study.uid[:8]}={secret}"
            found.append(Person(Connection(server.port, cookie), link, random.Random(number)))
    return found


async def load(server: Server, people: list[Person], every: float, seconds: float) -> dict[str, Any]:
    """Everybody comes within --every seconds or as fast as the server lets them, then labels."""
    loop, memory = asyncio.get_running_loop(), [resident(server)]
    limit = asyncio.Semaphore(20)

    async def arrival(person: Person) -> float:
        async with limit:
            return await person.arrive()

    arrivals = await asyncio.gather(*map(arrival, people))
    memory.append(resident(server))
    before, own, begin = cpu(server.process.pid if server.process else None), cpu(os.getpid()), loop.time() + 2
    working = asyncio.gather(*(person.work(begin, every, seconds) for person in people))
    while not working.done():
        await asyncio.wait([working], timeout=seconds / 4)
        memory.append(resident(server))
    await working
    took = loop.time() - begin
    used = cpu(server.process.pid if server.process else None) - before, cpu(os.getpid()) - own
    for person in people:
        person.connection.close()
    return {"arrivals": arrivals, "memory": memory, "took": took, "server": used[0], "client": used[1]}


def resident(server: Server) -> float:
    """Memory of the server, MB."""
    return float(psutil.Process(server.process.pid if server.process else None).memory_info().rss / 2**20)


def cpu(pid: int | None) -> float:
    """Processor seconds of a process."""
    return float(sum(psutil.Process(pid).cpu_times()[:2]))


def report(server: Server, people: list[Person], found: dict[str, Any]) -> None:
    """Print what was measured, and what the database holds of it."""
    times = sorted(each for person in people for each in person.times)
    acked = [op for person in people for op in person.acked]
    with Store.open(server.database) as store:
        stored = [row[0] for row in store.db.execute("SELECT op_id FROM label")]
    cuts = statistics.quantiles(times, n=1000)
    made, refused = sum(person.made for person in people), [one for person in people for one in person.refused]
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, shared by server and client")
    print(
        f"{len(people)} people: {made} labels made, {made / found['took']:.0f} a second; acknowledged {len(acked)},"
        f" lost {len(set(acked) - set(stored))}, doubled {len(stored) - len(set(stored))}, refused {len(refused)}"
        f" {refused[:1]}, sent again {sum(person.again for person in people)},"
        f" connections {sum(person.connection.opened for person in people)}"
    )
    print(
        f"label until acknowledged: p50 {cuts[499]:.1f}, p95 {cuts[949]:.1f}, p99 {cuts[989]:.1f},"
        f" at most {times[-1]:.0f} ms"
    )
    came = statistics.quantiles(found["arrivals"], n=20)
    print(f"arrival (desk and first items, 20 at once): p50 {came[9]:.0f}, p95 {came[18]:.0f} ms")
    print(
        f"processor time a label: server {found['server'] / made * 1000:.2f} ms ({found['server'] / found['took']:.2f}"
        f" cores), client {found['client'] / made * 1000:.2f} ms ({found['client'] / found['took']:.2f} cores)"
    )
    print("memory of the server, MB: before, after arrivals, each quarter:", *map(round, found["memory"]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--every", type=float, default=6.0, help="seconds between two labels of a person")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--folder", type=Path, help="where the database lies; default: a temporary folder")
    asked = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS if hard < 0 else min(DESCRIPTORS, hard), hard))
    with contextlib.ExitStack() as last:
        folder = asked.folder or Path(last.enter_context(tempfile.TemporaryDirectory()))
        server = Server(folder / "study.db").start()
        last.callback(server.stop)
        people = seated(server, asked.people, asked.seconds, asked.every)
        found = asyncio.run(load(server, people, asked.every, asked.seconds))
        report(server, people, found)


if __name__ == "__main__":
    main()
