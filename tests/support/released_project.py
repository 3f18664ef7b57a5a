"""A project with everything that a release reports.

A pilot, two versions, stop at a first reject, retests, hidden gold, adjudication, discussions, an annotator who left.
"""

import itertools

from evenhand.annotations.adjudication.decisions import add_comment, case, cases, decide_case
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import add_guideline, guideline
from evenhand.annotations.items.batch import Batch, items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.projects.consent import answer_for_everybody
from evenhand.annotations.projects.projects import (
    annotators,
    change_project,
    create_project,
    project_by_uid,
    remove_annotator,
)
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Item, Operation, Project
from tests.support.projects import new_items

_counter = itertools.count(1)
SOURCE = "Own sentences, written for tests."


def ready_project(store: Store, number: int = 24, *, name: str = "set", **fields: object) -> Project:
    """Return a project with a licence, a source and sentences without labels."""
    made = create_project(store, name, annotators=("Ada", "Bo", "Chen"), seed=4, **fields)  # type: ignore[arg-type]
    with Batch.begin(store, made, "made.txt") as batch:
        batch.add(new_items(number))
        batch.publish()
    everybody_consents(store, made)
    return change_project(store, made, licence="CC BY 4.0", source_statement=SOURCE)


def everybody_consents(store: Store, project: Project) -> None:
    """Let all members agree to the release of their labels."""
    answer_for_everybody(store, project, "release")


def label(store: Store, project: Project, who: Annotator, item: str, choice: str | None, **fields: object) -> None:
    """Store one label, which replaces the current one of the same annotator."""
    number = next(_counter)
    row = store.db.execute(
        "SELECT op_id FROM assignment WHERE item = (SELECT id FROM item WHERE uid = ?) AND annotator = ?"
        " UNION ALL SELECT op_id FROM retest WHERE uid = ?",
        (item, who.id, item),
    ).fetchone()
    made = Operation(
        f"op{number:030d}", item, choice, f"desk{who.id}", number, base=row[0] if row else None,
        seconds=4.0 + number % 7, form_shown="masked", **fields,  # type: ignore[arg-type]
    )  # fmt: skip
    answers = store_operations(store, project, who, [made])
    assert all(answer.stored for answer in answers), answers


def opinion(item: Item, who: Annotator, shift: int = 0) -> str:
    """Return the annotator's opinion of this item: mostly the same as the others'."""
    number = int(item.text.partition("个")[0][1:])
    return "reject" if number % 4 == 0 or (number + who.id + shift) % 5 == 0 else "accept"


def work(store: Store, project: Project, *, most: int = 1_000, shift: int = 0, now: float | None = None) -> int:
    """Let all label what the queue hands out, one item each in turn, until nothing is left; return the labels."""
    done, moved = 0, True
    while moved and done < most:
        moved = False
        for who in annotators(store, project):
            for item in claim(store, project, who, want=1, now=now):
                choice = opinion(item, who, shift)
                reasons = ("biological",) if choice == "reject" else ()
                label(store, project, who, item.uid, choice, reasons=reasons)
                done, moved = done + 1, True
    return done


def rehearse(store: Store, number: int = 40) -> Project:
    """Do all of it; return the project afterwards."""
    made = ready_project(store, number)
    start_pilot(store, made, 8, author="Lead")
    work(store, made)
    close_pilot(store, made, author="Lead")
    newest = guideline(store, made)
    add_guideline(store, made, newest.text + "\n再读一遍。", newest.choices, newest.reasons, changes="Read twice.")
    made = change_project(store, made, plan="stop", share=0.3, retest=0.5, retest_hours=0)
    known = [item for item in items(store, made) if item.status == "pending"][:2]
    for item in known:
        set_known(store, made, item.uid, "accept", why="plain", author="Lead")
    work(store, made)
    disputed = cases(store, made)[0]
    seen = case(store, made, disputed).seen
    decide_case(store, made, disputed, choice="reject", adjudicator="Vera", why="read twice", seen=seen, base=None)
    add_comment(store, made, disputed, "Is it?", author="Lead")
    add_comment(store, made, disputed, "Between us.", author="Lead", thread=annotators(store, made)[0])
    remove_annotator(store, made, annotators(store, made)[2])
    return project_by_uid(store, made.uid)
