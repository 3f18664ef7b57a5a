"""The people of a study, from consent to code or withdrawal. They have a pseudonym; their outside id is kept apart.

A cookie of the browser identifies a participant. The ids in the address are not signed, so they do not open the part of
a participant, unless the service names the same session again.

Timestamps in the database are of the machine's clock. That clock jumps when it is set, and runs on while a server is
suspended. So a process ends a participant's part only after it has itself seen that much time pass by a clock that
cannot be set (`Watched`).
"""

import hashlib
import json
import math
import secrets
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from threading import Lock
from typing import Literal, NamedTuple

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store, delete_rows, in_list, insert, update_rows
from evenhand.annotations.desk.session import InvitedDesk
from evenhand.annotations.items.changes import look_again
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.labels.operations import insert_label
from evenhand.annotations.projects.annotators import annotator, join, remove_annotator
from evenhand.annotations.projects.consent import TEXTS, store_consent
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.queue.assignments import exclude_item, restore_assignment, update_set_aside
from evenhand.annotations.queue.leases import LEASE_S, claim
from evenhand.annotations.queue.retests import void_all_retests
from evenhand.annotations.study.studies import (
    TRIES,
    Consent,
    Outcome,
    Study,
    every_study,
    questions_of_try,
    right_answers,
    study_of_uid,
)
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_, NotAllowed, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.language import Language, translate

State = Literal["test", "ready", "working", "finished", "screened_out", "withdrew", "timed_out"]
PRESENT: tuple[State, ...] = ("test", "ready", "working")
FULL = N_("This study is full. Thank you for your interest.")
PAUSED = N_("This study is paused. Please try again later.")
TAKEN_PART = N_("This id has already been used to take part. Continue in the browser you started in.")
NOT_YET = N_("You still have texts to judge.")
DAY_S = 24 * 3600.0


class Outside(NamedTuple):
    """The ids that the service gave a participant: of the person, the task and the session."""

    id: str
    task: str
    session: str


@dataclass(frozen=True, slots=True)
class Participant:
    """A participant. `pseudonym`: of the annotator, None before the first text is shown; times in unix seconds."""

    id: int
    uid: str
    study: int
    state: State
    consent: int
    tries: int
    right: int | None
    came: float
    begun: float | None
    completed: float | None
    ended: float | None
    annotator: int | None
    pseudonym: str | None
    labelled: int
    seen: float

    @property
    def outcome(self) -> Outcome | None:
        """The outcome whose code this person gets; a participant who withdraws after finishing is still paid for it."""
        if self.completed is not None:
            return "finished"
        outcomes: dict[State, Outcome] = {"screened_out": "screened_out", "withdrew": "withdrew"}
        return outcomes.get(self.state)


# Requests of the desk renew `member.seen`, which lies a lease ahead.
_SEEN = f"""max(person.seen, coalesce((SELECT seen FROM member
        WHERE member.annotator = person.annotator AND member.project = study.project), 0) - {LEASE_S})"""
_QUERY = f"""
SELECT person.id, person.uid, person.study, person.state, consent.version AS consent, tries, right, came, begun,
    completed, ended, annotator.id AS annotator, annotator.name AS pseudonym,
    coalesce((SELECT sum(labelled) FROM tally JOIN cell ON cell.id = tally.cell
        WHERE tally.annotator = person.annotator AND cell.project = study.project), 0) AS labelled,
    {_SEEN} AS seen
FROM study_person AS person JOIN study ON study.id = person.study
    JOIN study_consent AS consent ON consent.id = person.consent
    LEFT JOIN annotator ON annotator.id = person.annotator
"""


def participants(store: Store, study: Study) -> list[Participant]:
    """Return the participants of a study, in the order in which they came."""
    return store.rows(Participant, f"{_QUERY} WHERE person.study = ? ORDER BY person.id", (study.id,))


def participant(store: Store, study: Study, held: Iterable[str]) -> Participant | None:
    """Return the participant of a study to whom a secret of a browser belongs, None if none does."""
    query = f"{_QUERY} WHERE person.study = ? AND person.hash = ?"
    people = (store.row(Participant, query, (study.id, _hash(secret))) for secret in held)
    return next(filter(None, people), None)


def participant_again(store: Store, study: Study, who: Participant) -> Participant:
    """Return the same participant, read from the database again."""
    (person,) = store.rows(Participant, f"{_QUERY} WHERE person.study = ? AND person.id = ?", (study.id, who.id))
    return person


def participant_of_id(store: Store, study: Study, outside: str) -> Participant | None:
    """Return the participant with that id of the service, None if unknown or the id is erased."""
    query = f"{_QUERY} JOIN study_identity AS identity ON identity.person = person.id"
    return store.row(Participant, f"{query} WHERE person.study = ? AND outside = ?", (study.id, outside.strip()))


