"""Judges and their labels: appended, never changed, apart from those of people.

A judge is the same as long as nothing changes that can change a label (`Spec.hash`): started again, it goes on with the
items that it has not labelled. With another prompt, model or decoding it is another judge.
"""

import hashlib
import json
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from sqlite3 import Connection
from typing import Any, ClassVar, Literal

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store, insert, into
from evenhand.annotations.guideline.versions import guideline, guidelines
from evenhand.annotations.types import Guideline, Project
from evenhand.core.errors import N_, EvenhandError, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.judges.prompts import JudgeLabel

Kind = Literal["rule", "model", "server", "file"]
CHUNK = 250  # rows of a transaction: people may be labelling
PAUSE_S = 0.01  # between transactions, so that labels of people get their turn
LONGEST_NAME = 120
RULE_NAME = N_("first-pronoun rule")  # of the rule, unless it is given another one
ADDED, CHOSEN, LABELLED = "judge_added", "judge_margin", "judge_labelled"  # events of a project


@dataclass(frozen=True, slots=True)
class Spec:
    """All that decides what a judge says. `guideline`: the version whose choices it gives.

    `model`, `address`: of a model or a server; `system`, `prompt`: as they are sent, before a text is put in;
    `settings`: decoding, examples, how the answer is constrained.
    """

    kind: Kind
    guideline: int
    signature: str
    model: str = ""
    address: str = ""
    system: str = ""
    prompt: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """SHA-256 over every field, 64 hexadecimal digits."""
        text = json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of a project; `labels`: how many items it has labelled, `eps`: see `choose_margin`."""

    id: int
    uid: str
    name: str
    spec: Spec
    created: str
    labels: int
    eps: float | None
    eps_labels: int | None = None  # how many labels it had given when its eps was chosen
    eps_chosen: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The labels of one round that one model gave, by what the server says of itself, and from when to when."""

    round: int
    model: str
    labels: int
    first: str
    last: str


NO_JUDGE = N_("This project has no judge named {name}.")
_JUDGES = """
SELECT judge.id, uid, name, kind, guideline.version, signature, model, address, system, prompt, settings, judge.created,
    (SELECT count(*) FROM judge_label WHERE judge = judge.id AND round = 0 AND EXISTS
        (SELECT 1 FROM published_item WHERE published_item.id = judge_label.item)),
    eps, labels, judge_margin.created
FROM judge JOIN guideline ON guideline.id = judge.guideline LEFT JOIN judge_margin ON judge_margin.judge = judge.id
WHERE judge.project = ? ORDER BY judge.id
"""
_STATE_OF = ("judge", "judge_label", "judge_failure", "judge_margin")


def judges(store: Store, project: Project) -> list[Judge]:
    """Return the judges of a project, the oldest first."""
    return [_judge(row) for row in store.db.execute(_JUDGES, (project.id,)).fetchall()]


def _judge(row: Sequence[Any]) -> Judge:
    judge_id, uid, name, kind, version, signature, model, address, system, prompt, settings, created, *rest = row
    spec = Spec(kind, version, signature, model, address, system, prompt, json.loads(settings))
    return Judge(judge_id, uid, name, spec, created, *rest)


def judge(store: Store, project: Project, name: str) -> Judge:
    """Return the judge of that name. Raises NotFound."""
    result = next((stored_judge for stored_judge in judges(store, project) if stored_judge.name == name.strip()), None)
    if result is None:
        raise NotFound(NO_JUDGE, name=name)
    return result


def state_of_judges(store: Store) -> tuple[str, ...]:
    """Return a value that changes with each added judge or label of one; takes four look-ups in indexes."""
    return tuple(str(store.newest(table)) for table in _STATE_OF)


def add_judge(store: Store, project: Project, name: str, spec: Spec, *, author: str = "") -> Judge:
    """Return the judge of *spec*, added if it does not exist; *name* "": made of model and number.

    An existing judge keeps its name. Raises Refused for a name that another judge has, or that is too long.
    """
    there = store.db.execute(
        "SELECT name FROM judge WHERE project = ? AND hash = ?", (project.id, spec.hash)
    ).fetchone()
    if there:
        return judge(store, project, there[0])
    taken = {stored_judge.name for stored_judge in judges(store, project)}
    wanted = name.strip() or _free_name(spec, taken)
    if len(wanted) > LONGEST_NAME:
        raise Refused(N_("The name of a judge has at most {most} characters."), most=LONGEST_NAME)
    if wanted in taken:
        message = N_(
            "There is already a judge named {name} with a different prompt, model or setting. Choose another name."
        )
        raise Refused(message, name=wanted)
    version = guideline(store, project, spec.guideline)
    values = {key: getattr(spec, key) for key in ("kind", "model", "address", "system", "prompt", "hash", "signature")}
    values |= {
        "uid": uuid.uuid4().hex, "project": project.id, "name": wanted, "guideline": version.id,
        "settings": json.dumps(spec.settings, ensure_ascii=False, sort_keys=True), "created": timestamp(),
    }  # fmt: skip
    with store.write() as db:
        restore_judge(db, values)
        record(store, project, ADDED, author=author, judge=wanted, signature=spec.signature)
    return judge(store, project, wanted)


