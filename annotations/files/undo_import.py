"""Undo of an import of items or labels, and conflicts between files.

What was recorded on the items of an import meanwhile is never lost. Conflicts are between two files, or a file and a
desk: a list for the lead, who may let the second one count. Three kinds: two labels of one annotator on one item; two
known answers of one item; the same text with another keyword or the same id with another text. The one stored first is
valid until the lead decides.
"""

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal

from evenhand.annotations.database.events import events, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.label_files import (
    LEAD,
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
    valid_operation,
)
from evenhand.annotations.items.batch import OTHER_TEXT, OTHER_WORD, WHOLE_TEXT, is_importing, item_id
from evenhand.annotations.items.changes import look_again
from evenhand.annotations.items.gold import gold_of_file, holds_gold, recount_item, store_gold
from evenhand.annotations.items.withdrawn import clear_withdrawn, imported_batches, items_with_records, withdraw
from evenhand.annotations.labels.operations import insert_label
from evenhand.annotations.labels.read import FILE_DESK, FORM_DESK, left_text_of
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.projects import named_project
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.queue.assignments import update_set_aside, withdraw_batch
from evenhand.annotations.text_policy import without_text
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
    """The effect that an undo of an import would have now, in numbers of items and labels.

    Items: `deleted` have no records; `hidden` have some and stay stored as withdrawn. Labels: `labels` are valid, and
    are hidden with their items or undone; `kept` came with the file and have already lost their validity; `chosen` are
    valid by a decision of the lead on a conflict, and stay.
    """

    deleted: int = 0
    hidden: int = 0
    labels: int = 0
    kept: int = 0
    chosen: int = 0


def imports(store: Store, project: Project) -> list[Import]:
    """Return every import of items or labels into a project, oldest first, undone ones too."""
    result = [
        Import(
            f"items-{imported_batch.id}",
            "items",
            imported_batch.id,
            imported_batch.file,
            imported_batch.created,
            imported_batch.items,
            imported_batch.undone,
            imported_batch.withdrawn == 1,
        )
        for imported_batch in imported_batches(store, project)
    ]
    files = label_files(store, project)
    done = _finished(store, project, files)
    for file in files:
        result.append(
            Import(
                f"labels-{file.id}", "labels", file.id, file.came.file, file.came.created, file.labels,
                file.came.undone, file.came.undone is not None and file.id not in done, holds_gold(store, file.id),
            )
        )  # fmt: skip
    return sorted(result, key=lambda one: (one.created, one.kind, one.id))


def _finished(store: Store, project: Project, files: Sequence[LabelFile]) -> set[int]:
    """Return the files (row ids) whose undo has ended."""
    ids, undone = set(), [file for file in files if file.came.undone is not None]
    for event in events(store, project, action=DONE) if undone else ():
        came = event.data.get("came")
        for file in undone:
            same = event.data.get("label_file") == file.id if came is None else came == file.came.created
            # An imported event is about another database: it is older than a file of the same row id here.
            if same and event.data.get("file") == file.came.file and event.created >= str(file.came.undone):
                ids.add(file.id)
    return ids


def find_import(store: Store, project: Project, key: str) -> Import:
    """Return the import with that key. Raises NotFound."""
    stored_import = next((import_ for import_ in imports(store, project) if import_.key == key.strip()), None)
    if stored_import is None:
        message = N_("{project} has no import {key}. See the list of imports.")
        raise NotFound(message, project=project.name, key=key[:40])
    return stored_import


def undo_effect(store: Store, project: Project, wanted: Import) -> UndoEffect:
    """Return the effect that an undo of *wanted* would have now; change nothing."""
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
    stored_import = find_import(store, project, key)
    if stored_import.kind == "labels":
        return undo_labels(store, project, stored_import.id, author=author, progress=progress)
    return undo_import(store, project, stored_import.id, author=author, progress=progress)


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
        stored_import = _not_undone(store, project, f"items-{batch}")
        total, labels = stored_import.rows, count_labelled(store, batch)
        if not stored_import.undone:
            if is_importing(store, project):
                message = N_("Another file is being imported into this project. Try again when the import is finished.")
                raise Refused(message)
            withdraw(store, project, batch)
            withdraw_batch(store.db, project.id, batch)
            record(
                store, project, "import_undone", author=author, batch=batch, file=stored_import.file, items=total,
                labels=labels, at=store.uid,
            )  # fmt: skip
    hidden = len(items_with_records(store, batch))  # items without records can get none from here on
    with suppress(Busy):  # the undo is done; the next import does the cleaning
        clear_withdrawn(store, batch, None if progress is None else lambda done: progress(min(done, total), total))
    return UndoEffect(deleted=total - hidden, hidden=hidden, labels=labels)


