"""A run of generating from contexts to file: begun, killed, resumed, whole."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.generation import GrowingFile, Task, Writer, Written, tasks
from evenhand.core.generation.contexts import CHUNK, SEED
from evenhand.core.generation.inputs import ContextInput
from evenhand.core.generation.server import INSTRUCTION, Server, ServerWriter, Way
from evenhand.core.generation.writers import LocalWriter
from evenhand.core.models import Precision
from evenhand.core.models.fetching import locate
from evenhand.core.models.sampling import DECAY, Sampling
from evenhand.core.runs.loop import Laps, RunReport, Watcher, made_now
from evenhand.core.runs.records import write_record
from evenhand.core.servers.addresses import key_from_environment

SHOWN = 20  # problems that a record lists


@dataclass(frozen=True, slots=True)
class Request:
    """What a run is asked for; see `core.models.generating.Sampling` and `core.generation.server.Server`.

    `server`: the address of an OpenAI-compatible server; None: the model is loaded here. `at_once`, `per_minute`:
    how hard the server is asked, which changes no text. `with_key`: whether the key of the environment is sent.
    """

    model: str
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
    chunk: int = CHUNK
    server: str | None = None
    way: Way = "completions"
    instruction: str = INSTRUCTION
    standard: bool = False
    at_once: int = 8
    per_minute: float | None = None
    with_key: bool = True
    threads: int | None = None
    pause_s: float = 1.0

    @property
    def lasting(self) -> dict[str, Any]:
        """What two halves of a run must have in common."""
        loose = {"at_once", "per_minute", "with_key", "threads", "pause_s", "model"}
        mine = {"server", "way", "instruction", "standard"}
        here = {"precision", "chunk"}
        loose |= set() if self.debias else {"debias", "decay"}  # runs of earlier versions know neither
        left = loose | (mine - {"server"} if self.server is None else here)
        return {key: value for key, value in asdict(self).items() if key not in left}


@dataclass(slots=True)
class GenerationReport(RunReport[None]):
    """What a run did; a run of generation has one model."""

    source: ContextInput
    request: Request
    out: Path
    signature: str = ""
    total: int = 0
    before: int = 0  # texts that an earlier start of this run had written
    written: int = 0
    tokens: int = 0
    writing_seconds: float = 0.0
    loading_seconds: float = 0.0
    refused: list[tuple[str, EvenhandError]] = field(default_factory=list)

    @property
    def rate(self) -> float | None:
        """Tokens a second of this start; None where nothing was written or a server did not count."""
        return self.tokens / self.writing_seconds if self.tokens and self.writing_seconds else None

    def as_json(self) -> dict[str, Any]:
        """The record of the run, and what the command prints."""
        rate = {"rate": round(self.rate, 1)} if self.rate else {"rate": None, "rate_reason": NO_RATE}
        return {
            "out": str(self.out),
            "model": self.request.model,
            "signature": self.signature,
            "source": self.source.facts(),
            "contexts": self.total // self.request.each,
            "generations": self.total,
            "resumed": self.before,
            "written": self.written,
            "tokens": self.tokens,
            "seconds": round(self.writing_seconds, 3),
            "loading_seconds": round(self.loading_seconds, 3),
            **rate,
            "refused": [_refusal(text, error) for text, error in self.refused[:SHOWN]],
            "refused_contexts": len(self.refused),
            "settings": {k: v for k, v in asdict(self.request).items() if k not in ("threads", "pause_s")},
            **made_now(),
        }


NO_DEBIAS = N_("Servers do not provide the probabilities that self-debias needs; use a model on this machine.")
NO_RATE = "Nothing was written in this start, or the server did not count tokens."


def _refusal(text: str, error: EvenhandError) -> dict[str, Any]:
    return {"context": text[:80], "error": error.message, "values": error.values, "text": str(error)}


def generate_to_file(
    source: ContextInput, request: Request, out: Path, *, watch: Watcher | None = None, record: bool = False
) -> GenerationReport:
    """Write `each` texts for every context of *source* into *out*, or go on where an earlier start was ended.

    The file appears when all is written; until then each text is on disk beside it as soon as it is made. Raises
    ModelUnavailable; Refused where no context can be used, where texts could not be had from a server, or for a run
    that was begun with another request.
    """
    if out.exists():
        raise Refused(N_("{file} already exists; choose another name, or delete it first."), file=out.name)
    report = GenerationReport(source, request, out)
    # The growing file knows how far the run is: a resumed one begins where it was, not at 0.
    report.ask_models((request.model,), lambda model, steps: _write_with(report, watch), 0, None)
    if record:
        write_record(out, report.as_json())
    return report


def _write_with(report: GenerationReport, watch: Watcher | None) -> None:
    source, request, lap = report.source, report.request, Laps()
    writer = open_writer(request)
    report.loading_seconds, report.signature = lap(), writer.signature
    report.refused = [(one.text, why) for one in source.contexts if (why := writer.refusal(one)) is not None]
    refused = {text for text, _ in report.refused}
    usable = [one for one in source.contexts if one.text not in refused]
    if not usable:
        raise report.refused[0][1]
    todo = tasks(usable, request.each, request.seed)
    report.total = len(todo)
    asked = {**request.lasting, "signature": writer.signature, "sha256": source.facts()["sha256"]}
    with GrowingFile(report.out, asked) as file:
        failures = _fill(file, writer, todo, report, watch)
        if failures:
            message = N_(
                "{failed} of {total} texts could not be generated. The finished ones are kept, and the"
                " same request generates the rest. The last reason: {why}"
            )
            raise Refused(message, failed=len(failures), total=len(todo), why=str(failures[-1]))
        file.finish()


def _fill(
    file: GrowingFile, writer: Writer, todo: list[Task], report: GenerationReport, watch: Watcher | None
) -> list[EvenhandError]:
    """Write what is missing; returns what went wrong with single texts."""
    report.before, lap = len(file), Laps()
    model = report.request.model

    def say() -> None:
        if watch is not None:
            watch(len(file), len(todo), model)

    def keep(found: Sequence[Written]) -> None:
        rows = [(one.task.number, one.task.row(one.completion, model, writer.signature, one.seed)) for one in found]
        report.written += file.append(rows)
        report.tokens += sum(one.tokens or 0 for one in found)
        report.writing_seconds += lap()
        say()

    say()
    failures = writer.write(todo, file.places, keep)
    report.writing_seconds += lap()
    return failures


def open_writer(request: Request) -> Writer:
    """Who writes for a request. Raises ModelUnavailable, Refused."""
    how = Sampling(request.top_k, request.top_p, request.temperature, request.tokens, request.stop)
    how = replace(how, debias=request.debias, decay=request.decay)
    if request.server is not None and request.debias:
        raise Refused(NO_DEBIAS)
    if request.server is None:
        locate(request.model)  # a model that cannot be had is refused before its library is loaded
        from evenhand.core.models.generating import open_generator

        generator = open_generator(request.model, how, precision=request.precision, threads=request.threads)
        return LocalWriter(generator, request.chunk)
    server = Server(
        request.server,
        request.model,
        request.way,
        request.instruction,
        at_once=request.at_once,
        per_minute=request.per_minute,
        standard=request.standard,
        pause_s=request.pause_s,
    )
    return ServerWriter(server, how, key=key_from_environment() if request.with_key else None)
