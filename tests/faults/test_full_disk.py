"""Disks that become unwritable under a running server: labels wait, none is lost, and the server recovers.

Only a small file system fails as a full disk does, with ENOSPC, also when the log is written at a commit: that needs
root to mount one (marked long). A limit of the size of files needs no root and fails at the same places, but with
"disk I/O error" (EFBIG); `max_page_count` (tests/annotations/database/test_store.py) fails before anything is written.
"""

import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.annotators_at_work import Crew
from tests.support.browser import DeskServer, Server
from tests.support.waiting import until


@pytest.fixture
def started() -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def start(kind: type[Server], database: Path) -> Server:
        made.append(kind(database).start())
        return made[-1]

    yield start
    for client in made:
        client.stop()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Yield a file system of 16 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"a small file system needs root: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def refused(crew: Crew, why: str) -> None:
    """Wait until annotators have got the message that the database cannot be written."""

    def several_were() -> bool:
        return sum(n for reply, n in crew.replies.items() if reply.startswith("503") and why in reply) > 4

    until(several_were, 60, lambda: crew.replies)


def log(server: Server) -> str:
    return server.log.read_text(encoding="utf-8", errors="replace")


def test_labels_wait_while_files_cannot_grow(started: Callable[..., Server], tmp_path: Path) -> None:
    server = started(DeskServer, tmp_path / "a.db")
    crew = Crew(server, people=8, items=600, pause=0.01)
    assert server.process is not None
    none = resource.RLIM_INFINITY
    with crew.at_work():
        crew.work_on(30)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (64 * 1024, none))
        refused(crew, "could not be written (disk I/O error)")
        acked = len(crew.acked)
        refused(crew, "could not be written")
        assert len(crew.acked) == acked  # nothing is acknowledged that cannot be stored
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (none, none))
        crew.work_on(60)  # it recovers automatically
    assert crew.faults(crew.acked) == []
    assert all(answer.startswith("503") for answer in crew.answers), crew.replies
    assert "Traceback" not in log(server)


@pytest.mark.long
def test_labels_wait_while_the_disk_is_full(started: Callable[..., Server], small: Path) -> None:
    server = started(Server, small / "a.db")
    crew = Crew(server, people=8, items=600, pause=0.01)
    with crew.at_work():
        crew.work_on(30)
        with (small / "fill").open("wb", buffering=0) as fill:
            try:
                while True:
                    fill.write(b"x" * 4096)
            except OSError:
                pass
        refused(crew, "could not be written (database or disk is full)")
        time.sleep(1)
        (small / "fill").unlink()
        crew.work_on(60)  # it recovers automatically
    server.stop()
    assert crew.faults(crew.acked) == []
    assert all(answer.startswith("503") for answer in crew.answers), crew.replies
    assert "Traceback" not in log(server)


class LogsElsewhere(Server):
    """The app with its log in another folder than its database."""

    @property
    def log(self) -> Path:
        """Return the file of what the server writes to the terminal."""
        return self.database.parent.with_suffix(".log")


@pytest.mark.long
def test_labels_wait_while_the_disk_is_read_only(started: Callable[..., Server], small: Path) -> None:
    """The server starts on a read-only disk, since the system makes no disk read-only while files are open to write."""
    server = started(LogsElsewhere, small / "a.db")
    crew = Crew(server, people=8, items=600, pause=0.01)
    with crew.at_work():
        crew.work_on(30)
        server.stop()
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        server.start()
        refused(crew, "could not be written (attempt to write a readonly database)")
        subprocess.run(["mount", "-o", "remount,rw", str(small)], check=True)
        crew.work_on(60)  # it recovers automatically
    server.stop()
    assert crew.faults(crew.acked) == []
    assert all(answer.startswith("503") for answer in crew.answers), crew.replies
    assert "Traceback" not in log(server)
