"""The annotators of a project, and codes in place of their names in files: A1, A2, ..., the same in each release."""

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from itertools import count
from sqlite3 import Connection
from typing import Literal, NamedTuple

from evenhand.annotations.database.events import PROJECTS, as_project, record
from evenhand.annotations.database.store import Store, insert, update_rows
from evenhand.annotations.queue.assignments import free_relabelling, reoffer_set_aside, update_skipped
from evenhand.annotations.queue.leases import free_leases
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.text.sentences import control_character

LONGEST_NAME = 80

NO_ANNOTATOR = N_("{name} is not an annotator of this project.")
_MEMBERS = "SELECT annotator.id, uid, name FROM member JOIN annotator ON annotator.id = member.annotator"


def annotators(store: Store, project: Project, *, active: bool = True) -> list[Annotator]:
    """Return the annotators of this project, in the order of joining; `active=False`: also those who have left."""
    query = f"{_MEMBERS} WHERE member.project = ? AND member.active >= ? ORDER BY annotator.id"
    return store.rows(Annotator, query, (project.id, int(active)))


BY_LINK = "EXISTS (SELECT 1 FROM study_person WHERE study_person.annotator = {who})"  # came by the link of a study


class SignIn(NamedTuple):
    """The way an annotator reaches the desk.

    `by_link`: as a participant of a study, so only the browser that took part has this desk. `version`: of the account,
    0 without an open account; it is raised when every sign-in of the account ends (by a new password, say).
    """

    by_link: bool
    version: int


def sign_in_of(store: Store, annotator: str) -> SignIn:
    """Return how an annotator (public id) reaches the desk."""
    query = (
        f"SELECT {BY_LINK.format(who='annotator.id')}, account.version FROM annotator"
        " LEFT JOIN open_account AS account ON account.annotator = annotator.id WHERE annotator.uid = ?"
    )
    row = store.db.execute(query, (annotator,)).fetchone()
    return SignIn(bool(row[0]), row[1] or 0) if row else SignIn(False, 0)


class DeskState(NamedTuple):
    """What an open desk has to know of its project, besides items.

    `told`: the version up to which the annotator has confirmed the changes. `pilot`: whether one is open. `back`: how
    many items a new version sent to this annotator that are not labelled again yet.
    """

    active: bool
    told: int
    pilot: bool
    back: int


def desk_state(store: Store, project: Project, annotator: Annotator) -> DeskState:
    """Return the desk state of one annotator, in one query, since each label asks for it.

    Raises NotFound for a person who is not an annotator of the project.
    """
    query = (
        "SELECT active, told, EXISTS (SELECT 1 FROM open_pilot WHERE project = member.project),"
        " (SELECT count(*) FROM assignment INDEXED BY assignment_kept WHERE project = member.project"
        " AND annotator = member.annotator AND kept = 1 AND state = 'leased' AND latest IS NULL)"
        " FROM member WHERE project = ? AND annotator = ?"
    )
    row = store.db.execute(query, (project.id, annotator.id)).fetchone()
    if row is None:
        raise NotFound(NO_ANNOTATOR, name=annotator.name)
    active, told, pilot, back = row
    return DeskState(bool(active), told, bool(pilot), back)


def labels_made(store: Store, project: Project) -> list[tuple[int, str, int]]:
    """Return row id, name and number of valid labels of the annotators with any; from the tallies: labels take long."""
    query = (
        "SELECT annotator.id, annotator.name, sum(labelled) FROM cell JOIN tally ON tally.cell = cell.id"
        " JOIN annotator ON annotator.id = tally.annotator WHERE cell.project = ?"
        " GROUP BY annotator.id HAVING sum(labelled) > 0"
    )
    return store.db.execute(query, (project.id,)).fetchall()


def participants(store: Store, project: Project) -> frozenset[int]:
    """Return the row ids of annotators who came by the link of a study.

    Each of them labels a few texts, and the project does not wait for them to finish.
    """
    query = (
        "SELECT annotator FROM study_person JOIN study ON study.id = study_person.study"
        " WHERE study.project = ? AND annotator IS NOT NULL"
    )
    return frozenset(store.column(query, (project.id,)))


