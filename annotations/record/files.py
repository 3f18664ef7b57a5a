"""An annotator's own record as CSV or one JSON object, and the own chain of the log as a file."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evenhand.annotations.database.hash_chain import DAY_MS, Head, OwnEntry, daily_heads, own_chain, own_days
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.label_tables import cell_text
from evenhand.annotations.record.entries import Entry, every_entry, summary
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary, text_may_leave
from evenhand.annotations.types import Annotator, Project
from evenhand.core.files.csv_out import csv_line
from evenhand.core.typed_json import to_json


@dataclass(frozen=True, slots=True)
class OwnLog:
    """The own chain, oldest first, over all projects; the heads of the log, by day."""

    chain: tuple[OwnEntry, ...]
    heads: tuple[Head, ...]


def own_log(store: Store, annotator: Annotator) -> OwnLog:
    """Return an annotator's own chain in the log, and the heads of its days."""
    chain = own_chain(store.db, annotator.id)
    return OwnLog(tuple(chain), _heads(store, {own_entry.at // DAY_MS for own_entry in chain}))


def own_heads(store: Store, annotator: Annotator) -> tuple[Head, ...]:
    """Return the heads of an annotator's own log without its entries."""
    return _heads(store, own_days(store.db, annotator.id))


def _heads(store: Store, days: set[int]) -> tuple[Head, ...]:
    return tuple(head for head in daily_heads(store.db) if head.number in days)


ITEM = ("item", "state", "pair", "side", "text", "context")
ACT = (
    "created", "choice", "reasons", "extraneous", "spans", "tags", "note", "seconds", "guideline", "form_shown",
    "after_reveal", "stands", "superseded", "op_id", "desk", "revision", "base",
)  # fmt: skip
HEADER = (*ITEM, "what", *ACT, "author", "said", "private", "hash")
QUOTING = ("text", "context", "note", "said", "tags")  # the policy for texts of the project holds for these


def record_csv(store: Store, project: Project, annotator: Annotator) -> Iterator[str]:
    """Yield one row per act, comment and reveal, and one per waiting item; texts that may not be exported are empty.

    `hash`: of an act, in the own chain of the log. The last rows are the heads of the log, one per day.
    """
    with store.read():
        yield from _csv_lines(store, project, annotator)


def _csv_lines(store: Store, project: Project, annotator: Annotator) -> Iterator[str]:
    plain = text_may_leave(project)
    mark = (CANARY_KEY,) if plain and needs_canary(project) else ()
    yield csv_line((*HEADER, *mark))
    log = own_log(store, annotator)
    hashes = {own_entry.op_id: own_entry.hash for own_entry in log.chain}
    for entry in every_entry(store, project, annotator):
        about = _about(entry)
        for row in _rows(entry):
            cells = about | row | {CANARY_KEY: CANARY, "hash": hashes.get(row.get("op_id", ""))}
            kept = cells if plain else cells | dict.fromkeys(QUOTING)
            yield csv_line([_cell(key, kept.get(key)) for key in (*HEADER, *mark)])
    for head in log.heads:
        last = {"what": "head of the log", "created": head.day, "hash": head.hash}
        yield csv_line([_cell(key, last.get(key)) for key in (*HEADER, *mark)])


def record_json(store: Store, project: Project, annotator: Annotator) -> Iterator[str]:
    """Yield one JSON object: annotator, summary, `items` with history; texts that may not be exported are null."""
    with store.read():
        yield from _json_parts(store, project, annotator)


def _json_parts(store: Store, project: Project, annotator: Annotator) -> Iterator[str]:
    plain = text_may_leave(project)
    record_summary = summary(store, project, annotator)
    head: dict[str, Any] = {
        "record": "evenhand", "v": 1, "project": project.name, "annotator": annotator.name, "id": annotator.uid,
        "since": record_summary.since, "active": record_summary.active, "items_by_state": record_summary.states,
        "labels_made": record_summary.labels,
        "labelled_again": record_summary.twice, "seconds": round(record_summary.seconds, 3),
        "guideline_changes_read": record_summary.told,
        "events": [{"created": when, "what": what, **data} for when, what, data in record_summary.events],
    }  # fmt: skip
    log = own_log(store, annotator)
    head["log"] = {
        "heads": [{"day": log_head.day, "hash": log_head.hash} for log_head in log.heads],
        "chain": [{"op_id": own_entry.op_id, "row": own_entry.row, "hash": own_entry.hash} for own_entry in log.chain],
    }
    if plain and needs_canary(project):
        head[CANARY_KEY] = CANARY
    yield json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1] + ', "items": ['
    between = "\n"
    for entry in every_entry(store, project, annotator):
        yield between + json.dumps(_object(entry, plain), ensure_ascii=False, allow_nan=False)
        between = ",\n"
    yield "\n]}\n"


def _about(entry: Entry) -> dict[str, Any]:
    item = entry.item
    known = {} if item is None else {"pair": item.pair, "side": item.side, "text": item.text, "context": item.context}
    known |= {"second": item.second} if item is not None and item.second is not None else {}
    return {"item": entry.uid, "state": entry.state, **known}


def _rows(entry: Entry) -> Iterator[dict[str, Any]]:
    for act in entry.acts:
        yield to_json(act)
    if entry.revealed:
        yield {"what": "revealed", "created": entry.revealed}
    for comment in entry.comments:
        yield {"what": "comment", "created": comment.created, "author": comment.author, "said": comment.text,
               "op_id": comment.op_id, "private": comment.thread is not None}  # fmt: skip
    if not entry.acts and entry.state:
        yield {"what": {"leased": "in hand"}.get(entry.state, entry.state)}


def _cell(key: str, value: Any) -> str:
    return cell_text("reasons" if key == "tags" else key, value)


def _object(entry: Entry, plain: bool) -> dict[str, Any]:
    history = [to_json(act) for act in entry.acts]
    said = [{"created": comment.created, "author": comment.author, "said": comment.text,
    "private": comment.thread is not None}
            for comment in entry.comments]  # fmt: skip
    about = _about(entry)
    if not plain:
        for values in (about, *history, *said):
            values.update({key: None for key in QUOTING if key in values})
    return about | {"sent_back": entry.sent_back, "revealed": entry.revealed, "history": history, "comments": said}
