"""The clock of the machine jumps during labelling: nothing is lost, the log is valid, no lease becomes longer."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import routes, stores
from evenhand.annotations.desk.session import issue
from evenhand.annotations.queue.leases import LEASE_S
from evenhand.annotations.types import Project
from evenhand.core.files import timestamps
from tests.support.annotators_at_work import Crew, recounted
from tests.support.browser import Server
from tests.support.desk_by_http import RouteDesk

HOUR, DAY = 3600.0, 86_400.0
LIBRARY = next(iter(Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)


class Clock:
    """The clock of this process, set by hand; only code that reads the time of day sees it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead, real, real_ns, when = 0.0, time.time, time.time_ns, timestamps.datetime

        class Moved(when):  # type: ignore[misc, valid-type]
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return when.fromtimestamp(real() + self.ahead, tz)

        monkeypatch.setattr(time, "time", lambda: real() + self.ahead)
        monkeypatch.setattr(time, "time_ns", lambda: real_ns() + round(self.ahead * 1e9))
        monkeypatch.setattr(timestamps, "datetime", Moved)


@pytest.fixture
def desks(fresh_store: Store, sample_project: Project) -> Iterator[tuple[RouteDesk, RouteDesk]]:
    with TestClient(Starlette(routes=routes())) as client:
        yield (
            RouteDesk(client, fresh_store, sample_project, "Ada", "desk-a"),
            RouteDesk(client, fresh_store, sample_project, "Bo", "desk-b"),
        )
    stores.close()


def labels(store: Store) -> int:
    return int(store.db.execute("SELECT count(*) FROM label").fetchone()[0])


def held_for(store: Store) -> list[float]:
    """Return how long the items of each annotator are still held, in seconds."""
    return [seen - time.time() for (seen,) in store.db.execute("SELECT seen FROM member WHERE seen > 0")]


def signed_in_again(desk: RouteDesk) -> None:
    desk.token = issue(desk.store.secret, **desk.owner)


@pytest.mark.parametrize("jump", [-HOUR, -400 * DAY, HOUR, DAY, 30 * 365 * DAY])
def test_a_jump_of_the_clock_loses_no_label(
    desks: tuple[RouteDesk, RouteDesk], monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    ada, bo = desks
    clock = Clock(monkeypatch)
    first, second, *_rest = [item["id"] for item in ada.sync(want=3)["items"]]
    ada.sync(ada.op(first, "accept"))
    clock.ahead = jump
    waiting = ada.op(second, "reject", reasons=["name"])
    sent = {"desk": ada.desk, "ops": [waiting], "have": [], "want": 0, "hello": 0}
    status = ada.post("sync", sent).status_code
    assert status == (401 if jump > 12 * HOUR else 200)  # expired: the desk keeps the label and shows the sign-in
    signed_in_again(ada)
    signed_in_again(bo)
    assert ada.sync(waiting)["answers"][0]["result"] == "acked"  # sent again, or for the first time
    assert bo.sync(want=8)["items"]
    clock.ahead = 0.0
    signed_in_again(ada)
    signed_in_again(bo)
    assert ada.sync(want=1) and bo.sync(want=1)
    assert labels(ada.store) == 2
    assert recounted(ada.store) == []
    assert max(held_for(ada.store)) <= LEASE_S + 1


def test_leases_expire_although_the_clock_was_set_back(
    desks: tuple[RouteDesk, RouteDesk], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bo = desks
    clock = Clock(monkeypatch)
    clock.ahead = DAY  # a wrong clock, put right after she had come
    signed_in_again(ada)
    held = {item["id"] for item in ada.sync(want=8)["items"]}
    clock.ahead = 0.0
    signed_in_again(bo)
    bo.sync(want=1)
    clock.ahead = LEASE_S + 60
    bo.sync(want=8)
    state = "SELECT item.uid FROM assignment JOIN item ON item.id = item WHERE annotator = ? AND state = 'leased'"
    assert held and not ada.store.db.execute(state, (ada.who.id,)).fetchall()


class FakedClock(Server):
    """The app, with a clock that a file moves (libfaketime); waiting and polling are not affected."""

    def start(self) -> "Server":
        """Start it with the right time."""
        self.file = self.database.with_suffix(".clock")
        self.set("+0")
        faked = {
            "LD_PRELOAD": str(LIBRARY), "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
        }  # fmt: skip
        before = {name: os.environ.get(name) for name in faked}
        os.environ.update(faked)
        try:
            return super().start()
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})

    def set(self, jump: str) -> None:
        """Let the clock jump."""
        self.file.write_text(jump, encoding="utf-8")


@pytest.mark.long
@pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed (Debian: libfaketime)")
def test_a_running_server_survives_jumps_of_the_clock(tmp_path: Path) -> None:
    server = FakedClock(tmp_path / "a.db")
    server.start()
    crew = Crew(server, people=8, items=3_000, pause=0.02)
    try:
        with crew.at_work():
            crew.work_on(50)
            for jump in (-HOUR, 0, DAY, 0, -2 * DAY, 0, 11 * HOUR, 0):
                crew.ahead = jump
                server.set(f"{jump:+.0f}")
                time.sleep(0.3)
                crew.work_on(100)
    finally:
        server.stop()
    assert crew.faults(crew.acked) == []
    assert all(answer.startswith("401") for answer in crew.answers), crew.replies
    print(f"clock: {len(crew.acked)} acknowledged, else told: {dict(crew.replies)}")
    assert "Traceback" not in server.log.read_text(encoding="utf-8")
