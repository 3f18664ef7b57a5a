"""A rehearsal: 40 generations, three annotators at once, 20 labelled twice, adjudication, a locked package, back.

The first annotator presses keys in a browser; the other two send over HTTP what the desk sends.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.adjudication.decisions import case, cases, decide_case, each_decision_row
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import change_project, create_project, project
from evenhand.annotations.types import Project
from evenhand.core.text.pronouns import set_named
from tests.support.browser import Server
from tests.support.desk_by_http import HttpDesk
from tests.support.desk_driver import WAIT_MS, Desk, Opener
from tests.support.projects import broken_rules
from tests.support.terminal import answered

pytestmark = [pytest.mark.browser, pytest.mark.rehearsal]

PROJECT = "rehearsal"
PEOPLE = ("Ada", "Bo", "Cy")
MODELS = ("made-small", "made-large")
SETS = ("he", "she", "they", "xe")
PASSWORD = "a rehearsal only"
GENERATIONS, DOUBLED = 40, 20
AT_HAND = 14  # of those who send; a desk in a browser takes what is left, up to 40

# Label -> what the made model wrote; numbers make every text its own. `wrong` is a form of another set.
WRITTEN = {
    "correct": " After lunch {name} said that {nom} would mend fence {n} before dark.",
    "misgendering": " {name} opened gate {n}, and {wrong} called across the yard.",
    "no_pronoun": " Stall {n} opened late, so {name} waited in the rain.",
    "plural_they": " {name} and the neighbours met at bridge {n}, where they all sang.",
    "extraneous": " The boy who keeps ferry {n} is {name}, and {nom} nodded.",
}


@dataclass(frozen=True, slots=True)
class Continuation:
    """One made generation with its true label and the word that is to be marked ("" for none)."""

    line: dict[str, Any]
    truth: str
    word: str


def continuation(n: int) -> Continuation:
    """Return the nth: ten contexts, each continued by two models in two ways; all labels in turn."""
    context, name = n // 4, f"{'BCDFGKLMNPR'[n // 4 % 11]}arin"
    own = SETS[context % 4]
    wrong = {"he": "she", "she": "he", "they": "she", "xe": "he"}[own]
    truth = list(WRITTEN)[(n * 3 + context) % 5]
    results = {"name": name, "nom": set_named(own).nom, "wrong": wrong, "n": n}
    line = {
        "context": f"{name} lives by lock {context} and goes by {'/'.join(set_named(own).forms[:3])}.",
        "completion": WRITTEN[truth].format(**results),
        "name": name, "pronouns": own, "dataset": "own", "setting": "pre" if n % 2 else "post",
        "model": MODELS[n // 2 % 2], "index": n % 2, "template": f"t{context}",
    }  # fmt: skip
    return Continuation(line, truth, {"misgendering": wrong, "extraneous": "boy"}.get(truth, ""))


def choice_of(truth: Continuation, who: str, n: int) -> str:
    """Return an annotator's label: Bo overlooks every fourth pronoun, Cy takes groups for no person."""
    if who == "Bo" and truth.truth == "correct" and n % 4:
        return "no_pronoun"
    if who == "Cy" and truth.truth == "plural_they":
        return "no_pronoun"
    return truth.truth


KEYS: dict[str, tuple[str, ...]] = {
    "correct": ("1",),
    "no_pronoun": ("3",),
    "plural_they": ("4",),
    "extraneous": ("m", "m", "b", "Space", "Enter", "1"),
}


def keys_for(choice: str, word: str) -> tuple[str, ...]:
    """Return the keys of a label: one, or several with its mark, found by the unique first letter of the pronoun."""
    return KEYS.get(choice) or ("2", word[0], "Enter", "Enter")


def cli(*arguments: str, db: Path) -> dict[str, Any]:
    """Run a command as at a terminal and return its answer."""
    return answered(*arguments, "--db", db, EVENHAND_PASSWORD=PASSWORD)


