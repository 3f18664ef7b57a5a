"""Many people at the server at once: latency, the server's CPU per label and memory, nothing lost.

    python -m benchmarks.desk_load [--annotators 100] [--seconds 30] [--beside [JOB ...]] [--lines 100000] [--after]
    python -m benchmarks.desk_load --study 2000 [--every 6] [--seconds 120]
    python -m benchmarks.desk_load --pages 50 [--every 2] [--seconds 120] [--beside [JOB ...]]
    python -m benchmarks.desk_load --sessions 200 [--rounds 2]

Annotators: each sends one label a second, as the desk does: the operation, what it has, and how many items it wants.
--beside: each of them also has the page open in a session, and an import of --lines lines, a scoring job and one export
after the other run meanwhile, or those that are named (import, scoring, export). --after: how much memory is left
when all have gone.
--study: people who came by the link of a study, a label in --every seconds, some sooner and some later. The time of a
label runs from the moment at which it was made, also where the request before it was still under way.
--pages: desks in real pages of Chromium, each a browser of its own as far as the server can tell. Times are those of
the browser; every key that was pressed has to be a label in the database.
--sessions: sockets that open a page and stay, as a tab of a browser does; memory before, meanwhile and after. What a
server has loaded once stays, so the first sessions are opened and closed before anything is measured.
"""

import asyncio
import os
import random
import resource
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
from playwright.async_api import Browser, Page, async_playwright
from websockets.asyncio.client import ClientConnection

from benchmarks.load_people import FULL, Connection, Person
from benchmarks.measuring import app_server, load, options, percentile
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.session import issue
from evenhand.annotations.files.scoring_input import SCORING
from evenhand.annotations.imports.run import IMPORT
from evenhand.annotations.imports.run import Settings as ImportSettings
from evenhand.annotations.jobs import jobs
from evenhand.annotations.projects.projects import annotators, create_project, project
from evenhand.annotations.study.people import agree, begin, participant
from evenhand.annotations.study.studies import Settings, consent, create_study, signed
from evenhand.core.scoring.settings import Settings as ScoringSettings
from evenhand.core.types import JsonObject
from evenhand.web.gate import STUDY_COOKIE
from tests.support.browser import FLAGS, Server, chromium_path
from tests.support.desk_driver import make_project
from tests.support.sessions import open_session

JOBS = ("import", "scoring", "export")
STUDY_ITEMS = 60  # that each person of a study is asked to judge
DESCRIPTORS = 16_384
GONE_S = 150.0  # Streamlit keeps the state of a session that has gone for two minutes
SESSION_PAGES = ("projects", "browse", "progress", "review", "agreement", "")
PATIENCE_MS = 240_000
OPENED_AT_ONCE = 4  # pages
WATCH = "performance.setResourceTimingBufferSize(10000)"  # every request of the desk
ASKED = """() => performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/sync"))
  .map((one) => one.duration)"""


def pid(server: Server) -> int | None:
    """Return the number of its process."""
    return server.process.pid if server.process else None


def resident(server: Server) -> float:
    """Return the memory of the server, MB."""
    return float(psutil.Process(pid(server)).memory_info().rss / 2**20)


def cpu(process: int | None) -> float:
    """Return the processor seconds of a process."""
    return float(sum(psutil.Process(process).cpu_times()[:2]))


def stored(server: Server) -> list[str]:
    """Return the operations that the database holds."""
    with Store.open(server.database) as store:
        return [row[0] for row in store.db.execute("SELECT op_id FROM label")]


@contextmanager
def jobs_beside(server: Server, name: str, asked: Namespace) -> Iterator[None]:
    """Run an import, a scoring job and exports, as pages start them; those that are asked for, if any."""
    if asked.beside is None:
        yield
        return
    folder, wanted = server.database.parent, asked.beside or JOBS
    with (folder / "lines.txt").open("w", encoding="utf-8") as file:
        file.writelines(f"第{n}个早上，{'他她'[n % 2]}去市场买菜。\n" for n in range(asked.lines))
    os.environ["EVENHAND_DB"] = str(server.database)
    with Store.open(server.database) as store:
        create_project(store, "beside", annotators=("Ada",))
        if "import" in wanted:
            jobs.start(store, IMPORT, ImportSettings("beside", folder / "lines.txt"), "import")
        if "scoring" in wanted:
            settings = ScoringSettings(f"project:{name}", ("demo-zh",), folder / "scores.csv", no_cache=True)
            jobs.start(store, SCORING, settings, "score")
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


