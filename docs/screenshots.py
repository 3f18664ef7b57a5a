"""Pictures of every page from a fresh demo project: `python -m docs.screenshots FOLDER`, or `--readme`, `--measure`.

FOLDER gets one picture per page, language (zh, en), theme (light, dark) and width (1280, 390). `--readme` writes the
pictures of README and docs/pages.md into docs/images, with the navigation that they show. `--measure` prints how many
words each page shows without scrolling, and where its first chart is, with the medians.
Needs Chromium: EVENHAND_CHROMIUM, /usr/bin/chromium or Playwright's own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import product
from pathlib import Path
from statistics import median
from typing import Literal, cast
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.sentences import ensure_demo
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import annotators, projects
from evenhand.core.mining.run import candidates_file, mine
from evenhand.core.mining.runs import new_mining_run
from evenhand.core.mining.settings import Settings
from evenhand.core.runs.records import runs_folder
from evenhand.pages.catalogue import PAGES
from tests.support.browser import FLAGS, Server, chromium_path
from tests.support.made_up_scores import write

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
WIDTHS = (1280, 390)
NAVIGATION = IMAGES / "navigation.txt"  # what the pictures of the README show at their left
HEIGHT, LONGEST = 900, 6000
CHART = "[data-testid=stVegaLiteChart] :is(svg, canvas)"
# Words in view: a Chinese character counts as one. Of what is drawn, only what is as large as a chart.
FOLD = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  let words = 0;
  while (texts.nextNode()) {
    const node = texts.currentNode, parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest('style, script, svg')) continue;
    if (!parent.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || box.top >= innerHeight || box.bottom <= 0) continue;
    words += (node.textContent.match(/[\\u4e00-\\u9fff]|[^\\s\\u4e00-\\u9fff]+/g) || []).length;
  }
  const tops = [...main.querySelectorAll('canvas, [data-testid=stVegaLiteChart], svg[role=img]')]
    .map(drawn => drawn.getBoundingClientRect())
    .filter(box => box.width > 150 && box.height > 60)
    .map(box => Math.round(box.top + main.scrollTop));
  const height = main.querySelector('[data-testid=stMainBlockContainer]').scrollHeight;
  return [words, tops.length ? Math.min(...tops) : null, height];
}"""
SENTENCE = "他是一名护士，每天照顾病人。"
ENGLISH = "The nurse said he was tired."
RUN, SENTENCES, MODELS = "example", 3000, 3
# What has to be on screen of each section of the page Models.
SECTIONS = {
    "overview": ".models-table",
    "distribution": CHART,
    "agreement": ".st-key-two-a",
    "groups": CHART,
    "extremes": ".models-side",
    "words": ".st-key-topic-words-box",
    "audit": ".st-key-audit-model",
    "report": ".st-key-report-make",
}
PROFESSIONS = {"hypotheses": CHART, "professions": CHART, "shares": CHART, "words": "table", "printed": "table"}
INFERENCE = {"results": CHART, "new": ".st-key-nli-size", "rates": "h1", "pair": ".stHtml .bars"}
MISGENDERING = {"new": ".st-key-set", "try": CHART, "published": "[data-testid=stExpander]", "which": "h1"}
FIGURES = {"ways": CHART, "agreement": CHART, "variation": CHART, "beta": CHART, "texts": "table", "people": CHART}
# Real runs of the built-in models, small enough to take a minute or two each.
MEASURED = (
    ("generate", "built-in", "--model", "demo-en-causal", "--limit", "20", "--tokens", "20"),
    ("association", "--language", "en", "--model", "demo-en", "--resamples", "200"),
    ("nli", "ask", "--model", "demo-nli", "--sample"),
    ("other-measures", "seat", "--model", "demo-en", "--test", "career"),
    ("misgendering", "run", "built-in", "--model", "demo-en-causal", "--limit", "40"),
)
Theme = Literal["light", "dark"]
# The desks at work, by view: the key that is pressed, held (+) or let go (-), and how long its picture is shown, in
# milliseconds; 0: no picture. The texts are those of the demo projects, in the order of their seed.
AT_WORK = {
    "review": (
        ("", 1600), ("+KeyS", 1400), ("-KeyS", 300), ("KeyJ", 1100), ("KeyK", 1600), ("Digit2", 900), ("Enter", 1100),
        ("KeyJ", 1000), ("KeyJ", 1000), ("KeyU", 1400),
    ),
    "review-generations": (
        ("Digit3", 0), ("Digit3", 0), ("Digit3", 1800), ("Digit2", 1800), ("Space", 1800),
        ("Enter", 1400),
    ),
}  # fmt: skip
MOVING = {"review": IMAGES / "desk.webp", "review-generations": IMAGES / "generations.webp"}