def _free_name(spec: Spec, taken: set[str]) -> str:
    base = {"rule": RULE_NAME, "file": "file"}.get(spec.kind, spec.model.rstrip("/").rpartition("/")[2])
    base = base[: LONGEST_NAME - 10] or spec.kind
    return next(text for n in range(1, len(taken) + 2) if (text := base if n == 1 else f"{base} {n}") not in taken)


def choices_of(store: Store, project: Project, version: int | None = None) -> Guideline:
    """Return the version of the guideline whose choices a judge gives; None: the newest."""
    return guidelines(store, project)[-1] if version is None else guideline(store, project, version)


def store_labels(store: Store, stored_judge: Judge, labels: Iterable[JudgeLabel]) -> int:
    """Append labels; items that this judge has labelled in this round stay. Returns how many are new.

    Short transactions with pauses between them.
    """
    new, source = 0, iter(labels)
    while some := list(islice(source, CHUNK)):
        now = timestamp()
        rows = [_row(stored_judge.id, judge_label, now) for judge_label in some]
        with store.write() as db:
            new += db.executemany(_INSERT, rows).rowcount
            db.executemany(
                _FIRST,
                [
                    (judge_label.first, stored_judge.id, judge_label.item, judge_label.round)
                    for judge_label in some
                    if judge_label.first
                ],
            )
        if len(some) == CHUNK:
            time.sleep(PAUSE_S)
    return new


_COLUMNS = (
    *("judge", "item", "round", "choice", "extraneous", "spans", "shares", "samples", "answered", "tokens_in"),
    *("tokens_out", "seconds", "created"),
)
_INSERT = f"{into('judge_label', _COLUMNS)} ON CONFLICT (judge, item, round) DO NOTHING"

# Of a label that was there before, what stood first is there too.
_FIRST = (
    "INSERT INTO judge_order (label, item, place) SELECT id, item, ? FROM judge_label"
    " WHERE judge = ? AND item = ? AND round = ? ON CONFLICT DO NOTHING"
)


def _row(judge_id: int, label: JudgeLabel, now: str) -> dict[str, Any]:
    values = {name: getattr(label, name) for name in _COLUMNS if name not in ("judge", "created")}
    shares = {choice: round(share, 6) for choice, share in (label.shares or {}).items()}
    return values | {
        "judge": judge_id, "extraneous": None if label.extraneous is None else int(label.extraneous),
        "spans": json.dumps([list(span) for span in label.spans]),
        "shares": None if label.shares is None else json.dumps(shares),
        "answered": label.answered[:200], "created": now,
    }  # fmt: skip


