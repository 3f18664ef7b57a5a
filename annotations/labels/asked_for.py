"""Limits of a participant of a study: only texts that were handed out to them, and no more than they were asked for."""

from sqlite3 import Connection

from evenhand.annotations.types import Annotator, Operation, Project
from evenhand.core.errors import N_, Refused

NOT_HANDED_OUT = N_("This text was not handed out to you.")
ENOUGH = N_("You have judged all {asked} texts that you were asked to judge; no others are stored.")
NO_MORE_SKIPS = N_("You can skip at most {asked} times. Judge this text, or withdraw.")

_LABELLED = """
SELECT (SELECT count(*) FROM assignment WHERE annotator = :annotator AND project = :project AND state = 'labelled')
    + (SELECT count(*) FROM retest WHERE annotator = :annotator AND project = :project AND state = 'labelled')
"""
# Texts of the test count as skipped twice without an operation: they were never at the desk.
_SKIPS = """
SELECT (SELECT coalesce(sum(skips), 0) FROM assignment
        WHERE annotator = :annotator AND project = :project AND op_id IS NOT NULL)
    + (SELECT coalesce(sum(skips), 0) FROM retest WHERE annotator = :annotator AND project = :project)
"""


def skips_left(db: Connection, project: Project, annotator: Annotator, asked: int) -> int:
    """Return how often a participant may still skip: as often as they are asked to judge a text."""
    return max(0, asked - _count(db, _SKIPS, project, annotator))


def check_asked_for(
    db: Connection, project: Project, annotator: Annotator, operation: Operation, *, asked: int,
    handed_out: bool, labelled: bool,
) -> None:  # fmt: skip
    """Raise Refused for a text that was not *handed_out*, a label of one text too many, or a skip too many.

    *asked*: how many texts this participant is asked to judge; *labelled*: whether the text has their label already.
    """
    if not handed_out:
        raise Refused(NOT_HANDED_OUT)
    if operation.choice == "skip":
        if not skips_left(db, project, annotator, asked):
            raise Refused(NO_MORE_SKIPS, asked=asked)
    elif operation.choice is not None and not labelled and _count(db, _LABELLED, project, annotator) >= asked:
        raise Refused(ENOUGH, asked=asked)


def _count(db: Connection, query: str, project: Project, annotator: Annotator) -> int:
    return int(db.execute(query, {"annotator": annotator.id, "project": project.id}).fetchone()[0])