def navigation() -> str:
    """Return the titles of all pages, one a line in the order of the catalogue."""
    return "".join(f"  {page.title}\n" for page in PAGES)


@dataclass(frozen=True)
class View:
    """One picture: the name of its file, the address, and what has to be on screen before it is taken."""

    name: str
    address: str
    ready: str = "h1"


def views(database: Path) -> list[View]:
    """Every page; the desk is that of the demo project's first annotator."""
    with Store.open(database) as store:
        project, written = (next(p for p in projects(store) if p.kind == kind) for kind in ("sentences", "generations"))
        person, reader = (annotators(store, stored_project)[0] for stored_project in (project, written))
    at = f"project={quote(project.name)}&annotator={quote(person.name)}"
    return [
        View("home", "/"),
        View("projects", "/projects"),
        View("project", f"/projects?project={quote(project.name)}"),
        View("review", f"/review?{at}", "[data-testid=desk-text]"),
        View("agreement", f"/agreement?project={quote(project.name)}", CHART),
        View("mine", "/mining", ".st-key-filters"),
        View("mine-run", f"/mining?run={RUN}", CHART),
        View("swap", "/swap", "table"),
        View("concordance", f"/concordance?word={quote('自己')}&near={quote('他 她')}", "[data-testid=lines]"),
        View("score", f"/scoring?project={quote(project.name)}", ".st-key-start"),
        *(View(f"models-{name}", f"/model-bias?run={RUN}&section={name}", ready) for name, ready in SECTIONS.items()),
        View("tune", "/tune", ".st-key-start, .st-key-tune-steps"),
        View("before-after", "/before-after", ".st-key-ba-form"),
        View("ruler", "/ruler", ".table.stacked, [data-testid=stVegaLiteChart]"),
        View("published", "/published", CHART),
        View("published-correlation", "/published?view=correlation", CHART),
        View("check", "/published?view=papers", ".claims"),
        View("try", f"/sentence-bias?text={quote(SENTENCE)}&model=demo-zh&model=random-zh", CHART),
        View("presenter", f"/sentence-bias?present=1&text={quote(ENGLISH)}&model=demo-en", "[data-testid=presenter]"),
        View("try-english", f"/sentence-bias?text={quote(ENGLISH)}&model=demo-en&model=demo-en-causal", CHART),
        *_curating(f"project={quote(project.name)}", at),
        *_judging(f"project={quote(project.name)}", f"project={quote(written.name)}", quote(reader.name)),
        *_measures(),
        View("other-measures", "/other-measures?view=measure", ".st-key-om-form"),
        View("other-measures-results", "/other-measures?view=results", CHART),
        View("methods", "/other-measures?view=methods", ".st-key-family"),
        View("jobs", "/jobs"),
        View("about", "/about"),
    ]


def _curating(project: str, desk: str) -> list[View]:
    pages = ("pilot", "plan", "progress", "browse", "quality", "guideline", "describe", "study", "release")
    parts = ("people", "imports", "quotas", "export", "settings")
    return [
        *(View(page, f"/{page}?{project}") for page in pages),
        *(View(f"project-{part}", f"/projects?{project}&section={part}") for part in parts),
        View("pilot-guideline", f"/pilot?{project}&part=guideline"),
        View("record", f"/record?{desk}"),
        View("new-project", "/projects?view=new"),
        View("accounts", "/accounts"),
    ]


def _judging(sentences: str, generations: str, reader: str) -> list[View]:
    return [
        View("generate", "/generation", ".st-key-generate-start"),
        View("project-generations", f"/projects?{generations}"),
        View("review-generations", f"/review?{generations}&annotator={reader}", "[data-testid=desk-text]"),
        View("agreement-generations", f"/agreement?{generations}", CHART),
        View("adjudicate", f"/adjudication?{sentences}", ".st-key-decisions"),
        View("adjudicate-generations", f"/adjudication?{generations}", ".st-key-decide"),
        View("human-vs-rule", f"/human-vs-rule?{generations}", ".st-key-human-vs-rule-box"),
    ]