def begin(database: Path, folder: Path, texts: list[Continuation]) -> None:
    """Make a project with annotators and plan, and import a file of generations into it."""
    with Store.open(database) as store:
        begun = create_project(store, PROJECT, kind="generations", language="en", annotators=PEOPLE, per_item=2)
        change_project(store, begun, doubled=DOUBLED)
    file = folder / "made.jsonl"
    file.write_text("".join(json.dumps(text.line) + "\n" for text in texts), encoding="utf-8")
    report = cli("import", PROJECT, str(file), db=database)
    assert (report["imported"], report["rejected"]) == (GENERATIONS, 0)


def send(desk: HttpDesk, choice: str, word: str) -> str:
    """Send a label, with its mark where it has one; returns the id of the item."""
    if choice not in ("misgendering", "extraneous"):
        return desk.decide(choice, form="original", extraneous=False)
    start = re.search(rf"\b{word}\b", desk.text).start()  # type: ignore[union-attr]
    kind = "pronoun" if choice == "misgendering" else choice
    choice_of = "correct" if choice == "extraneous" else choice
    marks = [[start, start + len(word), kind]]
    return desk.decide(choice_of, form="original", spans=marks, extraneous=choice == "extraneous")


def label_everything(
    desks: list[Desk | HttpDesk], known: Mapping[str, int], texts: list[Continuation]
) -> list[tuple[str, str, str]]:
    """Let all annotators label one text each in turn until none is left; return annotator, choice and item of each."""
    pressed: list[tuple[str, str, str]] = []
    at_work = list(desks)
    while at_work:
        for desk in list(at_work):
            item = desk.item
            if item is None:
                desk.settle()
                at_work.remove(desk)
                continue
            n = known[desk.text if isinstance(desk, HttpDesk) else desk.text.text_content() or ""]
            choice, word = choice_of(texts[n], desk.who, n), texts[n].word
            if isinstance(desk, HttpDesk):
                assert send(desk, choice, word) == item
            else:
                assert desk.decide(*keys_for(choice, word)) == item
            pressed.append((desk.who, item, choice))
    return pressed


LABELS = (
    "SELECT annotator.name, item.uid, choice, extraneous, spans, reasons, note, op_id, blind_label.created, item.text"
    " FROM blind_label JOIN item ON item.id = blind_label.item"
    " JOIN annotator ON annotator.id = blind_label.annotator ORDER BY op_id"
)


def state(database: Path) -> dict[str, Any]:
    """Return everything that an export must restore."""
    with Store.open(database) as store:
        stored = project(store, PROJECT)
        rows = store.db.execute(LABELS).fetchall()
        gold = store.db.execute("SELECT uid, gold, wanted, labels FROM item ORDER BY uid").fetchall()
        kept = [(item.uid, item.text, item.context, item.extra) for item in items(store, stored)]
        decided = list(each_decision_row(store, stored))
        assert broken_rules(store) == []
        return {"labels": rows, "gold": gold, "items": sorted(kept), "settlements": decided}


def settle_on_the_page(desk: Desk, store: Store, found: Project, count: int) -> None:
    """Settle the first cases on the page, with the label of the first of the two annotators."""
    page = desk.page
    page.goto(desk.server.page("adjudicate", project=PROJECT, lang="en"))
    page.get_by_label("Adjudicator").fill("Dee")
    page.get_by_label("Adjudicator").press("Enter")
    for _ in range(count):
        uid = cases(store, found)[0]
        choice = case(store, found, uid).labels[0].choice
        name = {"correct": "Correct", "no_pronoun": "No pronoun", "plural_they": "Plural they"}.get(choice, choice)
        page.locator(f".st-key-choice-{uid}").get_by_text(name, exact=True).click(timeout=WAIT_MS)
        page.locator(f".st-key-why-{uid} textarea").fill("Read it again aloud.")
        page.locator(f".st-key-why-{uid} textarea").blur()
        page.locator(".st-key-decide button").click()
        page.locator(f".st-key-choice-{uid}").wait_for(state="detached", timeout=WAIT_MS)


