"""Statements of annotators about themselves: permitted uses of their own labels, and their groups.

Consent is asked for each use, appended, and can be withdrawn at any time. Without an answer, consent is not given.
Counts, agreement and gold labels use the labels with any answer: the uses are about labels one by one.

Groups are, for example, by dialect or first language: the lead defines the groups, annotators choose theirs. An own
answer takes precedence over the lead's and can be removed at any time. Groups are never in a file that is published.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any, Literal, NamedTuple, get_args

from evenhand.annotations.database.hash_chain import forget_row
from evenhand.annotations.database.store import Store, delete_rows, in_list, insert
from evenhand.annotations.projects.annotators import annotators, checked_name, is_active, labels_made
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.language import Language, translate

Use = Literal["release", "disaggregated", "training"]
RecordedBy = Literal["annotator", "lead"]
USES: tuple[Use, ...] = get_args(Use)
# What is agreed to. A changed sentence is another consent: those who gave the old one keep what they read.
TEXTS: dict[Use, str] = {
    "release": N_(
        "My labels in this project may be published one by one in its releases: the item, my choice, reasons, marks,"
        " notes and comments, when and how fast I labelled, and a pseudonym in place of my name. My consent is"
        " voluntary. I can withdraw it at any time, without giving a reason and without any disadvantage; releases that"
        " were made before then stay as they are."
    ),
    "disaggregated": N_(
        "My labels in this project may be published one by one: the item, my choice, reasons and marks, and a pseudonym"
        " in place of my name. My notes, comments and times are not published. My consent is voluntary. I can withdraw"
        " it at any time, without giving a reason and without any disadvantage; files that were published before then"
        " cannot be recalled."
    ),
    "training": N_(
        "Models may be trained on my single labels, in addition to the aggregated labels of all annotators. My consent"
        " is voluntary. I can withdraw it at any time, without giving a reason and without any disadvantage; models"
        " that were trained before then cannot be changed."
    ),
}
# The same in a few words, for tables.
NAMES: dict[Use, str] = {
    "release": N_("In releases, with notes and times"),
    "disaggregated": N_("One by one, without notes and times"),
    "training": N_("Training of models"),
}
# What the package of a release lacks: comments in private threads or by annotators who did not consent, and cases still
# open of which it has not all labels.
SILENT_COMMENTS = f"""
comment JOIN published_item AS item ON item.id = comment.item
LEFT JOIN annotator ON annotator.id = comment.annotator
WHERE comment.project = :project AND (comment.thread IS NOT NULL
    OR annotator.name {in_list(":silent")})
"""
SILENT_CASES = f"""
published_item AS item WHERE item.project = :project AND item.split = 1
    AND item.settlement IS NULL AND EXISTS (SELECT 1 FROM assignment JOIN annotator
        ON annotator.id = assignment.annotator WHERE assignment.item = item.id AND assignment.blind NOT NULL
        AND annotator.name {in_list(":silent")})
