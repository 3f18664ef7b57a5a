"""Making a release: compose and freeze its files from a snapshot, while people go on labelling."""

from collections.abc import Callable

from annotations.database.snapshot import snapshot
from annotations.database.store import Store
from annotations.plan.recount import finish_recount
from annotations.projects.annotators import annotators
from annotations.projects.projects import project_by_uid
from annotations.projects.pseudonyms import by_uid, pseudonyms
from annotations.release.files import Composed, Said, compose
from annotations.release.readiness import checked_version, refuse_unready
from annotations.release.records import Release, ReleaseItem, refuse_taken, releases, store_release
from annotations.types import Project
from core.errors import N_, Refused

LONGEST_NOTES = 4_000
FILES = 32  # about as many as a release has, for a progress bar
Progress = Callable[[int, int], None]
REVIEWED = """
SELECT item.id, item.status, item.gold FROM published_item AS item
WHERE item.project = ? AND (item.status <> 'pending' OR item.gold IS NOT NULL) ORDER BY item.id
"""


def make_release(
    store: Store,
    project: Project,
    version: str,
    *,
    author: str = "",
    notes: str = "",
    reason: str = "",
    progress: Progress | None = None,
) -> Release:
    """Freeze the present state of *project* as *version*. The project may change at once; the release never does.

    `reason`: why it is released although something speaks against it (`readiness.to_explain`); for the data sheet.

    Raises Refused with what is missing (licence, source statement, a kept item) or open (an import, a pilot),
    NotAllowed if that version exists.
    """
    version = checked_version(version)
    if max(len(notes), len(reason)) > LONGEST_NOTES:
        raise Refused(N_("Notes have at most {most} characters."), most=LONGEST_NOTES)
    refuse_taken(store, project, version)
    finish_recount(store, project)  # gold labels under the present settings
    with snapshot(store) as seen:
        found = project_by_uid(seen, project.uid)
        refuse_unready(seen, found)
        last = next(reversed(releases(seen, found)), None)
        counted = [0]

        def step(_name: str) -> None:
            counted[0] += 1
            if progress is not None:
                progress(min(counted[0], FILES - 1), FILES)

        made = compose(seen, found, version, Said(notes.strip(), reason.strip()), last, step)
        codes = by_uid(annotators(seen, found, active=False), pseudonyms(seen, found))
        items: list[ReleaseItem] = seen.db.execute(REVIEWED, (found.id,)).fetchall()
    return _stored(store, found, made, codes, items, author)


def _stored(
    store: Store, project: Project, made: Composed, codes: dict[str, str], items: list[ReleaseItem], author: str
) -> Release:
    facts = made.facts
    values = {
        "version": facts["release"]["version"],
        "hash": facts["release"]["hash"],
        "items": facts["total"]["kept"],
        "labels": facts["labels"]["standing"],
        "facts": facts | {"codes": codes},  # codes stay in the database: no file maps them to people
        "author": author.strip(),
    }
    return store_release(store, project, values, made.files, items)
