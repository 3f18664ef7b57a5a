"""The desk of one annotator is sent the same bytes for all actions of the others.

Each course of work is played twice, in two databases that differ only in the decisions of Bo and Chen and in which
items are hidden gold. Ids, keys and the clock are fixed, so that they cannot differ either.
"""

import json
import secrets
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import frontend, opinion
from evenhand.annotations.desk.routes import PATH, ROUTES, routes
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.judges import Spec, add_judge, choose_margin, store_failure, store_labels
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.projects.projects import annotators, change_project, set_quotas
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.sampling.samples import Planned, close_sample, start_sample
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.errors import EvenhandError
from evenhand.core.files import timestamps
from evenhand.core.judges.prompts import JudgeLabel
from tests.support.generations import generations_project
from tests.support.projects import filled_project, new_database, new_store

BEGIN = 1_790_000_000.0
STEP_S = 30.0
HIDDEN = ("wanted", "shared", "known", "pilot_id", "retest", "status", "gold", "labels", "rank")  # never in a reply


class Clock:
    """The time of all clocks; it advances only when a test moves it."""

    now = BEGIN


class Fixed(datetime):
    """`datetime` with the clock of the test."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "Fixed":
        return cls.fromtimestamp(Clock.now, tz or UTC)


@pytest.fixture(autouse=True)
def fixed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fix ids in the order in which each actor draws them, one key, one clock, an opinion without a model."""
    new_database()  # made once in a process, with ids that the first world must not draw
    Clock.now = BEGIN

    def opinion_by_length(project: Project, item: Item) -> dict[str, Any]:
        return {"bias": len(item.text) / 10, "reason": None, "signature": "made for a test"}

    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=Actor.draw()))
    monkeypatch.setattr(secrets, "token_bytes", lambda size=32: b"k" * size)
    monkeypatch.setattr(time, "time", lambda: Clock.now)
    monkeypatch.setattr(timestamps, "datetime", Fixed)
    monkeypatch.setattr(opinion, "opinion_of", opinion_by_length)
    yield
    stores.close()


class Actor:
    """Who acts: each draws ids from a range of its own, so that one who draws more does not shift the others'."""

    counters: ClassVar[dict[str, Iterator[int]]] = {}
    name = ""

    @classmethod
    def draw(cls) -> int:
        number = next(cls.counters.setdefault(cls.name, count(1)))
        return (sum(cls.name.encode()) << 64) + number

    @classmethod
    @contextmanager
    def acts(cls, name: str) -> Iterator[None]:
        before, cls.name = cls.name, name
        yield
        cls.name = before


