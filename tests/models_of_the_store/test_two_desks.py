"""Two desks of two annotators against a small model in memory: undo, redo, conflicts, resends, lost leases."""

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.labels.own import own_conflicts, own_progress
from evenhand.annotations.labels.read import each_labelled_item, label_rows
from evenhand.annotations.log.verify import verify
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.queue.assignments import set_aside_items
from evenhand.annotations.queue.leases import LEASE_S, claim
from evenhand.annotations.types import Item, Operation
from tests.support.projects import broken_rules, filled_project, new_store

PEOPLE, DESKS, ITEMS = ("Ada", "Bo"), ("left", "right"), 4


@dataclass
class Line:
    """What the model knows of one annotator and item."""

    op: str | None = None
    desk: str | None = None
    revision: int = -1
    choice: str | None = None
    blind: str | None = None
    revealed: bool = False
    rows: list[str] = field(default_factory=list)


class Desks(RuleBasedStateMachine):
    """The store and the model get equal operations and must give equal answers."""

    @initialize()
    def start(self) -> None:
        self.folder = TemporaryDirectory()
        self.store = new_store(Path(self.folder.name) / "model.db")
        self.project, self.people = filled_project(self.store, ITEMS, people=PEOPLE, per_item=2)
        self.items: list[Item] = claim(self.store, self.project, self.people[0], now=0)
        self.lines = {(who, n): Line() for who in range(len(PEOPLE)) for n in range(ITEMS)}
        self.sent: list[tuple[int, Operation]] = []
        self.now, self.number = 1.0, 0
        # the labels that each desk believes to be stored, known from its own answers alone
        self.believed: dict[tuple[int, str, int], str | None] = {}

    def operation(self, who: int, desk: str, n: int, choice: str | None, *, lost: bool) -> Operation:
        self.number += 1
        base = "lost on the way" if lost else self.believed.get((who, desk, n))
        reasons = ("name",) if choice == "reject" else ()
        return Operation(f"op{self.number}", self.items[n].uid, choice, desk, self.number, base, reasons)

    def expect(self, who: int, n: int, operation: Operation) -> bool:
        """Bring the model up to date; whether another desk was first."""
        line = self.lines[who, n]
        if operation.choice != "skip":
            line.rows.append(operation.op_id)
        newer = line.desk == operation.desk and operation.revision > line.revision
        if not (line.op is None or operation.base == line.op or newer):
            return line.desk != operation.desk
        line.op, line.desk, line.revision = operation.op_id, operation.desk, operation.revision
        line.choice = None if operation.choice in (None, "skip") else operation.choice
        if not line.revealed:
            line.blind = line.choice
        return False

    @rule(
        who=st.integers(0, 1),
        desk=st.sampled_from(DESKS),
        n=st.integers(0, ITEMS - 1),
        choice=st.sampled_from(("accept", "reject", None, "skip")),
        lost=st.integers(0, 5).map(lambda value: value == 0),
    )
    def decide(self, who: int, desk: str, n: int, choice: str | None, lost: bool) -> None:
        operation = self.operation(who, desk, n, choice, lost=lost)
        conflict = self.expect(who, n, operation)
        answer = store_operations(self.store, self.project, self.people[who], [operation], now=self.now)[0]
        assert (answer.stored, answer.conflict) == (True, conflict)
        assert answer.latest == self.lines[who, n].op
        self.believed[who, desk, n] = answer.latest
        self.sent.append((who, operation))

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def resend(self, data: st.DataObject) -> None:
        who, operation = data.draw(st.sampled_from(self.sent))
        assert store_operations(self.store, self.project, self.people[who], [operation], now=self.now)[0].stored

    @rule(who=st.integers(0, 1), n=st.integers(0, ITEMS - 1))
    def show(self, who: int, n: int) -> None:
        line = self.lines[who, n]
        if line.choice is not None:
            reveal(self.store, self.project, self.people[who], self.items[n].uid)
            line.revealed = True

    @rule(who=st.integers(0, 1), want=st.integers(0, 5), late=st.booleans())
    def fetch(self, who: int, want: int, late: bool) -> None:
        self.now += LEASE_S + 1 if late else 1
        items = claim(self.store, self.project, self.people[who], want=want, now=self.now)
        assert len(items) <= want and len({item.uid for item in items}) == len(items)
        labelled = {self.items[n].uid for n in range(ITEMS) if self.lines[who, n].choice is not None}
        assert not labelled & {item.uid for item in items}

    @invariant()
    def same_rows(self) -> None:
        rows = label_rows(self.store, self.project, which="all")
        assert sorted(row["op_id"] for row in rows) == sorted(op for line in self.lines.values() for op in line.rows)
        for which, field_name in (("latest", "choice"), ("blind", "blind")):
            results = {
                (row["annotator"], row["item"]): row["choice"]
                for row in label_rows(self.store, self.project, which=which)  # type: ignore[arg-type]
            }
            expected = {
                (PEOPLE[who], self.items[n].uid): getattr(line, field_name)
                for (who, n), line in self.lines.items()
                if getattr(line, field_name) is not None
            }
            assert results == expected

    @invariant()
    def read_once_as_read_thrice(self) -> None:
        read = list(each_labelled_item(self.store, self.project))
        for which, name in (("all", "every"), ("latest", "latest"), ("blind", "blind")):
            rows = label_rows(self.store, self.project, which=which)  # type: ignore[arg-type]
            assert [row for desk in read for row in getattr(desk, name)] == rows

    @invariant()
    def same_counts(self) -> None:
        assert broken_rules(self.store) == []
        blind = [[self.lines[who, n].blind for who in range(len(PEOPLE))] for n in range(ITEMS)]
        totals = counts(self.store, self.project)
        assert totals.accepted == sum(row == ["accept", "accept"] for row in blind)
        assert totals.rejected == sum(None not in row and "reject" in row for row in blind)
        for who, person in enumerate(self.people):
            own = [self.lines[who, n].choice for n in range(ITEMS)]
            assert own_progress(self.store, self.project, person).labelled == sum(choice is not None for choice in own)
            assert {conflict.op_id for conflict in own_conflicts(self.store, self.project, person)} <= {
                op for (owner, _), line in self.lines.items() if owner == who for op in line.rows
            }
        assert len(set_aside_items(self.store, self.project)) == totals.aside

    def teardown(self) -> None:
        if hasattr(self, "store"):
            verify(self.store)  # raises if the log is invalid
            self.store.close()
            self.folder.cleanup()


TestDesks = Desks.TestCase
TestDesks.settings = settings(max_examples=12, stateful_step_count=16, deadline=None)