def outcomes_by_id(store: Store, study: Study) -> list[tuple[str, State]]:
    """Return (id of the service, state) of the participants whose id is stored, for the payment; without pseudonyms."""
    query = (
        "SELECT outside, state FROM study_identity AS identity JOIN study_person ON study_person.id = identity.person"
        " WHERE identity.study = ? ORDER BY outside"
    )
    return store.db.execute(query, (study.id,)).fetchall()


def agree(
    store: Store,
    study: Study,
    consent: Consent,
    language: Language,
    outside: Outside | None,
    *,
    given: Collection[str] = (),
    now: float | None = None,
    seen: float = math.inf,
) -> str:
    """Store a new participant who agrees to a version of the consent; return the secret for the cookie.

    *given*: the uses of labels to which they agree. A participant who comes again under the same id and session
    continues in the same state. If all places are taken, those of people who are away too long become free (*seen* as
    in `sweep`). Raises Refused if the study is closed, full or paused by a pilot, NotAllowed for an id that has taken
    part.
    """
    moment, secret = _now(now), secrets.token_urlsafe(24)
    if _is_full(store, study):
        sweep(store, study, now=moment, seen=seen)
    with store.write() as db:
        query = "SELECT person, session FROM study_identity WHERE study = ? AND outside = ?"
        if outside is not None and (row := db.execute(query, (study.id, outside.id)).fetchone()):
            if not outside.session or row[1] != outside.session:
                raise NotAllowed(TAKEN_PART)
            update_rows(db, "study_person", {"hash": _hash(secret), "seen": moment}, id=row[0])
            return secret
        if study_of_uid(store, study.uid).closed or _is_full(store, study):
            raise Refused(FULL)
        if store.has("open_pilot JOIN study ON study.project = open_pilot.project WHERE study.id = ?", (study.id,)):
            raise Refused(PAUSED)
        state = "test" if study.settings.questions else "ready"
        values = {
            "uid": uuid.uuid4().hex, "study": study.id, "hash": _hash(secret), "state": state, "consent": consent.id,
            "consent_language": language, "consent_hash": consent.hash(language), "consented": timestamp(moment),
            "came": moment, "seen": moment,
        }  # fmt: skip
        person = insert(db, "study_person", values)
        for use in consent.uses:
            answer = {"use": use, "given": int(use in given), "text": translate(TEXTS[use], language)}
            insert(db, "study_answer", {"person": person} | answer)
        if outside is not None:
            known = {"outside": outside.id, "session": outside.session, "task": outside.task}
            insert(db, "study_identity", {"person": person, "study": study.id} | known)
    return secret


def answer_test(store: Store, study: Study, who: Participant, answers: Mapping[str, str]) -> None:
    """Store a try of the test: passed, once more, or screened out. The same try sent twice counts once."""
    right = right_answers(questions_of_try(store, study, who.uid, who.tries), answers)
    moment, tries = time.time(), who.tries + 1
    state = "ready" if right >= study.settings.pass_mark else "test" if tries < TRIES else "screened_out"
    with store.write() as db:
        ended = moment if state == "screened_out" else None
        values = {"tries": tries, "right": right, "state": state, "seen": moment, "ended": ended}
        update_rows(db, "study_person", values, id=who.id, state="test", tries=who.tries)


def begin(store: Store, study: Study, who: Participant, *, now: float | None = None) -> None:
    """Make the participant an annotator of the project under a random name, before the first text is shown."""
    moment, name = _now(now), f"P-{secrets.token_hex(5)}"
    met = _items_of_test(store, study, who)
    with store.write() as db:
        if participant_again(store, study, who).state != "ready":
            return
        project = project_by_uid(store, study.project)
        join(store, project, [name])
        made = annotator(store, project, name)
        record(store, project, "joined", annotator=made, name=name, study=study.name)
        _take_answers(store, project, made, who)
        for item in met:
            exclude_item(db, project.id, made.id, item)
            update_set_aside(store, project, item)
        values = {"state": "working", "annotator": made.id, "begun": moment, "seen": moment}
        update_rows(db, "study_person", values, id=who.id)


def _take_answers(store: Store, project: Project, made: Annotator, who: Participant) -> None:
    """Store the participant's answers about uses of their labels as those of the new annotator."""
    query = (
        "SELECT use, given, consent_language, text FROM study_answer AS one"
        " JOIN study_person ON study_person.id = person WHERE person = ? ORDER BY one.id"
    )
    for use, given, language, text in store.db.execute(query, (who.id,)).fetchall():
        store_consent(store, project, made, use, bool(given), "annotator", language, text)