async def open_sessions(server: Server, count: int, project: str) -> list[ClientConnection]:
    """Open so many sessions, one after the other, on different pages."""
    return [
        await open_session(
            server, SESSION_PAGES[number % len(SESSION_PAGES)], project=project, annotator="Ada", lang="en"
        )
        for number in range(count)
    ]


async def close_sessions(sockets: list[ClientConnection]) -> None:
    """Leave all pages."""
    await asyncio.gather(*(socket.close() for socket in sockets))


def by_token(server: Server, count: int, seconds: int) -> tuple[str, list[Person]]:
    """Make a project with enough sentences for all of its annotators; return its name and them."""
    names = tuple(f"annotator {n}" for n in range(count))
    name = make_project(server, count * (seconds + FULL) // 2 + 100, annotators=names)
    with Store.open(server.database) as store:
        made = project(store, name)
        people = []
        for number, person in enumerate(annotators(store, made)):
            owner = {"database": store.uid, "project": made.uid, "annotator": person.uid}
            token = issue(store.secret, **owner)
            people.append(Person(Connection(server.port, ""), random.Random(number), owner=owner, token=token))
    return name, people


async def at_desks(server: Server, people: list[Person], seconds: int, sessions_of: str = "") -> None:
    """Let all annotators work, their seconds spread evenly; with the page of a project open if it is named."""
    sessions = [await open_session(server, "review", project=sessions_of) for _ in people if sessions_of]
    for person in people:
        await person.sync()
    begun = asyncio.get_running_loop().time() + 1
    await asyncio.gather(
        *(person.work_steadily(begun + place / len(people), seconds) for place, person in enumerate(people))
    )
    for person in people:
        person.connection.close()
    await close_sessions(sessions)


def measure_annotators(server: Server, arguments: Namespace) -> None:
    """Measure annotators at their desks and print."""
    seconds, count = arguments.seconds or 30, arguments.annotators or 100
    name, people = by_token(server, count, seconds)
    before, memory_before = cpu(pid(server)), resident(server)
    with jobs_beside(server, name, arguments):
        asyncio.run(at_desks(server, people, seconds, "" if arguments.beside is None else name))
    spent, memory = cpu(pid(server)) - before, resident(server)
    times = [duration for person in people for duration in person.times]
    acked = [op for person in people for op in person.acked]
    failed, again = (sum(getattr(person, name) for person in people) for name in ("failed", "again"))
    lost = len(set(acked) - set(stored(server)))
    if arguments.after:
        time.sleep(GONE_S)
        print(f"server {memory_before:.0f} MB before, {resident(server):.0f} MB {GONE_S:.0f} s after all have left")
    p50, p95, p99 = (percentile(times, per_cent) for per_cent in (50, 95, 99))
    print(f"{count} annotators, {seconds} s, load average {load()}")
    print(f"labels {len(times)}, acknowledged {len(acked)}, lost {lost}, failed requests {failed}, sent again {again}")
    print(f"answer p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms")
    print(f"server CPU per label {spent / len(times) * 1000:.2f} ms (first leases included), memory {memory:.0f} MB")


def by_link(server: Server, people: int, seconds: float, every: float) -> tuple[str, list[Person]]:
    """Make a project, a study in it, and people who have agreed and begun; return its link and them."""
    at_most = min(STUDY_ITEMS, round(seconds / every * 1.1) + FULL)
    name = make_project(server, people * at_most // 2 + 100, annotators=())  # two labels an item
    joined = []
    with Store.open(server.database) as store:
        settings = Settings(contact="lead@example.org", items=STUDY_ITEMS, places=people)
        study = create_study(store, project(store, name), "load", settings)
        link, newest = signed(store, study), consent(store, study)
        for number in range(people):
            secret = agree(store, study, newest, "en", None)
            person = participant(store, study, [secret])
            if person is None:
                raise RuntimeError("Nobody came.")
            begin(store, study, person)
            cookie = f"{STUDY_COOKIE}{study.uid[:8]}={secret}"
            joined.append(Person(Connection(server.port, cookie), random.Random(number), 0.7))
    return link, joined


async def in_study(server: Server, link: str, people: list[Person], every: float, seconds: float) -> JsonObject:
    """Let all come within --every seconds or as fast as the server lets them, then label."""
    loop, memory, limit = asyncio.get_running_loop(), [resident(server)], asyncio.Semaphore(20)

    async def arrival(person: Person) -> float:
        async with limit:
            return await person.arrive(link)

    arrivals = await asyncio.gather(*map(arrival, people))
    memory.append(resident(server))
    before, own, begun = cpu(pid(server)), cpu(os.getpid()), loop.time() + 2
    working = asyncio.gather(*(person.work(begun, every, seconds) for person in people))
    while not working.done():
        await asyncio.wait([working], timeout=seconds / 4)
        memory.append(resident(server))
    await working
    took, used = loop.time() - begun, (cpu(pid(server)) - before, cpu(os.getpid()) - own)
    for person in people:
        person.connection.close()
    return {"arrivals": arrivals, "memory": memory, "took": took, "server": used[0], "client": used[1]}


def measure_study(server: Server, arguments: Namespace) -> None:
    """Measure people of a study and print, with what the database holds of it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS if hard < 0 else min(DESCRIPTORS, hard), hard))
    seconds, every = arguments.seconds or 120, arguments.every or 6.0
    link, people = by_link(server, arguments.study, seconds, every)
    values = asyncio.run(in_study(server, link, people, every, seconds))
    times = [duration for person in people for duration in person.times]
    acked, kept = [op for person in people for op in person.acked], stored(server)
    made, refused = sum(person.made for person in people), [text for person in people for text in person.refused]
    print(f"load average {load()}, shared by server and client")
    print(
        f"{len(people)} people: {made} labels made, {made / values['took']:.0f} a second; acknowledged {len(acked)},"
        f" lost {len(set(acked) - set(kept))}, doubled {len(kept) - len(set(kept))}, refused {len(refused)}"
        f" {refused[:1]}, sent again {sum(person.again for person in people)},"
        f" connections {sum(person.connection.opened for person in people)}"
    )
    p50, p95, p99 = (percentile(times, per_cent) for per_cent in (50, 95, 99))
    print(f"label until acknowledged: p50 {p50:.1f}, p95 {p95:.1f}, p99 {p99:.1f}, at most {max(times):.0f} ms")
    p50, p95 = (percentile(values["arrivals"], per_cent) for per_cent in (50, 95))
    print(f"arrival (desk and first items, 20 at once): p50 {p50:.0f}, p95 {p95:.0f} ms")
    print(
        f"processor time a label: server {values['server'] / made * 1000:.2f} ms"
        f" ({values['server'] / values['took']:.2f} cores), client {values['client'] / made * 1000:.2f} ms"
        f" ({values['client'] / values['took']:.2f} cores)"
    )
    print("memory of the server, MB: before, after arrivals, each quarter:", *map(round, values["memory"]))


async def _opened(browser: Browser, server: Server, project: str, who: str, turn: asyncio.Semaphore) -> Page:
    """Open the desk of a person, until an item is on screen."""
    async with turn:
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        await context.add_init_script(WATCH)
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(server.page("review", project=project, annotator=who, lang="en"))
        await page.locator('[data-testid="desk"][data-item]').wait_for()
        return page


async def _press(page: Page, begin: float, seconds: int, every: float) -> tuple[int, list[float]]:
    """Press accept from *begin* on, until nothing is on its way; return how often, and how long requests took (ms)."""
    loop = asyncio.get_running_loop()
    for number in range(int(seconds / every)):
        await asyncio.sleep(max(0.0, begin + number * every - loop.time()))
        await page.keyboard.press("j")
    await page.locator('[data-testid="desk"][data-pending="0"]').wait_for()
    return int(seconds / every), list(await page.evaluate(ASKED))


async def _at_pages(server: Server, project: str, count: int, seconds: int, every: float) -> tuple[int, list[float]]:
    """Let all pages work, their moments spread evenly; return how many keys were pressed, and times."""
    turn, names = asyncio.Semaphore(OPENED_AT_ONCE), [f"annotator {n}" for n in range(count)]
    async with async_playwright() as playwright:
        path = chromium_path(playwright)  # type: ignore[arg-type]  # asks for the path only
        browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        began = time.monotonic()
        pages = await asyncio.gather(*(_opened(browser, server, project, who, turn) for who in names))
        print(f"{count} pages opened in {time.monotonic() - began:.0f} s; server {resident(server):.0f} MB", flush=True)
        begin = asyncio.get_running_loop().time() + 1
        done = await asyncio.gather(
            *(_press(page, begin + place * every / count, seconds, every) for place, page in enumerate(pages))
        )
        print(f"after {seconds} s of labels: server {resident(server):.0f} MB", flush=True)
        await browser.close()
    return sum(pressed for pressed, _ in done), [duration for _, times in done for duration in times]


def measure_pages(server: Server, arguments: Namespace) -> None:
    """Measure desks in pages of a browser and print."""
    seconds, every = arguments.seconds or 120, arguments.every or 2.0
    people = tuple(f"annotator {n}" for n in range(arguments.pages))
    name = make_project(server, arguments.pages * (int(seconds / every) + FULL) // 2, annotators=people)
    print(f"server started: {resident(server):.0f} MB")
    with jobs_beside(server, name, arguments):
        pressed, times = asyncio.run(_at_pages(server, name, arguments.pages, seconds, every))
    labels = len(stored(server))
    if arguments.after:
        time.sleep(GONE_S)
        print(f"{GONE_S:.0f} s after the pages were closed: server {resident(server):.0f} MB")
    p50, p95, p99 = (percentile(times, per_cent) for per_cent in (50, 95, 99))
    print(f"load average {load()}")
    print(f"keys pressed {pressed}, labels stored {labels}, lost {pressed - labels}, requests {len(times)}")
    print(f"request until answered p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms")


async def _rounds(server: Server, project: str, count: int, rounds: int) -> None:
    """Open, close, wait; print the memory at each step."""
    print(f"started: {resident(server):.0f} MB")
    await close_sessions(await open_sessions(server, 2 * len(SESSION_PAGES), project))
    await asyncio.sleep(GONE_S)
    before = resident(server)
    print(f"each page opened twice and left: {before:.0f} MB")
    for number in range(1, rounds + 1):
        begun = time.monotonic()
        sockets = await open_sessions(server, count, project)
        during, took = resident(server), time.monotonic() - begun
        await close_sessions(sockets)
        await asyncio.sleep(GONE_S)
        after = resident(server)
        print(
            f"round {number}: {count} sessions open {during:.0f} MB ({(during - before) / count * 1024:.0f} kB each,"
            f" opened in {took:.0f} s); {GONE_S:.0f} s after they left {after:.0f} MB"
            f" ({100 * (after - before) / before:+.0f}% of before)",
            flush=True,
        )


def measure_sessions(server: Server, arguments: Namespace) -> None:
    """Measure sessions and print."""
    asyncio.run(_rounds(server, make_project(server, 300), arguments.sessions, arguments.rounds))


WAYS = {"study": measure_study, "pages": measure_pages, "sessions": measure_sessions, "annotators": measure_annotators}


def main() -> None:
    """Measure one kind of load and print."""
    arguments = options(
        __doc__, study=int, pages=int, sessions=int, annotators=int, seconds=int, every=float, beside=frozenset(JOBS),
        lines=100_000, after=False, rounds=2,
    )  # fmt: skip
    kinds = [kind for kind in WAYS if getattr(arguments, kind)] or ["annotators"]
    if len(kinds) > 1:
        raise SystemExit(f"One of these at a time: {', '.join(kinds)}.")
    with app_server() as server:
        WAYS[kinds[0]](server, arguments)


if __name__ == "__main__":
    main()
