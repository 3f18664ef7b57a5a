"""Drives a desk in a browser, and reads its rows of the database."""

import itertools
import json
from collections.abc import Callable
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect
from playwright.sync_api import Error as PlaywrightError

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.projects.projects import create_project
from evenhand.core.text.keywords import find
from tests.support.browser import Server
from tests.support.generations import generations_project

WAIT_MS = 240_000  # a busy machine may need long; an element on the page is returned at once
WINDOW: ViewportSize = {"width": 1280, "height": 720}
expect.set_options(timeout=WAIT_MS)
_numbers = itertools.count(1)
_WORDS = ("他", "她", "爸爸", "妈妈", "男孩", "女孩", "叔叔", "阿姨")


def make_project(server: Server, sentences: int | list[str] = 12, **fields: Any) -> str:
    """Make a project with sentences of our own for Ada and Bo; return its name."""
    name = f"desk {next(_numbers)}"
    made = (
        [f"第{n}天，{_WORDS[n % len(_WORDS)]}在河边散步。" for n in range(sentences)]
        if isinstance(sentences, int)
        else sentences
    )
    with Store.open(server.database) as store:
        people = fields.pop("annotators", ("Ada", "Bo"))
        project = create_project(store, name, annotators=people, per_item=2, **fields)
        batch = Batch.begin(store, project, "made.txt")
        batch.add(NewItem(text, find(text)[0], "made.txt", n) for n, text in enumerate(made, 1))
        batch.publish()
    return name


def make_generations(server: Server, texts: int | list[str] = 12, **fields: Any) -> str:
    """Make a project of generations for Ada and Bo; return its name."""
    name = f"desk {next(_numbers)}"
    with Store.open(server.database) as store:
        generations_project(store, name, texts, **fields)
    return name


class Desk:
    """One desk in one tab."""

    def __init__(
        self, context: BrowserContext, server: Server, project: str, who: str = "Ada", tab: Page | None = None
    ) -> None:
        self.context, self.server, self.project, self.who = context, server, project, who
        self.page: Page = tab or context.new_page()
        self.page.set_default_timeout(WAIT_MS)
        self.root: Locator = self.page.get_by_test_id("desk")
        self.text: Locator = self.page.get_by_test_id("desk-text")

    def open(self, *, item: bool = True, **query: str) -> "Desk":
        """Open the desk and wait until a sentence is on screen."""
        self.page.goto(self.server.page("review", project=self.project, annotator=self.who, **{"lang": "en", **query}))
        if item:
            self.wait()
        return self

    @property
    def item(self) -> str | None:
        """Return the id of the item on screen."""
        return self.root.get_attribute("data-item")

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def decide(self, *keys: str) -> str:
        """Press keys that decide on the item on screen; returns its id once another one, or none, is there."""
        before = self.item
        self.press(*keys)
        expect(self.root).not_to_have_attribute("data-item", before or "", timeout=WAIT_MS)
        return before or ""

    def wait(self) -> None:
        """Wait until an item is on screen; one that is there is found at once."""
        self.page.locator('[data-testid="desk"][data-item]').wait_for(timeout=WAIT_MS)

    def settle(self) -> None:
        """Wait until nothing is on its way any more."""
        expect(self.root).to_have_attribute("data-pending", "0", timeout=WAIT_MS)

    def part(self, name: str) -> Locator:
        """Return a part of the desk by its name in desk.html."""
        return self.root.locator(f"[data-part={name}]")

    def act(self, name: str) -> Locator:
        """Return a button by what it does."""
        return self.root.locator(f"[data-act={name}]")

    def notice(self, name: str) -> Locator:
        """Return a notice by its kind."""
        return self.root.locator(f"[data-notice={name}]")

    def storage(self, prefix: str = "evenhand:op:") -> dict[str, Any]:
        """Return the entries of the browser's storage under a prefix."""
        script = "p => Object.fromEntries(Object.entries(localStorage).filter(([k]) => k.startsWith(p)))"
        return {key: json.loads(value) for key, value in self.page.evaluate(script, prefix).items()}

    def spoil(self, item: str, **fields: Any) -> None:
        """Overwrite fields of the stored decision about *item*, and close the tab.

        A closing tab sends the decision that it has in memory, unchanged: this must not get through.
        """
        script = """([item, fields]) => {
          window.fetch = () => Promise.reject(new Error("cut"));
          for (const [key, value] of Object.entries(localStorage)) {
            const op = key.startsWith("evenhand:op:") ? JSON.parse(value) : {};
            if (op.item === item) localStorage.setItem(key, JSON.stringify({ ...op, ...fields }));
          }
        }"""
        self.page.evaluate(script, [item, fields])
        self.page.close()

    def cut(self) -> None:
        """Let no request of a desk through."""
        self.context.set_offline(True)

    def mend(self) -> None:
        """Let requests through again."""
        self.context.set_offline(False)

    def labels(self) -> list[dict[str, Any]]:
        """Return every label row of this annotator in this project, oldest first."""
        return label_rows(self.server, self.project, self.who)


def label_rows(server: Server, project: str, who: str) -> list[dict[str, Any]]:
    """Return every label row of one annotator, oldest first."""
    query = (
        "SELECT item.uid AS item, choice, reasons, note, form_shown, after_reveal, superseded, op_id, extraneous,"
        " spans, seconds FROM label"
        " JOIN item ON item.id = label.item JOIN project ON project.id = label.project"
        " JOIN annotator ON annotator.id = label.annotator WHERE project.name = ? AND annotator.name = ?"
        " ORDER BY label.id"
    )
    with Store.open(server.database) as store:
        cursor = store.db.execute(query, (project, who))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]


