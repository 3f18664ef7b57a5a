"""A release of any history of a project passes its own checks: no check calls an honest release different."""

import tempfile
from pathlib import Path

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from evenhand.annotations.adjudication.decisions import case, cases, decide_case
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.verify import verify_frozen
from evenhand.core.errors import Refused
from tests.support.paper_history import History
from tests.support.projects import new_store
from tests.support.released_project import ready_project, work

NAMES = "label label reject reveal bring undo plan rescue pilot version known replace consent consent settle work"
ACTIONS = st.tuples(st.sampled_from(NAMES.split()), st.integers(0, 14), st.booleans())


def settle(h: History, number: int, accepts: bool) -> None:
    """Settle one of the open disagreements, if there is one."""
    open_cases = cases(h.store, h.project)
    if open_cases:
        item = open_cases[number % len(open_cases)]
        seen = case(h.store, h.project, item).seen
        choice = "accept" if accepts and h.project.rescue else "reject"
        decide_case(h.store, h.project, item, choice=choice, adjudicator="Vera", why="read", seen=seen, base=None)


@settings(max_examples=6, deadline=None)
@example([("work", 0, True), ("plan", 1, True), ("work", 0, True), ("plan", 0, True)])
@example([("plan", 2, True), ("work", 0, True), ("label", 1, True)])
@example([("label", 0, True), ("label", 1, True), ("work", 0, True), ("consent", 1, False), ("settle", 0, True)])
@example([("work", 0, True), ("rescue", 0, True), ("settle", 0, True), ("settle", 0, False), ("version", 0, True)])
@example([("bring", 2, True), ("bring", 1, False), ("work", 0, False), ("reveal", 0, True), ("reject", 0, True)])
@example([("pilot", 0, True), ("work", 0, True), ("known", 1, True), ("plan", 1, True), ("known", 2, True)])
@given(st.lists(ACTIONS, max_size=6))
def test_no_check_calls_an_honest_release_different(history: list[tuple[str, int, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(Path(folder) / "a.db") as store:
        h = History(store, ready_project(store, 10), Path(folder))
        for name, number, flag in history:
            if name == "settle":
                settle(h, number, flag)
            elif name == "work":
                work(store, h.project)
            else:
                h.act(name, number, flag)
        try:
            made = make_release(store, h.project, "1.0", reason="for a test")
        except Refused:  # no item is accepted, or a pilot is open
            assume(False)
        result = verify_frozen(store, made)
        assert result.intact, [check for check in result.checks if check.state == "different"]
        gold = next(check for check in result.checks if check.check == "gold.labels")
        assert gold.expected or gold.reason in ("sample", "consent")