def _items_of_test(store: Store, study: Study, who: Participant) -> list[int]:
    """Return the items (row ids) whose texts were in the participant's test: people judge a known text differently."""
    texts = {question.text for tries in range(who.tries) for question in questions_of_try(store, study, who.uid, tries)}
    query = (
        "SELECT item.id FROM published_item AS item JOIN project ON project.id = item.project"
        f" WHERE project.uid = ? AND item.text {in_list('?')} ORDER BY item.id"
    )
    return store.column(query, (study.project, json.dumps(sorted(texts)))) if texts else []


def finish(store: Store, study: Study, who: Participant) -> None:
    """Store that the participant has finished. Raises Refused while texts are left for them."""
    if who.state != "working":
        return
    if who.labelled < study.settings.items and claim(store, *desk_of(store, study, who), want=1):
        raise Refused(NOT_YET)
    with store.write() as db:
        moment = time.time()
        end(store, study, who, "finished", moment)
        update_rows(db, "study_person", {"completed": moment}, id=who.id, completed=None)


def end(store: Store, study: Study, who: Participant, state: State, moment: float) -> None:
    """End a participant's part inside the caller's transaction: items at hand go back to the queue."""
    store.db.execute(
        "UPDATE study_person SET state = ?, ended = coalesce(ended, ?), seen = max(seen, ?) WHERE id = ?",
        (state, moment, who.seen, who.id),
    )
    if who.annotator is not None:
        remove_annotator(store, *desk_of(store, study, who))


def desk_of(store: Store, study: Study, who: Participant) -> tuple[Project, Annotator]:
    """Return the project and the annotator of a participant at work."""
    project = project_by_uid(store, study.project)
    return project, annotator(store, project, who.pseudonym or "")


def desks(store: Store, held: Iterable[str]) -> dict[str, InvitedDesk]:
    """Return the desks (by public id of the annotator) at which the browser with these secrets may work now."""
    result: dict[str, InvitedDesk] = {}
    for secret in held:
        row = store.db.execute(
            "SELECT annotator.uid, project.uid, items, cover FROM study_person AS person"
            " JOIN study ON study.id = person.study JOIN project ON project.id = study.project"
            " JOIN annotator ON annotator.id = person.annotator WHERE person.hash = ? AND person.state = 'working'",
            (_hash(secret),),
        ).fetchone()
        if row:
            result[row[0]] = InvitedDesk(row[1], row[2], bool(row[3]))
    return result


def _is_full(store: Store, study: Study) -> bool:
    here = "study_person WHERE study = ? AND state IN ('test', 'ready', 'working', 'finished')"
    return store.count(here, (study.id,)) >= study.settings.places


def sweep(
    store: Store, study: Study, who: Participant | None = None, *, now: float | None = None, seen: float = math.inf
) -> int:
    """End the part of people who are away for too long; return how many. Erase outside ids whose time is over.

    *who*: only the part of this person, and no ids. *seen*: for how many seconds the caller has watched the clock
    (`Watched`); below the longest permitted absence, nothing is done. Without it the clock is trusted.
    """
    moment, longest = _now(now), study.settings.minutes * 60
    if seen < longest:
        return 0
    # As a condition, since the labels of a person are counted for those only who are found.
    query = f"{_QUERY} WHERE person.study = :study AND person.state IN {PRESENT} AND {_SEEN} < :before"
    values = {"study": study.id, "before": moment - longest, "who": who.id if who else None}
    away = store.rows(Participant, f"{query} AND person.id = ifnull(:who, person.id)", values)
    query = (
        "SELECT person FROM study_identity WHERE person IN (SELECT id FROM study_person WHERE study = ? AND ended < ?)"
    )
    old = [] if who else store.column(query, (study.id, moment - study.settings.keep_days * DAY_S))
    if not away and not old:
        return 0
    with store.write() as db:
        for stored_participant in away:
            end(store, study, stored_participant, "timed_out", moment)
        delete_rows(db, "study_identity", person=tuple(old))
    return len(away)


def sweep_all(store: Store, *, seen: float = math.inf) -> int:
    """Sweep every study (`sweep`), as the server does once a minute, and the command; return how many were away."""
    return sum(sweep(store, study, seen=seen) for study in every_study(store))


def _now(now: float | None) -> float:
    return time.time() if now is None else now


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


JUMP_S = 30.0  # between two looks; a clock that is put right bit by bit drifts by 2 s an hour