class World:
    """One database with its server and the three desks."""

    def __init__(self, folder: Path, version: int, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> None:
        Actor.counters, Actor.name, Clock.now = {}, "", BEGIN
        self.path = folder / f"world-{version}-{len(list(folder.glob('world*.db')))}.db"
        monkeypatch.setenv("EVENHAND_DB", str(self.path))
        stores.close()
        self.store = new_store(self.path)
        changes = {name: fields.pop(name) for name in ("plan", "share", "retest", "retest_hours") if name in fields}
        self.project, self.people = filled_project(self.store, **fields)
        self.project = change_project(self.store, self.project, name="blind", opinion_model="known", **changes)
        self.people = annotators(self.store, self.project)
        self.client = TestClient(Starlette(routes=routes()))
        self.sent: list[bytes] = []  # to Ada
        self.items: dict[int, list[dict[str, Any]]] = {0: [], 1: [], 2: []}
        self.bases: dict[tuple[int, str], str] = {}
        self.revisions = [0, 0, 0]
        self.tokens: dict[int, str] = {}
        for who in range(3):
            self.open(who)

    def open(self, who: int) -> None:
        """Open the desk as the page does."""
        data = frontend.start_data(self.store, self.project, self.people[who], language="en", api=PATH)
        self.tokens[who] = data["token"]
        self.note(who, json.dumps(data, ensure_ascii=False).encode())

    def note(self, who: int, data: bytes) -> None:
        if who == 0:
            self.sent.append(data)

    def post(self, who: int, route: str, body: dict[str, Any]) -> dict[str, Any]:
        with Actor.acts(self.people[who].name):
            head = {"Authorization": f"Bearer {self.tokens[who]}"}
            response = self.client.post(f"{PATH}/{route}", content=json.dumps(body), headers=head)
        self.note(who, response.content)
        reply: dict[str, Any] = response.json()
        assert response.status_code == 200 or route in ("item", "opinion"), reply
        return reply

    def sync(self, who: int, *ops: dict[str, Any], want: int = 0, hello: int = 0) -> dict[str, Any]:
        have = [item["id"] for item in self.items[who]]
        body = {"desk": f"desk-{who}", "ops": ops, "have": have, "want": want, "hello": hello, "language": "en"}
        reply = self.post(who, "sync", body)
        assert all(answer["result"] == "acked" for answer in reply["answers"]), reply["answers"]
        self.items[who] += reply["items"]
        return reply

    def decide(self, who: int, uid: str, choice: str | None, note: str = "", tags: tuple[str, ...] = ()) -> None:
        self.revisions[who] += 1
        person = self.people[who]
        operation: dict[str, Any] = {
            "database": self.store.uid, "project": self.project.uid, "annotator": person.uid,
            "op": f"op-{who}-{self.revisions[who]}", "item": uid, "desk": f"desk-{who}",
            "revision": self.revisions[who],
            "base": self.bases.get((who, uid)), "choice": choice, "note": note, "seconds": 2.0, "form": "masked",
            "reasons": ["name"] if choice == "reject" else [],
            "tags": list(tags) if choice not in (None, "skip") else [],
        }  # fmt: skip
        self.bases[who, uid] = operation["op"]
        self.sync(who, operation)

    def look(self) -> None:
        """Request everything that Ada's desk can request."""
        self.open(0)
        self.sync(0, hello=20)
        self.post(0, "heartbeat", {})
        self.post(0, "history", {"limit": 50, "search": ""})
        self.post(0, "history", {"limit": 50, "search": "早上"})
        self.post(0, "told", {"version": 1})
        for _who, uid in [key for key in self.bases if key[0] == 0][:3]:
            self.post(0, "item", {"item": uid})

    def work(self, who: int, want: int, what: str, choice: str, note: str, tags: tuple[str, ...] = ()) -> None:
        """Do one step of one annotator."""
        Clock.now += STEP_S
        self.sync(who, want=want)
        for item in self.items[who][:2]:
            uid = item["id"]
            self.decide(who, uid, "skip" if what == "skip" else choice, note, () if what == "skip" else tags)
            if what == "undo":
                self.decide(who, uid, None)
                self.decide(who, uid, choice, note, tags)
            if what == "opinion":
                self.post(who, "opinion", {"item": uid})
        del self.items[who][:2]

    def close(self) -> None:
        self.client.close()
        self.store.close()


WHATS = st.sampled_from(("label", "label", "skip", "undo", "opinion"))
CHOICES = st.sampled_from(("accept", "reject"))
STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 5), WHATS, CHOICES, WHATS, CHOICES), min_size=2, max_size=14
)
Step = tuple[int, int, str, str, str, str]


def play(world: World, steps: list[Step], version: int, tags: bool = False) -> None:
    """Play the steps: Ada follows them; in version 1 the others decide otherwise, with other notes."""
    for n, (who, want, what, choice, other_what, other_choice) in enumerate(steps):
        if who and version:
            what, choice = other_what, other_choice
        note = f"note {n} {version if who else ''}"
        named = (f"tag {n if who and version else 'of all'}",) if tags else ()
        world.work(who, want, what, choice, note, named)
        if n % 5 == 4:
            world.look()
    world.look()


# An example opens two databases: what fails is shown as it was found, without minutes of search for a shorter one.
FIXTURES = settings(
    max_examples=4,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


def both(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    steps: list[Step],
    *,
    tags: bool = False,
    pilot: int = 0,
    **fields: Any,
) -> list[World]:
    """Return the two worlds after equal steps."""
    results = []
    for version in (0, 1):
        world = World(folder, version, monkeypatch, **fields)
        if pilot:
            start_pilot(world.store, world.project, pilot)
        if version:
            query = "SELECT uid FROM item WHERE pilot IS NULL ORDER BY hash LIMIT 9"
            for (uid,) in world.store.db.execute(query).fetchall():
                set_known(world.store, world.project, uid, "accept")
        play(world, steps, version, tags)
        if pilot:
            close_pilot(world.store, world.project)
            play(world, steps, version)
        world.close()
        results.append(world)
    return results


@FIXTURES
@given(STEPS)
def test_plan_all_sends_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[Step]) -> None:
    first, second = both(tmp_path, monkeypatch, steps, number=24, per_item=3, seed=3)
    assert first.sent == second.sent and len(first.sent) > 5