def _measures() -> list[View]:
    planted = f"model={quote('planted:nli=0.3')}"
    return [
        *(View(f"professions-{name}", f"/association?section={name}", at) for name, at in PROFESSIONS.items()),
        *(View(f"inference-{name}", f"/nli?view={name}&{planted}", ready) for name, ready in INFERENCE.items()),
        *(View(f"misgendering-{name}", f"/misgendering?figure={name}", at) for name, at in FIGURES.items()),
        *(View(f"misgendering-{name}", f"/misgendering?section={name}", at) for name, at in MISGENDERING.items()),
    ]


def example_measures(database: Path) -> None:
    """Make runs of the built-in models next to *database*, for the pages that generate and measure."""
    for command in MEASURED:
        own = {**os.environ, "EVENHAND_DB": str(database)}
        subprocess.run([sys.executable, "cli.py", *command, "--run", RUN], cwd=ROOT, env=own, check=True)


def example_run(database: Path) -> None:
    """Write a run of made-up scores next to *database*, so that the page Models has several models to show."""
    folder = runs_folder(database, "scores")
    folder.mkdir(exist_ok=True)
    write(folder / f"{RUN}.csv", SENTENCES, MODELS)
    names = [f"made-up-{n + 1}" for n in range(MODELS)]
    models = [{"model": name, "rows": SENTENCES, "scored": SENTENCES} for name in names]
    record = {"sentences": SENTENCES, "models": models, "source": {"name": "example.csv"}}
    (folder / f"{RUN}.json").write_text(json.dumps(record | {"created": "2026-01-01T00:00:00Z"}))


def example_mining(database: Path) -> None:
    """Write a corpus of the demo project's sentences next to *database*, and make a run of mining over it."""
    corpus = database.with_name("corpus")
    corpus.mkdir()
    with Store.open(database) as store:
        texts = [item.text for item in items(store, projects(store)[0])]
        (corpus / "demo.txt").write_text("\n".join(texts), encoding="utf-8")
        run = new_mining_run(store.path, RUN)
        with candidates_file(run.candidates) as keep:
            report = mine([corpus], Settings(), on_candidate=keep)
    run.report.write_text(json.dumps(report.to_json(), ensure_ascii=False), encoding="utf-8")


@contextmanager
def served(database: Path) -> Iterator[Server]:
    """Run the app on *database*, its process of models with it."""
    os.environ |= {"EVENHAND_WORKER": "", "EVENHAND_CORPUS": str(database.with_name("corpus"))}
    server = Server(database).start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def opened(browser: Browser, server: str, view: View, language: str, theme: Theme, width: int) -> Iterator[Page]:
    """Open one page in a window of its own, and wait until it is complete."""
    locale = "zh-CN" if language == "zh" else "en-GB"
    context = browser.new_context(
        locale=locale, color_scheme=theme, viewport={"width": width, "height": HEIGHT}, reduced_motion="reduce"
    )
    page = context.new_page()
    joiner = "&" if "?" in view.address else "?"
    page.goto(f"{server}{view.address}{joiner}lang={language}")
    _settle(page, view)
    yield page
    context.close()


def take(
    browser: Browser,
    server: str,
    view: View,
    file: Path,
    language: str,
    theme: Theme,
    width: int,
    *,
    whole: bool = True,
) -> None:
    """One picture of one page; *whole*: as long as the page is, else what fits a screen."""
    with opened(browser, server, view, language, theme, width) as page:
        if whole:
            # Streamlit scrolls inside the page, so the window has to grow.
            height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
            page.set_viewport_size({"width": width, "height": max(HEIGHT, min(LONGEST, int(height)))})
            page.wait_for_timeout(500)
        page.screenshot(path=file)


def _settle(page: Page, view: View) -> None:
    """Wait for what the page is about, then until the script has stopped running."""
    try:
        page.locator(view.ready).first.wait_for(timeout=40_000)
    except Exception as error:  # a picture of what went wrong is worth more than no picture
        print(f"{view.name}: {view.ready} did not appear ({type(error).__name__})", file=sys.stderr)
    page.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=40_000)
    page.wait_for_timeout(800)  # the last transition


