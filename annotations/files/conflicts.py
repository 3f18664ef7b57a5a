"""Conflicts between two files, or a file and a desk: a list for the lead, who may let the second one count.

Three kinds: two labels of one annotator on one item; two known answers of one item; the same text with another keyword
or the same id with another text. The one stored first is valid until the lead decides.
"""

import json
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from evenhand.annotations.database.events import events, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.label_files import LEAD, TAKEN_BACK, point_assignment, valid_operation
from evenhand.annotations.items.batch import OTHER_TEXT, OTHER_WORD, WHOLE_TEXT, item_id
from evenhand.annotations.items.changes import look_again
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.labels.operations import insert_label
from evenhand.annotations.labels.read import FILE_DESK, FORM_DESK, left_of
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.queue.assignments import update_set_aside
from evenhand.annotations.text_policy import without_text
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, NotFound, Refused
from evenhand.core.files.timestamps import timestamp

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
    """Two values for one item: `first` is valid, `second` is stored beside it.

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
    found = []
    for one in (*_label_conflicts(store, project), *answers, *_item_conflicts(store, project)):
        stood = done.get((one.kind, one.item, one.of))  # the value valid when the lead decided
        # The lead kept the valid label: if its file was undone since, the other label must not be lost.
        resolved = stood is not None and (one.kind != "label" or bool(one.first) or not stood)
        if not resolved and (one.key, one.item, one.second) not in older:
            found.append(one)
    return found


def exported_row(project: Project, one: Conflict) -> dict[str, object]:
    """A conflict as a row for a file or a terminal, without texts if those of *project* may not leave."""
    texts = ("text", "first", "second") if one.kind == "text" else ("text",)
    return without_text(project, {key: value for key, value in asdict(one).items() if key != "of"}, *texts)


def _label_conflicts(store: Store, project: Project) -> Iterator[Conflict]:
    """Two labels of one annotator on one item with different choices or reasons, of which a file brought one."""
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
    """Decisions: (kind, item, `of`) -> the value valid then; by older events (key, item, second value).

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
    """The open conflict of that key. Raises NotFound."""
    found = next((one for one in conflicts(store, project) if one.key == key.strip()), None)
    if found is None:
        message = N_("{project} has no open conflict {key}. See the list of conflicts.")
        raise NotFound(message, project=project.name, key=key[:40])
    return found


def keep_first(store: Store, project: Project, key: str, *, author: str = "") -> None:
    """Resolve the conflict in favour of the valid value. Raises NotFound."""
    found = find_conflict(store, project, key)
    with store.write():
        _resolve(store, project, found, "first", author)


def take_second(store: Store, project: Project, key: str, *, author: str = "") -> None:
    """Resolve it in favour of the second: append it as a label of the annotator or as a known answer; the event says
    who did.

    Raises NotFound for an unknown conflict, Refused for a keyword or a text: items are never changed.
    """
    found = find_conflict(store, project, key)
    if found.kind not in ("answer", "label"):
        raise Refused(N_("The text and keyword of an item never change. Undo its import and import the other file."))
    if found.kind == "answer":
        set_known(store, project, found.item, found.second, why=found.second_file, author=author)
    with store.write():
        if found.kind == "label":
            _make_standing(store, project, int(found.key.partition("-")[2]))
        _resolve(store, project, found, "second", author)


def _resolve(store: Store, project: Project, found: Conflict, took: str, author: str) -> None:
    record(
        store, project, SETTLED, item=item_id(store, project, found.item), author=author, of=found.of, took=took,
        kind=found.kind, first=found.first, second=found.second,
    )  # fmt: skip


def _make_standing(store: Store, project: Project, label: int) -> None:
    query = (
        "SELECT op_id, item, annotator, guideline, choice, reasons, tags, extraneous, spans, note, seconds,"
        " form_shown, after_reveal, app FROM label WHERE id = ?"
    )
    (values,) = store.rows(dict[str, Any], query, (label,))
    left = left_of(store.db, values["op_id"])
    values |= {
        "op_id": uuid.uuid4().hex, "project": project.id, "desk": LEAD, "revision": 0, "created": timestamp(),
        "base": valid_operation(store, values["item"], values["annotator"]),
    }  # fmt: skip
    insert_label(store.db, values, left)
    point_assignment(store, project, values["item"], values["annotator"])
    recount_item(store, values["item"])
    update_set_aside(store, project, values["item"])
    look_again(store.db, project.id)
