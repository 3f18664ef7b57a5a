"""From key to next item in a real Chromium, direct and through a proxy with 100 ms round trip.

    python -m benchmarks.desk_latency [--items 120] [--file SlguSet_dev.csv, else sentences are made]
    python -m benchmarks.desk_latency --kind generations [--items 120]

Measured as in a person's eye: the time stamp of the trusted key press to the
first animation frame in which the next item is in the document. Of
generations every second one is labelled with a mark: 2, a letter that finds
the pronoun, Enter marks it, Enter stores; of those the last Enter is timed as
"next item" too, and the Enter before as "mark drawn".
"""

import asyncio
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.measuring import app_server, load, options, percentile
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import import_file
from evenhand.annotations.projects.projects import create_project
from tests.support.browser import FLAGS, Server, chromium_path, free_port
from tests.support.desk_driver import Desk, make_generations, make_project

# The first listener of the page, so that it sees what is on screen before the desk hears of the key.
WATCH = """window.times = [];
window.marked = [];
window.watched = "item";
window.addEventListener("keydown", (event) => {
  const root = window.deskRoot, watched = window.watched;
  if (!watched) return;
  const seen = () => watched === "item" ? root.dataset.item : root.querySelectorAll("mark").length;
  const down = event.timeStamp, before = seen();
  const look = () => {
    if (seen() !== before) window[watched === "item" ? "times" : "marked"].push(performance.now() - down);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}, true);"""


class SlowProxy:
    """Passes TCP through to a port, each direction late by half the round trip."""

    def __init__(self, target: int, round_trip_s: float) -> None:
        self.target, self.late, self.port = target, round_trip_s / 2, free_port()
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()
        self.ready.wait()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", self.port))
        self.ready.set()
        self.loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(2 * self.late)  # the handshake
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                self.loop.call_later(self.late, self._write, writer, data)
            self.loop.call_later(self.late, writer.close)
        except ConnectionError:
            writer.close()

    @staticmethod
    def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
        if not writer.is_closing():
            writer.write(data)


def measure(desk: Desk, items: int, kind: str) -> dict[str, list[float]]:
    """Milliseconds from key to what follows, by what follows; one key per shown item, or a label with a mark."""
    desk.page.add_init_script(WATCH)
    desk.open()
    desk.page.evaluate("root => { window.deskRoot = root; }", desk.root.element_handle())
    for done in range(items):
        if kind == "generations" and done % 2:
            mark(desk, done // 2)
        else:
            desk.press("1" if kind == "generations" else "j")
        desk.page.wait_for_function("n => window.times.length > n", arg=done)
    desk.settle()
    result = {"next item": "window.times", "mark drawn": "window.marked"}
    return {name: times for name, where in result.items() if (times := desk.page.evaluate(where))}


def mark(desk: Desk, done: int) -> None:
    """Misgendering with its pronoun, the second and third key timed each for itself."""
    watch = "what => { window.watched = what; }"
    desk.page.evaluate(watch, "")
    desk.press("2", "h")
    desk.page.evaluate(watch, "mark")
    desk.press("Enter")
    desk.page.wait_for_function("n => window.marked.length > n", arg=done)
    desk.page.evaluate(watch, "item")
    desk.press("Enter")


def percentiles(times: list[float]) -> str:
    """Median, 95th percentile and the longest."""
    return f"p50 {percentile(times, 50):.1f} ms, p95 {percentile(times, 95):.1f} ms, max {max(times):.1f} ms"


def imported(server: Server, file: Path) -> str:
    """A project with the sentences of a released file; returns its name."""
    with Store.open(server.database) as store:
        project = create_project(store, file.stem, annotators=("Ada", "Bo"))
        import_file(store, project, file, format="slguset")
    return file.stem


def main() -> None:
    """Measure and print."""
    arguments = options(__doc__, items=120, kind=("sentences", "generations"), file=Path)
    with app_server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(playwright), args=FLAGS)
        make = make_generations if arguments.kind == "generations" else make_project
        project = imported(server, arguments.file) if arguments.file else make(server, 2 * arguments.items + 100)
        proxy = SlowProxy(server.port, 0.1)
        print(f"{arguments.kind}, {arguments.items} items, load average {load()}")
        for name, port, who in (("direct", server.port, "Ada"), ("100 ms round trip", proxy.port, "Bo")):
            through = Server(server.database, port)
            context = browser.new_context(locale="en-US")
            desk = Desk(context, through, project, who)
            for what, times in measure(desk, arguments.items, arguments.kind).items():
                print(f"{name}, {what}: {percentiles(times)}")
            stored = len(desk.labels())
            print(f"{name}, stored: {stored}/{arguments.items}")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
