"""A run of tuning: load, forecast, train, look at untouched text, write the folder; a killed run goes on where it
was."""

import json
import math
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.errors import N_, Notice, Refused
from evenhand.core.files.whole_file import make_folder, whole_file, whole_path
from evenhand.core.models.fetching import locate
from evenhand.core.models.tuning.settings import HeldOut, Memory, Tuning
from evenhand.core.runs.loop import made_now
from evenhand.core.tune.card import card, licence_of
from evenhand.core.tune.texts import TrainingTexts

if TYPE_CHECKING:
    from evenhand.core.models.tuning.changing import Changeable
    from evenhand.core.models.tuning.training import Trained

WORK, ASKED, RECORD = ".work", "asked.json", "tuning.json"
CURVE = "curve.jsonl"
GIB = 2**30

TAKEN = N_("{folder} already exists; a tuned model never replaces a folder.")
NO_MEMORY = N_(
    "Training needs about {needed} GiB of memory, but {available} GiB are free. Use a smaller batch or"
    " length, adapters (--lora), or --force."
)
NO_TOKENS = N_("{name}: hardly any text contains a token in the vocabulary of {model}.")

STOPPED_EARLY = N_(
    "Stopped early at step {steps} of {of}: {checks} checks in a row without progress on held-out text. The result is"
    " the model of step {best}."
)

Watch = Callable[[int, int | None, str], None]


