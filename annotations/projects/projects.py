"""Projects: their settings, their plan of labels, and counts of their items."""

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from evenhand.annotations.database.events import PROJECT_COLUMNS, PROJECTS, as_project, current_project, record
from evenhand.annotations.database.store import Store, insert, update_rows
from evenhand.annotations.guideline.versions import (
    CHOICES,
    add_guideline,
    check_options,
    guideline,
    guideline_parts,
    guidelines,
)
from evenhand.annotations.items.batch import is_importing
from evenhand.annotations.items.changes import look_again, set_cell_quotas
from evenhand.annotations.items.wanted_labels import COUNT_SETTINGS, check_plan, check_stop
from evenhand.annotations.plan.recount import RECOUNT_SETTINGS, begin_recount, finish_recount
from evenhand.annotations.projects.annotators import (
    add_annotators,
    annotator,
    annotators,
    checked_name,
    free_all_items,
    give_back,
    is_active,
    join,
    other_projects,
    remove_annotator,
    rename_annotator,
    set_inactive,
)
from evenhand.annotations.queue.assignments import hand_over, return_to_queue, set_aside_items, update_skipped
from evenhand.annotations.queue.leases import renew_presence
from evenhand.annotations.types import (
    Annotator,
    CellCount,
    Choice,
    Form,
    GoldRule,
    Kind,
    Project,
    ProjectCounts,
    Scheme,
)
from evenhand.core.errors import N_, Busy, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp

__all__ = [
    "add_annotators",
    "add_guideline",
    "annotator",
    "annotators",
    "archive",
    "change_project",
    "checked_name",
    "counts",
    "create_project",
    "finish_changes",
    "give_back",
    "guideline",
    "guidelines",
    "member",
    "other_projects",
    "project",
    "project_by_uid",
    "projects",
    "remove_annotator",
    "rename_annotator",
    "replace_annotator",
    "return_to_queue",
    "set_aside_items",
    "set_quotas",
]

MOST_LABELS = 100  # per item
CHANGEABLE = (
    "name", "per_item", "presentation", "opinion_model", "gold",
    "rescue", "checked", "blur", "pause_minutes", "open_text", "doubled",
    "plan", "share", "retest", "retest_hours", "licence", "source_statement",
)  # fmt: skip
# Their changes are events "plan", those of the other settings "settings".
PLANNING = ("per_item", "gold", "doubled", "plan", "share", "retest", "retest_hours")

Quotas = Mapping[tuple[str, str], int]


def create_project(
    store: Store,
    name: str,
    *,
    kind: Kind = "sentences",
    language: str = "zh",
    annotators: Iterable[str] = (),
    per_item: int = 3,
    gold: GoldRule = "unanimous",
    presentation: Form = "masked",
    guideline_text: str | None = None,
    choices: Sequence[Choice] | None = None,
    reasons: Sequence[Choice] | None = None,
    quotas: Quotas | None = None,
    seed: int = 0,
    written: str | None = None,
    changes: str = "",
    scheme: Scheme | None = None,
    then: Callable[[Project], object] | None = None,
) -> Project:
    """Create a project with its first guideline, all or nothing.

    The guideline defaults to the built-in journal version of docs/methods.md#criteria. `per_item`: how many annotators
    label each item,
    1 to 100. `seed` fixes the order of items. `written`, `changes`: of an imported guideline.
    `scheme`: with own choices and flags (*reasons*), what else their scheme has. `then` is called with the
    project in the same transaction. Raises Refused with what is wrong, NotAllowed if the name is taken.
    """
    name = checked_name(name)
    _check(per_item=per_item, gold=gold, presentation=presentation)
    if kind not in CHOICES:
        raise Refused(N_("The kind of a project must be sentences or generations, not {kind}."), kind=kind)
    text, offered, criteria = guideline_parts(kind, language, guideline_text, choices, reasons, scheme)
    check_options(kind, offered, criteria, scheme)
    people = [checked_name(person) for person in annotators]
    with store.write() as db:
        _refuse_taken(store, name)
        row = {
            "uid": uuid.uuid4().hex, "name": name, "kind": kind, "language": language, "per_item": per_item,
            "gold": gold, "presentation": presentation, "seed": seed, "created": timestamp(),
        }  # fmt: skip
        insert(db, "project", row)
        made = project(store, name)
        add_guideline(store, made, text, offered, criteria, changes=changes, created=written, scheme=scheme)
        join(store, made, people)
        set_quotas(store, made, quotas or {})
        if then is not None:
            then(made)
    return project(store, name)


def project(store: Store, name: str) -> Project:
    """Return the project of that name, archived or not. Raises NotFound."""
    missing = NotFound(N_("There is no project named {name}."), name=name)
    return store.required_row(as_project, f"{PROJECTS} WHERE name = ?", (name.strip(),), missing)


