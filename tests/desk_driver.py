"""Drives a desk in a browser, and reads what the database holds of it."""

import itertools
import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from annotations.items import Batch, NewItem
from annotations.projects import create_project
from annotations.store import Store
from core.keywords import find
from tests.browser import Server
from tests.made_generations import generations_project

WAIT_MS = 240_000  # a busy machine may need long; what is there is found at once
expect.set_options(timeout=WAIT_MS)
_numbers = itertools.count(1)
_WORDS = ("他", "她", "爸爸", "妈妈", "男孩", "女孩", "叔叔", "阿姨")


def make_project(server: Server, sentences: int | list[str] = 12, **fields: Any) -> str:
    """A project with sentences of our own for Ada and Bo; returns its name."""
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
    """A project of generations for Ada and Bo; returns its name."""
    name = f"desk {next(_numbers)}"
    with Store.open(server.database) as store:
        generations_project(store, name, texts, **fields)
    return name


class Desk:
    """One desk in one tab."""

    def __init__(self, context: BrowserContext, server: Server, project: str, who: str = "Ada") -> None:
        self.context, self.server, self.project, self.who = context, server, project, who
        self.page: Page = context.new_page()
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
        """The id of the item on screen."""
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
        """A part of the desk by its name in desk.html."""
        return self.root.locator(f"[data-part={name}]")

    def act(self, name: str) -> Locator:
        """A button by what it does."""
        return self.root.locator(f"[data-act={name}]")

    def notice(self, name: str) -> Locator:
        """A notice by its kind."""
        return self.root.locator(f"[data-notice={name}]")

    def storage(self, prefix: str = "evenhand:op:") -> dict[str, Any]:
        """What the browser keeps under a prefix."""
        script = "p => Object.fromEntries(Object.entries(localStorage).filter(([k]) => k.startsWith(p)))"
        return {key: json.loads(value) for key, value in self.page.evaluate(script, prefix).items()}

    def cut(self) -> None:
        """Let no request of a desk through."""
        self.context.set_offline(True)

    def mend(self) -> None:
        """Let requests through again."""
        self.context.set_offline(False)

    def labels(self) -> list[dict[str, Any]]:
        """Every label row of this annotator in this project, oldest first."""
        return label_rows(self.server, self.project, self.who)


def label_rows(server: Server, project: str, who: str) -> list[dict[str, Any]]:
    """Every label row of one annotator, oldest first."""
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


class Opener:
    """Opens desks, each in a browser context of its own unless one is given; closes them after the test."""

    def __init__(self, browser: Browser, server: Server) -> None:
        self.browser, self.server, self.contexts = browser, server, list[BrowserContext]()

    def context(self, **options: Any) -> BrowserContext:
        """A fresh profile: its own storage."""
        self.contexts.append(self.browser.new_context(**{"locale": "en-US", **options}))
        self.contexts[-1].set_default_timeout(WAIT_MS)
        return self.contexts[-1]

    def __call__(self, project: str | None = None, who: str = "Ada", *, context: BrowserContext | None = None) -> Desk:
        return Desk(context or self.context(), self.server, project or make_project(self.server), who)

    def close(self) -> None:
        """Close every context."""
        for context in self.contexts:
            context.close()