DeskOpener = Callable[..., Desk]


# What moves is drawn sixty times a second, without a graphics card at a tenth of what the browser takes in all.
STILL = """
addEventListener("DOMContentLoaded", () => {
    const style = document.createElement("style");
    style.textContent = "*, *::before, *::after { animation: none !important; transition: none !important; }";
    document.head.append(style);
});
"""


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """Return a profile of its own, in English unless *options* say otherwise, in which nothing moves."""
    context = browser.new_context(**{"locale": "en-US", "viewport": WINDOW, **options})
    context.set_default_timeout(WAIT_MS)
    context.add_init_script(STILL)
    return context


class Profile:
    """One profile of a browser with one tab, which tests use one after the other; empty at the beginning of each.

    What the pages consist of is then loaded and compiled once, not once a test: most of what an opening costs.
    """

    _kept: ClassVar[WeakKeyDictionary[Browser, "Profile"]] = WeakKeyDictionary()

    def __init__(self, browser: Browser) -> None:
        self.taken = False
        self.context = new_context(browser)
        self.tab = self.context.new_page()

    @classmethod
    def take(cls, browser: Browser) -> "Profile | None":
        """Return the profile of this browser, or None while another desk uses it."""
        kept = cls._kept.get(browser)
        if kept is None:
            kept = cls._kept[browser] = cls(browser)
        if kept.taken:
            return None
        kept.taken = True
        return kept

    def give_back(self, browser: Browser, server: Server) -> None:
        """Close the other tabs and empty the storage of *server*'s pages; where that fails, the profile goes."""
        try:
            self.context.set_offline(False)
            for page in self.context.pages:
                if page is not self.tab:
                    page.close()
            self.tab.goto(f"{server.url}/_stcore/health")  # of the same origin, and nothing on it writes
            left = "() => { localStorage.clear(); sessionStorage.clear(); return localStorage.length; }"
            self.taken = self.tab.evaluate(left) != 0
            self.context.clear_cookies()
            self.tab.mouse.move(0, 0)
            self.tab.set_viewport_size(WINDOW)
        except PlaywrightError:  # a test that failed half-way: its server is gone, or its page does not let go
            self.taken = True
        if self.taken:
            del self._kept[browser]
            self.context.close()


class Opener:
    """Opens desks, and closes them after the test.

    The first one opens in the profile that the tests share, in its tab unless a context is given; each further one in
    a context of its own. A test that changes a tab permanently (listeners, scripts that run first) opens it with
    `context=`, and one that changes a context permanently (the clock) uses `fresh()`.
    """

    def __init__(self, browser: Browser, server: Server) -> None:
        self.browser, self.server, self.contexts = browser, server, list[BrowserContext]()
        self.shared: Profile | None = None

    def context(self) -> BrowserContext:
        """Return a profile with an empty storage."""
        shared = self._share()
        return shared.context if shared else self.fresh()

    def fresh(self, **options: Any) -> BrowserContext:
        """Return a new profile with options of its own."""
        self.contexts.append(new_context(self.browser, **options))
        return self.contexts[-1]

    def __call__(self, project: str | None = None, who: str = "Ada", *, context: BrowserContext | None = None) -> Desk:
        shared = None if context else self._share()
        found = context or (shared.context if shared else self.fresh())
        project = project or make_project(self.server)
        return Desk(found, self.server, project, who, shared.tab if shared else None)

    def close(self) -> None:
        """Close every context, and give back what is shared."""
        for context in self.contexts:
            context.close()
        if self.shared:
            self.shared.give_back(self.browser, self.server)

    def _share(self) -> Profile | None:
        """Return the shared profile, once a test."""
        if self.shared:
            return None
        self.shared = Profile.take(self.browser)
        return self.shared


def no_sideways_scroll(page: Page) -> bool:
    script = """() => {
      const all = [document.scrollingElement, ...document.querySelectorAll('[data-testid="stMain"]')];
      return all.every((one) => one.scrollWidth <= one.clientWidth);
    }"""
    return bool(page.evaluate(script))


# What the tests of generations do with a text: the wrong pronoun "he" is found by its letter and marked.
MISGENDERING = ("2", "h", "Enter", "Enter")


def open_generations(desks: Opener, texts: int | list[str] = 12, **fields: Any) -> Desk:
    """Return a desk of a new project with these texts."""
    return desks(make_generations(desks.server, texts, **fields)).open()


def stored(desk: Desk) -> list[dict[str, Any]]:
    """Return the label rows with what they are about: the text, and the words that are marked in it."""
    desk.settle()
    with Store.open(desk.server.database) as store:
        texts = dict(store.db.execute("SELECT uid, text FROM item"))
    rows = desk.labels()
    for row in rows:
        row["text"] = texts[row["item"]]
        row["words"] = [(row["text"][start:end], kind) for start, end, kind in json.loads(row["spans"])]
    return rows


def marks(desk: Desk) -> list[str]:
    """Return the words that are marked on screen."""
    return desk.text.locator("mark").all_text_contents()


def run_keys(desk: Desk, count: int, pause_ms: int) -> list[str]:
    """Press J *count* times on any screen; return the item on screen at each press."""
    seen = []
    for _ in range(count):
        shown = desk.item
        if shown:
            seen.append(shown)
        desk.press("j")
        desk.page.wait_for_timeout(pause_ms)
    return seen


def labelled(desk: Desk) -> list[str]:
    """Return the items of all label rows, oldest first."""
    return [row["item"] for row in desk.labels()]


def piece(desk: Desk, text: str) -> Locator:
    """Return the first word of that text."""
    return desk.text.locator("[data-piece]").get_by_text(text, exact=True).first
