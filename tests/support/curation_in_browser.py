"""Drives a whole curation: opinions of three annotators, their keys or requests, the resulting database.

The lead and the first annotator are in browsers. The others send over HTTP what the desk sends: how keys become
operations is what the tests of the desk are about.
"""

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from evenhand.annotations.adjudication.decisions import cases
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.relabelling import remaining_to_relabel
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import guideline, project
from evenhand.annotations.release.readiness import to_explain
from evenhand.annotations.release.stored_releases import releases
from evenhand.annotations.types import Project
from tests.support.browser import Server
from tests.support.desk_by_http import HttpDesk
from tests.support.desk_driver import WAIT_MS, Desk, Opener
from tests.support.projects import broken_rules
from tests.support.terminal import answered
from tests.support.waiting import until

PEOPLE = ("Ada", "Bo", "Cy")
TAGS = ("有人名", "别的词露了底", "意思变了")
KEYS = {"有人名": "5", "别的词露了底": "3", "意思变了": "1"}  # the criteria of the built-in guideline


def chance(*parts: object) -> float:
    """Return a number from 0 to 1 that depends on *parts* alone."""
    digest = hashlib.blake2b("|".join(map(str, parts)).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


def opinion(who: str, text: str) -> str:
    """Return the annotator's opinion of a sentence: "" to keep it, else the reason to reject it.

    Seven in ten sentences are good; one in twelve is judged differently by each annotator.
    """
    bad = chance("truth", text) > 0.7
    if chance("slip", who, text) < 1 / 12:
        bad = not bad
    return TAGS[int(chance("why", text) * len(TAGS))] if bad else ""


def cli(*arguments: str, db: Path, password: str = "") -> dict[str, Any]:
    """Run a command as at a terminal and return its answer."""
    return answered(*arguments, "--db", db, EVENHAND_PASSWORD=password)


class KeyDesk(Desk):
    """A desk in a browser, at which keys are pressed."""

    def is_given(self) -> bool:
        """Open it and wait until a sentence is on screen, or the message that there is none now."""
        if self.page.url == "about:blank" or self.item is None:
            self.open(item=False)
            news = self.act("understood")  # a new version of the guideline, which is read first
            self.page.locator(GIVEN).or_(news).first.wait_for(timeout=WAIT_MS)
            if news.is_visible():
                news.click()
                self.page.locator(GIVEN).first.wait_for(timeout=WAIT_MS)
        return self.item is not None

    def judge(self, *, tags: bool) -> tuple[str, bool]:
        """Press what the annotator thinks of the sentence on screen; its id, and whether it is kept."""
        why = opinion(self.who, self.text.text_content() or "")
        if not why:
            keys: tuple[str, ...] = ("j",)
        elif tags:
            self.press("k", "t")
            self.page.keyboard.insert_text(why)
            keys = ("Enter", "Enter", "Enter")  # takes the tag, leaves the field, finishes the reject
        else:
            keys = ("k", KEYS[why], "Enter")
        return self.decide(*keys), not why


class SentDesk(HttpDesk):
    """A desk whose operations are sent."""

    def is_given(self) -> bool:
        """Request an item, unless there is one."""
        if self.item is None:
            self.fetch()
        return self.item is not None

    def judge(self, *, tags: bool) -> tuple[str, bool]:
        """Send what the annotator thinks of the sentence; its id, and whether it is kept."""
        why = opinion(self.who, self.text)
        if not why:
            return self.decide("accept"), True
        if tags:
            return self.decide("reject", tags=[why]), False
        return self.decide("reject", reasons=[self.reasons[KEYS[why]]]), False

    @property
    def reasons(self) -> dict[str, str]:
        """Return the codes of the criteria by their keys."""
        with Store.open(self.server.database) as store:
            return {reason.key: reason.code for reason in guideline(store, project(store, self.project)).reasons}


@dataclass
class Curation:
    """A project on a server, its people's desks, and every decision that was made: (who, id of the item, choice)."""

    server: Server
    desks: Opener
    name: str
    people: list[str] = field(default_factory=lambda: list(PEOPLE))
    pressed: list[tuple[str, str, str]] = field(default_factory=list)
    opened: dict[str, KeyDesk | SentDesk] = field(default_factory=dict)

    def current_project(self, store: Store) -> Project:
        """Return the project as it is now."""
        return project(store, self.name)

    def desk(self, who: str) -> KeyDesk | SentDesk:
        """Return the desk of *who*, opened at its first use."""
        if who not in self.opened:
            pressing = who == PEOPLE[0]
            self.opened[who] = (
                KeyDesk(self.desks.context(), self.server, self.name, who)
                if pressing
                else SentDesk(self.server, self.name, who)
            )
        return self.opened[who]

    def close(self) -> None:
        """End the connections of those who send."""
        for desk in self.opened.values():
            if isinstance(desk, SentDesk):
                desk.close()

    def label(self, *, most: int | None = None, tags: bool = False) -> int:
        """Let all annotators label a sentence each in turn until none is left or *most* are done; return the number."""
        done, before = 0, -1
        while done > before and (most is None or done < most) and self._is_left():
            before = done
            at_work = [desk for desk in map(self.desk, self.people) if desk.is_given()]
            while at_work and (most is None or done < most):
                for desk in list(at_work):
                    if desk.item is None:  # the rest may be on other desks: requested again in the next round
                        at_work.remove(desk)
                        continue
                    item, released_sentences = desk.judge(tags=tags)
                    self.pressed.append((desk.who, item, "accept" if released_sentences else "reject"))
                    done += 1
            for desk in self.opened.values():
                desk.settle()
        return done

    def _is_left(self) -> bool:
        """Return True while an item needs a label: of the open pilot, if there is one, else of all items."""
        query = (
            "SELECT EXISTS (SELECT 1 FROM item WHERE labels < wanted AND (NOT (SELECT count(*) FROM pilot"
            " WHERE closed IS NULL) OR pilot IN (SELECT id FROM pilot WHERE closed IS NULL)))"
            " OR EXISTS (SELECT 1 FROM retest WHERE state IN ('waiting', 'leased')"
            " AND NOT EXISTS (SELECT 1 FROM pilot WHERE closed IS NULL))"
        )
        with Store.open(self.server.database) as store:
            return bool(store.db.execute(query).fetchone()[0])


# A sentence, or the card that says why there is none ("One moment" while this is unknown).
GIVEN = (
    '[data-testid="desk"][data-item],'
    ' [data-testid="desk"] [data-part="empty"]:not([hidden]) h2:not(:text("One moment"))'
)  # fmt: skip


@dataclass
class Lead:
    """The lead at the pages, in a browser of their own."""

    curation: Curation

    def __post_init__(self) -> None:
        self.page = self.curation.desks.context().new_page()
        self.page.set_default_timeout(WAIT_MS)

    def opens(self, name: str, **query: str) -> None:
        """Open a page of the project."""
        self.page.goto(self.curation.server.page(name, project=self.curation.name, lang="en", **query))

    def turns_to(self, part: str) -> None:
        """Choose a part of the open page Pilot and guideline, since loading the page again takes seconds each time."""
        self.page.locator(".st-key-pilot_part").get_by_text(part, exact=True).click()

    def presses(self, key: str) -> None:
        """Press the button of that key, once the page has taken in what was chosen and written before."""
        self.page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
        self.page.locator(f".st-key-{key} button").first.click()

    def confirms(self, key: str) -> None:
        """Open the question of that key, and press its button."""
        self.page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
        self.page.locator(f"[class*='st-key-ask-{key}'] button").first.click()
        self.presses(key)

    def writes(self, key: str, text: str) -> None:
        """Put *text* into the field of that key (or of a key that ends so) and leave the field."""
        field_ = self.page.locator(f"[class*='{key}'] input, [class*='{key}'] textarea").first
        field_.fill(text)
        field_.blur()

    def starts_pilot(self, items: int) -> None:
        """Draw so many items, on the page Pilot and guideline."""
        self.opens("pilot")
        self.writes("st-key-pilot_items", str(items))
        self.confirms("pilot_start")
        self.page.get_by_text("Pilot 1 is open").wait_for()

    def closes_pilot(self) -> None:
        """End the pilot there."""
        self.opens("pilot")
        self.presses("pilot_close")
        self.page.locator(".st-key-pilot_close").wait_for(state="detached")

    def makes_criteria(self, choices: Mapping[str, str]) -> None:
        """Give each tag the criterion of that name, on the same page."""
        self.turns_to("From tags to criteria")
        for tag, criterion in choices.items():
            box = self.page.locator("[class*='st-key-tag-box-']").filter(has_text=tag)
            box.get_by_role("combobox").first.click()
            self.page.get_by_role("option").filter(has_text=criterion).first.click()
            expect(box.get_by_role("combobox").first).to_have_value(re.compile(criterion))

    def publishes(self, changes: str, *, back: str) -> None:
        """Publish the next version, telling what changed; *back*: the words of what becomes of older labels."""
        self.turns_to("Next version")
        text = self.page.locator("[class*='-text'] textarea").first
        self.writes("-text", f"{text.input_value()}\n\n{changes}")
        self.writes("-changes", changes)
        self.page.locator(".st-key-which").get_by_text(back).click()
        self.confirms("publish")
        self.page.get_by_text("is published").wait_for()

    def plans(self, share: int, retest: int) -> None:
        """Stop at the first reject, on the page Labelling plan."""
        self.opens("plan")
        self.page.get_by_text("Stop at the first reject", exact=True).click()
        self.writes("st-key-share-", str(share))
        self.writes("st-key-retest-", str(retest))
        self.writes("st-key-hours-", "0")
        self.presses("save_plan")
        self.page.get_by_text("This plan is in force.").wait_for()

    def replaces(self, old: str, new: str) -> None:
        """Replace one annotator by another on the page Projects."""
        self.opens("projects")
        self.page.get_by_role("button", name="People", exact=True).or_(
            self.page.get_by_text("People", exact=True)
        ).first.click()
        row = self.page.locator("[class*='st-key-change-']").nth(self.curation.people.index(old))
        row.get_by_role("button").first.click()
        self.writes("st-key-successor-", new)
        self.page.locator("[class*='st-key-replace-'] button").first.click()
        self.page.get_by_text("has replaced").wait_for()
        self.curation.people[self.curation.people.index(old)] = new

    def decides(self, count: int) -> None:
        """Adjudicate the first cases as rejected, on the page Adjudicate."""
        self.opens("adjudicate")
        self.page.get_by_label("Adjudicator").fill("Dee")
        self.page.get_by_label("Adjudicator").press("Enter")
        for _ in range(count):
            with Store.open(self.curation.server.database) as store:
                uid = cases(store, self.curation.current_project(store))[0]
            self.writes(f"st-key-why-{uid}", "Read it again aloud.")
            self.presses("decide-reject")
            self.page.locator(f".st-key-why-{uid}").wait_for(state="detached")

    def releases(self, version: str) -> None:
        """Fill in what must be, and make a release, on the page Release."""
        self.opens("release")
        if self.page.locator("[class*='st-key-licence-'] input").input_value() == "":
            self.writes("st-key-licence-", "CC BY 4.0")
            self.writes("st-key-source-", "Sentences that were made for a rehearsal.")
            self.page.get_by_role("button", name="Save").first.click()
        self.writes("st-key-version-", version)
        with Store.open(self.curation.server.database) as store:
            if to_explain(store, self.curation.current_project(store)):
                self.writes("st-key-reason-", "It is a rehearsal.")
        self.confirms("create-release")
        with Store.open(self.curation.server.database) as store:
            result = self.curation.current_project(store)
            until(lambda: version in {release.version for release in releases(store, result)}, WAIT_MS / 1000)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of the rehearsal; `before`: labels before an annotator is replaced; shares in per cent."""

    pilot: int
    before: int
    share: int
    retest: int
    decisions: int


def rehearse(
    desks: Opener, server: Server, folder: Path, first: Path, more: Path, *, format: str, sizes: Sizes
) -> dict[str, Any]:
    """Go the whole way, checked at each step; return the counts. *first* and *more* are files of sentences."""
    curation = Curation(server, desks, "rehearsal")
    with closing(curation):
        return walk(curation, folder, first, more, format=format, sizes=sizes)


def walk(curation: Curation, folder: Path, first: Path, more: Path, *, format: str, sizes: Sizes) -> dict[str, Any]:
    """Do the steps of `rehearse`."""
    database = curation.server.database
    cli("project", "create", curation.name, "--kind", "sentences", "--annotators", ",".join(PEOPLE), db=database)
    cli("import", curation.name, str(first), "--format", format, db=database)
    lead = Lead(curation)
    lead.starts_pilot(sizes.pilot)
    assert curation.label(tags=True) == sizes.pilot * len(PEOPLE)
    lead.closes_pilot()
    lead.makes_criteria({"有人名": "Contains a name"})
    lead.publishes("Names are told apart.", back="relabel labels that name a changed or dropped criterion:")
    counted = {"pilot_labels": len(curation.pressed), "sent_back": waiting_labels(curation)}
    lead.plans(sizes.share, sizes.retest)
    curation.label(most=sizes.before)
    lead.replaces("Cy", "Eve")
    curation.label()
    check_pressed(curation)
    lead.decides(sizes.decisions)
    made = released(lead, curation, "1.0", folder)
    cli("import", curation.name, str(more), "--format", format, db=database)
    curation.label()
    check_pressed(curation)
    two = released(lead, curation, "1.1", folder)
    check_changes(two, made)
    counted |= check_return(curation, folder / "set-1.1", folder / "empty.db")
    return counted | figures(curation)


def waiting_labels(curation: Curation) -> int:
    """Return the number of labels that wait to be made again."""
    with Store.open(curation.server.database) as store:
        return sum(remaining_to_relabel(store, curation.current_project(store)).values())


def check_pressed(curation: Curation) -> None:
    """Check that every key pressed is stored under that name, about the item on screen; and no other."""
    query = (
        "SELECT name, item.uid, choice FROM label JOIN item ON item.id = label.item"
        " JOIN annotator ON annotator.id = label.annotator UNION ALL"
        " SELECT name, retest.uid, choice FROM retest_label JOIN retest ON retest.id = retest_label.retest"
        " JOIN annotator ON annotator.id = retest.annotator"
    )
    with Store.open(curation.server.database) as store:
        stored = Counter(store.db.execute(query).fetchall())
        assert stored == Counter(curation.pressed)
        assert broken_rules(store) == []
        result = curation.current_project(store)
        left = [item for item in items(store, result) if item.status == "pending"]
        assert left == [], "everything is decided"
        rows = store.db.execute("SELECT shared OR pilot IS NOT NULL, status, labels FROM item").fetchall()
        assert {labels for all_label, _, labels in rows if all_label} == {result.per_item}
        assert {labels for _, status, labels in rows if status == "accepted"} == {result.per_item}


def released(lead: Lead, curation: Curation, version: str, folder: Path) -> Path:
    """Make a release on the page, write it out and verify it; returns its folder."""
    everybody = ("--use", "release", "--give-all")  # as the lead has it in writing
    cli("people", curation.name, "consent", *everybody, db=curation.server.database)
    lead.releases(version)
    out = folder / f"set-{version}"
    cli("release", curation.name, version, "--out", str(out), db=curation.server.database)
    cli("release", curation.name, "--verify", str(out), db=curation.server.database)
    return out


def released_sentences(release: Path) -> set[str]:
    """Return the sentences of a release, as its published file has them."""
    with (release / "slguset.csv").open(encoding="utf-8", newline="") as file:
        return {row["句子"] for row in csv.DictReader(file)}


def check_changes(new: Path, old: Path) -> None:
    """Check that the list of changes names the added sentences, and that none of the first release is missing."""
    changes = json.loads((new / "changes.json").read_text(encoding="utf-8"))
    assert released_sentences(old) < released_sentences(new)
    assert len(changes["kept"]["added"]) == len(released_sentences(new) - released_sentences(old))
    assert changes["kept"]["removed"] == []


def check_return(curation: Curation, release: Path, empty: Path) -> dict[str, Any]:
    """Check that the release in an empty database has equal gold, agreement and hash."""
    cli("import", "again", str(release), db=empty)
    gold = "SELECT uid, gold, status, labels FROM item ORDER BY uid"
    with Store.open(curation.server.database) as here, Store.open(empty) as there:
        assert there.db.execute(gold).fetchall() == here.db.execute(gold).fetchall()
    agreed, again = cli("agreement", curation.name, db=curation.server.database), cli("agreement", "again", db=empty)
    names = ("items", "labels", "percent", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
    for name in names:
        assert again[name] == pytest.approx(agreed[name], abs=1e-12), name
    results = [
        cli("release", name, "2.0", "--licence", "CC BY 4.0", "--source", "Made.", "--reason", "A rehearsal.", db=db)[
            "hash"
        ]
        for name, db in ((curation.name, curation.server.database), ("again", empty))
    ]
    assert results[0] == results[1]
    return {"agreement": {name: agreed[name] for name in names}, "on": agreed["on"], "hash": results[0]}


def figures(curation: Curation) -> dict[str, Any]:
    """Return the totals of the rehearsal: items, current labels, second labels, keys pressed for decisions."""
    with Store.open(curation.server.database) as store:
        (count, labels), (second,) = (
            store.db.execute("SELECT count(*), sum(labels) FROM item").fetchone(),
            store.db.execute("SELECT count(*) FROM retest_label").fetchone(),
        )
    return {"items": count, "labels": labels, "second_labels": second, "pressed": len(curation.pressed)}
