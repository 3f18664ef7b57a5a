"""Is a kept sentence neutral? A drawn sample of kept and rejected sentences for people outside the project.

The sample is a project of its own. The item's `extra` records under one key whether the sentence was kept; no desk
receives this key (see `messages.SOURCE_COLUMNS`). The draw is an event in the log of the project that it is from.
"""

import json
import random
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.annotations.database.events import events, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem, items
from evenhand.annotations.labels.read import FROM_FILE, ORIGIN
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.projects import archive, change_project, create_project, project_by_uid
from evenhand.annotations.types import Choice, Item, Project
from evenhand.core.errors import N_, EvenhandError, NotFound, Refused
from evenhand.core.resources import DATA, table
from evenhand.core.statistics import Estimate, Note, wilson

FILE = "follow_up.jsonl"  # what the desk shows as the source of every sentence
KEY = "follow_up"  # in `extra`: everything that an annotator must not know
ACTION = "follow_up_drawn"
NEUTRAL = Choice("accept", "j", "中性", "Neutral")
NOT_NEUTRAL = Choice("reject", "k", "不中性", "Not neutral")
NONE_JUDGED = Note(N_("No sentence of the follow-up sample is fully labelled."))
METHOD = "Wilson over sentences"
Stratum = Literal["kept", "rejected"]
STRATA: tuple[Stratum, ...] = ("kept", "rejected")

LABELS = f"""
SELECT item.uid, item.extra, item.wanted, annotator.name, label.choice, {ORIGIN}
FROM item JOIN published_batch AS batch ON batch.id = item.batch
    LEFT JOIN blind_label AS label ON label.item = item.id AND label.choice IN ('accept', 'reject')
    LEFT JOIN annotator ON annotator.id = label.annotator {FROM_FILE}
WHERE batch.project = ? AND batch.file = ? ORDER BY item.id, label.id
"""


