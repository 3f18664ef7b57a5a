"""A run of tuning: load, forecast, train, look at untouched text, write the folder; a killed run goes on where it
was."""

import json
import math
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.whole_file import make_folder, whole_file, whole_path
from evenhand.core.models.catalogue import locate
from evenhand.core.models.tuning.settings import HeldOut, Memory, Tuning
from evenhand.core.runs.kinds import Place
from evenhand.core.swap.word_tables import WordTable
from evenhand.core.tune.card import card, licence_of
from evenhand.core.tune.report import RECORD, Base, TrainingReport, TuneReport
from evenhand.core.tune.runs import CURVE, work_folder, write_run
from evenhand.core.tune.settings import Settings
from evenhand.core.tune.texts import TrainingTexts, file_texts, training_texts
from evenhand.core.typed_json import to_json

if TYPE_CHECKING:
    from evenhand.core.models.tuning.training import Changeable, Trained

ASKED = "asked.json"
GIB = 2**30

TAKEN = N_("{folder} already exists; a tuned model never replaces a folder.")
NO_MEMORY = N_(
    "Training needs about {needed} GiB of memory, but {available} GiB are free. Use a smaller batch or"
    " length, adapters (--lora), or --force."
)
NO_TEXTS = N_("There is no file or folder {file}.")
ONLY_TRAINING = N_("A direction is removed within minutes, in this process: omit --ray, or use --method training.")
NO_TOKENS = N_("{name}: hardly any text contains a token in the vocabulary of {model}.")

Watch = Callable[[int, int | None, str], None]


def run(settings: Settings, place: Place, texts: Iterable[str] | None = None) -> TuneReport:
    """Change a model and write it to its folder; *texts*: in place of the file or folder that *settings* name.

    A run that was killed continues where the same settings are run again. Raises Refused, BadFile, ModelUnavailable.
    """
    folder, words, name = settings.folder(place.database), settings.words(), settings.texts
    if texts is None:
        if not Path(name).exists():
            raise BadFile(NO_TEXTS, file=name)
        texts, name = file_texts(Path(name)), Path(name).name
    given = training_texts(
        texts, name, swap=settings.swap, words=words, leave_out=settings.leave_out, share=settings.share,
        seed=settings.seed,
    )  # fmt: skip
    report = _changed(settings, given, words, folder, place)
    if settings.run_name:
        write_run(report)
    return report


def _changed(
    settings: Settings, texts: TrainingTexts, words: WordTable | None, folder: Path, place: Place
) -> TuneReport:
    model, device = settings.model, settings.device
    if settings.method != "training" and words is not None:
        from evenhand.core.tune.projections import project

        if settings.address is not None:
            raise Refused(ONLY_TRAINING)
        return project(model, texts, words, folder, settings.method, length=settings.length, device=device)
    tuning, adapters, force, watch = settings.tuning, settings.adapters, settings.force, place.progress
    if settings.address is None:
        return tune(model, texts, tuning, folder, device=device, adapters=adapters, force=force, watch=watch)
    from evenhand.core.tune.cluster import tune_on_cluster

    return tune_on_cluster(
        model, texts, tuning, folder, address=settings.address, threads=settings.threads, watch=watch, device=device,
        adapters=adapters, force=force,
    )  # fmt: skip


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
) -> TrainingReport:
    """Train *model* on *texts* and write it to *folder*, which appears when it is whole.

    Checkpoints lie in a hidden folder beside it until then: the same call goes on from the latest and ends in the same
    numbers; another call starts anew. *adapters*: keep LoRA adapters beside the merged weights. Raises Refused where
    the folder is there, or where memory is too small unless *force*; ModelUnavailable as loading does.
    """
    if folder.exists():
        raise Refused(TAKEN, folder=folder.name)
    base = locate(model)  # before torch is loaded
    from evenhand.core.models.tuning.training import Changeable

    changed = Changeable(model, dropout=tuning.dropout, device=device)
    rows, untouched = _rows(changed, texts, tuning, model)
    before = changed.held_out(untouched)
    if tuning.lora:
        changed.put_adapters(tuning.lora, tuning.seed)
    memory = _refuse_too_much(changed.forecast(tuning), force)
    asked = {"model": model, "weights": changed.before.weights, "source": texts.facts, "tuning": tuning}
    work = _begin_work(folder, asked)
    curve = _Curve(work, watch, model)
    began = time.time()
    trained = curve.end(changed.train(rows, untouched, tuning, work, on_step=curve.step, on_look=curve.look))
    after = changed.held_out(untouched)
    report = TrainingReport(
        name=folder.name, folder=folder, base=Base(model, changed.before.weights, licence_of(base)),
        source=texts.facts, held_out={"before": before, "after": after}, method="training",
        method_text=_training_text(tuning, texts.facts.swap.mode), tuning=tuning, steps=trained.steps,
        best_step=trained.best_step, stopped_early=trained.early, resumed_at=trained.resumed_at,
        curve=curve.points(), memory=memory_facts(memory), seconds=round(time.time() - began, 3),
    )  # fmt: skip
    write_model(report, lambda place: changed.save(place, adapters=adapters))
    shutil.rmtree(work, ignore_errors=True)
    return report


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


def write_model(report: TuneReport, save: Callable[[Path], object]) -> None:
    """Write a changed model with its record and card; the folder appears when it is whole."""
    make_folder(report.folder.parent)
    with whole_path(report.folder) as place:
        place.mkdir(mode=0o700)
        save(place)
        (place / RECORD).write_text(json.dumps(report.record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        (place / "README.md").write_text(card(report), encoding="utf-8")


def _training_text(tuning: Tuning, swap: str) -> str:
    kind = {"none": "unswapped text (a placebo)", "swap": "swapped text", "cda": "text with its swapped copies (CDA)"}
    what = kind.get(swap, "text of which half was swapped (CDS)")
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
    return {**to_json(memory), "peak_of_process": peak}


def _gib(number: int) -> str:
    return f"{number / GIB:.1f}"


def _begin_work(folder: Path, asked: dict[str, Any]) -> Path:
    """The hidden folder of a run, emptied where something else was asked there before."""
    work = work_folder(folder)
    said = json.dumps(to_json(asked), ensure_ascii=False, sort_keys=True)
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

    def points(self) -> tuple[dict[str, Any], ...]:
        """Every look, once: a step that was done again after a stop counts as it was done last."""
        if not self._file.is_file():
            return ()
        rows = [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]
        return tuple({row["step"]: row for row in rows}.values())
