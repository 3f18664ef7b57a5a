"""Ray: one function in many processes or on many machines, results in the order of the items.

An actor makes its function once (`factory(**arguments)`: a loaded model, a
compiled lexicon) and then answers item after item. The tree is not packaged:
every machine needs the same folder, and PYTHONPATH is given explicitly.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from evenhand.core import errors
from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.resources import IMPORT_FOLDER

START_S = 60.0  # how long a cluster may take to give the first worker
LATE_S = 10.0  # how long the others may take after it; those that need longer are done without
SHARE = 0.5  # of a processor, so that two runs at once find room in one cluster
IN_HAND = 2  # items that an actor holds, so that it never waits for the next
AHEAD = 8  # items per actor that may be finished or under way beyond the one that is wanted next
STARTS = 3  # attempts to start our own Ray, if it was not ready within Ray's half minute
RETRIES = 2  # how often an actor is created again after a failure of its machine
# Settings that a worker shares with the driver: the folder of models, and that nothing is fetched.
PASSED_ON = ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "HF_HUB_OFFLINE", "HF_ENDPOINT")

NOT_INSTALLED = N_(
    "Ray is not installed, so no cluster can be used. Run `pip install -r requirements-cluster.txt`, or omit --ray."
)
NO_CLUSTER = N_("There is no Ray cluster at {address} ({why}). Start one, or omit --ray.")
NO_WORKER = N_("The cluster at {address} provided no worker within {seconds:g} s. Does it have a free processor?")
LOST = N_("A worker of the cluster crashed several times ({why}). See its log; the usual cause is insufficient memory.")

_users = 0  # pools that are open in this process; the last one ends a Ray that was begun here
_began = False
_joining = threading.RLock()  # of the two above: pools may be opened in several threads


def ordered_map(
    factory: str, arguments: Mapping[str, object], items: Iterable[Any], *, address: str | None, workers: int
) -> Iterator[Any]:
    """Yield `function(item)` for every item, in the order of *items*; function = `factory(**arguments)`.

    *factory* is "module:function" of this project, called once per actor.
    *address*: the cluster ("auto", "host:6379", "ray://host:10001"); "local" or None starts
    one on this machine with *workers* processors. Items and results must pickle. Only a bounded number
    is in flight, so *items* may be a long generator. Raises the exceptions of the function (EvenhandError
    unchanged), and Refused where Ray or the cluster is not available.
    """
    with Pool(factory, arguments, address=address, workers=workers) as pool:
        yield from pool.map(items)


@contextmanager
def joined(address: str | None, workers: int) -> Iterator[None]:
    """Join a cluster with room for *workers*, for several pools; a Ray that begins here ends with its last user."""
    ray = _ray()
    _join(ray, address, workers)
    try:
        yield
    finally:
        _leave(ray)


class Pool:
    """Actors that made their function once; `map` may be called again and again. Close it, or use `with`."""

    def __init__(self, factory: str, arguments: Mapping[str, object], *, address: str | None, workers: int) -> None:
        if workers < 1:
            raise Refused(N_("At least one worker is needed; {workers} were requested."), workers=workers)
        self._ray = _ray()
        self._closed = False
        _join(self._ray, address, workers)
        try:
            self._actors = self._start(factory, arguments, address or "local", workers)
        except BaseException:
            self._closed = True
            _leave(self._ray)
            raise

    @property
    def size(self) -> int:
        """The number of actors in the pool."""
        return len(self._actors)

    def _start(self, factory: str, arguments: Mapping[str, object], address: str, workers: int) -> list[Any]:
        ray = self._ray
        count = max(1, min(workers, int(ray.cluster_resources().get("CPU", 1))))
        actor = ray.remote(Answerer).options(num_cpus=SHARE, max_restarts=RETRIES, max_task_retries=RETRIES)
        actors = [actor.remote(factory, arguments) for _ in range(count)]
        ready = {entry.here.remote(): entry for entry in actors}
        # One worker is enough to begin; workers that the cluster has no room for are ended.
        result, _ = ray.wait(list(ready), num_returns=1, timeout=START_S)
        if not result:
            raise Refused(NO_WORKER, address=address, seconds=START_S)
        result, late = ray.wait(list(ready), num_returns=count, timeout=LATE_S)
        for reference in late:
            ray.kill(ready[reference])
        return [ready[reference] for reference in result]

    def map(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results, in the order of *items*."""
        source = enumerate(items)
        free = deque(self._actors * IN_HAND)
        under_way: dict[Any, tuple[int, Any]] = {}
        finished: dict[int, Any] = {}
        wanted, sent, more = 0, 0, True
        while more or under_way or finished:
            while more and free and sent - wanted < AHEAD * self.size:
                number, item = next(source, (-1, None))
                if number < 0:
                    more = False
                    break
                actor = free.popleft()
                under_way[actor.answer.remote(item)] = (number, actor)
                sent += 1
            if wanted in finished:
                yield finished.pop(wanted)
                wanted += 1
            elif under_way:
                number, actor, result = self._next(under_way)
                free.append(actor)
                finished[number] = result

    def _next(self, under_way: dict[Any, tuple[int, Any]]) -> tuple[int, Any, Any]:
        ready, _ = self._ray.wait(list(under_way), num_returns=1)
        number, actor = under_way.pop(ready[0])
        try:
            kind, *rest = self._ray.get(ready[0])
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None
        except self._ray.exceptions.RayError as error:
            raise EvenhandError(LOST, why=type(error).__name__) from error
        if kind == "ok":
            return number, actor, rest[0]
        raise _rebuilt(*rest)

    def close(self) -> None:
        """Let the actors go; ends a Ray that this process began for them."""
        if self._closed:
            return
        self._closed = True
        for actor in self._actors:
            self._ray.kill(actor)
        _leave(self._ray)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Answerer:
    """The inside of an actor: makes its function at the first item and keeps it."""

    def __init__(self, factory: str, arguments: Mapping[str, object]) -> None:
        self._factory, self._arguments = factory, arguments
        self._function: Callable[[Any], Any] | None = None

    def here(self) -> bool:
        """Return True: the answer shows that this actor runs."""
        return True

    def answer(self, item: Any) -> tuple[Any, ...]:
        """Return ("ok", result), or ("error", class name, message, values) for the driver to raise again."""
        try:
            if self._function is None:
                module, name = self._factory.split(":")
                self._function = getattr(import_module(module), name)(**self._arguments)
            return "ok", self._function(item)
        except EvenhandError as error:
            return "error", type(error).__name__, error.message, error.values