@dataclass(frozen=True, slots=True)
class Judged:
    """One stratum: sentences `drawn`, `judged` by as many outside people as wanted, `neutral` for all of these.

    `share`: neutral / judged, 0 to 1, with Wilson's interval.
    """

    drawn: int
    judged: int
    neutral: int
    share: Estimate


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A follow-up sample of a project and the judgements of people outside it.

    `people`: the number of them with labels that count: blind, made at a desk here, by a person who never was in the
    project. `left_out`: other labels; `elsewhere` of them were not made at a desk here, the rest are by people of the
    project. `from_kept`, `from_rejected`: the numbers of sentences to draw from.
    """

    project: Project
    seed: int
    from_kept: int
    from_rejected: int
    per_item: int
    people: int
    left_out: int
    elsewhere: int
    strata: dict[Stratum, Judged]

    @property
    def inside(self) -> int:
        """The number of labels that were made here by people of the project."""
        return self.left_out - self.elsewhere


def guideline_text(language: str, name: str = "audit") -> str:
    """Return the guideline of an audit or a follow-up: Chinese for "zh", English otherwise."""
    return (DATA / f"{name}.{'zh' if language == 'zh' else 'en'}.md").read_text(encoding="utf-8")


def reasons() -> tuple[Choice, ...]:
    """Return the reasons for which a sentence can leak, or is not neutral."""
    return tuple(Choice(**row) for row in table("audit_reasons"))


def create_follow_up(
    store: Store,
    parent: Project,
    name: str,
    people: Iterable[str] = (),
    *,
    kept: int = 50,
    rejected: int = 50,
    per_item: int = 3,
    seed: int = 0,
    language: str = "zh",
) -> Project:
    """Draw *kept* kept and *rejected* rejected sentences of *parent* and make the project *name* of them, mixed.

    Keyword masked, no label comes along, nothing tells the strata apart. Raises Refused for a project of generations,
    too few sentences, or *people* who are or were in the project; NotAllowed if the name is taken.
    """
    if parent.kind != "sentences":
        raise Refused(N_("A follow-up sample can only be drawn from sentences."))
    people = list(people)
    if inside := sorted(_names(people) & _members(store, parent)):
        message = N_("{people} belong to {project}; a follow-up sample needs annotators from outside the project.")
        raise Refused(message, people=", ".join(inside), project=parent.name)
    there: dict[Stratum, list[Item]] = {"kept": [], "rejected": []}
    for item in items(store, parent):
        if item.status in ("accepted", "rejected"):
            there["kept" if item.status == "accepted" else "rejected"].append(item)
    wanted: dict[Stratum, int] = {"kept": kept, "rejected": rejected}
    rows = _draw(parent, there, wanted, seed)
    made = create_project(
        store, name, annotators=people, per_item=per_item, language=parent.language, seed=seed, presentation="masked",
        guideline_text=guideline_text(language, "follow_up"), choices=(NEUTRAL, NOT_NEUTRAL), reasons=reasons(),
    )  # fmt: skip
    counts: dict[str, Any] = {"kept": kept, "rejected": rejected, "seed": seed}
    counts |= {f"from_{stratum}": len(there[stratum]) for stratum in STRATA}
    fill_project(store, made, FILE, rows, lambda: record(store, parent, ACTION, follow_up=made.uid, **counts))
    return made


def fill_project(
    store: Store, project: Project, file: str, rows: Iterable[NewItem], also: Callable[[], object] | None = None
) -> None:
    """Import *rows* into a project that was made for them; *also* runs in the transaction that publishes them.

    A guideline is never deleted, so its project cannot be either: where this fails, the project is archived under
    another name, and its name is free again.
    """
    try:
        with Batch.begin(store, project, file) as batch:
            batch.add(rows)
            batch.publish(also)
    except BaseException:
        with suppress(EvenhandError):
            archive(store, change_project(store, project, name=f"{project.name} ({project.uid[:8]})"))
        raise


def _draw(parent: Project, there: dict[Stratum, list[Item]], wanted: dict[Stratum, int], seed: int) -> list[NewItem]:
    chance = random.Random(f"{seed} {parent.uid}")  # noqa: S311
    drawn: list[tuple[Stratum, Item]] = []
    for stratum in STRATA:
        if wanted[stratum] < (stratum == "kept") or wanted[stratum] > len(there[stratum]):
            message = N_("Cannot draw {wanted} {stratum} sentences: only {found} are available.")
            raise Refused(message, wanted=wanted[stratum], stratum=stratum, found=len(there[stratum]))
        drawn += [(stratum, item) for item in chance.sample(there[stratum], wanted[stratum])]
    chance.shuffle(drawn)
    return [_new_item(parent, stratum, one, line) for line, (stratum, one) in enumerate(drawn, 1)]


def _new_item(parent: Project, stratum: Stratum, item: Item, line: int) -> NewItem:
    from evenhand.core.audit.sample import keyword_in  # pandas: only where a sample is drawn

    side = item.side or "male"
    candidate = keyword_in(item.text, item.pair, side, item.word[0] if item.word else None, row=item.line)
    hidden = {"parent": parent.uid, "item": item.uid, "stratum": stratum}
    return NewItem(item.text, candidate, FILE, line, extra={KEY: hidden}, counterpart=item.counterpart)


def follow_ups(store: Store, parent: Project) -> list[FollowUp]:
    """Return the follow-up samples of *parent*, oldest first, with their results so far."""
    result = []
    for event in events(store, parent, action=ACTION):
        with suppress(NotFound):  # the log of a package names a project of another database
            result.append(
                _follow_up(store, parent, project_by_uid(store, str(event.data.get("follow_up"))), event.data)
            )
    return [
        follow_up for follow_up in result if follow_up.strata["kept"].drawn
    ]  # a copy of the project has the event, not the sample


def _follow_up(store: Store, parent: Project, made: Project, drawn: dict[str, Any]) -> FollowUp:
    members, people, left_out, elsewhere = _members(store, parent), set[str](), 0, 0
    sentences: dict[str, tuple[Stratum, int, list[str]]] = {}
    for uid, extra, wanted, name, choice, origin in store.db.execute(LABELS, (made.id, FILE)):
        hidden = json.loads(extra).get(KEY) or {}
        if hidden.get("parent") != parent.uid or hidden.get("stratum") not in STRATA:
            continue
        choices = sentences.setdefault(uid, (hidden["stratum"], wanted, []))[2]
        if choice is None:
            continue
        if origin != "here" or name.casefold() in members:
            left_out += 1
            elsewhere += origin != "here"
            continue
        people.add(name)
        choices.append(choice)
    strata = {
        stratum: _judged([sentence for sentence in sentences.values() if sentence[0] == stratum]) for stratum in STRATA
    }
    numbers = {name: int(drawn.get(name) or 0) for name in ("seed", "from_kept", "from_rejected")}
    return FollowUp(
        made, per_item=made.per_item, people=len(people), left_out=left_out, elsewhere=elsewhere, strata=strata,
        **numbers,
    )  # fmt: skip


def _judged(sentences: list[tuple[Stratum, int, list[str]]]) -> Judged:
    whole = [choices for _, wanted, choices in sentences if choices and len(choices) >= wanted]
    neutral = sum(all(choice == NEUTRAL.code for choice in choices) for choices in whole)
    return Judged(len(sentences), len(whole), neutral, wilson(neutral, len(whole), nothing=NONE_JUDGED))


def follow_up_facts(store: Store, parent: Project) -> list[dict[str, Any]]:
    """Return the follow-up samples for papers: counts, and the shares as estimates; without names."""
    names = ("seed", "from_kept", "per_item", "people", "left_out", "elsewhere", "inside", "from_rejected")
    return [
        {name: getattr(follow_up, name) for name in names} | follow_up.strata for follow_up in follow_ups(store, parent)
    ]


def _names(people: Iterable[str]) -> set[str]:
    return {name.strip().casefold() for name in people}


def _members(store: Store, project: Project) -> set[str]:
    return _names(annotator.name for annotator in annotators(store, project, active=False))