"""
ANSWER = ("use", "given", "recorded_by", "language", "text", "created")


@dataclass(frozen=True, slots=True)
class Consent:
    """The newest answer of an annotator about one use; `given` None: never asked or never answered."""

    annotator: Annotator
    given: bool | None
    recorded_by: RecordedBy | None = None
    text: str = ""
    created: str | None = None


def consents(store: Store, project: Project, use: Use) -> list[Consent]:
    """Return the newest answer of every present or former annotator, in the order of joining."""
    query = "SELECT annotator, given, recorded_by, text, created FROM standing_consent WHERE project = ? AND use = ?"
    rows = {who: answer for who, *answer in store.db.execute(query, (project.id, use))}
    result = []
    for annotator in annotators(store, project, active=False):
        given, by, text, created = rows.get(annotator.id, (None, None, "", None))
        result.append(Consent(annotator, None if given is None else bool(given), by, text, created))
    return result


def consent_of(store: Store, project: Project, person: Annotator, use: Use) -> Consent:
    """Return the newest answer of *person*."""
    return next(
        (consent for consent in consents(store, project, use) if consent.annotator.id == person.id),
        Consent(person, None),
    )


def consenting(store: Store, project: Project, use: Use) -> frozenset[str]:
    """Return the names of annotators who have consented and not withdrawn it."""
    return frozenset(consent.annotator.name for consent in consents(store, project, use) if consent.given)


def answer_consent(
    store: Store,
    project: Project,
    person: Annotator,
    use: Use,
    *,
    given: bool,
    language: Language = "en",
    recorded_by: RecordedBy = "annotator",
) -> Consent:
    """Store that *person* gives, refuses or withdraws consent, with the text as read. The same answer again: no row.

    Raises NotFound for a person who is not an annotator of the project.
    """
    with store.write():
        is_active(store.db, project, person)
        store_consent(store, project, person, use, given, recorded_by, language)
        return consent_of(store, project, person, use)


def store_consent(
    store: Store, project: Project, person: Annotator, use: Use, given: bool, by: RecordedBy, language: Language,
    text: str = "",
) -> None:  # fmt: skip
    """Store consent inside the caller's transaction; *text*: as it was read, if it differs from today's text."""
    if consent_of(store, project, person, use).given is not given:
        values = (use, int(given), by, language, text or translate(TEXTS[use], language), timestamp())
        answer = dict(zip(ANSWER, values, strict=True))
        insert(store.db, "label_consent", {"project": project.id, "annotator": person.id} | answer)


def answer_for_everybody(store: Store, project: Project, use: Use, *, language: Language = "en") -> int:
    """Store that all who have not answered consent, as the lead has it in writing. Returns how many."""
    with store.write():
        silent = [consent.annotator for consent in consents(store, project, use) if consent.given is None]
        for annotator in silent:
            store_consent(store, project, annotator, use, True, "lead", language)
    return len(silent)


def sharing(store: Store, project: Project) -> dict[str, Any]:
    """Return whose labels a release lists one by one, as JSON values: counts of people and of their valid labels.

    `released`: of people who consented to it; `left_out`: of all others; `training`: of those released, also to
    training.
    """
    numbers = {name: labels for _, name, labels in labels_made(store, project)}
    may, train = consenting(store, project, "release"), consenting(store, project, "training")

    def of(names: set[str]) -> dict[str, int]:
        return {"people": len(names), "labels": sum(numbers[name] for name in names)}

    released = numbers.keys() & may
    return {"released": of(released), "left_out": of(numbers.keys() - may), "training": of(released & train)}


def left_out(store: Store, project: Project, may: Collection[str]) -> dict[str, int]:
    """Return what a package lacks that holds the labels of the annotators *may* (names) only, as JSON values.

    `annotators` with labels, their valid `labels`, `comments` in private threads or by them, and `open_cases` on which
    they have a label.
    """
    labels = {name: number for _, name, number in labels_made(store, project)}
    silent = [annotator.name for annotator in annotators(store, project, active=False) if annotator.name not in may]
    values = {"project": project.id, "silent": json.dumps(silent)}
    comments, cases = (store.count(rows, values) for rows in (SILENT_COMMENTS, SILENT_CASES))
    missing = [labels[name] for name in silent if name in labels]
    return {"annotators": len(missing), "labels": sum(missing), "comments": comments, "open_cases": cases}


def restore_answer(store: Store, project: int, annotator: int, values: Mapping[str, Any]) -> bool:
    """Store an answer of a package, inside the caller's transaction. False if it is stored already."""
    same = "use = :use AND given = :given AND recorded_by = :recorded_by AND text = :text AND created = :created"
    row = {key: values[key] for key in ANSWER} | {"project": project, "annotator": annotator}
    stored = store.has(f"label_consent WHERE project = :project AND annotator = :annotator AND {same}", row)
    return not stored and insert(store.db, "label_consent", row) > 0


MOST_GROUPS = 20


@dataclass(frozen=True, slots=True)
class Grouping:
    """What annotators are grouped by, and the groups that there are."""

    id: int
    name: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnGroup:
    """In which group of a grouping an annotator is (None: in none), and who said so."""

    grouping: Grouping
    value: str | None
    recorded_by: RecordedBy | None


def groupings(store: Store, project: Project) -> list[Grouping]:
    """Return the groupings of a project, in the order in which they were made."""
    query = "SELECT id, name, options FROM grouping WHERE project = ? ORDER BY id"
    rows = store.db.execute(query, (project.id,))
    return [Grouping(row, name, tuple(json.loads(options))) for row, name, options in rows]


def grouping(store: Store, project: Project, name: str) -> Grouping:
    """Return the grouping of that name. Raises NotFound."""
    for one in groupings(store, project):
        if one.name == name.strip():
            return one
    raise NotFound(N_("{project} does not group its annotators by {name}."), project=project.name, name=name)


