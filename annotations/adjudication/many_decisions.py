"""Decide many cases with one act, and take it back: each case gets a decision of its own, stored like a single one."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.annotations.adjudication.decisions import decide_case, reopen
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.read import blind_labels_on
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError


@dataclass(frozen=True, slots=True)
class ManyDecisions:
    """What became of many cases: item and op_id of each act that was stored, item and error of each refused one."""

    stored: tuple[tuple[str, str], ...]
    refused: tuple[tuple[str, EvenhandError], ...]


def labels_in_view(store: Store, project: Project, items: Sequence[str]) -> dict[str, list[str]]:
    """Return the op_ids of the blind labels of each case (public ids), as `decide_cases` takes them."""
    rows = store.db.execute(
        "SELECT uid, id FROM published_item WHERE project = ?", (project.id,)
    )  # one statement: the list may be long
    numbers = dict(rows)
    return {uid: [label.op_id for label in blind_labels_on(store, numbers[uid])] for uid in items if uid in numbers}


def decide_cases(
    store: Store,
    project: Project,
    seen: Mapping[str, Sequence[str]],
    *,
    adjudicator: str,
    choice: str | None,
    act: str,
    reasons: Sequence[str] = (),
    extraneous: bool | None = None,
    why: str = "",
) -> ManyDecisions:
    """Decide every case of *seen* (item -> op_ids of the labels that were in view) on *choice*; None confirms labels.

    Each case is a transaction of its own: one that is refused, because its labels have changed or another person
    settled it, holds up no other. *act*: an id of the whole, with which a second call stores nothing more.
    """
    stored, refused = [], []
    for item, labels in seen.items():
        op_id = hashlib.sha256(f"{act}|{item}".encode()).hexdigest()[:32]
        try:
            decided = decide_case(
                store, project, item, adjudicator=adjudicator, choice=choice, seen=labels, reasons=reasons,
                extraneous=extraneous, why=why, op_id=op_id,
            )  # fmt: skip
        except EvenhandError as error:
            refused.append((item, error))
        else:
            stored.append((item, decided.op_id))
    return ManyDecisions(tuple(stored), tuple(refused))


def reopen_cases(
    store: Store, project: Project, stored: Sequence[tuple[str, str]], *, adjudicator: str, why: str = ""
) -> ManyDecisions:
    """Take back the acts of `decide_cases` that are still in force; each is a new act, and nothing is deleted."""
    done, refused = [], []
    for item, op_id in stored:
        try:
            taken_back = reopen(store, project, item, adjudicator=adjudicator, base=op_id, why=why)
        except EvenhandError as error:
            refused.append((item, error))
        else:
            done.append((item, taken_back.op_id))
    return ManyDecisions(tuple(done), tuple(refused))
