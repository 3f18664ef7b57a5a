"""What annotators are told of a new version of the guideline, until they say that they have read it."""

from typing import NamedTuple

from annotations.events import record
from annotations.guidelines import guidelines
from annotations.store import Store
from annotations.types import Annotator, Project
from core.errors import N_, NotFound


class News(NamedTuple):
    """What changed with a version, in the lead's words."""

    version: int
    changes: str


def news(store: Store, project: Project, annotator: Annotator) -> list[News]:
    """Changes that this annotator has not said to have read, oldest first.

    Nothing is news to somebody who has not labelled under an older version: for them it is simply the guideline.
    """
    read = store.db.execute(
        "SELECT told FROM member WHERE project = ? AND annotator = ?", (project.id, annotator.id)
    ).fetchone()
    found = [each for each in guidelines(store, project) if read and each.version > read[0] and each.changes]
    if not found:
        return []
    first = store.db.execute(
        "SELECT guideline.version FROM label JOIN guideline ON guideline.id = label.guideline"
        " WHERE label.annotator = ? AND label.project = ? ORDER BY label.id LIMIT 1",
        (annotator.id, project.id),
    ).fetchone()
    return [News(each.version, each.changes) for each in found if first and first[0] < each.version]


def told(store: Store, project: Project, annotator: Annotator, version: int) -> None:
    """Record that an annotator has read what changed up to *version*. Raises NotFound for a version that is not there.

    Idempotent: the first time is what is kept.
    """
    if version not in {each.version for each in guidelines(store, project)}:
        raise NotFound(N_("This guideline has no version {version}."), version=version)
    with store.write() as db:
        query = "UPDATE member SET told = ? WHERE project = ? AND annotator = ? AND told < ?"
        if db.execute(query, (version, project.id, annotator.id, version)).rowcount:
            record(store, project, "read_changes", annotator=annotator, version=version)