def _rebuilt(name: str, message: str, values: dict[str, Any]) -> EvenhandError:
    kind = getattr(errors, name, EvenhandError)
    try:
        error: EvenhandError = kind(message, **values)
    except TypeError:  # a class with more arguments, such as the line of a file
        error = EvenhandError(message, **values)
    return error


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise Refused(NOT_INSTALLED) from None
    return ray


def _join(ray: Any, address: str | None, workers: int) -> None:
    global _users, _began
    with _joining:
        if not ray.is_initialized():
            _init(ray, address or "local", workers)
            _began = True
        _users += 1


def _leave(ray: Any) -> None:
    global _users, _began
    with _joining:
        _users -= 1
        if _users == 0 and _began:
            _began = False
            ray.shutdown()


def _init(ray: Any, address: str, workers: int) -> None:
    path = os.pathsep.join([str(IMPORT_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {"PYTHONPATH": path, "TOKENIZERS_PARALLELISM": "false"}
    variables |= {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    # Ray replaces our signal handler; then a cancelled job would not clean up.
    ours = signal.getsignal(signal.SIGTERM) if threading.current_thread() is threading.main_thread() else None
    try:
        _started(ray, address, variables, workers)
    except Exception as error:  # ConnectionError, ValueError, RuntimeError, by version and kind of address
        why = str(error).strip().split("\n", 1)[0][:200] or type(error).__name__
        raise Refused(NO_CLUSTER, address=address, why=why) from error
    finally:
        if ours is not None:
            signal.signal(signal.SIGTERM, ours)


def _started(ray: Any, address: str, variables: Mapping[str, str], workers: int) -> None:
    own = {"num_cpus": workers, "include_dashboard": False} if address == "local" else {}
    shared = {"env_vars": variables}
    for left in reversed(range(STARTS)):
        try:
            ray.init(address=address, runtime_env=shared, log_to_driver=False, logging_level="ERROR", **own)
        except Exception as error:
            # On a busy machine our own Ray takes longer than Ray waits for it; its processes must end first.
            if address != "local" or not left or "timed out" not in str(error):
                raise
            ray.shutdown()
        else:
            return
