"""A run of tuning in a worker of a Ray cluster: the same run, made elsewhere and watched from here."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenhand.core.cluster import Pool
from evenhand.core.models.tuning.settings import Tuning
from evenhand.core.tune.report import TrainingReport
from evenhand.core.tune.run import Watch, tune
from evenhand.core.tune.runs import CURVE, work_folder
from evenhand.core.tune.texts import TrainingTexts

LOOK_S = 1.0  # between two looks at the curve that the worker writes


def tune_on_cluster(
    model: str,
    texts: TrainingTexts,
    tuning: Tuning,
    folder: Path,
    *,
    address: str,
    threads: int | None = None,
    watch: Watch | None = None,
    **how: Any,
) -> TrainingReport:
    """As `core.tune.run.tune` with *how*, in one worker of the cluster at *address* ("local" starts one here).

    *folder* lies on a disk that the worker sees too; *threads*: of the worker, default all of its machine. A worker
    that crashes is started again and goes on at its checkpoint. Raises what `tune` and `core.cluster.Pool` raise.
    """
    asked = {"model": model, "texts": texts, "tuning": tuning, "folder": folder.resolve(), "how": how}
    arguments = asked | {"threads": threads}
    with (
        Pool("evenhand.core.tune.cluster:tuner", arguments, address=address, workers=1) as pool,
        _watched(work_folder(folder) / CURVE, tuning.steps, model, watch),
    ):
        report: TrainingReport = next(pool.map([None]))
    return report


def tuner(threads: int | None, how: dict[str, Any], **asked: Any) -> Callable[[None], TrainingReport]:
    """What the worker makes: the run, which begins when it is called."""

    def run(_: None) -> TrainingReport:
        from evenhand.core.models.loaded import use_threads
        from evenhand.core.processes import processors

        use_threads(threads or processors())  # Ray gives an actor one
        return tune(**asked, **how)

    return run


@contextmanager
def _watched(curve: Path, steps: int, model: str, watch: Watch | None) -> Iterator[None]:
    """Tell *watch* each second how far the curve of the worker is."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(LOOK_S):
            step = last_step(curve)
            if watch is not None and step is not None:
                watch(step, steps, model)

    thread = threading.Thread(target=look, name="curve", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def last_step(curve: Path) -> int | None:
    """The step of the last whole line of a curve; None before the first look."""
    try:
        *whole, _ = curve.read_text(encoding="utf-8").split("\n")
    except OSError:
        return None
    return int(json.loads(whole[-1])["step"]) if whole else None
