"""Many annotators at once over HTTP: latency, the server's CPU per label, nothing lost.

    python -m benchmarks.desk_load [--annotators 100] [--seconds 30] [--beside [JOB ...]] [--lines 100000] [--after]

Every annotator sends one label a second, as the desk does: the operation, what
it has, and how many items it wants. --beside: each of them also has the page
open in a session, and an import of --lines lines, a scoring job and one export
after the other run meanwhile, or those that are named (import, scoring, export).
"""

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from benchmarks.sessions import GONE_S, close_sessions, resident
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import PATH
from evenhand.annotations.desk.tokens import issue
from evenhand.annotations.jobs import jobs
from evenhand.annotations.projects.projects import annotators, create_project, project
from tests.support.browser import Server
from tests.support.desk_driver import make_project
from tests.support.sessions import open_session

FULL, LOW = 40, 30  # as in desk/queue.js
JOBS = ("import", "scoring", "export")


@dataclass
class Annotator:
    """One synthetic annotator: its sign-in, its queue, what it sent and how long each answer took."""

    owner: dict[str, str]
    token: str
    items: list[str] = field(default_factory=list)
    acked: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    failed: int = 0
    again: int = 0
    desk: str = field(default_factory=lambda: uuid.uuid4().hex)

    async def sync(self, client: httpx.AsyncClient, ops: list[dict[str, Any]], *, timed: bool = True) -> None:
        """One request of the desk."""
        want = FULL - len(self.items) if len(self.items) < LOW else 0
        body = {"desk": self.desk, "ops": ops, "have": self.items, "want": want, "hello": 0, "language": "en"}
        begun = time.perf_counter()
        response = await self._post(client, body)
        if timed:
            self.times.append((time.perf_counter() - begun) * 1000)
        if response.status_code != 200:
            self.failed += 1
            return
        reply = response.json()
        self.token = reply["token"]
        self.items += [item["id"] for item in reply["items"]]
        self.acked += [answer["op"] for answer in reply["answers"] if answer["result"] == "acked"]

    async def _post(self, client: httpx.AsyncClient, body: dict[str, Any]) -> httpx.Response:
        """Like the desk, send the same operation again where a connection breaks: it is stored once."""
        while True:
            try:
                sent = {"Authorization": f"Bearer {self.token}"}
                return await client.post(f"{PATH}/sync", json=body, headers=sent)
            except httpx.TransportError:
                self.again += 1

    async def work(self, client: httpx.AsyncClient, begin: float, seconds: int) -> None:
        """One label a second from *begin* (clock of the event loop) on."""
        loop = asyncio.get_running_loop()
        for second in range(seconds):
            await asyncio.sleep(max(0.0, begin + second - loop.time()))
            op = {"op": uuid.uuid4().hex, "item": self.items.pop(0), "desk": self.desk, "revision": second + 1}
            rest = {"base": None, "choice": "accept", "reasons": [], "note": "", "seconds": 1.0, "form": "masked"}
            await self.sync(client, [{**self.owner, **op, **rest}])