def _not_undone(store: Store, project: Project, key: str) -> Import:
    stored_import = find_import(store, project, key)
    if stored_import.undone and not stored_import.unfinished:
        raise Refused(
            N_("The import of {file} was already undone on {when}."),
            file=stored_import.file,
            when=stored_import.undone[:10],
        )
    return stored_import


def undo_labels(
    store: Store, project: Project, file: int, *, author: str = "", progress: Progress | None = None
) -> UndoEffect:
    """Undo the valid labels of a file by appending undo operations of their annotators; nothing is deleted.

    Gold labels of a package no longer hold then, and the labels of the project decide. Labels that were replaced since
    are left alone. In short transactions of 500 labels; if the app ends in between, a
    repeated undo does the rest. Raises NotFound for an unknown file, Refused if it was undone already.
    """
    with store.write():
        stored_import = _not_undone(store, project, f"labels-{file}")
        mark_undone(store, file, timestamp())
    last, total = 0, count_valid(store, file)
    brought = gold_of_file(store, file)  # gold labels of a package
    for start in range(0, len(brought), CHUNK):
        with store.write():
            for item, gold in brought[start : start + CHUNK]:
                store_gold(store, project, item, file, gold, holds=False)
    taken = len(brought)
    while True:
        with store.write() as db:
            rows = valid_labels(store, file, last, CHUNK)
            for label in rows:
                _undo_label(store, project, file, label)
            look_again(db, project.id)
            taken += len(rows)
            if not rows:
                record(
                    store,
                    project,
                    DONE,
                    author=author,
                    file=stored_import.file,
                    came=stored_import.created,
                    labels=taken,
                )
                chosen = count_chosen(store, file)
                return UndoEffect(labels=taken, kept=stored_import.rows - taken - chosen, chosen=chosen)
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


Kind = Literal["label", "answer", "word", "text"]
# The event that resolves one: {"of", "took", ...}. Older ones hold its `key` instead, with a row id of their database.
SETTLED = "conflict_settled"
PLACE = ("keyword", "start", "end", "pair")  # the other place in the text, in the event

