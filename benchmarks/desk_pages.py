"""Many desks in real pages of a real Chromium, beside an import, a scoring job and exports.

    python -m benchmarks.desk_pages [--pages 50] [--seconds 120] [--every 2] [--alone]

Each page is a browser of its own as far as the server can tell (cookies, storage, a session of Streamlit), opens the
desk of another annotator and presses the key for accept every few seconds. Times are those of the browser: from the
request of a label to the end of its answer. Every key that was pressed has to be a label in the database.
"""

import argparse
import asyncio
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
from playwright.async_api import Browser, Page, async_playwright

from benchmarks.desk_load import jobs_beside, stored
from benchmarks.sessions import GONE_S, resident
from tests.support.browser import FLAGS, Server, chromium_path
from tests.support.desk_driver import make_project

PATIENCE_MS = 240_000
AT_ONCE = 4  # pages that are being opened
WATCH = "performance.setResourceTimingBufferSize(10000)"  # every request of the desk
ASKED = """() => performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/sync"))
  .map((one) => one.duration)"""


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser without a window."""
    async with async_playwright() as playwright:
        path = chromium_path(playwright)  # type: ignore[arg-type]  # asks for the path only
        browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        await browser.close()


async def opened(browser: Browser, server: Server, project: str, who: str, turn: asyncio.Semaphore) -> Page:
    """The desk of somebody, with an item on screen."""
    async with turn:
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        await context.add_init_script(WATCH)
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(server.page("review", project=project, annotator=who, lang="en"))
        await page.locator('[data-testid="desk"][data-item]').wait_for()
        return page


async def work(page: Page, begin: float, seconds: int, every: float) -> tuple[int, list[float]]:
    """Press accept from *begin* on, until nothing is on its way; how often, and how long each request took (ms)."""
    loop = asyncio.get_running_loop()
    for number in range(int(seconds / every)):
        await asyncio.sleep(max(0.0, begin + number * every - loop.time()))
        await page.keyboard.press("j")
    await page.locator('[data-testid="desk"][data-pending="0"]').wait_for()
    return int(seconds / every), list(await page.evaluate(ASKED))


async def load(server: Server, project: str, count: int, seconds: int, every: float) -> tuple[int, list[float]]:
    """All pages at work, their moments spread evenly; how many keys were pressed, and times."""
    turn, names = asyncio.Semaphore(AT_ONCE), [f"annotator {n}" for n in range(count)]
    async with chromium() as browser:
        began = time.monotonic()
        pages = await asyncio.gather(*(opened(browser, server, project, who, turn) for who in names))
        print(f"{count} pages opened in {time.monotonic() - began:.0f} s; server {resident(server):.0f} MB", flush=True)
        begin = asyncio.get_running_loop().time() + 1
        done = await asyncio.gather(
            *(work(page, begin + place * every / count, seconds, every) for place, page in enumerate(pages))
        )
        print(f"after {seconds} s of labels: server {resident(server):.0f} MB", flush=True)
    return sum(pressed for pressed, _ in done), [one for _, times in done for one in times]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--every", type=float, default=2.0, help="seconds from one label of a page to its next")
    parser.add_argument("--alone", action="store_true", help="without an import, a scoring job and exports")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "desk.db").start()
        people = tuple(f"annotator {n}" for n in range(asked.pages))
        project = make_project(server, asked.pages * (int(asked.seconds / asked.every) + 40) // 2, annotators=people)
        print(f"server started: {resident(server):.0f} MB")
        with contextlib.nullcontext() if asked.alone else jobs_beside(server, project, Path(folder)):
            run = load(server, project, asked.pages, asked.seconds, asked.every)
            pressed, times = asyncio.run(run)
        labels = len(stored(server))
        time.sleep(GONE_S)
        print(f"{GONE_S:.0f} s after the pages were closed: server {resident(server):.0f} MB")
        server.stop()
    cuts = statistics.quantiles(times, n=100)
    print(f"load average {os.getloadavg()[0]:.1f} on {psutil.cpu_count()} cores")
    print(f"keys pressed {pressed}, labels stored {labels}, lost {pressed - labels}, requests {len(times)}")
    print(f"request until answered p50 {statistics.median(times):.0f} ms, p95 {cuts[94]:.0f} ms, p99 {cuts[98]:.0f} ms")


if __name__ == "__main__":
    main()
