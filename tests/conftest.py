"""Fixtures for every test: a database of its own, a project with sentences, scorers whose answers are known."""

import asyncio
import gc
import itertools
import math
import os
import random
import secrets
import shutil
import uuid
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

# Set before torch and numpy are loaded, here and in the processes that a test starts: with models and sentences of this
# size two threads wait for each other longer than they compute, and the suite has one process per processor.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project
from evenhand.core.types import Filler, MaskedSentence, Score
from tests.support.browser import app_server, chromium, own_server
from tests.support.projects import PATIENCE_MS, make_private_and_whole, new_database, new_store

# Fixtures of the browser tests, here and nowhere else: imported into two files they would be two, and one process can
# drive one browser only.
__all__ = ["app_server", "chromium", "own_server"]

# No deadline, because machines may be busy. `make test` draws the same examples each time, so that a run cannot fail
# by chance for a reason outside the change. `make test-long` draws new examples; it prints each failing one as a line
# to put above the test, and draws it first the next time.
_untimed = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("same", _untimed, derandomize=True)
settings.register_profile("new", _untimed, max_examples=100, print_blob=True)
settings.load_profile(os.environ.get("EVENHAND_TEST_EXAMPLES", "same"))

_folders = itertools.count(1)
MEMORY = Path("/dev/shm")
ROOM = 8 << 30  # bytes: ten times what the files of the suite take
ROOT = Path(__file__).resolve().parents[1]
OF_THE_DATABASE = ROOT / "tests" / "annotations" / "database"
SHARED_DATA = ROOT.parent / "shared" / "data"  # does not ship with the project; tests skip where it is absent

# Own sentences: one keyword each, both sides, one-mask and two-mask words, and 姥姥 (its second character is the stem).
SENTENCES = (
    "他把实验报告交给了老师。",
    "她在图书馆整理旧报纸。",
    "那个男孩在操场上练习投篮。",
    "这位女孩正在准备期末考试。",
    "爸爸下班后去市场买菜。",
    "妈妈周末常去爬山。",
    "姥姥喜欢在院子里种花。",
    "外公每天早上去公园散步。",
)