def project_by_uid(store: Store, uid: str) -> Project:
    """Return the project with that public id. Raises NotFound."""
    return store.required_row(
        as_project, f"{PROJECTS} WHERE uid = ?", (uid,), NotFound(N_("This project no longer exists."))
    )


def named_project(store: Store, name: str, uid: str | None = None) -> Project:
    """Return the project with the public id *uid*, or with that name where none is given. Raises NotFound."""
    return project_by_uid(store, uid) if uid else project(store, name)


def member(store: Store, project: str, annotator: str) -> tuple[Project, Annotator] | None:
    """Return a project and one of its annotators, present or former, by public ids; None if they do not match."""
    columns = ", ".join(f"project.{field}" for field in PROJECT_COLUMNS)
    query = (
        f"SELECT annotator.id, annotator.uid, annotator.name, {columns} FROM member"
        " JOIN project ON project.id = member.project JOIN annotator ON annotator.id = member.annotator"
        " WHERE project.uid = ? AND annotator.uid = ?"
    )
    row = store.db.execute(query, (project, annotator)).fetchone()
    if row is None:
        return None
    return as_project(**dict(zip(PROJECT_COLUMNS, row[3:], strict=True))), Annotator(*row[:3])


def projects(store: Store, *, archived: bool = False) -> list[Project]:
    """Return all open projects, oldest first; with `archived` the archived ones instead."""
    wanted = "IS NOT NULL" if archived else "IS NULL"
    return store.rows(as_project, f"{PROJECTS} WHERE archived {wanted}")


def change_project(store: Store, project: Project, *, author: str = "", **fields: Any) -> Project:
    """Change settings of a project (CHANGEABLE); returns the changed project.

    A new `per_item`, `gold`, `rescue`, `doubled`, `plan` or `share` recounts the labelled items that it affects, in a
    large project in short transactions after the change (`plan.recount`). What changed is stored as events of *author*:
    "plan" for the plan of labels, "settings" for the rest, with old and new values. Raises Refused for an invalid
    value, and while an import runs.
    """
    with store.write():
        changed = write_changes(store, project, fields, author=author)
    # The change is stored. If the database is busy now, the mark stays, and pages and commands show it.
    with suppress(Busy):
        finish_recount(store, changed)
    return changed


def write_changes(
    store: Store, project: Project, values: Mapping[str, Any], *, author: str = "", logged: bool = True
) -> Project:
    """Change a project as `change_project` does, inside the caller's transaction.

    The caller then calls `finish_recount`. `logged` False: for the first settings of a new project, which are not a
    change.
    """
    fields = dict(values)
    unknown = set(fields) - set(CHANGEABLE)
    if unknown:
        raise Refused(N_("{field} of a project cannot be changed."), field=", ".join(sorted(unknown)))
    if "name" in fields:
        fields["name"] = checked_name(fields["name"])
    _check(**fields)
    if fields.get("name", project.name) != project.name:
        _refuse_taken(store, fields["name"])
    if COUNT_SETTINGS & set(fields) and is_importing(store, project):
        message = N_(
            "A file is being imported into this project. Wait for the import to finish before changing the project."
        )
        raise Refused(message)
    before = current_project(store, project)
    for field, value in fields.items():
        update_rows(store.db, "project", {field: value}, id=project.id)
    changed = current_project(store, project)
    check_stop(changed)
    if logged:
        _record_changes(store, before, changed, author)
    # The consequences come after the event of the change.
    begin_recount(
        store,
        changed,
        [
            recount_setting
            for recount_setting in RECOUNT_SETTINGS
            if getattr(changed, recount_setting) != getattr(before, recount_setting)
        ],
        author=author,
    )
    return changed


def finish_changes(store: Store) -> None:
    """Finish the recounts of all projects that a killed process left (`annotations.plan.recount`)."""
    for stored_project in (*projects(store), *projects(store, archived=True)):
        finish_recount(store, stored_project)


def archive(store: Store, project: Project, *, archived: bool = True) -> Project:
    """Archive or reopen a project: nothing is deleted, labels are still stored, no items are handed out."""
    moment = timestamp() if archived else None
    with store.write() as db:
        update_rows(db, "project", {"archived": moment}, id=project.id)
    return current_project(store, project)


def set_quotas(store: Store, project: Project, quotas: Quotas) -> None:
    """Set wanted accepted items per (pair, side); unnamed cells have no quota. Raises Refused if one is < 0."""
    if any(quota < 0 for quota in quotas.values()):
        raise Refused(N_("A quota must be 0 or more."))
    if any(side not in ("male", "female", "") for _, side in quotas):
        raise Refused(N_("The side of a quota must be male or female."))
    with store.write() as db:
        look_again(db, project.id)  # cells may open again
        set_cell_quotas(db, project.id, quotas)


