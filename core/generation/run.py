"""A run that generates texts from contexts into a file; it may be interrupted and resumed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from evenhand.core.errors import N_, EvenhandError, Notice, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.generation.backends import INSTRUCTION, LocalWriter, Server, ServerWriter, Way, Writer, Written
from evenhand.core.generation.inputs import CHUNK, SEED, ContextInput, Filling, Task, open_contexts, tasks
from evenhand.core.generation.resumable_file import GrowingFile
from evenhand.core.misgendering.slots import SETTINGS, Setting
from evenhand.core.models import DECAY, Precision, Sampling
from evenhand.core.models.catalogue import locate
from evenhand.core.runs.kinds import JobKind, Place, Progress
from evenhand.core.runs.loop import LapTimer, versions
from evenhand.core.runs.records import TEXTS, run_target, runs_folder, write_record
from evenhand.core.servers.addresses import key_from_environment
from evenhand.core.types import JsonObject, Problem

SAMPLED = ("each", "seed", "top_k", "top_p", "temperature", "tokens", "stop")
OF_DEBIAS, OF_MODEL, OF_SERVER = (
    ("debias", "decay"),
    ("precision", "chunk"),
    ("server", "way", "instruction", "standard"),
)
RECORDED = ("model", *SAMPLED, *OF_DEBIAS, *OF_MODEL, *OF_SERVER, "at_once", "per_minute", "with_key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of the command `generate`.

    `server`: the address of an OpenAI-compatible server; None: the model is loaded here. `at_once`, `per_minute`: the
    load of the server, which changes no text. `passes` to `column`: how templates are filled, see `Filling`.
    """

    contexts: str
    model: str
    out: Path | None = None
    run_name: str | None = None
    each: int = 1
    seed: int = SEED
    top_k: int = 50
    top_p: float = 0.95
    temperature: float | None = None
    tokens: int = 50
    stop: bool = False
    debias: str = ""
    decay: float = DECAY
    precision: Precision = "fp32"
    threads: int | None = None
    chunk: int = CHUNK
    server: str | None = None
    chat: bool = False
    instruction: str = INSTRUCTION
    standard: bool = False
    at_once: int = 8
    per_minute: float | None = None
    no_key: bool = False
    passes: int = 1
    settings: tuple[Setting, ...] = ()
    only: tuple[str, ...] = ()
    limit: int | None = None
    trim: bool = False
    column: str | None = None

    @property
    def way(self) -> Way:
        """The way in which a server is asked: "chat" or "completions"."""
        return "chat" if self.chat else "completions"

    @property
    def with_key(self) -> bool:
        """True if the key of the environment is sent to the server."""
        return not self.no_key

    @property
    def filling(self) -> Filling:
        """The settings by which templates are filled."""
        return Filling(self.passes, self.seed, self.settings or SETTINGS, self.only, self.limit, self.column, self.trim)

    @property
    def sampling(self) -> Sampling:
        """The settings by which tokens are drawn."""
        return Sampling(
            self.top_k, self.top_p, self.temperature, self.tokens, self.stop, debias=self.debias, decay=self.decay
        )

    @property
    def lasting(self) -> JsonObject:
        """The settings that both halves of an interrupted run must share."""
        debias = OF_DEBIAS if self.debias else ()  # runs of earlier versions know neither
        return self.named((*SAMPLED, *debias, *(OF_MODEL if self.server is None else OF_SERVER)))

    def named(self, names: Collection[str] = RECORDED) -> JsonObject:
        """Return the values of these names, by default of all that a record holds."""
        return {name: getattr(self, name) for name in names}


