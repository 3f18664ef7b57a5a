"""Changes of the guideline that an annotator has not confirmed to have read."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.comparisons import choice_as_shown, choices_at_the_desk
from evenhand.annotations.desk.session import DeskSession
from evenhand.annotations.guideline.relabelling import ITEMS_TO_RELABEL, earlier_labels
from evenhand.annotations.guideline.versions import guidelines, mark_read
from evenhand.annotations.pilot.pilots import own_pilot
from evenhand.annotations.projects.annotators import NO_ANNOTATOR
from evenhand.annotations.types import Annotator, Choice, Item, Project
from evenhand.core.errors import N_, NotFound
from evenhand.core.language import Language


class GuidelineChange(NamedTuple):
    """What changed with a version, in the lead's words."""

    version: int
    changes: str


def unread_changes(store: Store, project: Project, annotator: Annotator) -> list[GuidelineChange]:
    """Changes that this annotator has not confirmed to have read, oldest first.

    None for an annotator who has not labelled under an older version: nothing has changed for them.
    """
    found = store.db.execute(
        "SELECT version, changes FROM guideline JOIN member ON member.project = guideline.project"
        " WHERE member.project = ? AND member.annotator = ? AND version > told AND changes <> '' ORDER BY version",
        (project.id, annotator.id),
    ).fetchall()
    if not found:
        return []
    first = store.db.execute(
        "SELECT guideline.version FROM label JOIN guideline ON guideline.id = label.guideline"
        " WHERE label.annotator = ? AND label.project = ? ORDER BY label.id LIMIT 1",
        (annotator.id, project.id),
    ).fetchone()
    return [GuidelineChange(version, changes) for version, changes in found if first and first[0] < version]


def record_changes_read(store: Store, project: Project, annotator: Annotator, version: int) -> None:
    """Record that an annotator has read what changed up to *version*. Raises NotFound for a version that is not there.

    Idempotent: only the first confirmation is stored.
    """
    if version not in {each.version for each in guidelines(store, project)}:
        raise NotFound(N_("This guideline has no version {version}."), version=version)
    with store.write() as db:
        if mark_read(db, project, annotator.id, version):
            record(store, project, "read_changes", annotator=annotator, version=version)


class DeskState(NamedTuple):
    """What an open desk has to know of its project, besides items.

    `guideline`: the number of the newest version. `unread`: whether one says what changed since the annotator last
    confirmed. `back`: how many items a new version sent to this annotator that are not labelled again yet.
    """

    active: bool
    guideline: int
    pilot: bool  # whether one is open
    unread: bool
    back: int


def desk_state(store: Store, project: Project, annotator: Annotator) -> DeskState:
    """That of one annotator, in one query, since each label asks for it.

    Raises NotFound for somebody who is not an annotator of the project.
    """
    query = (
        "SELECT active, (SELECT max(version) FROM guideline WHERE project = member.project),"
        " EXISTS (SELECT 1 FROM open_pilot WHERE project = member.project),"
        " EXISTS (SELECT 1 FROM guideline WHERE project = member.project AND version > told AND changes <> ''),"
        f" ({ITEMS_TO_RELABEL.format(project='member.project', annotator='member.annotator')})"
        " FROM member WHERE project = ? AND annotator = ?"
    )
    row = store.db.execute(query, (project.id, annotator.id)).fetchone()
    if row is None:
        raise NotFound(NO_ANNOTATOR, name=annotator.name)
    active, guideline, pilot, unread, back = row
    return DeskState(bool(active), guideline, bool(pilot), bool(unread), back)


def desk_news(store: Store, project: Project, annotator: Annotator, now: DeskState) -> dict[str, Any]:
    """Own progress in the open pilot (None: none is open), unread changes of the guideline, and `back` of *now*."""
    pilot = own_pilot(store, project, annotator) if now.pilot else None
    unread = unread_changes(store, project, annotator) if now.unread else []
    return {
        "pilot": None if pilot is None else asdict(pilot),
        "news": [one._asdict() for one in unread],
        "back": now.back,
    }


def item_news(store: Store, at: DeskSession, items: Sequence[Item], language: Language) -> dict[str, dict[str, Any]]:
    """By public id, display data of items.

    `veil`: cover it until it is opened, because it was flagged (sentences of a project that blurs). `earlier`: for
    relabelling, the annotator's label under an older version, in that version's words; else None.
    """
    project = at.project
    before = earlier_labels(store, at.annotator.id, items) if items else {}
    versions = {each.version: each for each in guidelines(store, project)} if before else {}
    covers = project.blur and project.kind == "sentences"  # generations are covered all or none
    found: dict[str, dict[str, Any]] = {}
    for item in items:
        said = before.get(item.uid)
        told: dict[str, Any] | None = None
        if said is not None:
            version = versions[said.version]
            options = [*version.options, *choices_at_the_desk(version)]
            names = {one.code: option_name(one, language) for one in options}
            reasons = [*(names.get(code, code) for code in said.reasons), *(f"#{tag}" for tag in said.tags)]
            choice = str(choice_as_shown(at, item, said.choice))
            told = {"choice": names.get(choice, choice), "reasons": reasons, "version": said.version}
        found[item.uid] = {"veil": covers and is_flagged(item), "earlier": told}
    return found


def option_name(option: Choice, language: Language) -> str:
    """The name of a choice or reason; without a name in *language*, the other name or its code."""
    named = (option.zh or option.en) if language == "zh" else (option.en or option.zh)
    return named or option.code


def is_flagged(item: Item) -> bool:
    """Whether a sentence was flagged before its import: by mining (`flags`) or a column `sensitive`.

    Which flag it was is not sent to the desk: it would be an opinion on the sentence.
    """
    sensitive = str(item.extra.get("sensitive") or "").strip().lower()
    return bool(item.extra.get("flags")) or sensitive not in ("", "0", "false", "no")