@contextmanager
def jobs_beside(
    server: Server, name: str, folder: Path, wanted: Collection[str] = JOBS, lines: int = 100_000
) -> Iterator[None]:
    """An import of so many *lines*, a scoring job and exports of the project, as pages start them; those *wanted*."""
    with (folder / "lines.txt").open("w", encoding="utf-8") as file:
        file.writelines(f"第{n}个早上，{'他她'[n % 2]}去市场买菜。\n" for n in range(lines))
    os.environ["EVENHAND_DB"] = str(server.database)
    with Store.open(server.database) as store:
        create_project(store, "beside", annotators=("Ada",))
        score = ["score", f"project:{name}", "--model", "demo-zh", "--out", str(folder / "scores.csv"), "--no-cache"]
        if "import" in wanted:
            jobs.start(store, ["import", "beside", str(folder / "lines.txt"), "--json"], "import")
        if "scoring" in wanted:
            jobs.start(store, [*score, "--json"], "score")
    command = f'while true; do "{sys.executable}" cli.py export "{name}" "{folder}/out.jsonl" --format jsonl; done'
    command = command if "export" in wanted else "exec sleep infinity"
    exports = subprocess.Popen(
        ["sh", "-c", command], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
        with Store.open(server.database) as store:
            for job in jobs.jobs(store):
                print(f"{job.title}: {job.state}, {job.done or 0} done")
                if job.active:
                    jobs.cancel(store, job)
    finally:
        os.killpg(exports.pid, 15)
        exports.wait()


async def load(server: Server, people: list[Annotator], seconds: int, sessions_of: str = "") -> None:
    """All annotators at work, their seconds spread evenly; with the page of a project open if it is named."""
    sessions = [await open_session(server, "review", project=sessions_of) for _ in people if sessions_of]
    limits = httpx.Limits(max_connections=len(people), max_keepalive_connections=len(people))
    # As a browser does: else each request after the first few waits 40 ms for an acknowledgement of its header.
    transport = httpx.AsyncHTTPTransport(limits=limits, socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)])
    async with httpx.AsyncClient(base_url=server.url, transport=transport, timeout=60) as client:
        for person in people:
            await person.sync(client, [], timed=False)
        begin = asyncio.get_running_loop().time() + 1
        await asyncio.gather(
            *(person.work(client, begin + place / len(people), seconds) for place, person in enumerate(people))
        )
    await close_sessions(sessions)


def seated(server: Server, count: int, seconds: int) -> tuple[str, list[Annotator]]:
    """A project with enough sentences for all of its annotators."""
    names = tuple(f"annotator {n}" for n in range(count))
    name = make_project(server, count * (seconds + FULL) // 2 + 100, annotators=names)
    with Store.open(server.database) as store:
        made = project(store, name)
        people = annotators(store, made)
        owners = [{"database": store.uid, "project": made.uid, "annotator": person.uid} for person in people]
        return name, [Annotator(owner, issue(store.secret, **owner)) for owner in owners]


def stored(server: Server) -> set[str]:
    """The operations that the database holds."""
    with Store.open(server.database) as store:
        return {row[0] for row in store.db.execute("SELECT op_id FROM label")}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--annotators", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--beside", nargs="*", choices=JOBS, metavar="JOB", help="sessions, and these jobs (all)")
    parser.add_argument("--lines", type=int, default=100_000, help="of the import beside")
    parser.add_argument("--after", action="store_true", help="and how much memory is left when all have gone")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "desk.db").start()
        name, people = seated(server, asked.annotators, asked.seconds)
        process = psutil.Process(server.process.pid if server.process else None)
        before, begun = sum(process.cpu_times()[:2]), resident(server)
        if asked.beside is not None:
            with jobs_beside(server, name, Path(folder), asked.beside or JOBS, asked.lines):
                asyncio.run(load(server, people, asked.seconds, name))
        else:
            asyncio.run(load(server, people, asked.seconds))
        cpu = sum(process.cpu_times()[:2]) - before
        memory = resident(server)
        times = [each for person in people for each in person.times]
        acked, failed = [op for person in people for op in person.acked], sum(person.failed for person in people)
        again = sum(person.again for person in people)
        lost = len(set(acked) - stored(server))
        if asked.after:
            time.sleep(GONE_S)
            print(f"server {begun:.0f} MB before, {resident(server):.0f} MB {GONE_S:.0f} s after everybody has left")
        server.stop()
    cuts = statistics.quantiles(times, n=100)
    print(
        f"{asked.annotators} annotators, {asked.seconds} s,"
        f" load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    print(f"labels {len(times)}, acknowledged {len(acked)}, lost {lost}, failed requests {failed}, sent again {again}")
    print(f"answer p50 {statistics.median(times):.1f} ms, p95 {cuts[94]:.1f} ms, p99 {cuts[98]:.1f} ms")
    print(f"server CPU per label {cpu / len(times) * 1000:.2f} ms (first leases included), memory {memory:.0f} MB")


if __name__ == "__main__":
    main()