SHOWN = 20  # problems that a record lists
NO_DEBIAS = N_("Servers do not provide the probabilities that self-debiasing needs; use a model on this machine.")
NO_RATE = "Nothing was written in this start, or the server did not count tokens."
MADE = N_("{generations} texts from {contexts} contexts.")
RESUMED = N_("Nothing is lost: finished texts are stored, and a resumed run generates the rest.")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A context for which no text can be generated: its beginning, and the reason."""

    context: str
    error: str
    values: JsonObject
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationReport:
    """The report of a run; a run of generation has one model.

    `generations`: all texts; `resumed`: those that an earlier start had written, `written`: new ones, of so many
    `tokens`, in `seconds`. `rate`: tokens a second of this start; None where a server did not count. `refused`: the
    first of `refused_contexts`. `problems`: rows of the input without a valid context.
    """

    out: Path
    model: str
    signature: str
    source: JsonObject
    contexts: int
    generations: int
    resumed: int
    written: int
    tokens: int
    seconds: float
    loading_seconds: float
    rate: float | None
    refused: tuple[Refusal, ...]
    refused_contexts: int
    settings: JsonObject
    versions: dict[str, str] = field(default_factory=lambda: versions())
    created: str = field(default_factory=timestamp)
    problems: tuple[Problem, ...] = ()
    json_names: ClassVar = {"problems": None}
    also_in_json: ClassVar = ("rate_reason",)

    @property
    def rate_reason(self) -> str | None:
        """The reason for a missing rate; None if the rate is known."""
        return NO_RATE if self.rate is None else None


def run(settings: Settings, place: Place) -> GenerationReport:
    """Let the model of *settings* continue their contexts; see `write_texts`. Raises BadFile for unusable contexts."""
    out, is_run = run_target(place.database, "generations", settings.out, settings.run_name, ending=TEXTS)
    if settings.server is None:
        locate(settings.model)  # refuse an unavailable model before reading anything
    report = write_texts(open_contexts(settings.contexts, settings.filling), settings, out, place.progress)
    if is_run:
        write_record(out, report)
    return report


def write_texts(
    source: ContextInput, settings: Settings, out: Path, progress: Progress | None = None, *, pause_s: float = 1.0
) -> GenerationReport:
    """Write `each` texts for every context of *source* into *out*, or continue an interrupted run.

    The file appears when all texts are written; each text is on disk as soon as it is made. *pause_s*: seconds before a
    server is asked again. Raises ModelUnavailable; Refused where no context can be used, where a server did not give
    all texts, or for a run that was begun with other settings.
    """
    if out.exists():
        raise Refused(N_("{file} already exists; choose another name, or delete it first."), file=out.name)
    lap = LapTimer()
    writer = open_writer(settings, pause_s)
    loading_seconds = lap()
    reasons = [(context, writer.refusal(context)) for context in source.contexts]
    refused = [(context.text, why) for context, why in reasons if why is not None]
    texts = {text for text, _ in refused}
    usable = [context for context in source.contexts if context.text not in texts]
    if not usable:
        raise refused[0][1]
    todo = tasks(usable, settings.each, settings.seed)
    values = {**settings.lasting, "signature": writer.signature, "sha256": source.facts()["sha256"]}
    with GrowingFile(out, values) as file:
        work = _Work(file, writer, todo, settings.model, progress)
        failures = work.fill()
        if failures:
            message = N_(
                "{failed} of {total} texts could not be generated. Finished texts are stored; repeat the request"
                " to generate the rest. Last error: {why}"
            )
            raise Refused(message, failed=len(failures), total=len(todo), why=str(failures[-1]))
        file.finish()
    rate = round(work.tokens / work.seconds, 1) if work.tokens and work.seconds else None
    return GenerationReport(
        out=out, model=settings.model, signature=writer.signature, source=source.facts(),
        contexts=len(todo) // settings.each, generations=len(todo), resumed=work.before, written=work.written,
        tokens=work.tokens, seconds=round(work.seconds, 3), loading_seconds=round(loading_seconds, 3), rate=rate,
        refused=tuple(Refusal(text[:80], why.message, why.values, str(why)) for text, why in refused[:SHOWN]),
        refused_contexts=len(refused), settings=settings.named(), problems=source.problems,
    )  # fmt: skip


class _Work:
    """One start of a run: it fills the growing file, which knows the progress of the run."""

    def __init__(
        self, file: GrowingFile, writer: Writer, todo: list[Task], model: str, progress: Progress | None
    ) -> None:
        self._file, self._writer, self._todo, self._model, self._progress = file, writer, todo, model, progress
        self.before, self.written, self.tokens, self.seconds, self._lap = len(file), 0, 0, 0.0, LapTimer()

    def fill(self) -> list[EvenhandError]:
        """Write the missing texts, and return the errors of single texts."""
        self._say()
        failures = self._writer.write(self._todo, self._file.places, self._keep)
        self.seconds += self._lap()
        return failures

    def _say(self) -> None:
        if self._progress is not None:
            self._progress(len(self._file), len(self._todo), self._model)

    def _keep(self, texts: Sequence[Written]) -> None:
        signature = self._writer.signature
        rows = [(text.task.number, text.task.row(text.completion, self._model, signature, text.seed)) for text in texts]
        self.written += self._file.append(rows)
        self.tokens += sum(text.tokens or 0 for text in texts)
        self.seconds += self._lap()
        self._say()


def open_writer(settings: Settings, pause_s: float = 1.0) -> Writer:
    """Return the writer of a run: a model on this machine or a server. Raises ModelUnavailable, Refused."""
    if settings.server is not None and settings.debias:
        raise Refused(NO_DEBIAS)
    if settings.server is None:
        locate(settings.model)  # refuse an unavailable model before its library is loaded
        from evenhand.core.models.generating import open_generator

        precision, threads = settings.precision, settings.threads
        generator = open_generator(settings.model, settings.sampling, precision=precision, threads=threads)
        return LocalWriter(generator, settings.chunk)
    server = Server(
        settings.server, settings.model, settings.way, settings.instruction, at_once=settings.at_once,
        per_minute=settings.per_minute, standard=settings.standard, pause_s=pause_s,
    )  # fmt: skip
    return ServerWriter(server, settings.sampling, key=key_from_environment() if settings.with_key else None)


def _partial(settings: Settings, database: Path) -> Path | None:
    return runs_folder(database, "generations") / f"{settings.run_name}{TEXTS}" if settings.run_name else None


def _summary(report: GenerationReport) -> list[Notice]:
    return [Notice(MADE, {"generations": f"{report.generations:,}", "contexts": f"{report.contexts:,}"})]


GENERATE = JobKind("generate", Settings, GenerationReport, run, _summary, resuming=RESUMED, partial_file=_partial)