def add_grouping(store: Store, project: Project, name: str, options: Sequence[str]) -> Grouping:
    """Let annotators be grouped by *name*. Raises Refused for fewer than 2 or more than 20 groups, NotAllowed for an
    existing grouping."""
    bare, groups = checked_name(name), list(dict.fromkeys(checked_name(option) for option in options))
    if not 2 <= len(groups) <= MOST_GROUPS:
        raise Refused(N_("Give 2 to {most} groups."), most=MOST_GROUPS)
    with store.write() as db:
        if any(one.name == bare for one in groupings(store, project)):
            raise NotAllowed(N_("There is already a grouping named {name}."), name=bare)
        _insert_grouping(db, project, bare, groups, timestamp())
        return grouping(store, project, bare)


class _Member(NamedTuple):
    """A row of the table of groups: in which group of a grouping an annotator (row id) is."""

    id: int
    grouping: int
    annotator: int
    value: str
    recorded_by: RecordedBy


def _members(store: Store, which: str, *values: int) -> list[_Member]:
    """Return the rows for which an SQL condition holds."""
    query = f"SELECT id, grouping, annotator, value, recorded_by FROM annotator_group WHERE {which}"
    return store.rows(_Member, query, values)


def groups_of(store: Store, of: Grouping) -> dict[int, str]:
    """Return the group of each annotator (row id)."""
    return {member.annotator: member.value for member in _members(store, "grouping = ?", of.id)}


def own_groups(store: Store, project: Project, person: Annotator) -> list[OwnGroup]:
    """Return the group of *person* in every grouping of the project."""
    mine = _members(store, "annotator = ?", person.id)
    known = {member.grouping: (member.value, member.recorded_by) for member in mine}
    return [OwnGroup(one, *known.get(one.id, (None, None))) for one in groupings(store, project)]


def set_group(
    store: Store, project: Project, of: Grouping, person: Annotator, value: str | None, recorded_by: RecordedBy
) -> None:
    """Put *person* into a group, or into none (None).

    Raises NotFound for a person who is not an annotator of the project, Refused for an unknown group, NotAllowed if
    a lead would change an annotator's own answer.
    """
    if value is not None and value not in of.options:
        raise Refused(N_("{name} has no group {value}. Groups: {groups}."), value=value, name=of.name,
                      groups=", ".join(of.options))  # fmt: skip
    with store.write() as db:
        is_active(db, project, person)
        before = _members(store, "grouping = ? AND annotator = ?", of.id, person.id)
        if before and before[0].recorded_by == "annotator" and recorded_by == "lead":
            raise NotAllowed(N_("{name} has chosen a group; only they can change it."), name=person.name)
        if before:
            _remove(store, before[0].id)
        if value is not None:
            _insert_group(db, of, person.id, value, recorded_by, timestamp())


def restore_grouping(store: Store, project: Project, row: Mapping[str, Any]) -> bool:
    """Store a grouping of a package, inside the caller's transaction; False if there is one of that name."""
    if any(one.name == row["name"] for one in groupings(store, project)):
        return False
    options = [checked_name(entry) for entry in row["options"]]
    _insert_grouping(store.db, project, checked_name(row["name"]), options, row["created"])
    return True


def restore_group(store: Store, project: Project, annotator: int, row: Mapping[str, Any]) -> bool:
    """Store where an annotator belongs, inside the caller's transaction; a stored group stays (False)."""
    of = grouping(store, project, row["grouping"])
    if annotator in groups_of(store, of):
        return False
    if row["value"] not in of.options:
        raise ValueError(f"value: {str(row['value'])[:40]}")
    _insert_group(store.db, of, annotator, row["value"], row["recorded_by"], row["created"])
    return True


def _insert_grouping(db: Connection, project: Project, name: str, options: Sequence[str], created: str) -> None:
    packed = json.dumps(options, ensure_ascii=False)
    insert(db, "grouping", {"project": project.id, "name": name, "options": packed, "created": created})


def _insert_group(db: Connection, of: Grouping, annotator: int, value: str, recorded_by: str, created: str) -> None:
    row = {"grouping": of.id, "annotator": annotator, "value": value, "recorded_by": recorded_by, "created": created}
    insert(db, "annotator_group", row)


def forget_groups(store: Store, person: Annotator) -> None:
    """Remove a person from every group of every project, inside the caller's transaction."""
    for member in _members(store, "annotator = ?", person.id):
        _remove(store, member.id)


def _remove(store: Store, row: int) -> None:
    delete_rows(store.db, "annotator_group", id=row)
    forget_row(store.db, "annotator_group", row)
