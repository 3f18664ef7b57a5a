"""A run of tuning, here or in a worker of a Ray cluster that is watched from here; a killed run continues where it was.

Training: load, forecast, train, look at untouched text, write the folder. Taking a direction out: sentences and
counterfactuals in, a changed folder with its probes out.
"""

import json
import math
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.cluster import Pool
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.atomic_file import make_folder, whole_file, whole_path
from evenhand.core.models.catalogue import locate
from evenhand.core.models.tuning.settings import HeldOut, Memory, Tuning
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.loop import LapTimer
from evenhand.core.swap.swapping import Swapper
from evenhand.core.swap.word_tables import WordTable
from evenhand.core.tune.report import (
    CURVE,
    RECORD,
    Base,
    ProjectionReport,
    SwapFacts,
    TrainingReport,
    TuneReport,
    card,
    licence_of,
    work_folder,
    write_run,
)
from evenhand.core.tune.settings import Settings
from evenhand.core.tune.texts import TrainingTexts, file_texts, training_texts
from evenhand.core.typed_json import to_json

if TYPE_CHECKING:
    from evenhand.core.models.tuning.training import Trained

ASKED = "asked.json"
GIB = 2**30

TAKEN = N_("{folder} already exists; a tuned model never replaces a folder.")
NO_MEMORY = N_(
    "Training needs about {needed} GiB of memory, but {available} GiB are free. Use a smaller batch or"
    " length, adapters (--lora), or --force."
)
NO_TEXTS = N_("There is no file or folder {file}.")
ONLY_TRAINING = N_("Removing a direction takes minutes and runs in this process: omit --ray, or use --method training.")
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
    if settings.method == "training" or words is None:
        make = tune if settings.address is None else tune_on_cluster
        return make(settings, texts, folder, place.progress)
    if settings.address is not None:
        raise Refused(ONLY_TRAINING)
    return project(settings, texts, words, folder)


def tune(settings: Settings, texts: TrainingTexts, folder: Path, watch: Watch | None = None) -> TrainingReport:
    """Train the model on *texts* and write it to *folder*, which appears when it is whole.

    Until then a hidden folder next to *folder* has the checkpoints. The same call continues from the latest checkpoint
    and gives the same numbers; a call with other arguments starts from the beginning. Raises Refused where the folder
    exists, or where memory is too small unless forced; ModelUnavailable as loading does.
    """
    if folder.exists():
        raise Refused(TAKEN, folder=folder.name)
    model, tuning = settings.model, settings.tuning
    base = locate(model)  # before torch is loaded
    from evenhand.core.models.tuning.training import Changeable

    changed = Changeable(model, dropout=tuning.dropout, device=settings.device)
    rows, untouched = (changed.rows(some, tuning.length) for some in (texts.trained, texts.untouched))
    if min(len(rows), len(untouched)) < 2:
        raise Refused(NO_TOKENS, name=texts.name, model=model)
    before = changed.held_out(untouched)
    if tuning.lora:
        changed.put_adapters(tuning.lora, tuning.seed)
    memory = changed.forecast(tuning)
    if memory.total > memory.available and not settings.force:
        sizes = {"needed": memory.total, "available": memory.available}
        raise Refused(NO_MEMORY, **{name: f"{size / GIB:.1f}" for name, size in sizes.items()})
    values = {"model": model, "weights": changed.before.weights, "source": texts.facts, "tuning": tuning}
    work = _begin_work(folder, values)
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
    write_model(report, lambda place: changed.save(place, adapters=settings.adapters))
    shutil.rmtree(work, ignore_errors=True)
    return report


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


def memory_facts(memory: Memory) -> dict[str, object]:
    """Return the forecast for a record, with this process's peak (None where the system does not tell)."""
    try:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    except ImportError:
        peak = None
    return {**to_json(memory), "peak_of_process": peak}


def _begin_work(folder: Path, asked: Mapping[str, object]) -> Path:
    """Return the hidden folder of a run; it is emptied if it belongs to another request."""
    work = work_folder(folder)
    text = json.dumps(to_json(asked), ensure_ascii=False, sort_keys=True)
    try:
        known = (work / ASKED).read_text(encoding="utf-8")
    except OSError:
        known = ""
    if known != text:
        shutil.rmtree(work, ignore_errors=True)
        make_folder(work)
        with whole_file(work / ASKED) as write:
            write(text)
    return work


