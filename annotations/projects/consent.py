"""What annotators allow to be done with their own labels: asked for each use, appended, and withdrawn at any time.

Without an answer there is no consent. Whatever somebody answers, counts, agreement and gold labels use the labels: the
uses are about labels one by one.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any, Literal, get_args

from evenhand.annotations.database.store import Store, insert
from evenhand.annotations.projects.annotators import annotators, is_active
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_
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
# From the tallies: the page of releases asks each time it is opened, and counting the labels takes a second.
VALID = """
SELECT annotator.name, sum(labelled) FROM cell JOIN tally ON tally.cell = cell.id
    JOIN annotator ON annotator.id = tally.annotator
WHERE cell.project = ? GROUP BY annotator.id HAVING sum(labelled) > 0
"""
# What the package of a release lacks: comments in private threads or by annotators who did not consent, and cases still
# open of which it has not all labels.
SILENT_COMMENTS = """
SELECT count(*) FROM comment JOIN published_item AS item ON item.id = comment.item
LEFT JOIN annotator ON annotator.id = comment.annotator
WHERE comment.project = :project AND (comment.thread IS NOT NULL
    OR annotator.name IN (SELECT value FROM json_each(:silent)))
"""
SILENT_CASES = """
SELECT count(*) FROM published_item AS item WHERE item.project = :project AND item.split = 1
    AND item.settlement IS NULL AND EXISTS (SELECT 1 FROM assignment JOIN annotator
        ON annotator.id = assignment.annotator WHERE assignment.item = item.id AND assignment.blind NOT NULL
        AND annotator.name IN (SELECT value FROM json_each(:silent)))
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
    """The newest answer of everybody who labels or labelled here, in the order of joining."""
    query = "SELECT annotator, given, recorded_by, text, created FROM standing_consent WHERE project = ? AND use = ?"
    rows = {who: answer for who, *answer in store.db.execute(query, (project.id, use))}
    found = []
    for one in annotators(store, project, active=False):
        given, by, text, created = rows.get(one.id, (None, None, "", None))
        found.append(Consent(one, None if given is None else bool(given), by, text, created))
    return found


def consent_of(store: Store, project: Project, person: Annotator, use: Use) -> Consent:
    """The newest answer of *person*."""
    return next((one for one in consents(store, project, use) if one.annotator.id == person.id), Consent(person, None))


def consenting(store: Store, project: Project, use: Use) -> frozenset[str]:
    """The names of those who have given their consent and not withdrawn it."""
    return frozenset(one.annotator.name for one in consents(store, project, use) if one.given)


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

    Raises NotFound for somebody who is no annotator of the project.
    """
    with store.write():
        is_active(store.db, project, person)
        store_consent(store, project, person, use, given, recorded_by, language)
        return consent_of(store, project, person, use)


def store_consent(
    store: Store, project: Project, person: Annotator, use: Use, given: bool, by: RecordedBy, language: Language,
    text: str = "",
) -> None:  # fmt: skip
    """The same inside the caller's transaction; *text*: as it was read, where that is not of today."""
    if consent_of(store, project, person, use).given is not given:
        values = (use, int(given), by, language, text or translate(TEXTS[use], language), timestamp())
        answer = dict(zip(ANSWER, values, strict=True))
        insert(store.db, "label_consent", {"project": project.id, "annotator": person.id} | answer)


def answer_for_everybody(store: Store, project: Project, use: Use, *, language: Language = "en") -> int:
    """Store that everybody who has not answered consents, as the lead has it in writing. Returns how many."""
    with store.write():
        silent = [one.annotator for one in consents(store, project, use) if one.given is None]
        for one in silent:
            store_consent(store, project, one, use, True, "lead", language)
    return len(silent)


def sharing(store: Store, project: Project) -> dict[str, Any]:
    """Whose labels stand one by one in a release, in JSON values: counts of people and of their valid labels.

    `released`, `left_out`: of those who consented to it, and of the others; `training`: of those released, also to
    training.
    """
    numbers = dict(store.db.execute(VALID, (project.id,)).fetchall())
    may, train = consenting(store, project, "release"), consenting(store, project, "training")

    def of(names: set[str]) -> dict[str, int]:
        return {"people": len(names), "labels": sum(numbers[one] for one in names)}

    released = numbers.keys() & may
    return {"released": of(released), "left_out": of(numbers.keys() - may), "training": of(released & train)}


def left_out(store: Store, project: Project, may: Collection[str]) -> dict[str, int]:
    """Return what a package lacks that holds the labels of the annotators *may* (names) only, as JSON values.

    `annotators` with labels, their valid `labels`, `comments` in private threads or by them, and `open_cases` on which
    they have a label.
    """
    labels = dict(store.db.execute(VALID, (project.id,)).fetchall())
    silent = [one.name for one in annotators(store, project, active=False) if one.name not in may]
    values = {"project": project.id, "silent": json.dumps(silent)}
    comments, cases = (store.db.execute(query, values).fetchone()[0] for query in (SILENT_COMMENTS, SILENT_CASES))
    missing = [labels[name] for name in silent if name in labels]
    return {"annotators": len(missing), "labels": sum(missing), "comments": comments, "open_cases": cases}


def restore_answer(db: Connection, project: int, annotator: int, values: Mapping[str, Any]) -> bool:
    """Store an answer of a package, inside the caller's transaction. False where it is there already."""
    same = "use = :use AND given = :given AND recorded_by = :recorded_by AND text = :text AND created = :created"
    query = f"SELECT 1 FROM label_consent WHERE project = :project AND annotator = :annotator AND {same}"
    row = {key: values[key] for key in ANSWER} | {"project": project, "annotator": annotator}
    return db.execute(query, row).fetchone() is None and insert(db, "label_consent", row) > 0
