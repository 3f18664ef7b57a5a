"""A model of a curation: what any order of labels, skips, exports and imports must leave true."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from evenhand.annotations.files.undo_import import imports, undo
from evenhand.annotations.guideline.relabelling import send_for_relabelling
from evenhand.annotations.guideline.versions import add_guideline, guideline
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.items.gold import RULE_COLUMNS, LabelRules, decide_gold, wanted_now
from evenhand.annotations.items.wanted_labels import is_shared
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.log.verify import verify
from evenhand.annotations.pilot.pilots import close_pilot, open_pilot, start_pilot
from evenhand.annotations.projects.projects import (
    add_annotators,
    annotators,
    change_project,
    remove_annotator,
    replace_annotator,
    set_quotas,
)
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.queue.leases import LEASE_S, bases, claim
from evenhand.annotations.sampling.samples import open_sample
from evenhand.annotations.types import Annotator, Item, Operation, Project
from tests.support.projects import WORDS, broken_rules, filled_project, new_items, new_store

BEGIN = 1_800_000_000.0


PEOPLE, MOST_PEOPLE = ("Ada", "Bo", "Chen"), 6


FEW = WORDS[:4]  # two pairs, both sides


FILES = {"made.txt": 5, "more.txt": 3}  # items in each


CHOICE = st.sampled_from(("accept", "accept", "reject", "skip"))


BLIND = "SELECT choice FROM assignment JOIN label ON label.id = assignment.blind WHERE assignment.item = ?"


PUBLISHED = "JOIN batch ON batch.id = item.batch AND batch.published > 0"


WHO = st.integers(0, MOST_PEOPLE - 1)


class Desk:
    """One annotator's browser: the items it was handed, the labels not sent yet, and those it holds to be stored."""

    def __init__(self, person: Annotator) -> None:
        self.person = person
        self.items: list[Item] = []
        self.waiting: list[Operation] = []
        self.past: list[str] = []  # public ids of what it decided
        self.stands: dict[str, str] = {}


def file_of(name: str) -> Iterator[NewItem]:
    first = 1 if name == "made.txt" else 1_000
    return (replace(item, file=name) for item in new_items(FILES[name], FEW, first))