@dataclass(frozen=True, slots=True)
class TuneReport:
    """What a run did: its record, and where the model lies."""

    folder: Path
    record: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The record with the place of the model."""
        return {"folder": str(self.folder), **self.record}


def tune(
    model: str,
    texts: TrainingTexts,
    tuning: Tuning,
    folder: Path,
    *,
    device: str = "auto",
    adapters: bool = False,
    force: bool = False,
    watch: Watch | None = None,
) -> TuneReport:
    """Train *model* on *texts* and write it to *folder*, which appears when it is whole.

    Checkpoints lie in a hidden folder beside it until then: the same call goes on from the latest and ends in the same
    numbers; another call starts anew. *adapters*: keep LoRA adapters beside the merged weights. Raises Refused where
    the folder is there, or where memory is too small unless *force*; ModelUnavailable as loading does.
    """
    if folder.exists():
        raise Refused(TAKEN, folder=folder.name)
    base = locate(model)  # before torch is loaded
    from evenhand.core.models.tuning.changing import Changeable

    changed = Changeable(model, dropout=tuning.dropout, device=device)
    rows, untouched = _rows(changed, texts, tuning, model)
    before = changed.held_out(untouched)
    if tuning.lora:
        changed.put_adapters(tuning.lora, tuning.seed)
    memory = _refuse_too_much(changed.forecast(tuning), force)
    asked = {"model": model, "weights": changed.before.weights, "source": texts.facts, "tuning": tuning.as_json()}
    work = _begin_work(folder, asked)
    curve = _Curve(work, watch, model)
    began = time.time()
    trained = curve.end(changed.train(rows, untouched, tuning, work, on_step=curve.step, on_look=curve.look))
    after = changed.held_out(untouched)
    record = _record(folder, model, changed.before.weights, licence_of(base), texts, before, after) | {
        "method": "training",
        "method_text": _training_text(tuning, texts),
        "tuning": tuning.as_json(),
        "steps": trained.steps,
        "best_step": trained.best_step,
        "stopped_early": trained.early,
        "resumed_at": trained.resumed_at,
        "curve": curve.points(),
        "memory": memory_facts(memory),
        "seconds": round(time.time() - began, 3),
    }
    write_model(folder, record, lambda place: changed.save(place, adapters=adapters))
    shutil.rmtree(work, ignore_errors=True)
    return TuneReport(folder, record)


def stopped_early(record: Mapping[str, Any]) -> Notice | None:
    """That the run of a *record* ended before its last step, and why; None where it did not."""
    if not record.get("stopped_early") or not isinstance(tuning := record.get("tuning"), dict):
        return None
    steps, best = int(record["steps"]), record.get("best_step")
    values = {"steps": f"{steps:,}", "of": f"{tuning['steps']:,}", "checks": tuning["patience"],
              "best": f"{steps if best is None else best:,}"}  # fmt: skip
    return Notice(STOPPED_EARLY, values)


def _rows(
    changed: "Changeable", texts: TrainingTexts, tuning: Tuning, model: str
) -> tuple[list[list[int]], list[list[int]]]:
    rows, untouched = changed.rows(texts.trained, tuning.length), changed.rows(texts.untouched, tuning.length)
    if min(len(rows), len(untouched)) < 2:
        raise Refused(NO_TOKENS, name=texts.name, model=model)
    return rows, untouched


def _refuse_too_much(memory: Memory, force: bool) -> Memory:
    if memory.total > memory.available and not force:
        raise Refused(NO_MEMORY, needed=_gib(memory.total), available=_gib(memory.available))
    return memory


def write_model(folder: Path, record: dict[str, Any], save: Callable[[Path], object]) -> None:
    """Write a changed model with its record and card; the folder appears when it is whole."""
    make_folder(folder.parent)
    with whole_path(folder) as place:
        place.mkdir(mode=0o700)
        save(place)
        (place / RECORD).write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        (place / "README.md").write_text(card(record), encoding="utf-8")


def _record(
    folder: Path, model: str, weights: str, licence: str | None, texts: TrainingTexts, before: HeldOut, after: HeldOut
) -> dict[str, Any]:
    return {
        "name": folder.name,
        "base": {"name": model, "weights": weights, "licence": licence},
        "source": texts.facts,
        "held_out": {"before": before.as_json(), "after": after.as_json()},
        **made_now(),
    }


def _training_text(tuning: Tuning, texts: TrainingTexts) -> str:
    kind = {"none": "unswapped text (a placebo)", "swap": "swapped text", "cda": "text with its swapped copies (CDA)"}
    what = kind.get(texts.facts["swap"]["mode"], "text of which half was swapped (CDS)")
    how = f"adapters of rank {tuning.lora}, merged" if tuning.lora else "all weights"
    drop = f", dropout {tuning.dropout[0]:g} and {tuning.dropout[1]:g}" if tuning.dropout else ""
    return f"trained further on {what}, {how}{drop}, seed {tuning.seed}"


def memory_facts(memory: Memory) -> dict[str, Any]:
    """The forecast for a record, with the most that this process really took (None where the system does not say)."""
    try:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    except ImportError:
        peak = None
    return memory.as_json() | {"peak_of_process": peak}


def _gib(number: int) -> str:
    return f"{number / GIB:.1f}"


def work_folder(folder: Path) -> Path:
    """The hidden folder of a run beside *folder*: checkpoints and the curve, until the model is whole."""
    return folder.with_name(f".{folder.name}{WORK}")


def _begin_work(folder: Path, asked: dict[str, Any]) -> Path:
    """The hidden folder of a run, emptied where something else was asked there before."""
    work = work_folder(folder)
    said = json.dumps(asked, ensure_ascii=False, sort_keys=True)
    try:
        known = (work / ASKED).read_text(encoding="utf-8")
    except OSError:
        known = ""
    if known != said:
        shutil.rmtree(work, ignore_errors=True)
        make_folder(work)
        with whole_file(work / ASKED) as write:
            write(said)
    return work


class _Curve:
    """Loss over steps: told to whoever watches, and kept in the work folder so that a run that goes on has all of
    it."""

    def __init__(self, work: Path, watch: Watch | None, model: str) -> None:
        self._file, self._watch, self._model = work / CURVE, watch, model
        self._said = model

    def step(self, done: int, total: int) -> None:
        """A step was done."""
        if self._watch is not None:
            self._watch(done, total, self._said)

    def end(self, trained: "Trained") -> "Trained":
        """*trained*; where held-out text did not get better any more there are no further steps, so all are done."""
        if trained.early and self._watch is not None:
            self._watch(trained.steps, trained.steps, self._said)
        return trained

    def look(self, step: int, loss: float | None, found: HeldOut) -> None:
        """Held-out text was looked at."""
        point = {"step": step, "loss": loss, "held_out_loss": found.loss, "held_out_accuracy": found.accuracy}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(point) + "\n")
        trained = "" if loss is None or not math.isfinite(loss) else f", loss {loss:.3f}"
        self._said = f"{self._model}{trained}, held-out {found.loss:.3f}"

    def points(self) -> list[dict[str, Any]]:
        """Every look, once: a step that was done again after a stop counts as it was done last."""
        if not self._file.is_file():
            return []
        rows = [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]
        return list({row["step"]: row for row in rows}.values())
