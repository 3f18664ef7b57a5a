"""The server is killed or ended while annotators label: what was acknowledged is there, once, and all adds up."""

import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.annotators_at_work import Crew
from tests.support.browser import DeskServer, Server, free_port

ROUNDS = 10  # of each of five parts: fifty in all


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def start(kind: type[Server], port: int | None = None) -> Server:
        made.append(kind(tmp_path / "a.db", port or free_port()).start())
        return made[-1]

    yield start
    for client in made:
        client.stop()


def log(server: Server) -> str:
    return server.log.read_text(encoding="utf-8", errors="replace")


def killed_again_and_again(server: Server, copies: Path, rounds: int, labels: int, seed: int) -> Crew:
    """Kill the server *rounds* times, after some more labels each, and look at what it leaves; then end it in order."""
    rng, crew = random.Random(seed), Crew(server, items=100 * rounds + 500)
    with crew.at_work():
        for number in range(rounds):
            crew.work_on(rng.randint(labels // 2, labels))
            time.sleep(rng.uniform(0, 0.05))
            acked = crew.acked  # an answer that is read after the kill counts too: see the end
            server.kill()
            assert crew.faults(acked, copies / f"round-{number}.db") == [], f"round {number}"
            server.start()
        crew.work_on(labels)
        ended_in_order(server)
    assert crew.faults(crew.acked) == []
    assert crew.answers == [], crew.replies
    assert "Traceback" not in log(server)
    return crew


def ended_in_order(server: Server) -> None:
    """Send SIGTERM; requests under way are finished, and the server ends within ten seconds."""
    assert server.process is not None
    begun = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(60) in (0, -signal.SIGTERM)
    assert time.monotonic() - begun < 10


@pytest.mark.rehearsal
def test_acknowledged_labels_survive_a_kill_and_an_end(started: Callable[..., Server], tmp_path: Path) -> None:
    killed_again_and_again(started(DeskServer), tmp_path, 1, 60, 1)


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_acknowledged_labels_of_twenty_annotators_survive_fifty_kills(
    started: Callable[..., Server], tmp_path: Path, part: int
) -> None:
    crew = killed_again_and_again(started(Server), tmp_path, ROUNDS, 200, part)
    assert len(crew.acked) > 100 * ROUNDS
    print(f"part {part}: {ROUNDS} kills, {len(crew.acked)} acknowledged, else told: {dict(crew.replies)}")


@pytest.mark.long
def test_two_servers_on_one_database_lose_no_label(started: Callable[..., Server]) -> None:
    """SQLite lets one write at a time, and the write lock has a queue: nothing is refused, and nothing is lost."""
    servers = started(Server), started(Server)
    crew = Crew(*servers, people=8, items=2_500, pause=0.0)
    with crew.at_work():
        crew.work_on(1_000)
    assert crew.faults(crew.acked) == []
    assert not crew.replies, crew.replies
    print(f"two servers: {len(crew.acked)} acknowledged")
    for server in servers:
        ended_in_order(server)
    assert "Traceback" not in log(servers[0])