def every_page(folder: Path, only: set[str]) -> None:
    """All views (or those named) in all languages, themes and widths."""
    folder.mkdir(parents=True, exist_ok=True)
    with _browser_and_server() as (browser, server, found):
        for view, language, theme, width in product(found, ("zh", "en"), ("light", "dark"), WIDTHS):
            if not only or view.name in only:
                file = folder / f"{view.name}-{language}-{theme}-{width}.png"
                take(browser, server, view, file, language, cast(Theme, theme), width)
                print(file)


def measure(only: set[str]) -> None:
    """Print for all views (or those named) the words in view, the place of the first chart, and the page's height."""
    values: list[tuple[int, int | None]] = []
    print("words", "chart", "height", "view", sep="\t")
    with _browser_and_server() as (browser, server, found):
        for view in found:
            if not only or view.name in only:
                with opened(browser, server, view, "en", "light", WIDTHS[0]) as page:
                    words, chart, height = page.evaluate(FOLD)
                values.append((words, chart))
                print(words, "-" if chart is None else chart, height, view.name, sep="\t", flush=True)
    charts = [chart for _words, chart in values if chart is not None]
    print(median(words for words, _chart in values), median(charts) if charts else "-", "", "median", sep="\t")


def desk_at_work(browser: Browser, server: str, view: View) -> None:
    """Write the moving picture of real keys on the desk of *view* (`AT_WORK`) to its file in `MOVING`."""
    context = browser.new_context(
        locale="en-GB", color_scheme="light", viewport={"width": 1100, "height": 740}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{server}{view.address}&lang=en")
    _settle(page, view)
    frames = []
    for key, milliseconds in AT_WORK[view.name]:
        if key.startswith("+"):
            page.keyboard.down(key[1:])
        elif key.startswith("-"):
            page.keyboard.up(key[1:])
        elif key:
            page.keyboard.press(key)
        page.wait_for_timeout(900)  # the label is stored and the next text is shown
        if milliseconds:
            frames.append((Image.open(BytesIO(page.screenshot())).convert("RGB"), milliseconds))
    (first, _shown), *rest = frames
    first.save(
        MOVING[view.name],
        save_all=True,
        append_images=[image for image, _shown in rest],
        duration=[milliseconds for _image, milliseconds in frames],
        loop=0,
        quality=80,
        method=6,
    )
    context.close()
    print(MOVING[view.name].relative_to(ROOT))


def for_readme() -> None:
    """Write the moving pictures of both desks and docs/images/try.png."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with _browser_and_server(measured=False) as (browser, server, found):
        for view in found:
            if view.name in AT_WORK:
                desk_at_work(browser, server, view)
            elif view.name == "try-english":
                take(browser, server, view, IMAGES / "try.png", "en", "light", 1280, whole=False)
    NAVIGATION.write_text(navigation(), encoding="utf-8")


@contextmanager
def _browser_and_server(*, measured: bool = True) -> Iterator[tuple[Browser, str, list[View]]]:
    """Serve a new demo database; *measured*: with the runs that only the pages of measures show."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database = Path(folder) / "demo.db"
        ensure_demo(database)
        example_run(database)
        example_mining(database)
        if measured:
            example_measures(database)
        with served(database) as server:
            browser = playwright.chromium.launch(executable_path=chromium_path(playwright), args=FLAGS)
            yield browser, server.url, views(database)
            browser.close()


def main() -> None:
    """Take the screenshots that the command line asks for."""
    asked = argparse.ArgumentParser(prog="python -m docs.screenshots", description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--readme", action="store_true", help="renew the pictures in docs/images")
    asked.add_argument("--measure", nargs="*", metavar="page", help="print the words in view, and where the chart is")
    asked.add_argument("folder", nargs="?", type=Path, help="where the pictures go")
    asked.add_argument("pages", nargs="*", metavar="page", help="only these, as in the names of the pictures")
    args = asked.parse_args()
    if args.readme:
        for_readme()
    elif args.measure is not None:
        measure(set(args.measure))
    elif args.folder is None:
        asked.error("say where the pictures go, --readme or --measure")
    else:
        every_page(args.folder, set(args.pages))


if __name__ == "__main__":
    main()