class _Curve:
    """Loss over steps. It is reported to `watch`, and stored in the work folder so that a continued run has the whole
    curve."""

    def __init__(self, work: Path, watch: Watch | None, model: str) -> None:
        self._file, self._watch, self._model = work / CURVE, watch, model
        self._said = model

    def step(self, done: int, total: int) -> None:
        """Report a finished step."""
        if self._watch is not None:
            self._watch(done, total, self._said)

    def end(self, trained: "Trained") -> "Trained":
        """Return *trained*. Report all steps as done if the run ended early, when held-out text stopped improving."""
        if trained.early and self._watch is not None:
            self._watch(trained.steps, trained.steps, self._said)
        return trained

    def look(self, step: int, loss: float | None, held_out: HeldOut) -> None:
        """Record the losses on held-out text."""
        point = {"step": step, "loss": loss, "held_out_loss": held_out.loss, "held_out_accuracy": held_out.accuracy}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(point) + "\n")
        trained = "" if loss is None or not math.isfinite(loss) else f", loss {loss:.3f}"
        self._said = f"{self._model}{trained}, held-out {held_out.loss:.3f}"

    def points(self) -> tuple[Mapping[str, Any], ...]:
        """Return every point of the curve once; a step that was repeated after a stop counts as repeated last."""
        if not self._file.is_file():
            return ()
        rows = [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]
        return tuple({row["step"]: row for row in rows}.values())


LOOK_S = 1.0  # between two looks at the curve that the worker writes


def tune_on_cluster(
    settings: Settings, texts: TrainingTexts, folder: Path, watch: Watch | None = None
) -> TrainingReport:  # fmt: skip
    """Run `tune` in one worker of the cluster at the address of *settings* ("local" starts a cluster here).

    The worker must see the disk of *folder* too. A worker that crashes is started again and continues at its
    checkpoint. Raises the errors of `tune` and `core.cluster.Pool`.
    """
    arguments = {"settings": settings, "texts": texts, "folder": folder.resolve()}
    address = settings.address or "local"
    with (
        Pool("evenhand.core.tune.run:tuner", arguments, address=address, workers=1) as pool,
        _watched(work_folder(folder) / CURVE, settings.steps, settings.model, watch),
    ):
        report: TrainingReport = next(pool.map([None]))
    return report


def tuner(settings: Settings, texts: TrainingTexts, folder: Path) -> Callable[[None], TrainingReport]:
    """Return the function that the worker calls to begin the run."""

    def run(_: None) -> TrainingReport:
        from evenhand.core.models.loaded import use_threads
        from evenhand.core.processes import processors

        use_threads(settings.threads or processors())  # Ray gives an actor one
        return tune(settings, texts, folder)

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
    """Return the step of the last complete line of a curve; None before the first one."""
    try:
        *whole, _ = curve.read_text(encoding="utf-8").split("\n")
    except OSError:
        return None
    return int(json.loads(whole[-1])["step"]) if whole else None


NAMES = {"sentence-debias": "SentenceDebias", "inlp": "INLP"}
MOST = 2000  # sentences on either side; more move the directions little


def project(settings: Settings, texts: TrainingTexts, words: WordTable, folder: Path) -> ProjectionReport:
    """Take the directions of a method out of a model, found in *texts* and their counterfactuals; write *folder*.

    Texts whose words are of one side only count, each with its counterfactual. Raises Refused where the folder is there
    or texts are few, ModelUnavailable as loading does.
    """
    if folder.exists():
        raise Refused(TAKEN, folder=folder.name)
    model, method, length = settings.model, settings.method, settings.length
    base, lap = locate(model), LapTimer()
    from evenhand.core.models.tuning.projection import (
        apply_projection,
        inlp,
        refuse_few,
        sentence_debias,
        sentence_vectors,
    )
    from evenhand.core.models.tuning.training import Changeable

    changed = Changeable(model, device=settings.device)
    untouched = changed.rows(texts.untouched, length)
    before = changed.held_out(untouched)
    pairs = sides(texts.trained, words)
    refuse_few(len(pairs))
    male, female = (
        sentence_vectors(changed.model, changed.tokenizer, [pair[side] for pair in pairs], length) for side in (0, 1)
    )
    projection = sentence_debias(male, female) if method == "sentence-debias" else inlp(male, female, changed.task)
    apply_projection(model, changed.model, projection.matrix)
    after = changed.held_out(untouched)
    report = ProjectionReport(
        name=folder.name, folder=folder, base=Base(model, changed.before.weights, licence_of(base)),
        source=replace(texts.facts, swap=SwapFacts(language=words.language)), method=method,
        method_text=f"{NAMES[method]}: {projection.directions} directions, found in {len(pairs):,} sentences and their"
        " counterfactuals, projected away before the head", directions=projection.directions, pairs=len(pairs),
        probe={"before": to_json(projection.before), "after": to_json(projection.after)},
        held_out={"before": before, "after": after}, seconds=round(lap(), 3),
    )  # fmt: skip
    write_model(report, changed.save)
    return report


def sides(texts: Sequence[str], words: WordTable) -> list[tuple[str, str]]:
    """Return (male, female) versions of each text whose words are all of one side."""
    swapper, result = Swapper(words), []
    for text in texts:
        counterfactual = swapper(text)
        there = {words.side(change.word) for change in counterfactual.changes}
        if counterfactual.outcome == "swapped" and len(there) == 1:
            result.append((text, counterfactual.text) if there == {"male"} else (counterfactual.text, text))
        if len(result) == MOST:
            break
    return result