class Watched:
    """The watch of one process over its clock; safe for threads."""

    def __init__(
        self, clock: Callable[[], float] = lambda: time.time(), steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._steady, self._lock = clock, steady, Lock()
        self._since = steady()
        self._offset = clock() - self._since

    def seconds(self) -> float:
        """Return for how long this process has seen its clock run without a jump. Call it about once a minute."""
        with self._lock:
            now = self._steady()
            offset = self._clock() - now
            if abs(offset - self._offset) > JUMP_S:
                self._since = now
            self._offset = offset
            return now - self._since


watched = Watched()  # by this process


LEAST_LABELS = 5  # of one participant at work, before the time that all will take is estimated from it


@dataclass(frozen=True, slots=True)
class Pay:
    """Median minutes from consent to the last label, and the reward per hour; None while no participant has them.

    `people`, `minutes`, `hourly`: of participants who have finished. `..._at_work`: of those at work, extrapolated to
    all their texts. `below`: whether one of the two hourly values is under the lead's floor.
    """

    people: int
    minutes: float | None
    hourly: float | None
    people_at_work: int
    minutes_at_work: float | None
    hourly_at_work: float | None
    below: bool


def pay(study: Study, people: Sequence[Participant]) -> Pay:
    """Return the pay of a study by its *people* so far, from the consent on: test and instructions are work too."""
    done = [(person.completed - person.came) / 60 for person in people if person.completed is not None]
    going = [
        (person.seen - person.came) / 60 * study.settings.items / person.labelled
        for person in people
        if person.state == "working" and person.labelled >= LEAST_LABELS
    ]
    minutes, expected = (median(times) if times else None for times in (done, going))
    hourly, hourly_at_work = (study.settings.reward * 60 / time if time else None for time in (minutes, expected))
    below = any(value is not None and value < study.settings.floor for value in (hourly, hourly_at_work))
    return Pay(len(done), minutes, hourly, len(going), expected, hourly_at_work, below)


CHUNK = 500  # labels per transaction, so that desks need not wait
WITHDRAWN = "withdrawn"  # the desk of the rows that take labels back
_STANDING = """
SELECT assignment.item, label.id, label.op_id, label.guideline, label.form_shown, assignment.revealed
FROM assignment JOIN label ON label.id = coalesce(assignment.latest, assignment.blind)
WHERE assignment.project = ? AND assignment.annotator = ? LIMIT ?
"""


def withdraw(store: Store, study: Study, who: Participant, *, now: float | None = None) -> int:
    """End a participant's part and withdraw the labels; return how many. A repeated call continues an interrupted one.

    The desk is closed first, so no label is stored after it. The last transaction stores the event `labels_withdrawn`.
    """
    moment, taken = time.time() if now is None else now, 0
    with store.write():
        end(store, study, who, "withdrew", moment)
    if who.annotator is None:
        return 0
    project, annotator = desk_of(store, study, who)
    while True:
        with store.write() as db:
            rows = db.execute(_STANDING, (project.id, annotator.id, CHUNK)).fetchall()
            for row in rows:
                _take_back(store, project, annotator.id, *row)
            void_all_retests(db, project.id, annotator.id)
            look_again(db, project.id)
            taken += len(rows)
            if len(rows) < CHUNK:
                if taken:
                    record(store, project, "labels_withdrawn", annotator=annotator, study=study.name, labels=taken)
                return taken


def finish_withdrawals(store: Store) -> None:
    """Continue withdrawals that a killed process left unfinished."""
    query = (
        "SELECT DISTINCT study.uid, person.uid FROM study_person AS person JOIN study ON study.id = person.study"
        " JOIN assignment ON assignment.annotator = person.annotator AND assignment.project = study.project"
        " WHERE person.state = 'withdrew' AND coalesce(assignment.latest, assignment.blind) IS NOT NULL"
    )
    for study_uid, uid in store.db.execute(query).fetchall():
        study = study_of_uid(store, study_uid)
        withdraw(
            store,
            study,
            next(
                stored_participant for stored_participant in participants(store, study) if stored_participant.uid == uid
            ),
        )


def _take_back(
    store: Store, project: Project, annotator: int, item: int, label: int, op: str, guideline: int, form: str,
    revealed: str | None,
) -> None:  # fmt: skip
    values = {
        "op_id": uuid.uuid5(uuid.NAMESPACE_OID, f"withdrawn|{store.uid}|{label}").hex,
        "project": project.id, "item": item, "annotator": annotator, "guideline": guideline, "choice": None,
        "form_shown": form, "desk": WITHDRAWN, "revision": 0, "base": op, "created": timestamp(),
        "after_reveal": int(revealed is not None),
    }  # fmt: skip
    insert_label(store.db, values)
    nothing = {"state": "released", "latest": None, "blind": None, "revealed": revealed, "kept": 0}
    restore_assignment(store.db, item, annotator, nothing)
    recount_item(store, item)
    update_set_aside(store, project, item)