# A superseded label of an annotator, where it or the valid one came from a file. If the file of the valid one was
# undone, nothing is valid (choice NULL) and the other must not be lost. A later decision of the annotator or the lead
# resolves it; a repeated import does not. A package may hold labels of two desks of one annotator: those are the
# annotator's to decide, unless one of them had come in a file before.
LABELS = f"""
SELECT label.id, item.uid, {WHOLE_TEXT}, annotator.name, standing.choice, standing.reasons,
       coalesce(mine.file || ' (labels-' || mine.id || ')', ''), label.choice, label.reasons,
       coalesce(theirs.file || ' (labels-' || theirs.id || ')', ''), label.op_id
FROM label INDEXED BY label_superseded
JOIN annotator ON annotator.id = label.annotator
JOIN published_item AS item ON item.id = label.item
JOIN assignment ON assignment.item = label.item AND assignment.annotator = label.annotator
LEFT JOIN label_of_file AS came ON came.label = label.id LEFT JOIN label_file AS theirs ON theirs.id = came.file
LEFT JOIN label AS standing ON standing.id = assignment.latest
LEFT JOIN label_of_file AS first ON first.label = standing.id LEFT JOIN label_file AS mine ON mine.id = first.file
WHERE label.superseded = 1 AND label.project = ? AND label.annotator = ? AND label.choice IS NOT NULL
    AND iif(standing.id IS NULL, assignment.desk = '{TAKEN_BACK}',
        (label.choice <> standing.choice OR label.reasons <> standing.reasons)
        AND (theirs.id IS NOT mine.id
            OR (theirs.id IS NOT NULL
                AND ('{FILE_DESK}' IN (label.desk, standing.desk) OR '{FORM_DESK}' IN (label.desk, standing.desk)))))
    AND theirs.undone IS NULL
    AND NOT EXISTS (SELECT 1 FROM valid_label AS later LEFT JOIN label_of_file AS again ON again.label = later.id
        WHERE later.item = label.item AND later.id > label.id AND later.annotator = label.annotator
        AND later.desk <> '{TAKEN_BACK}' AND (again.file IS NULL OR again.file = came.file))
ORDER BY label.id
"""
ANSWERS = f"""
SELECT max(other.id), item.uid, {WHOLE_TEXT}, item.known, other.choice, other.why,
       (SELECT why FROM standing_answer AS answer WHERE answer.item = item.id), other.created
FROM item INDEXED BY item_known JOIN published_batch AS batch ON batch.id = item.batch
JOIN known AS other ON other.item = item.id
WHERE item.project = ? AND item.known IS NOT NULL AND other.choice IS NOT NULL AND other.choice <> item.known
GROUP BY item.id, other.choice ORDER BY item.id
"""
NOTICED = """
SELECT event.id, event.action, item.uid, item.text, item.keyword, item.start, item.stop, cell.pair,
       item.file, item.line, event.data, event.created
FROM event JOIN published_item AS item ON item.id = event.item
JOIN cell ON cell.id = item.cell
WHERE event.project = ? AND event.action IN (?, ?) AND json_type(event.data) = 'object' ORDER BY event.id
"""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two values for one item: `first` is valid, `second` is stored but not valid.

    `key` names it in commands. `annotator` is "" unless it is about labels. Files are named with their import, "" is
    the desk. Labels are codes: the choice, then the reasons, joined by " · "; `first` is "" if its file was undone and
    nothing is valid. `second` is None if it is missing here, because a package with codes holds no text of another
    file; `second_file` of a keyword or a text is "" then. `of` names the conflict in any database.
    """

    key: str
    kind: Kind
    item: str
    text: str
    annotator: str
    first: str
    first_file: str
    second: str | None
    second_file: str
    of: str = ""


def conflicts(store: Store, project: Project) -> list[Conflict]:
    """Open conflicts: labels first, then known answers, keywords and texts, each in the order of import."""
    done, older = _resolutions(store, project)
    answers = (
        Conflict(f"answer-{row}", "answer", uid, text, "", known, standing, other, why, f"{other} {created}")
        for row, uid, text, known, other, why, standing, created in store.db.execute(ANSWERS, (project.id,)).fetchall()
    )
    result = []
    for conflict in (*_label_conflicts(store, project), *answers, *_item_conflicts(store, project)):
        stood = done.get((conflict.kind, conflict.item, conflict.of))  # the value valid when the lead decided
        # The lead kept the valid label: if its file was undone since, the other label must not be lost.
        resolved = stood is not None and (conflict.kind != "label" or bool(conflict.first) or not stood)
        if not resolved and (conflict.key, conflict.item, conflict.second) not in older:
            result.append(conflict)
    return result


def exported_row(project: Project, conflict: Conflict) -> dict[str, object]:
    """Return a conflict as a row for a file or a terminal, without texts if those of *project* may not be exported."""
    texts = ("text", "first", "second") if conflict.kind == "text" else ("text",)
    return without_text(project, {key: value for key, value in asdict(conflict).items() if key != "of"}, *texts)


def _label_conflicts(store: Store, project: Project) -> Iterator[Conflict]:
    """Yield two labels of one annotator on one item with different choices or reasons, one of them from a file."""
    for person in annotators(store, project, active=False):
        for row in store.db.execute(LABELS, (project.id, person.id)).fetchall():
            label, uid, text, name, choice, reasons, file, other, more, other_file, operation = row
            yield Conflict(
                f"label-{label}", "label", uid, text, name, _label_text(choice, reasons), file,
                _label_text(other, more), other_file, operation,
            )  # fmt: skip


def _label_text(choice: str | None, reasons: str) -> str:
    return "" if choice is None else " · ".join((choice, *json.loads(reasons)))


def _item_conflicts(store: Store, project: Project) -> Iterator[Conflict]:
    for row in store.db.execute(NOTICED, (project.id, OTHER_WORD, OTHER_TEXT)).fetchall():
        event, action, uid, text, keyword, start, stop, pair, file, line, said, created = row
        data = json.loads(said)
        here, there = f"{file}:{line}", f"{data['file']}:{data.get('line')}" if "file" in data else ""
        # Numbers only: nothing else of it leaves with a package with codes.
        of = f"{created} {data.get('line')} {data.get('start', '')}".strip()
        if action == OTHER_TEXT:
            yield Conflict(f"text-{event}", "text", uid, text, "", text, here, data.get("text"), there, of)
        else:
            first, other = _place(keyword, start, stop, pair), [data.get(key) for key in PLACE]
            second = None if None in other else _place(*other)
            yield Conflict(f"word-{event}", "word", uid, text, "", first, here, second, there, of)


def _place(keyword: Any, start: Any, stop: Any, pair: Any) -> str:
    return f"{keyword} {start}–{stop} ({pair})"


def _resolutions(store: Store, project: Project) -> tuple[dict[tuple[str, ...], str], set[tuple[str, ...]]]:
    """Return decisions: the value valid then by (kind, item, `of`); of older events a set of (key, item, second value).

    In the database that a package came from, the same key may name another conflict; then the rest differs.
    """
    done, older = dict[tuple[str, ...], str](), set[tuple[str, ...]]()
    for event in events(store, project, action=SETTLED):
        data, item = event.data if isinstance(event.data, dict) else {}, str(event.item)
        if "of" in data:
            done[str(data.get("kind")), item, str(data["of"])] = str(data.get("first") or "")
        else:
            older.add((str(data.get("key")), item, str(data.get("second"))))
    return done, older


def find_conflict(store: Store, project: Project, key: str) -> Conflict:
    """Return the open conflict of that key. Raises NotFound."""
    file_conflict = next((conflict for conflict in conflicts(store, project) if conflict.key == key.strip()), None)
    if file_conflict is None:
        message = N_("{project} has no open conflict {key}. See the list of conflicts.")
        raise NotFound(message, project=project.name, key=key[:40])
    return file_conflict


def keep_first(store: Store, project: Project, key: str, *, author: str = "") -> None:
    """Resolve the conflict in favour of the valid value. Raises NotFound."""
    conflict = find_conflict(store, project, key)
    with store.write():
        _resolve(store, project, conflict, "first", author)


def take_second(store: Store, project: Project, key: str, *, author: str = "") -> None:
    """Resolve it in favour of the second: append it as a label of the annotator or as a known answer; the event says
    who did.

    Raises NotFound for an unknown conflict, Refused for a keyword or a text: items are never changed.
    """
    conflict = find_conflict(store, project, key)
    if conflict.kind not in ("answer", "label"):
        raise Refused(N_("The text and keyword of an item never change. Undo its import and import the other file."))
    if conflict.kind == "answer":
        set_known(store, project, conflict.item, conflict.second, why=conflict.second_file, author=author)
    with store.write():
        if conflict.kind == "label":
            _make_standing(store, project, int(conflict.key.partition("-")[2]))
        _resolve(store, project, conflict, "second", author)


def _resolve(store: Store, project: Project, conflict: Conflict, took: str, author: str) -> None:
    record(
        store, project, SETTLED, item=item_id(store, project, conflict.item), author=author, of=conflict.of, took=took,
        kind=conflict.kind, first=conflict.first, second=conflict.second,
    )  # fmt: skip


def _make_standing(store: Store, project: Project, label: int) -> None:
    query = (
        "SELECT op_id, item, annotator, guideline, choice, reasons, tags, extraneous, spans, note, seconds,"
        " form_shown, after_reveal, app FROM label WHERE id = ?"
    )
    (values,) = store.rows(dict[str, Any], query, (label,))
    left = left_text_of(store.db, values["op_id"])
    values |= {
        "op_id": uuid.uuid4().hex, "project": project.id, "desk": LEAD, "revision": 0, "created": timestamp(),
        "base": valid_operation(store, values["item"], values["annotator"]),
    }  # fmt: skip
    insert_label(store.db, values, left)
    point_assignment(store, project, values["item"], values["annotator"])
    recount_item(store, values["item"])
    update_set_aside(store, project, values["item"])
    look_again(store.db, project.id)
