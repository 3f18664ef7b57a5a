"""Making a release: compose and freeze its files from a snapshot, while people go on labelling."""

from array import array
from collections.abc import Callable, Iterator

from evenhand.annotations.database.contents import hash_of_items, imports_without_entry, record_items
from evenhand.annotations.database.snapshot import snapshot
from evenhand.annotations.database.store import Store
from evenhand.annotations.plan.recount import finish_recount
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.projects.pseudonyms import by_uid, pseudonyms
from evenhand.annotations.release.files import Composed, Said, compose
from evenhand.annotations.release.readiness import checked_version, refuse_unready
from evenhand.annotations.release.records import (
    Release,
    ReleaseItem,
    refuse_taken,
    releases,
    reviewed_items,
    store_release,
)
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Refused

LONGEST_NOTES = 4_000
FILES = 32  # about as many as a release has, for a progress bar
Progress = Callable[[int, int], None]


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

    Raises Refused with what is missing (licence, source statement, a kept item) or open (an import, a pilot), or with
    the items whose gold label or status does not follow from their labels and decisions; NotAllowed if that version
    exists.
    """
    version = checked_version(version)
    if max(len(notes), len(reason)) > LONGEST_NOTES:
        raise Refused(N_("Notes have at most {most} characters."), most=LONGEST_NOTES)
    refuse_taken(store, project, version)
    finish_recount(store, project)  # gold labels under the present settings
    for batch, created in imports_without_entry(store.db, project.id):
        hashed = hash_of_items(store.db, batch)
        with store.write() as db:
            record_items(db, batch, created, hashed)
    with snapshot(store) as seen:
        found = project_by_uid(seen, project.uid)
        refuse_unready(seen, found, whole=True)
        last = next(reversed(releases(seen, found)), None)
        counted = [0]

        def step(_name: str) -> None:
            counted[0] += 1
            if progress is not None:
                progress(min(counted[0], FILES - 1), FILES)

        made = compose(seen, found, version, Said(notes.strip(), reason.strip()), last, step)
        codes = by_uid(annotators(seen, found, active=False), pseudonyms(seen, found))
        items = _reviewed(seen, found)
    return _stored(store, found, made, codes, items, author)


def _reviewed(store: Store, project: Project) -> Iterator[ReleaseItem]:
    """The items of the release, read now and held in 16 bytes each: as rows, a million takes 200 MB."""
    ids, states = array("q"), list[tuple[str, str | None]]()
    alike: dict[tuple[str, str | None], tuple[str, str | None]] = {}
    for item, status, gold in reviewed_items(store, project):
        ids.append(item)
        states.append(alike.setdefault((status, gold), (status, gold)))
    return ((item, *state) for item, state in zip(ids, states, strict=True))


def _stored(
    store: Store, project: Project, made: Composed, codes: dict[str, str], items: Iterator[ReleaseItem], author: str
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