@FIXTURES
@given(STEPS)
def test_retests_are_sent_in_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[Step]) -> None:
    first, second = both(tmp_path, monkeypatch, steps, number=12, per_item=3, seed=4, retest=0.6, retest_hours=0)
    assert first.sent == second.sent


@FIXTURES
@given(STEPS)
def test_bytes_are_equal_in_a_pilot_and_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[Step]
) -> None:
    first, second = both(tmp_path, monkeypatch, steps, tags=True, pilot=8, number=20, per_item=3, seed=5)
    assert first.sent == second.sent


def items_of(world: World) -> dict[str, str]:
    """Return every item sent to Ada, without decisions; check that repeats are equal."""
    results: dict[str, str] = {}
    for data in world.sent:
        for item in json.loads(data).get("items", []):
            text = json.dumps({**item, "base": None}, ensure_ascii=False)
            assert results.setdefault(item["id"], text) == text
    return results


@FIXTURES
@given(STEPS)
def test_plan_stop_sends_equal_bytes_per_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[Step]
) -> None:
    stopped, other = both(tmp_path, monkeypatch, steps, number=24, per_item=3, seed=6, plan="stop", share=0.2)
    first, second = items_of(stopped), items_of(other)
    assert {uid: first[uid] for uid in first.keys() & second.keys()} == {
        uid: second[uid] for uid in first.keys() & second.keys()
    }
    # Data sent in addition to the items has equal form and equal contents about the project.
    for a, b in zip(map(json.loads, stopped.sent), map(json.loads, other.sent), strict=False):
        if "progress" in a and "progress" in b and own(a["progress"]) == own(b["progress"]):
            assert a["progress"]["total"] == b["progress"]["total"]


def own(progress: dict[str, Any]) -> tuple[int, int]:
    """Return the numbers of items that Ada labelled and accepted."""
    return progress["labelled"], sum(cell["accepted"] for cell in progress["cells"])


@FIXTURES
@given(STEPS)
def test_a_quota_changes_only_the_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[Step]) -> None:
    worlds = []
    for version in (0, 1):
        world = World(tmp_path, version, monkeypatch, number=24, per_item=1, seed=7)
        set_quotas(world.store, world.project, {("他/她", "male"): 1, ("爸爸/妈妈", "male"): 1})
        play(world, steps, version)
        world.close()
        worlds.append(world)
    first, second = map(items_of, worlds)
    assert all(first[uid] == second[uid] for uid in first.keys() & second.keys())


def keys_of(data: Any) -> set[str]:
    """Return every key of an object, at any depth."""
    if isinstance(data, dict):
        return set(data) | {key for value in data.values() for key in keys_of(value)}
    return {key for value in data for key in keys_of(value)} if isinstance(data, list) else set()


@pytest.mark.parametrize("plan", ["all", "stop"])
def test_plan_share_gold_and_pilot_are_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: str) -> None:
    steps = [(n % 3, 4, "label", "accept" if n % 2 else "reject", "label", "accept") for n in range(12)]
    first, second = both(
        tmp_path, monkeypatch, steps, number=20, seed=8, plan=plan, share=0.5, retest=0.5, retest_hours=0
    )
    for data in (*first.sent, *second.sent):
        assert not keys_of(json.loads(data)) & set(HIDDEN)
        assert b'"stop"' not in data and b"0.5" not in data


def judged(world: World, choice: str) -> None:
    """Let one judge label everything, and another one some of it."""
    with Actor.acts("judge"):
        texts = [item.id for item in items(world.store, world.project)]
        for name, some in ((choice, texts), (f"{choice} again", texts[::3])):
            judge = add_judge(world.store, world.project, name, Spec("file", 1, name, name), author="Lea")
            store_labels(world.store, judge, [JudgeLabel(text, choice, shares={choice: 0.9}) for text in some])
            store_failure(world.store, judge, texts[1], EvenhandError("Late."))
            choose_margin(world.store, world.project, judge, 0.2)