def counts(store: Store, project: Project) -> ProjectCounts:
    """Count items by status, by number of blind labels and by cell, of published files."""
    rows = store.db.execute(
        "SELECT cell.id, pair, side, quota, labels, status, aside, items"
        " FROM cell LEFT JOIN census ON census.cell = cell.id WHERE cell.project = ? ORDER BY cell.id",
        (project.id,),
    ).fetchall()
    by_status = {"pending": 0, "accepted": 0, "rejected": 0}
    by_labels: dict[int, int] = {}
    aside, cells = 0, {row[0]: CellCount(row[1], row[2], row[3], 0, 0, 0, 0) for row in rows}
    for cell, _, _, _, labels, status, is_aside, items in rows:
        if not items:
            continue
        by_status[status] += items
        by_labels[labels] = by_labels.get(labels, 0) + items
        aside += items if is_aside else 0
        there = cells[cell]
        cells[cell] = replace(there, items=there.items + items, **{status: getattr(there, status) + items})
    shown = tuple(cell for cell in cells.values() if cell.items or cell.quota is not None)
    return ProjectCounts(sum(by_status.values()), **by_status, aside=aside, by_labels=by_labels, cells=shown)


def _record_changes(store: Store, before: Project, changed: Project, author: str) -> None:
    """Record old and new values: how many labels an item has and which rules held follow from them."""
    others = tuple(field for field in CHANGEABLE if field not in PLANNING)
    for action, fields in (("plan", PLANNING), ("settings", others)):
        new = {field: getattr(changed, field) for field in fields if getattr(changed, field) != getattr(before, field)}
        if new:
            record(store, changed, action, author=author, old={field: getattr(before, field) for field in new}, new=new)


def _refuse_taken(store: Store, name: str) -> None:
    if store.has("project WHERE name = ?", (name,)):
        raise NotAllowed(N_("There is already a project named {name}. Choose another name."), name=name)


def _check(**fields: Any) -> None:
    per_item = fields.get("per_item", 1)
    if not isinstance(per_item, int) or not 1 <= per_item <= MOST_LABELS:
        message = N_("Each item is labelled by 1 to {most} annotators, not {value}.")
        raise Refused(message, most=MOST_LABELS, value=per_item)
    if fields.get("gold", "unanimous") not in ("unanimous", "majority"):
        raise Refused(N_("The gold rule must be unanimous or majority, not {value}."), value=fields["gold"])
    for field in ("pause_minutes", "doubled"):
        least, value = int(field == "pause_minutes"), fields.get(field)
        if value is not None and (not isinstance(value, int) or value < least):
            raise Refused(N_("{field} must be a whole number, {least} or more."), field=field, least=least)
    check_plan(fields)
    if fields.get("presentation", "masked") not in ("original", "masked"):
        raise Refused(N_("Items must be shown as original or masked, not {value}."), value=fields["presentation"])


def replace_annotator(
    store: Store, project: Project, old: Annotator, new_name: str, *, author: str = "", now: float | None = None
) -> Annotator:
    """Replace *old* by *new_name* (new or known); returns the successor.

    Leased items and those for relabelling move to the successor, in their order; items that the successor already had
    go to everyone. From then on the successor gets items like any annotator: those that lack labels, from the
    beginning. (Starting where *old* stopped would skip items that *old* labelled and that no other annotator may be
    left to finish.) *old* is deactivated and keeps the past labels; labels that an open desk of *old* sends later are
    stored and count.

    One transaction; *now* (unix seconds) is the time of the new leases. Raises Refused if *old* has left already or is
    the same person, NotFound if *old* is not an annotator of the project.
    """
    name = checked_name(new_name)
    if name == old.name:
        raise Refused(N_("{name} cannot replace {name}. Choose another annotator."), name=name)
    with store.write() as db:
        if not is_active(db, project, old):
            message = N_("{name} has already left this project. Add {other} as an annotator instead.")
            raise Refused(message, name=old.name, other=name)
        set_inactive(db, project, old)
        join(store, project, [name])
        new = annotator(store, project, name)
        moved = hand_over(db, project.id, old.id, new.id)
        if moved:
            renew_presence(db, project, new, time.time() if now is None else now)
        freed = free_all_items(db, project, old)
        update_skipped(store, project)
        record(
            store, project, "replaced", annotator=old, author=author,
            old=old.name, new=new.name, successor=new.uid, moved=moved, given_back=freed,
        )  # fmt: skip
    return new
