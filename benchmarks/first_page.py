"""How long the first page takes and how much memory the app holds: `python -m benchmarks.first_page [VISITS]`.

A visit is a new browser profile without cache: from the address to the pipeline of Home on screen. "Warm" leaves out
the first visit, in which the server compiles and imports what pages need. Memory is that of the server process alone.
"""

import statistics
import tempfile
import time
from pathlib import Path

import psutil
from playwright.sync_api import Browser, sync_playwright

from benchmarks.measuring import Spent, load, options
from docs.screenshots import served
from evenhand.annotations.demo.sentences import ensure_demo
from tests.support.browser import FLAGS, chromium_path

PAGES = ("projects", "review", "agreement", "try", "jobs", "about")


def megabytes(process: psutil.Process) -> float:
    """Resident memory in MB (10^6 bytes)."""
    return float(process.memory_info().rss) / 1e6


def visit(browser: Browser, address: str, wait: str) -> float:
    """Seconds from the address to *wait* on screen, in a new profile."""
    page = browser.new_context(locale="en-GB").new_page()
    with (spent := Spent()).more():
        page.goto(address)
        page.locator(wait).first.wait_for(timeout=60_000)
    page.context.close()
    return spent.wall


def main(visits: int) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database = Path(folder) / "demo.db"
        ensure_demo(database)
        begin = time.perf_counter()
        with served(database) as server:
            print(f"start to healthy: {time.perf_counter() - begin:.2f} s")
            app = psutil.Process(server.process.pid if server.process else None)
            print(f"memory after start: {megabytes(app):.0f} MB")
            browser = playwright.chromium.launch(executable_path=chromium_path(playwright), args=FLAGS)
            first = visit(browser, server.url, ".pipeline")
            seconds = sorted(visit(browser, server.url, ".pipeline") for _ in range(visits))
            print(f"first visit: {first:.2f} s; memory {megabytes(app):.0f} MB")
            median, worst = statistics.median(seconds), seconds[-1]
            print(
                f"warm, {visits} visits: median {median:.2f} s, largest {worst:.2f} s; memory {megabytes(app):.0f} MB"
            )
            for name in PAGES:
                seconds_page = visit(browser, server.page(name), "h1")
                print(f"/{name}: {seconds_page:.2f} s; memory {megabytes(app):.0f} MB")
            worker = [
                c for c in app.children(recursive=True) if "evenhand.core.worker.process" in " ".join(c.cmdline())
            ]
            print(f"inference worker: {megabytes(worker[0]):.0f} MB" if worker else "inference worker: not started")
            browser.close()
    print(f"load of the machine: {load()}")


if __name__ == "__main__":
    main(options(__doc__, "visits", visits=10).visits)