def annotator_with(store: Store, value: str | None, column: Literal["uid", "name"] = "uid") -> Annotator | None:
    """Return the annotator with a public id, or with a name, or None."""
    return store.row(Annotator, f"SELECT id, uid, name FROM annotator WHERE {column} = ?", (value,))


def annotator(store: Store, project: Project, name: str) -> Annotator:
    """Return the annotator of that name, also one who has left. Raises NotFound."""
    query = f"{_MEMBERS} WHERE member.project = ? AND name = ?"
    return store.required_row(Annotator, query, (project.id, name.strip()), NotFound(NO_ANNOTATOR, name=name))


def add_annotators(store: Store, project: Project, names: Iterable[str], *, author: str = "") -> list[Annotator]:
    """Add annotators, or reactivate those who had left; returns all active ones. Raises Refused for a bad name."""
    people = list(dict.fromkeys(checked_name(name) for name in names))
    with store.write():
        there = {
            stored_annotator.name: stored_annotator for stored_annotator in annotators(store, project, active=False)
        }
        before = {stored_annotator.name for stored_annotator in annotators(store, project)}
        join(store, project, people)
        now = annotators(store, project)
        for stored_annotator in now:
            if stored_annotator.name not in before:
                action = "reactivated" if stored_annotator.name in there else "joined"
                record(store, project, action, annotator=stored_annotator, author=author, name=stored_annotator.name)
    return now


def remove_annotator(store: Store, project: Project, annotator: Annotator, *, author: str = "") -> list[Annotator]:
    """Deactivate an annotator: leases end, labels stay and count. Returns the active annotators."""
    with store.write() as db:
        was_there = is_active(db, project, annotator)
        set_inactive(db, project, annotator)
        freed = free_all_items(db, project, annotator)
        update_skipped(store, project)
        if was_there:
            record(
                store, project, "deactivated", annotator=annotator, author=author, name=annotator.name, given_back=freed
            )
    return annotators(store, project)


def set_inactive(db: Connection, project: Project, annotator: Annotator) -> None:
    """Let an annotator get no more items, inside the caller's transaction."""
    update_rows(db, "member", {"active": 0}, project=project.id, annotator=annotator.id)


def rename_annotator(store: Store, project: Project, annotator: Annotator, name: str, *, author: str = "") -> Annotator:
    """Rename an annotator in every project: a person has one name. Returns the renamed annotator.

    The events of those projects keep the old name. Raises NotAllowed if the name is taken, Refused if it is invalid,
    NotFound for an unknown annotator.
    """
    new = checked_name(name)
    with store.write() as db:
        is_active(db, project, annotator)
        stored = annotator_with(store, annotator.uid) or annotator
        if new == stored.name:
            return stored
        if store.has("annotator WHERE name = ?", (new,)):
            message = N_("There is already an annotator named {name}. Choose another name.")
            raise NotAllowed(message, name=new)
        replace_name(store, annotator, new)
        for each in projects_of(store, annotator):
            record(store, each, "renamed", annotator=annotator, author=author, old=stored.name, new=new)
    return Annotator(annotator.id, annotator.uid, new)


def replace_name(store: Store, annotator: Annotator, name: str) -> None:
    """Replace the name of an annotator without an event, inside the caller's transaction."""
    update_rows(store.db, "annotator", {"name": name}, id=annotator.id)


def projects_of(store: Store, annotator: Annotator, *, active: bool = False) -> list[Project]:
    """Return the projects of an annotator, archived ones too; *active*: without those that the annotator has left."""
    members = "active_member" if active else "member"
    query = f"{PROJECTS} WHERE id IN (SELECT project FROM {members} WHERE annotator = ?) ORDER BY id"
    return store.rows(as_project, query, (annotator.id,))


def other_projects(store: Store, project: Project, annotator: Annotator) -> list[str]:
    """Return the names of the other projects of this annotator, also former and archived ones."""
    return [other.name for other in projects_of(store, annotator) if other.id != project.id]


def give_back(store: Store, project: Project, annotator: Annotator, *, author: str = "") -> int:
    """Release the leases of an annotator for others; returns how many. Items for relabelling stay.

    Labels that this annotator's desk sends later are stored and count.
    """
    with store.write() as db:
        is_active(db, project, annotator)
        freed = free_all_items(db, project, annotator, kept=True)
        if freed:
            record(store, project, "given_back", annotator=annotator, author=author, items=freed)
    return freed