class Curation(RuleBasedStateMachine):
    """Desks that work and are cut off, while a lead changes everything."""

    @initialize(plan=st.sampled_from(("all", "stop")), retest=st.sampled_from((0.0, 0.6)))
    def start(self, plan: str, retest: float) -> None:
        self.folder = TemporaryDirectory()
        self.store = new_store(Path(self.folder.name) / "model.db")
        made, people = filled_project(self.store, FILES["made.txt"], people=PEOPLE, words=FEW, per_item=2)
        self.project: Project = change_project(
            self.store, made, plan=plan, share=0.3, retest=retest, retest_hours=0, doubled=None
        )
        self.desks = [Desk(person) for person in people]
        self.now, self.number, self.versions = BEGIN, 0, 1
        self.stored: set[str] = set()  # operations that were answered as stored
        self.begin()

    def begin(self) -> None:
        """Prepare more state; a model with further rules overrides this."""

    # The desks

    def desk(self, who: int) -> Desk:
        return self.desks[who % len(self.desks)]

    def fetch_for(self, desk: Desk, want: int) -> list[Item]:
        have = [item.uid for item in desk.items]
        items = claim(self.store, self.project, desk.person, have=have, want=want, now=self.now)
        ids = [item.uid for item in items]
        assert len(set(ids)) == len(ids) <= want
        desk.stands |= bases(self.store, desk.person, items)  # a file or the lead may have stored another label
        desk.items += [
            item for item in items if item.uid not in have
        ]  # who left and is back may be handed the same again
        return items

    def say(self, desk: Desk, uid: str, choice: str | None) -> None:
        self.number += 1
        reasons = ("name",) if choice == "reject" else ()
        version = guideline(self.store, self.project).version
        made = Operation(
            f"op{self.number}", uid, choice, f"desk of {desk.person.uid}", self.number, desk.stands.get(uid), reasons,
            guideline=version,
        )  # fmt: skip
        desk.stands[uid] = made.op_id
        desk.waiting.append(made)
        desk.items = [item for item in desk.items if item.uid != uid]
        if choice is not None and uid not in desk.past:
            desk.past.append(uid)

    def deliver_from(self, desk: Desk) -> None:
        answer_of = {entry.op_id: entry.item for entry in desk.waiting}
        for answer in store_operations(self.store, self.project, desk.person, desk.waiting, now=self.now):
            assert answer.stored, (answer.reason, answer.values)  # no action of the lead leads to a dead end
            self.stored.add(answer.op_id)
            if answer.latest and answer.conflict:
                desk.stands[answer_of[answer.op_id]] = answer.latest
        desk.waiting = []

    @rule(who=WHO, want=st.integers(1, 6))
    def fetch(self, who: int, want: int) -> None:
        self.fetch_for(self.desk(who), want)

    @rule(who=WHO, number=st.integers(1, 4), choice=CHOICE, sent=st.booleans())
    def decide(self, who: int, number: int, choice: str, sent: bool) -> None:
        desk = self.desk(who)
        if not desk.items:
            self.fetch_for(desk, 4)
        for item in desk.items[:number]:
            self.say(desk, item.uid, choice)
        if sent:
            self.deliver_from(desk)

    @rule(who=WHO, back=st.integers(0, 3), choice=st.sampled_from((None, "accept", "reject", "skip")))
    def think_again(self, who: int, back: int, choice: str | None) -> None:
        desk = self.desk(who)
        if desk.past:
            self.say(desk, desk.past[-1 - back % len(desk.past)], choice)

    @rule(who=WHO)
    def deliver(self, who: int) -> None:
        self.deliver_from(self.desk(who))

    @rule(who=WHO)
    def reload(self, who: int) -> None:
        self.desk(who).items = []

    @rule(who=WHO)
    def opinion(self, who: int) -> None:
        desk = self.desk(who)
        query = (
            "SELECT uid FROM item JOIN assignment ON item.id = item AND annotator = ? AND state = 'labelled'"
            " JOIN batch ON batch.id = item.batch AND published > 0 ORDER BY turn DESC LIMIT 1"
        )
        if row := self.store.db.execute(query, (desk.person.id,)).fetchone():
            reveal(self.store, self.project, desk.person, row[0])

    @rule()
    def everybody_is_away(self) -> None:
        self.now += LEASE_S + 1

    # The lead

    @rule(
        plan=st.sampled_from(("all", "stop")),
        per_item=st.integers(1, 3),
        share=st.sampled_from((0.0, 0.3, 1.0)),
        retest=st.sampled_from((0.0, 0.6)),
    )
    def plan(self, plan: str, per_item: int, share: float, retest: float) -> None:
        changes: dict[str, Any] = {"plan": plan, "per_item": per_item, "share": share, "retest": retest}
        if plan == "stop":
            changes["doubled"] = None
        self.project = change_project(self.store, self.project, **changes)

    @rule(number=st.integers(1, 4))
    def pilot(self, number: int) -> None:
        if open_pilot(self.store, self.project):
            close_pilot(self.store, self.project)
        elif annotators(self.store, self.project) and open_sample(self.store, self.project) is None:
            query = (
                "SELECT 1 FROM item JOIN batch ON batch.id = item.batch AND published > 0 WHERE labels = 0"
                " AND item.pilot IS NULL AND aside = 0 AND known IS NULL AND NOT EXISTS (SELECT 1 FROM assignment"
                " WHERE item = item.id AND state IN ('labelled', 'skipped'))"
            )
            if self.store.db.execute(query).fetchone():
                start_pilot(self.store, self.project, number)

    @rule(which=st.sampled_from(("none", "named", "all")))
    def new_version(self, which: str) -> None:
        now = guideline(self.store, self.project)
        reasons = [replace(reason, en=f"{reason.en}+") if reason.code == "name" else reason for reason in now.reasons]
        new = add_guideline(self.store, self.project, now.text, now.choices, reasons, changes="names")
        send_for_relabelling(self.store, self.project, new.version, which)  # type: ignore[arg-type]

    @rule(who=WHO, other=WHO)
    def replace(self, who: int, other: int) -> None:
        here = annotators(self.store, self.project)
        if not here:
            return
        old = here[who % len(here)]
        known = other < len(self.desks) and self.desks[other].person.name != old.name
        if known or len(self.desks) < MOST_PEOPLE:
            name = self.desks[other].person.name if known else f"new {len(self.desks)}"
            new = replace_annotator(self.store, self.project, old, name, now=self.now)
            self.seat(new)

    def seat(self, person: Annotator) -> None:
        if person not in [desk.person for desk in self.desks]:
            self.desks.append(Desk(person))

    @rule(who=WHO)
    def leave_or_come_back(self, who: int) -> None:
        desk = self.desk(who)
        if desk.person in annotators(self.store, self.project):
            remove_annotator(self.store, self.project, desk.person)
        else:
            add_annotators(self.store, self.project, [desk.person.name])

    @rule(quota=st.sampled_from((None, 0, 1)))
    def quotas(self, quota: int | None) -> None:
        set_quotas(self.store, self.project, {} if quota is None else {("他/她", "male"): quota})

    @rule(number=st.integers(0, 9), choice=st.sampled_from(("accept", "reject", None)))
    def hidden_gold(self, number: int, choice: str | None) -> None:
        query = "SELECT uid FROM item JOIN batch ON batch.id = item.batch AND published > 0 ORDER BY item.hash"
        if rows := self.store.db.execute(query).fetchall():
            set_known(self.store, self.project, rows[number % len(rows)][0], choice)

    @rule(name=st.sampled_from(tuple(FILES)))
    def undo_or_import_again(self, name: str) -> None:
        there = [
            import_ for import_ in imports(self.store, self.project) if import_.file == name and not import_.undone
        ]
        if there:
            undo(self.store, self.project, there[-1].key)
            return
        with Batch.begin(self.store, self.project, name) as batch:
            batch.add(file_of(name))
            batch.publish()

    # Invariants

    @invariant()
    def no_operation_is_lost(self) -> None:
        query = "SELECT op_id FROM label UNION ALL SELECT op_id FROM skip UNION ALL SELECT op_id FROM retest_label"
        results = [row[0] for row in self.store.db.execute(query)]
        assert len(results) == len(set(results)) and set(results) == self.stored

    @invariant()
    def counts_are_right(self) -> None:
        assert broken_rules(self.store) == []

    @invariant()
    def items_are_settled(self) -> None:
        query = (
            "SELECT item.id, hash, project.share, item.labels, item.status, item.aside, item.taken, settlement.choice,"
            f" project.rescue, {RULE_COLUMNS} FROM item LEFT JOIN settlement ON settlement.id = item.settlement"
            " JOIN project ON project.id = item.project JOIN batch ON batch.id = item.batch AND published > 0"
        )
        for row in self.store.db.execute(query).fetchall():
            item, identity, share, labels, status, aside, taken, decided, rescue, *rest = row
            terms = LabelRules(*rest)
            assert terms.shared == is_shared(self.project.seed, bytes(identity), share)
            choices = [row[0] for row in self.store.db.execute(BLIND, (item,))]
            wanted = wanted_now(terms, choices)
            assert (labels, terms.before) == (len(choices), wanted), (item, choices, terms)
            said = decide_gold(choices, wanted, "unanimous").status
            if decided and (decided == "reject" or said != "rejected" or rescue):
                said = "accepted" if decided == "accept" else "rejected"
            assert status == said, (item, choices, decided, terms)
            assert not aside or taken < wanted, (item, choices, terms)

    def teardown(self) -> None:
        if not hasattr(self, "store"):
            return
        try:
            self.nothing_is_stuck()
            verify(self.store)  # raises if the log is invalid
        finally:
            self.store.close()
            self.folder.cleanup()

    def nothing_is_stuck(self) -> None:
        """Check that with no open pilot and no quota, those present can label every item that needs a label."""
        if open_pilot(self.store, self.project):
            close_pilot(self.store, self.project)
        set_quotas(self.store, self.project, {})
        for desk in self.desks:
            self.deliver_from(desk)
            desk.items = []
        self.now += LEASE_S + 1
        rounds = 0
        while any([self.label_all(desk) for desk in self.desks]):  # noqa: C419 - everybody has a turn
            rounds += 1
            assert rounds < 40, "the same comes again and again"
        self.items_are_settled()
        self.counts_are_right()
        self.no_operation_is_lost()
        waiting = self.store.db.execute(
            "SELECT item.id, item.wanted, item.taken, annotator.name, coalesce(state, ''), coalesce(kept, 0) FROM item"
            " JOIN batch ON batch.id = item.batch AND published > 0 JOIN member ON member.active = 1"
            " JOIN annotator ON annotator.id = member.annotator"
            " LEFT JOIN assignment ON assignment.item = item.id AND assignment.annotator = member.annotator"
            " WHERE item.taken < wanted AND item.aside = 0 AND blind IS NULL"
            " AND (state IS NULL OR state NOT IN ('labelled', 'skipped') OR (state = 'skipped' AND skips < 2))"
        ).fetchall()
        assert waiting == []
        held = self.store.db.execute(
            f"SELECT item, annotator, kept FROM assignment JOIN item ON item.id = item {PUBLISHED}"
            " WHERE state = 'leased' AND blind IS NULL"
        ).fetchall()
        assert held == []

    def label_all(self, desk: Desk) -> int:
        items = self.fetch_for(desk, 6)
        for item in items:
            self.say(desk, item.uid, "accept" if len(item.text) % 2 else "reject")
        self.deliver_from(desk)
        return len(items)
