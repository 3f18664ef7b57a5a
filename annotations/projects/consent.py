"""What annotators allow to be done with their own labels: asked for each use, appended, and withdrawn at any time.

Without an answer there is no consent. So far there is one use: that labels are published one by one.
"""

from dataclasses import dataclass
from typing import Literal

from annotations.database.store import Store
from annotations.projects.annotators import annotators, is_active
from annotations.types import Annotator, Project
from core.errors import N_
from core.files.timestamps import timestamp
from core.language import Language, translate

Use = Literal["disaggregated"]
RecordedBy = Literal["annotator", "lead"]
# What is agreed to. A changed sentence is another consent: those who gave the old one keep what they read.
TEXTS: dict[Use, str] = {
    "disaggregated": N_(
        "My labels in this project may be published one by one: the item, my choice, reasons and marks, and a pseudonym"
        " in place of my name. My notes, comments and times are not published. I can withdraw this at any time; files"
        " that were published before then cannot be recalled."
    )
}


@dataclass(frozen=True, slots=True)
class Consent:
    """The newest answer of an annotator about one use; `given` None: never asked or never answered."""

    annotator: Annotator
    given: bool | None
    recorded_by: RecordedBy | None = None
    text: str = ""
    created: str | None = None


def consents(store: Store, project: Project, use: Use = "disaggregated") -> list[Consent]:
    """The newest answer of everybody who labels or labelled here, in the order of joining."""
    query = "SELECT annotator, given, recorded_by, text, created FROM standing_consent WHERE project = ? AND use = ?"
    rows = {who: answer for who, *answer in store.db.execute(query, (project.id, use))}
    found = []
    for one in annotators(store, project, active=False):
        given, by, text, created = rows.get(one.id, (None, None, "", None))
        found.append(Consent(one, None if given is None else bool(given), by, text, created))
    return found


def consent_of(store: Store, project: Project, person: Annotator, use: Use = "disaggregated") -> Consent:
    """The newest answer of *person*."""
    return next((one for one in consents(store, project, use) if one.annotator.id == person.id), Consent(person, None))


def consenting(store: Store, project: Project, use: Use = "disaggregated") -> frozenset[str]:
    """The names of those who have given their consent and not withdrawn it."""
    return frozenset(one.annotator.name for one in consents(store, project, use) if one.given)


def answer_consent(
    store: Store,
    project: Project,
    person: Annotator,
    *,
    given: bool,
    language: Language = "en",
    recorded_by: RecordedBy = "annotator",
    use: Use = "disaggregated",
) -> Consent:
    """Store that *person* gives, refuses or withdraws consent, with the text as read. The same answer again: no row.

    Raises NotFound for somebody who is no annotator of the project.
    """
    with store.write() as db:
        is_active(db, project, person)
        if consent_of(store, project, person, use).given is not given:
            db.execute(
                "INSERT INTO label_consent (project, annotator, use, given, recorded_by, language, text, created)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (project.id, person.id, use, int(given), recorded_by, language, translate(TEXTS[use], language),
                 timestamp()),
            )  # fmt: skip
        return consent_of(store, project, person, use)
