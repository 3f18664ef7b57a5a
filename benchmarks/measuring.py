"""What benchmarks share: options, seconds, percentiles, the load of the machine, a server, ways that take turns."""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.browser import Server


def options(text: str | None, /, *places: str, **settings: Any) -> argparse.Namespace:
    """Read the options of a command, whose help is *text*, a docstring; *places*: those that are named by their place.

    The value of an option is its default: False a flag, a type no default, a tuple of words what may be chosen (the
    first by default), a list what may be given together, words of which are chosen from it; a set of words too, where
    an option that is not given is None.
    """
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in settings.items():
        how: dict[str, Any] = {"type": type(value), "default": value}
        if value is False:
            how = {"action": "store_true"}
        elif isinstance(value, type):
            how = {"type": value}
        elif isinstance(value, tuple):
            how = {"choices": value, "default": value[0]}
        elif isinstance(value, frozenset):
            how = {"nargs": "*", "choices": sorted(value)}
        elif isinstance(value, list):
            words = isinstance(value[0], str)
            how = {"nargs": "*", "default": value} | ({"choices": value} if words else {"type": type(value[0])})
        if name in places:
            how["nargs"] = "?"
        parser.add_argument(name if name in places else f"--{name.replace('_', '-')}", **how)
    return parser.parse_args()


def load() -> str:
    """Return how busy the machine is."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def percentile(times: Sequence[float], per_cent: float) -> float:
    """Return the value below which so many per cent of *times* lie."""
    return statistics.quantiles(times, n=1000)[round(10 * per_cent) - 1]


@dataclass(slots=True)
class Spent:
    """Seconds of the clock and of the processor."""

    wall: float = 0.0
    cpu: float = 0.0

    @contextmanager
    def more(self) -> Iterator[None]:
        """Add what the block takes."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu


@contextmanager
def app_server() -> Iterator["Server"]:
    """Run the app on a new database, in a folder that goes afterwards."""
    from tests.support.browser import Server

    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "app.db").start()
        try:
            yield server
        finally:
            server.stop()


@dataclass(slots=True)
class Lane:
    """One way of doing the work: an iterator of finished pairs, a batch a step."""

    name: str
    work: Iterator[Sequence[tuple[int, Any]]]
    total: int
    spent: Spent = field(default_factory=Spent)
    values: dict[int, Any] = field(default_factory=dict)
    over: bool = False

    def step(self) -> None:
        """Do one batch, timed."""
        import torch

        with self.spent.more():
            finished = next(self.work, None)
            if torch.accelerator.is_available():
                torch.accelerator.synchronize()
        self.over = finished is None
        self.values.update(finished or ())

    @property
    def share(self) -> float:
        """Return how much of it is done, 0 to 1."""
        return len(self.values) / max(1, self.total)


def race(*lanes: Lane) -> None:
    """Run all to the end, always the one that is furthest behind, so that what else the machine does hits all alike."""
    while waiting := [lane for lane in lanes if not lane.over]:
        min(waiting, key=lambda lane: lane.share).step()


def largest_difference(one: dict[int, float | None], other: dict[int, float | None]) -> float:
    """Return the largest difference of values that both have."""
    pairs = ((one[i], other[i]) for i in one.keys() & other.keys())
    return max((abs(a - b) for a, b in pairs if a is not None and b is not None), default=0.0)
