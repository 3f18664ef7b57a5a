"""The page Models with 5 models x 20,000 sentences: `python -m benchmarks.models_page [SENTENCES] [MODELS]`.

Made-up scores (benchmarks.made_up_scores) as a run of a fresh database; a real Chromium. Seconds from the address to
the first chart on screen with nothing remembered, to the table with all intervals, to each section, and from a change
of a filter to the new lists; how much a chart weighs; memory of the server; the longest the browser was blocked.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from playwright.sync_api import Page, sync_playwright

from benchmarks.made_up_scores import write
from docs.screenshots import FLAGS, chromium, served
from evenhand.annotations.database.store import Store
from evenhand.core.runs.records import runs_folder

CHART = "[data-testid=stVegaLiteChart] :is(svg, canvas)"
SECTIONS = {
    "Distribution": ".st-key-density canvas, .st-key-density svg",
    "Pairs": ".st-key-groups-chart canvas, .st-key-groups-chart svg",
    "Correlation": ".st-key-two-models canvas, .st-key-two-models svg",
    "Extremes": ".models-side",
    "Topic words": ".st-key-topic-words-box",
}
# The longest task of the browser's main thread since the page was opened, in ms.
WATCH = """window.longest = 0; new PerformanceObserver(list => { for (const entry of list.getEntries())
  window.longest = Math.max(window.longest, entry.duration) }).observe({type: 'longtask', buffered: true})"""


def prepared(folder: Path, sentences: int, models: int) -> Path:
    """A database with one run of made-up scores beside it."""
    database = folder / "benchmark.db"
    with Store.open(database) as store:
        write_scores(runs_folder(store.path, "scores"), sentences, models)
    return database


def write_scores(runs: Path, sentences: int, models: int) -> None:
    """A finished run "big" of made-up scores in the folder *runs*."""
    runs.mkdir()
    write(runs / "big.csv", sentences, models)
    names = [f"made-up-{n + 1}" for n in range(models)]
    record = {"sentences": sentences, "models": [{"model": name, "scored": sentences} for name in names]}
    (runs / "big.json").write_text(json.dumps(record | {"created": "2026-01-01T00:00:00Z"}))


def timed(page: Page, act: Callable[[], object], selector: str) -> float:
    """Seconds from *act* until *selector* is on screen and the script has ended."""
    begin = time.perf_counter()
    act()
    page.locator(selector).first.wait_for(timeout=300_000)
    page.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=300_000)
    return time.perf_counter() - begin


def first_visit(page: Page, address: str) -> None:
    """Nothing is remembered yet: the first chart, then the table with its intervals."""
    begin = time.perf_counter()
    page.goto(address)
    page.locator(CHART).first.wait_for(timeout=300_000)
    print(f"first chart: {time.perf_counter() - begin:.2f} s")
    page.locator(".models-table").first.wait_for(timeout=300_000)
    print(f"table with all intervals: {time.perf_counter() - begin:.2f} s")
    page.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=300_000)


def sections(page: Page) -> None:
    """Each section for the first time, then a second time."""
    for attempt in ("first time", "again"):
        for name, selector in SECTIONS.items():

            def open_section(wanted: str = name) -> None:
                page.get_by_role("radio", name=wanted, exact=True).click()
                page.wait_for_timeout(150)  # until the click has reached the server

            print(f"{name}, {attempt}: {timed(page, open_section, selector):.2f} s")


def filters(page: Page) -> None:
    """Changes of a filter among the extremes: until the counts above the lists have changed."""
    page.get_by_role("radio", name="Extremes", exact=True).click()
    box = page.get_by_label("Text in the sentence")
    box.wait_for()
    page.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=300_000)
    seconds = []
    for text in ("车站", "图书馆", "孩子", "合同", ""):
        before = page.get_by_text(" lean to the male word, ").first.inner_text()
        begin = time.perf_counter()
        box.fill(text)
        box.press("Enter")
        changed = "([wanted, old]) => [...document.querySelectorAll('p')].some(p => p.innerText.includes(wanted)"
        page.wait_for_function(f"{changed} && p.innerText !== old)", arg=[" lean to the male word, ", before])
        seconds.append(time.perf_counter() - begin)
    shown = sorted(seconds)
    print(f"change of a filter, {len(shown)} times: median {shown[len(shown) // 2]:.2f} s, largest {shown[-1]:.2f} s")


def main(sentences: int, models: int) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database = prepared(Path(folder), sentences, models)
        print(f"{models} models x {sentences:,} sentences; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        with served(database) as server:
            app = next(c for c in psutil.Process().children() if "streamlit" in " ".join(c.cmdline()))
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            page = browser.new_context(locale="en-GB", viewport={"width": 1280, "height": 900}).new_page()
            page.add_init_script(WATCH)
            first_visit(page, f"{server}/models?lang=en")
            sections(page)
            filters(page)
            print(f"browser blocked for at most {page.evaluate('window.longest'):.0f} ms")
            print(f"memory of the server: {app.memory_info().rss / 1e6:.0f} MB")
            browser.close()
    print(f"load at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:3]]
    main(*(given + [20_000, 5][len(given) :]))
