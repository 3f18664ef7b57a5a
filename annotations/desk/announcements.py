"""Changes of the guideline that an annotator has not confirmed to have read."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.messages import choice_as_shown, choices_at_the_desk
from evenhand.annotations.desk.session import DeskSession
from evenhand.annotations.guideline.relabelling import ITEMS_TO_RELABEL, earlier_labels
from evenhand.annotations.guideline.versions import mark_read
from evenhand.annotations.pilot.pilots import own_pilot
from evenhand.annotations.projects.annotators import NO_ANNOTATOR
from evenhand.annotations.types import Annotator, Choice, Guideline, Item, Project
from evenhand.core.errors import N_, NotFound
from evenhand.core.language import Language


def record_changes_read(
    store: Store, project: Project, annotator: Annotator, versions: Sequence[Guideline], version: int
) -> None:
    """Record that an annotator has read what changed up to *version*. Raises NotFound for one not among *versions*.

    Idempotent: only the first confirmation is stored.
    """
    if version not in {known.version for known in versions}:
        raise NotFound(N_("This guideline has no version {version}."), version=version)
    with store.write() as db:
        if mark_read(db, project, annotator.id, version):
            record(store, project, "read_changes", annotator=annotator, version=version)


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
    """That of one annotator, in one query, since each label asks for it.

    Raises NotFound for somebody who is not an annotator of the project.
    """
    query = (
        "SELECT active, told, EXISTS (SELECT 1 FROM open_pilot WHERE project = member.project),"
        f" ({ITEMS_TO_RELABEL.format(project='member.project', annotator='member.annotator')})"
        " FROM member WHERE project = ? AND annotator = ?"
    )
    row = store.db.execute(query, (project.id, annotator.id)).fetchone()
    if row is None:
        raise NotFound(NO_ANNOTATOR, name=annotator.name)
    active, told, pilot, back = row
    return DeskState(bool(active), told, bool(pilot), back)


def desk_news(
    store: Store, project: Project, annotator: Annotator, now: DeskState, versions: Sequence[Guideline]
) -> dict[str, Any]:
    """Own progress in the open pilot (None: none is open), unread changes of the guideline, and `back` of *now*."""
    pilot = own_pilot(store, project, annotator) if now.pilot else None
    changed = [version for version in versions if version.version > now.told and version.changes]
    if changed:  # news only for an annotator who has labelled under an older version
        query = (
            "SELECT guideline.version FROM label JOIN guideline ON guideline.id = label.guideline"
            " WHERE label.annotator = ? AND label.project = ? ORDER BY label.id LIMIT 1"
        )
        first = store.value(query, (annotator.id, project.id))
        changed = [version for version in changed if first is not None and first < version.version]
    return {
        "pilot": None if pilot is None else asdict(pilot),
        "news": [{"version": version.version, "changes": version.changes} for version in changed],
        "back": now.back,
    }


def item_news(
    store: Store, at: DeskSession, items: Sequence[Item], versions: Sequence[Guideline], language: Language
) -> dict[str, dict[str, Any]]:
    """By public id, display data of items.

    `veil`: cover it until it is opened, because it was flagged (sentences of a project that blurs). `earlier`: for
    relabelling, the annotator's label under an older version, in that version's words; else None. *versions*: those of
    the guideline, empty where nothing is in relabelling.
    """
    project = at.project
    before = earlier_labels(store, at.annotator.id, items) if items and versions else {}
    by_number = {version.version: version for version in versions}
    covers = project.blur and project.kind == "sentences"  # generations are covered all or none
    news: dict[str, dict[str, Any]] = {}
    for item in items:
        label, earlier = before.get(item.uid), None
        if label is not None:
            version = by_number[label.version]
            options = [*version.options, *choices_at_the_desk(version)]
            names = {option.code: option_name(option, language) for option in options}
            reasons = [*(names.get(code, code) for code in label.reasons), *(f"#{tag}" for tag in label.tags)]
            choice = str(choice_as_shown(at, item, label.choice))
            earlier = {"choice": names.get(choice, choice), "reasons": reasons, "version": label.version}
        news[item.uid] = {"veil": covers and is_flagged(item), "earlier": earlier}
    return news


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