def settle_the_rest(store: Store, found: Project) -> None:
    for uid in cases(store, found):
        shown = case(store, found, uid)
        first = shown.labels[0]
        decide_case(
            store, found, uid, adjudicator="Dee", choice=first.choice, seen=shown.seen, marks=first.marks,
            extraneous=first.extraneous, why="As the first reads it.",
        )  # fmt: skip


def numbers(report: Any, path: str = "") -> dict[str, Any]:
    """Return every leaf of a report by its path."""
    if isinstance(report, dict):
        return {key: leaf for name, value in report.items() for key, leaf in numbers(value, f"{path}/{name}").items()}
    if isinstance(report, list):
        return {key: leaf for n, value in enumerate(report) for key, leaf in numbers(value, f"{path}/{n}").items()}
    return {path: report}


def test_generations_from_file_to_gold_and_a_restored_package(
    own_desks: Opener, own_server: Server, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    texts = [continuation(n) for n in range(GENERATIONS)]
    begin(own_server.database, tmp_path, texts)
    known = {text.line["completion"]: n for n, text in enumerate(texts)}
    senders = [HttpDesk(own_server, PROJECT, who, AT_HAND) for who in PEOPLE[1:]]
    for sender in senders:
        request.addfinalizer(sender.close)
        sender.fetch()
    desk = own_desks(PROJECT, PEOPLE[0]).open()
    pressed = label_everything([desk, *senders], known, texts)
    assert {who for who, _, _ in pressed} == set(PEOPLE)
    check_labels(state(own_server.database), pressed, known, texts)

    with Store.open(own_server.database) as store:
        stored = project(store, PROJECT)
        open_cases = len(cases(store, stored))
        assert open_cases >= 3, "the two who label a text do differ now and then"
        settle_on_the_page(desk, store, stored, 2)
        settle_the_rest(store, stored)
        assert cases(store, stored) == []
    before = state(own_server.database)
    assert len(before["settlements"]) == open_cases

    package = tmp_path / "out" / "rehearsal.zip"
    package.parent.mkdir()
    cli("export", PROJECT, str(package), "--format", "package", "--names", "--password", db=own_server.database)
    data = package.read_bytes()
    assert not any(text.line["completion"].strip().encode() in data for text in texts), "no text in the open"
    empty = tmp_path / "empty.db"
    cli("import", PROJECT, str(package), db=empty)
    after = state(empty)
    assert after == before
    agreed, again = (numbers(cli("agreement", PROJECT, db=db)) for db in (own_server.database, empty))
    assert agreed.keys() == again.keys()
    for path, value in agreed.items():
        assert again[path] == (pytest.approx(value, abs=1e-12) if isinstance(value, float) else value), path


def check_labels(
    found: dict[str, Any], pressed: list[tuple[str, str, str]], known: Mapping[str, int], texts: list[Continuation]
) -> None:
    """Check that every key gave one label, about the item on screen, with the right mark, and no other label."""
    stored = {(who, item): row for who, item, *row in found["labels"]}
    assert len(pressed) == len(stored) == GENERATIONS + DOUBLED
    for who, item, choice in pressed:
        kept, extraneous, spans, *_, text = stored[who, item]
        marked = [(text[start:end], kind) for start, end, kind in json.loads(spans)]
        word = texts[known[text]].word
        expected = {"misgendering": [(word, "pronoun")], "extraneous": [(word, "extraneous")]}.get(choice, [])
        assert (kept, marked) == ("correct" if choice == "extraneous" else choice, expected)
        assert extraneous == int(choice == "extraneous")
    assert Counter(labels for *_, labels in found["gold"]) == {1: GENERATIONS - DOUBLED, 2: DOUBLED}
    assert all(wanted == labels for _, _, wanted, labels in found["gold"])