def store_failure(store: Store, stored_judge: Judge, item: int, why: EvenhandError, round: int = 0) -> None:
    """Store the reason why an item (row id) has no label; *round* counts repetitions from 1."""
    values = {key: value if isinstance(value, int | float) else str(value)[:300] for key, value in why.values.items()}
    with store.write() as db:
        insert(db, "judge_failure", {
            "judge": stored_judge.id, "item": item, "round": round, "message": why.message,
            "data": json.dumps(values, ensure_ascii=False), "created": timestamp(),
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """An item (public id) without a label of a judge, its text and the last reason.

    `final`: another run cannot label it either; only a server may answer otherwise the next time.
    """

    item: str
    text: str
    message: str
    values: dict[str, Any]
    tries: int
    final: bool
    json_names: ClassVar = {"text": None, "message": None, "values": None}
    also_in_json: ClassVar = ("reason",)

    @property
    def reason(self) -> str:
        """The last reason in English."""
        return self.message.format(**self.values) if self.values else self.message


_FAILURES = """
SELECT item.uid, item.text, message, data, count(*), max(judge_failure.id) FROM judge_failure
JOIN published_item AS item ON item.id = judge_failure.item
WHERE judge = ? AND round = 0 AND NOT EXISTS
    (SELECT 1 FROM judge_label WHERE judge_label.judge = judge_failure.judge AND judge_label.item = judge_failure.item
        AND judge_label.round = 0)
GROUP BY judge_failure.item ORDER BY judge_failure.item
"""


def failures(store: Store, stored_judge: Judge) -> list[Failure]:
    """Return the items that a judge could not label, in the order of import."""
    rows = store.db.execute(_FAILURES, (stored_judge.id,)).fetchall()
    final = stored_judge.spec.kind != "server"
    return [
        Failure(uid, text, message, json.loads(data), tries, final) for uid, text, message, data, tries, _last in rows
    ]


def choose_margin(store: Store, project: Project, stored_judge: Judge, eps: float, *, author: str = "") -> Judge:
    """Record the margin of a judge in the alternative annotator test permanently, with the number of its labels so far.

    Raises Refused if another eps was recorded, or if *eps* is not from 0 to 1.
    """
    if not 0 <= eps <= 1:
        raise Refused(N_("eps must be from 0 to 1."))
    now = judge(store, project, stored_judge.name)
    if now.eps is not None:
        if now.eps == eps:
            return now
        raise Refused(N_("This judge was recorded with an eps of {eps}, which cannot be changed."), eps=f"{now.eps:g}")
    with store.write() as db:
        restore_margin(db, {"judge": now.id, "eps": eps, "labels": now.labels, "created": timestamp()})
        record(store, project, CHOSEN, author=author, judge=now.name, eps=eps, labels=now.labels)
    return judge(store, project, stored_judge.name)


def restore_judge(db: Connection, values: Mapping[str, Any]) -> bool:
    """Store a judge, a value a column; whether it is new. One with its id, name or hash stays."""
    return insert(db, "judge", values, "ON CONFLICT DO NOTHING") > 0


def restore_label(db: Connection, values: Mapping[str, Any], first: str | None = None) -> bool:
    """Store a label of a judge, a value a column; whether it is new. *first*: of a comparison, see `JudgeLabel`."""
    new = bool(db.execute(_INSERT, dict(values)).rowcount)
    if new and first is not None:
        db.execute(_FIRST, (first, values["judge"], values["item"], values["round"]))
    return new


def restore_margin(db: Connection, values: Mapping[str, Any]) -> bool:
    """Store the margin that was chosen for a judge; whether it is new."""
    return insert(db, "judge_margin", values, "ON CONFLICT (judge) DO NOTHING") > 0


def labelled_items(store: Store, stored_judge: Judge, round: int = 0) -> set[int]:
    """Return the row ids of the items that a judge has labelled in a round."""
    rows = store.db.execute("SELECT item FROM judge_label WHERE judge = ? AND round = ?", (stored_judge.id, round))
    return {row[0] for row in rows}


def last_round(store: Store, stored_judge: Judge) -> int:
    """Return the number of the last round in which a judge was asked; 0 for the first, or before it."""
    return max((answered.round for answered in answers_by_model(store, stored_judge)), default=0)


def first_labels(store: Store, stored_judge: Judge) -> list[tuple[str, str, int | None, str, str | None, str]]:
    """Return item (public id), choice, flag, marks, shares (both JSON) and the model that answered, of the first round.

    Of published items.
    """
    query = (
        "SELECT item.uid, choice, extraneous, spans, shares, answered FROM judge_label"
        " JOIN published_item AS item ON item.id = judge_label.item WHERE judge = ? AND round = 0"
    )
    return store.db.execute(query, (stored_judge.id,)).fetchall()


def changed_labels(store: Store, stored_judge: Judge) -> list[tuple[int, str, str, int]]:
    """Return round, label at first, label then, and the number of items, for the later rounds of a judge."""
    query = (
        "SELECT now.round, first.choice, now.choice, count(*) FROM judge_label AS now JOIN judge_label AS first"
        " ON first.judge = now.judge AND first.item = now.item AND first.round = 0"
        " WHERE now.judge = ? AND now.round > 0 GROUP BY 1, 2, 3"
    )
    return store.db.execute(query, (stored_judge.id,)).fetchall()


def answers_by_model(store: Store, stored_judge: Judge) -> list[Answered]:
    """Return the labels of each round by the model that the server named, in the order of the rounds."""
    query = (
        "SELECT round, answered AS model, count(*) AS labels, min(created) AS first, max(created) AS last"
        " FROM judge_label WHERE judge = ? GROUP BY round, answered ORDER BY round, min(id)"
    )
    return store.rows(Answered, query, (stored_judge.id,))


def mean_cost(store: Store, project: Project, spec: Spec) -> tuple[float | None, float | None, float | None, int]:
    """Return the mean tokens sent and answered, the mean seconds, and on how many labels these rest.

    Over the timed labels by the same model in projects of the same kind.
    """
    query = (
        "SELECT avg(tokens_in), avg(tokens_out), avg(seconds), count(*) FROM judge_label"
        " JOIN judge ON judge.id = judge_label.judge JOIN project ON project.id = judge.project"
        " WHERE judge.kind = ? AND judge.model = ? AND judge.address = ? AND seconds IS NOT NULL AND project.kind = ?"
    )
    values = (spec.kind, spec.model, spec.address, project.kind)
    means: tuple[float | None, float | None, float | None, int] = store.db.execute(query, values).fetchone()
    return means
