"""Undo of an import of items or labels. What was recorded on its items meanwhile is never lost."""

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from evenhand.annotations.database.events import events, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.label_files import (
    TAKEN_BACK,
    LabelFile,
    ValidLabel,
    count_chosen,
    count_labelled,
    count_valid,
    label_files,
    mark_undone,
    point_assignment,
    valid_labels,
)
from evenhand.annotations.items.batch import is_importing
from evenhand.annotations.items.changes import look_again
from evenhand.annotations.items.gold import gold_of_file, holds_gold, recount_item, take_gold_back
from evenhand.annotations.items.withdrawn import clear_withdrawn, imported_batches, items_with_records, withdraw
from evenhand.annotations.labels.operations import insert_label
from evenhand.annotations.projects.projects import named_project
from evenhand.annotations.queue.assignments import update_set_aside, withdraw_batch
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Busy, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.runs.kinds import JobKind, Place

Progress = Callable[[int, int], object]  # (done, total) rows
CHUNK = 500  # labels per transaction
# The event of a finished undo of labels: {"file", "came": moment of the import, ...}. Older ones hold the row id in
# their database (`label_file`) instead of the moment.
DONE = "labels_undone"


@dataclass(frozen=True, slots=True)
class Import:
    """One import of items or labels into a project.

    `key` names it in commands ("items-3", "labels-2"). `rows`: items that are left of it, or labels that it brought.
    `gold`: the labels are gold labels that a package brought without the labels they were made of.
    `undone`: when it was undone. `unfinished`: the undo is running or was interrupted; repeating it continues it.
    """

    key: str
    kind: Literal["items", "labels"]
    id: int
    file: str
    created: str
    rows: int
    undone: str | None
    unfinished: bool = False
    gold: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of the command `undo`: with `uid` the project of that id; `yes`: without asking."""

    name: str
    key: str
    yes: bool = False
    author: str = ""
    uid: str | None = None


@dataclass(frozen=True, slots=True)
class UndoEffect:
    """What an undo of an import would do now.

    Items: `deleted` have no records; `hidden` have some and stay stored as withdrawn. Labels: `labels` are valid ones
    that are hidden with their items, or undone; `kept` came with the file and are no longer valid; `chosen` are valid
    by a decision of the lead on a conflict (files/conflicts.py) and stay.
    """

    deleted: int = 0
    hidden: int = 0
    labels: int = 0
    kept: int = 0
    chosen: int = 0


def imports(store: Store, project: Project) -> list[Import]:
    """Every import of items or labels into a project, oldest first, undone ones too."""
    found = [
        Import(f"items-{one.id}", "items", one.id, one.file, one.created, one.items, one.undone, one.withdrawn == 1)
        for one in imported_batches(store, project)
    ]
    files = label_files(store, project)
    done = _finished(store, project, files)
    for file in files:
        found.append(
            Import(
                f"labels-{file.id}", "labels", file.id, file.came.file, file.came.created, file.labels,
                file.came.undone, file.came.undone is not None and file.id not in done, holds_gold(store, file.id),
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (one.created, one.kind, one.id))


def _finished(store: Store, project: Project, files: Sequence[LabelFile]) -> set[int]:
    """Return the files (row ids) whose undo has ended."""
    found, undone = set(), [file for file in files if file.came.undone is not None]
    for event in events(store, project, action=DONE) if undone else ():
        came = event.data.get("came")
        for file in undone:
            same = event.data.get("label_file") == file.id if came is None else came == file.came.created
            # An imported event is about another database: it is older than a file of the same row id here.
            if same and event.data.get("file") == file.came.file and event.created >= str(file.came.undone):
                found.add(file.id)
    return found


def find_import(store: Store, project: Project, key: str) -> Import:
    """The import with that key. Raises NotFound."""
    found = next((one for one in imports(store, project) if one.key == key.strip()), None)
    if found is None:
        message = N_("{project} has no import {key}. See the list of imports.")
        raise NotFound(message, project=project.name, key=key[:40])
    return found


def undo_effect(store: Store, project: Project, wanted: Import) -> UndoEffect:
    """What an undo of *wanted* would do now; changes nothing."""
    if wanted.kind == "labels":
        standing, chosen = count_valid(store, wanted.id), count_chosen(store, wanted.id)
        return UndoEffect(labels=standing, kept=wanted.rows - standing - chosen, chosen=chosen)
    if wanted.undone and not wanted.unfinished:
        return UndoEffect()
    hidden = len(items_with_records(store, wanted.id))
    return UndoEffect(deleted=wanted.rows - hidden, hidden=hidden, labels=count_labelled(store, wanted.id))


def undo(store: Store, project: Project, key: str, *, author: str = "", progress: Progress | None = None) -> UndoEffect:
    """Undo the import *key* and return what that did. Raises NotFound, Refused if it was undone already.

    *progress* is called with (done, total) rows.
    """
    found = find_import(store, project, key)
    if found.kind == "labels":
        return undo_labels(store, project, found.id, author=author, progress=progress)
    return undo_import(store, project, found.id, author=author, progress=progress)


def undo_import(
    store: Store, project: Project, batch: int, *, author: str = "", progress: Progress | None = None
) -> UndoEffect:
    """Undo an import of items: one short transaction removes them from every page and count.

    Then items without records are deleted and the others are stored as withdrawn, some hundreds per transaction; an
    import of the same text restores them. If the app ends in between, a repeated undo, the next start or the next
    import continues. Raises NotFound for an unknown batch, Refused if it was undone already or while another import
    runs.
    """
    with store.write():
        found = _not_undone(store, project, f"items-{batch}")
        total, labels = found.rows, count_labelled(store, batch)
        if not found.undone:
            if is_importing(store, project):
                message = N_("Another file is being imported into this project. Try again when the import is finished.")
                raise Refused(message)
            withdraw(store, project, batch)
            withdraw_batch(store.db, project.id, batch)
            record(
                store, project, "import_undone", author=author, batch=batch, file=found.file, items=total,
                labels=labels, at=store.uid,
            )  # fmt: skip
    hidden = len(items_with_records(store, batch))  # items without records can get none from here on
    with suppress(Busy):  # the undo is done; the next import does the cleaning
        clear_withdrawn(store, batch, None if progress is None else lambda done: progress(min(done, total), total))
    return UndoEffect(deleted=total - hidden, hidden=hidden, labels=labels)


def _not_undone(store: Store, project: Project, key: str) -> Import:
    found = find_import(store, project, key)
    if found.undone and not found.unfinished:
        raise Refused(N_("The import of {file} was already undone on {when}."), file=found.file, when=found.undone[:10])
    return found


def undo_labels(
    store: Store, project: Project, file: int, *, author: str = "", progress: Progress | None = None
) -> UndoEffect:
    """Undo the valid labels of a file by appending undo operations of their annotators; nothing is deleted.

    Gold labels of a package no longer hold then, and the labels of the project decide. Labels that were replaced since
    are left alone. In short transactions of 500 labels; if the app ends in between, a
    repeated undo does the rest. Raises NotFound for an unknown file, Refused if it was undone already.
    """
    with store.write():
        found = _not_undone(store, project, f"labels-{file}")
        mark_undone(store, file, timestamp())
    last, total = 0, count_valid(store, file)
    brought = gold_of_file(store, file)  # gold labels of a package
    for start in range(0, len(brought), CHUNK):
        with store.write():
            for item, gold in brought[start : start + CHUNK]:
                take_gold_back(store, project, item, file, gold)
    taken = len(brought)
    while True:
        with store.write() as db:
            rows = valid_labels(store, file, last, CHUNK)
            for label in rows:
                _undo_label(store, project, file, label)
            look_again(db, project.id)
            taken += len(rows)
            if not rows:
                record(store, project, DONE, author=author, file=found.file, came=found.created, labels=taken)
                chosen = count_chosen(store, file)
                return UndoEffect(labels=taken, kept=found.rows - taken - chosen, chosen=chosen)
            last = rows[-1].id
        if progress is not None:
            progress(taken, max(taken, total))


def _undo_label(store: Store, project: Project, file: int, label: ValidLabel) -> None:
    values = {
        # The op_id is the same in a repeated undo, so no label is undone twice.
        "op_id": uuid.uuid5(uuid.NAMESPACE_OID, f"undo|{store.uid}|{file}|{label.id}").hex,
        "project": project.id, "item": label.item, "annotator": label.annotator, "guideline": label.guideline,
        "choice": None, "form_shown": label.form_shown, "desk": TAKEN_BACK, "revision": 0, "base": label.operation,
        "created": timestamp(),
    }  # fmt: skip
    insert_label(store.db, values)
    point_assignment(store, project, label.item, label.annotator)
    recount_item(store, label.item)
    update_set_aside(store, project, label.item)


def run(settings: Settings, place: Place) -> UndoEffect:
    """Undo an import of a project. Raises as `undo`, NotFound."""
    with Store.open_existing(place.database) as store:
        project = named_project(store, settings.name, settings.uid)
        return undo(store, project, settings.key, author=settings.author, progress=place.progress)


UNDO = JobKind("undo", Settings, UndoEffect, run)