@settings(FIXTURES, max_examples=2)
@given(STEPS)
def test_labels_of_judges_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[Step]) -> None:
    """Two worlds that differ in nothing but the labels of judges, before the work and in the middle of it."""
    worlds = []
    for version in (0, 1):
        world = World(tmp_path, version, monkeypatch, number=24, per_item=2, seed=3, retest=0.5, retest_hours=0)
        for choice in ("accept", "reject"):
            if version:
                judged(world, choice)
            play(world, steps, 0)
        world.close()
        worlds.append(world)
    assert worlds[0].sent == worlds[1].sent and len(worlds[0].sent) > 10
    with Store.open(worlds[1].path) as store:
        assert store.db.execute("SELECT count(*) FROM judge_label").fetchone() == (64,)


def item_ids(data: bytes) -> list[str]:
    """Return the ids of the items in a reply of `sync`."""
    reply = json.loads(data)
    return [item["id"] for item in reply.get("items", []) if isinstance(item, dict)]


def test_the_draw_of_an_open_sample_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two worlds in which the same items are drawn, by chance or by judges' labels; then the rest is handed out."""
    steps: list[Step] = [(n % 3, 4, "skip" if n % 5 == 4 else "label", "accept", "label", "reject") for n in range(12)]
    worlds = []
    for version in (0, 1):
        world = World(tmp_path, version, monkeypatch, number=24, per_item=2, seed=3)
        frame = [item.id for item in items(world.store, world.project)]
        drawn = [place % 2 == 0 for place in range(len(frame))]
        values: tuple[Any, ...] = ("simple", 1.0, {}, frame, [0.5] * len(frame), [""] * len(frame), drawn)
        if version:
            chances = [0.9 if is_drawn else 0.1 for is_drawn in drawn]
            names = ["judges differ" if is_drawn else "judges agree" for is_drawn in drawn]
            values = ("disagreement", 0.2, {"judges": ["said by nobody"]}, frame, chances, names, drawn)
        with Actor.acts("lead"):
            start_sample(world.store, world.project, Planned(1, *values), author="Lea")
        play(world, steps, 0)
        with Actor.acts("lead"):
            close_sample(world.store, world.project, author="Lea")
        play(world, steps, 0)
        world.close()
        worlds.append(world)
    assert worlds[0].sent == worlds[1].sent and len(worlds[0].sent) > 10
    ids = {uid for data in worlds[0].sent for uid in item_ids(data)}
    assert len(ids) > 12, "the sample alone has 12"


def test_the_desk_for_generations_is_sent_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def generations(store: Store, **fields: Any) -> tuple[Project, list[Annotator]]:
        project = generations_project(store, "blind", 16, annotators=("Ada", "Bo", "Chen"), checked=False)
        return project, annotators(store, project)

    monkeypatch.setattr(f"{__name__}.filled_project", generations)
    steps: list[Step] = [(n % 3, 4, "skip" if n % 4 == 3 else "label", "correct", "label", "correct") for n in range(9)]
    worlds = []
    for version in (0, 1):
        world = World(tmp_path, version, monkeypatch)
        if version:
            judged(world, "misgendering")
        play(world, steps, 0)
        world.close()
        worlds.append(world)
    assert worlds[0].sent == worlds[1].sent and b"misgendering" in worlds[0].sent[0]  # a choice, as it always is
    assert not any(b"misgendering again" in data for data in worlds[1].sent)


def test_the_comparison_detects_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[Step] = [(0, 2, "label", "accept", "label", "accept"), (1, 2, "label", "accept", "label", "reject")]
    first, second = both(tmp_path, monkeypatch, steps, number=6, seed=9)
    assert first.sent == second.sent
    third = World(tmp_path, 2, monkeypatch, number=6, seed=9)
    play(third, [(0, 2, "label", "reject", "label", "accept"), steps[1]], 0)
    third.close()
    assert third.sent != first.sent


def test_every_route_of_the_desk_is_compared() -> None:
    assert set(ROUTES) == {"sync", "heartbeat", "history", "item", "opinion", "told"}