def pytest_configure(config: pytest.Config) -> None:
    """Keep the files of tests in memory where there is room, so that commits do not wait for the disk."""
    if hasattr(config, "workerinput") or config.option.basetemp or not MEMORY.is_dir():
        return
    if shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Delete the temporary files of a suite that passed, which frees memory; files of a failed suite are kept."""
    if hasattr(session.config, "workerinput") or exitstatus != pytest.ExitCode.OK:
        return
    folder: Path = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    if folder.is_relative_to(MEMORY):
        session.config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt imported modules and collected tests, which live as long as the process, from garbage collection.

    Collect what tests leave more rarely than Python does: about a thirtieth of the suite's time went there.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore files that only read sources, which have thousands of cases, unless they are selected."""
    if "not scan" not in config.option.markexpr or collection_path.suffix != ".py":
        return None
    return "\npytestmark = pytest.mark.scan" in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order files for several processes by duration, the longest first; a single process keeps the alphabet.

    Whole files are handed out in this order, so that no process works alone at the end.
    """
    if hasattr(config, "workerinput"):
        first = {item.path: 1 for item in items if item.get_closest_marker("early")}
        first |= {item.path: 0 for item in items if item.get_closest_marker("browser")}
        items.sort(key=lambda item: first.get(item.path, 2))


class OneBrowser(LoadFileScheduling):
    """Hands out whole files, and all files of the browser to one process.

    They mostly wait, so one process is enough for them; each further one would start a Chromium and a server.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "tests/browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Return the scheduler by which `--dist loadfile` distributes the tests over several processes."""
    return OneBrowser(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new empty folder; pytest's own `tmp_path` lists all earlier folders to find a free number."""
    folder = tmp_path_factory.getbasetemp() / f"test-{next(_folders)}"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def _own_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Point to a database of the test, not of the user; tests of other folders than its own copy a new one."""
    if request.path.parent != OF_THE_DATABASE:
        monkeypatch.setattr("evenhand.annotations.database.store.make_private", make_private_and_whole)
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "evenhand.db"))
    monkeypatch.setattr("evenhand.annotations.database.store.BUSY_MS", PATIENCE_MS)
    monkeypatch.setenv("HF_HUB_OFFLINE", os.environ.get("HF_HUB_OFFLINE", "1"))


@pytest.fixture(autouse=True)
def _no_loop_of_a_browser(request: pytest.FixtureRequest) -> Iterator[None]:
    """Clear the running event loop that a browser of an earlier test has left in this thread."""
    if "chromium" in request.fixturenames:
        yield
        return
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)


@pytest.fixture
def fixed_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give out the same random ids and keys in every run; request this fixture before the others."""
    new_database()  # made once per process, here before the ids are fixed
    drawn = random.Random(5)
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=drawn.getrandbits(128), version=4))
    monkeypatch.setattr(secrets, "token_bytes", lambda size=32: drawn.randbytes(size))


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store jobs without running them, and forget what pages remembered in earlier tests."""
    import streamlit as st

    from evenhand.annotations.jobs import jobs

    st.cache_data.clear()
    monkeypatch.setattr(jobs, "_spawn", lambda *_: None)


@pytest.fixture
def fresh_store(tmp_path: Path) -> Iterator[Store]:
    """Yield an empty database; pages and commands of the same test open the same file."""
    with new_store(tmp_path / "evenhand.db") as store:
        yield store


@pytest.fixture
def sample_project(fresh_store: Store) -> Project:
    """Return a project "sample" with three annotators and the eight SENTENCES, published, nothing labelled."""
    from evenhand.annotations.items.batch import Batch, NewItem
    from evenhand.annotations.projects.projects import create_project
    from evenhand.core.text.keywords import find

    project = create_project(fresh_store, "sample", annotators=("Ada", "Bo", "Chen"), seed=1)
    batch = Batch.begin(fresh_store, project, "sample.txt")
    batch.add(
        NewItem(text=text, candidate=find(text)[0], file="sample.txt", line=line, extra={})
        for line, text in enumerate(SENTENCES, 1)
    )
    batch.publish()
    return project


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Compute with one thread; two wait for each other longer than they compute at the size of tests."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class FakeScorer:
    """A scorer without a model: the first option gets *first*, the rest share what is left but *elsewhere*."""

    signature = "mlm|fake|weights:00000000|independent|fp32|v1"

    def __init__(self, first: float = 0.6, elsewhere: float = 0.1) -> None:
        self.first, self.elsewhere = first, elsewhere
        self.probes: list[MaskedSentence] = []

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """Return the same probabilities for every probe, and remember the probes."""
        self.probes.extend(probes)
        return [Score(self._logprobs(len(probe.options)), self.signature) for probe in probes]

    def _logprobs(self, options: int) -> tuple[float | None, ...]:
        rest = (1 - self.first - self.elsewhere) / max(1, options - 1)
        return (math.log(self.first), *[math.log(rest)] * (options - 1))

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Return for each slot the options, then *words* (longer than one character: not one token)."""
        known = [Filler(option, math.exp(p or 0)) for option, p in zip(probe.options, self._logprobs(2), strict=False)]
        asked = [Filler(word, 0.01 if len(word) == 1 else None) for word in words]
        return [known[:top] + asked for _ in probe.options[0]]


@pytest.fixture
def fake_scorer() -> FakeScorer:
    """Return a scorer with p(first option) = 0.6, p(second) = 0.3, everything else 0.1."""
    return FakeScorer()


@pytest.fixture(scope="session")
def known_model() -> Path:
    """Return the folder of the built-in model `known`, whose answers are worked out by hand in its card."""
    folder = ROOT / "core" / "data" / "models" / "known"
    if not (folder / "config.json").is_file():
        pytest.fail("The built-in model `known` is missing: run `python -m training.known`.")
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of data that does not ship with the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip("../shared/data is not here: this test needs the released development file")
    return SHARED_DATA


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the transcripts of tests/browser/test_desk_spoken.py again."""
    parser.addoption("--write-spoken", action="store_true", help="write what a screen reader speaks to the transcripts")