def is_active(db: Connection, project: Project, annotator: Annotator) -> bool:
    """Return whether an annotator is active in a project. Raises NotFound for an unknown one."""
    query = "SELECT active FROM member WHERE project = ? AND annotator = ?"
    row = db.execute(query, (project.id, annotator.id)).fetchone()
    if row is None:
        raise NotFound(NO_ANNOTATOR, name=annotator.name)
    return bool(row[0])


def free_all_items(db: Connection, project: Project, annotator: Annotator, *, kept: bool = False) -> int:
    """Release all items of an annotator who leaves, inside the caller's transaction; returns how many.

    *kept*: but for those for relabelling.
    """
    query = "SELECT count(*) FROM assignment WHERE annotator = ? AND project = ? AND state = 'leased'"
    (before,) = db.execute(query, (annotator.id, project.id)).fetchone()
    if not kept:
        free_relabelling(db, project.id, annotator.id)
    free_leases(db, project, annotator.id)
    return int(before - db.execute(query, (annotator.id, project.id)).fetchone()[0])


def checked_name(name: str) -> str:
    """Return *name* without blanks around it. Raises Refused if it is empty, too long or not one line of text."""
    bare = name.strip()
    if not bare:
        raise Refused(N_("Enter a name (1 to {most} characters)."), most=LONGEST_NAME)
    if len(bare) > LONGEST_NAME or control_character(bare):
        message = N_("A name must be one line of 1 to {most} characters; {name} is not.")
        raise Refused(message, most=LONGEST_NAME, name=repr(name[:LONGEST_NAME]))
    return bare


def join(store: Store, project: Project, names: Iterable[str]) -> None:
    """Make persons annotators of a project, inside the caller's transaction."""
    for name in names:
        person = {"uid": uuid.uuid4().hex, "name": name, "created": timestamp()}
        insert(store.db, "annotator", person, "ON CONFLICT (name) DO NOTHING")
        store.db.execute(
            "INSERT INTO member (project, annotator) SELECT ?, id FROM annotator WHERE name = ?"
            " ON CONFLICT DO UPDATE SET active = 1",
            (project.id, name),
        )
    reoffer_set_aside(store, project)


CODE = re.compile(r"A[1-9]\d{0,5}")


def pseudonyms(store: Store, project: Project) -> dict[str, str]:
    """Return the code of all present and former annotators by name.

    Annotators of a release keep its codes, also after a change of the name. A name that already is a code (of an
    imported release) stays. The others get the next numbers, in the order of joining the database.
    """
    people = annotators(store, project, active=False)
    known = released_codes(store, project)
    codes = {person.id: known[person.uid] for person in people if person.uid in known}
    taken = set(known.values())
    for person in people:
        if person.id not in codes and CODE.fullmatch(person.name) and person.name not in taken:
            codes[person.id] = person.name
            taken.add(person.name)
    free = (code for number in count(1) if (code := f"A{number}") not in taken)
    for person in people:
        if person.id not in codes:
            codes[person.id] = next(free)
    return {person.name: codes[person.id] for person in people}


def released_codes(store: Store, project: Project) -> dict[str, str]:
    """Return codes by public id of the annotator, from the newest complete release; empty before the first."""
    facts = store.value("SELECT facts FROM frozen_release WHERE project = ? ORDER BY id DESC LIMIT 1", (project.id,))
    result = json.loads(facts).get("codes", {}) if facts else {}
    return {str(uid): str(code) for uid, code in result.items()}


def coded_file(file: str | None, codes: Mapping[str, str]) -> str | None:
    """Return the name of a file with codes in place of the names of annotators: doccano names its files after them."""
    for name in sorted(codes, key=len, reverse=True):
        if file and not CODE.fullmatch(name):
            file = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", codes[name], file, flags=re.I)
    return file


def by_uid(people: list[Annotator], codes: dict[str, str]) -> dict[str, str]:
    """Return the codes by public id, as a release stores them."""
    return {person.uid: codes[person.name] for person in people}
