"""From templates to a table of verdicts: by probability, and by a file of generations where there is one."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from core.errors import N_, BadFile, EvenhandError, ModelUnavailable, Notice, Refused
from core.files.csv_out import csv_line
from core.files.timestamps import timestamp
from core.files.whole_file import whole_file
from core.misgendering.generations import Matched, matched, read_generations
from core.misgendering.probability import Judged, Summary, Tally, judge
from core.misgendering.prompts import judge_prompts
from core.misgendering.slots import Instance
from core.misgendering.template_files import Prompt, Source
from core.misgendering.verdict_rows import columns, prompt_rows, rows
from core.models import Precision
from core.runs.records import Failure, write_record
from core.runs.scoring import check_models, versions
from core.scoring.cache import CachedScorer
from core.text.pronouns import sets

TEXTS = ".jsonl"  # ending of the generations beside a table of verdicts
NEED_GENERATIONS = N_(
    "TANGO's texts become templates by what a model writes: let it write with `generate`, and give these generations."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run is asked for.

    `generations`: a file of what the models wrote; None: only by probability. `cache`: remembered scores.
    """

    models: tuple[str, ...]
    precision: Precision = "fp32"
    threads: int | None = None
    cache: Path | None = None
    generations: Path | None = None


@dataclass(slots=True)
class ModelVerdicts:
    """What came of one model: its counts, how its numbers were made, what sharing beginnings saved."""

    model: str
    signature: str
    summary: Summary
    seconds: float
    loading_seconds: float
    fed: int
    alone: int
    remembered: int

    def as_json(self) -> dict[str, Any]:
        """For the record and for --json. factor: tokens of the texts one by one over tokens that went through."""
        factor: dict[str, Any] = {"factor": round(self.alone / self.fed, 3)} if self.fed else dict(NOTHING_ASKED)
        return {
            "model": self.model,
            "signature": self.signature,
            "scored": self.summary.judged,
            **self.summary.as_json(),
            "seconds": round(self.seconds, 3),
            "loading_seconds": round(self.loading_seconds, 3),
            "tokens": {"fed": self.fed, "one_by_one": self.alone, **factor},
            "remembered": self.remembered,
        }


NOTHING_ASKED = {"factor": None, "factor_reason": "Everything was remembered."}


@dataclass(slots=True)
class VerdictReport:
    """What a run did; `as_json` is its record and what the command prints."""

    name: str
    dataset: str
    digest: str
    instances: int
    facts: dict[str, Any]
    asked: Asked
    out: Path
    texts: Path | None = None
    rows: int = 0
    strangers: int = 0
    models: list[ModelVerdicts] = field(default_factory=list)
    failed: list[tuple[str, EvenhandError]] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Everything that a reader needs to trust the table or to make it again."""
        settings = {key: value.name if isinstance(value, Path) else value for key, value in asdict(self.asked).items()}
        return {
            "kind": "misgendering",
            "out": str(self.out),
            "texts": None if self.texts is None else str(self.texts),
            **({"texts_reason": "This run has no generations."} if self.texts is None else {}),
            "source": {"kind": "templates", "name": self.name, "dataset": self.dataset, "sha256": self.digest},
            "sentences": self.instances,
            "instances": self.instances,
            "rows": self.rows,
            "generations_of_no_instance": self.strangers,
            "seconds": round(self.seconds, 3),
            "models": [one.as_json() for one in self.models],
            "failed": [Failure.of(name, error).as_json() for name, error in self.failed],
            "notices": [{"message": one.message, "values": one.values, "text": one.text} for one in self.notices],
            "settings": {**self.facts, **settings},
            "versions": versions(),
            "created": timestamp(),
        }


class Watcher(Protocol):
    """Where a run says how far it is."""

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        """`done` of `total` steps: instances of every model."""
        ...


def verdicts_to_file(
    source: Source,
    instances: Sequence[Instance],
    asked: Asked,
    out: Path,
    *,
    name: str,
    facts: dict[str, Any] | None = None,
    watch: Watcher | None = None,
    record: bool = False,
) -> VerdictReport:
    """Judge every instance (TANGO: every prompt of *source*) by every model and write the table to *out*.

    The table appears when it is whole; a copy of the generations lies beside it under its name with .jsonl. A model
    that cannot be used is in `failed` and the others go on. *facts*: what else the record should say of how instances
    were drawn.
    Raises ModelUnavailable where no model could be used, Refused for TANGO without generations, BadFile.
    """
    check_models(asked.models)
    if source.prompts and asked.generations is None:
        raise Refused(NEED_GENERATIONS)
    asking: Sequence[Instance | Prompt] = source.prompts or instances
    report = VerdictReport(name, source.dataset, _digest(asking), len(asking), facts or {}, asked, out)
    began = time.perf_counter()
    steps = Steps(watch, len(asking) * len(asked.models))
    given = _given(asking, report)
    with whole_file(out) as write:
        judge_all(source.dataset, asking, given, report, steps, write)
        if not report.models:
            raise report.failed[0][1]
    report.seconds = time.perf_counter() - began
    if record:
        write_record(out, report.as_json())
    return report


class Steps:
    """Adds up the instances of all models."""

    def __init__(self, watch: Watcher | None, total: int) -> None:
        self._watch, self._before, self._total = watch, 0, max(1, total)

    def say(self, done: int, message: str) -> None:
        """So many of what is under way are done."""
        if self._watch is not None:
            self._watch(min(self._before + done, self._total), self._total, message)

    def finished(self, count: int) -> None:
        """So many are done, and what is under way now begins at 0."""
        self._before += count


def _given(asking: Sequence[Instance | Prompt], report: VerdictReport) -> Matched | None:
    """The generations of the file; None where there is none. A copy stays beside the table."""
    if report.asked.generations is None:
        return None
    report.texts = report.out.with_suffix(TEXTS)
    _copy(report.asked.generations, report.texts)
    kept = (one for one in read_generations(report.texts) if one.model in ("", *report.asked.models))
    found = matched(kept, asking)
    report.strangers = found.strangers
    return found


def _copy(file: Path, out: Path) -> None:
    """The lines of a file once more, readable by the owner only: what models write about people may hurt."""
    if file.resolve() == out.resolve():
        return
    with whole_file(out, private=True) as write:
        try:
            with file.open(encoding="utf-8-sig") as lines:
                for line in lines:
                    write(line if line.endswith("\n") else line + "\n")
        except FileNotFoundError:
            raise BadFile(N_("There is no file {path}."), path=file) from None
        except (UnicodeDecodeError, OSError) as error:
            raise BadFile(N_("{file} cannot be read as text in UTF-8."), file=file.name) from error


def judge_all(
    dataset: str,
    asking: Sequence[Instance | Prompt],
    given: Matched | None,
    report: VerdictReport,
    steps: Steps,
    write: Callable[[str], object],
) -> None:
    """The rows of every model that can be used, model after model."""
    gens = given.most if given is not None else 0
    names = (name for one in asking for name in (one.options if isinstance(one, Instance) else one.pronouns))
    options = tuple(dict.fromkeys((*sets(dataset), *names)))
    prompts = [one for one in asking if isinstance(one, Prompt)]
    write(csv_line(columns(options, gens, templates=gens if prompts else 0)))
    for model in report.asked.models:
        try:
            mine, found = _judged(model, asking, given, report, steps)
        except (ModelUnavailable, Refused) as error:
            report.failed.append((model, error))
            continue
        table = (
            prompt_rows(found, model, mine.signature, options, given or Matched(), gens)
            if prompts
            else rows([one for _, some in found for one in some], model, mine.signature, options, given, gens)
        )
        for row in table:
            write(csv_line(row))
            report.rows += 1
        report.models.append(mine)
        steps.finished(len(asking))


def _judged(
    model: str, asking: Sequence[Instance | Prompt], given: Matched | None, report: VerdictReport, steps: Steps
) -> tuple[ModelVerdicts, list[tuple[Prompt | Instance, list[Judged]]]]:
    """What a model says to each instance (one verdict) or prompt (one a generation)."""
    from core.models.perplexity import open_perplexity

    asked, began = report.asked, time.perf_counter()
    steps.say(0, model)
    scorer = open_perplexity(model, precision=asked.precision, threads=asked.threads)
    loaded, began, tally = time.perf_counter() - began, time.perf_counter(), Tally()

    def say(done: int, total: int) -> None:
        steps.say(round(done / max(1, total) * len(asking)), model)

    prompts = [one for one in asking if isinstance(one, Prompt)]
    instances = [one for one in asking if isinstance(one, Instance)]
    with CachedScorer(scorer, asked.cache) as cached:
        found: list[tuple[Prompt | Instance, list[Judged]]] = []
        if prompts:
            found += judge_prompts(prompts, given or Matched(), model, cached, scorer.read, progress=say)
        else:
            found += ((one.instance, [one]) for one in judge(instances, cached, scorer.read, progress=say))
        report.notices += [notice for notice in cached.notices if notice not in report.notices]
        remembered = cached.hits
    for _, some in found:
        for one in some:
            tally.count(one)
    seconds = time.perf_counter() - began
    saved = (scorer.fed, scorer.alone, remembered)
    return ModelVerdicts(model, scorer.signature, tally.summary, seconds, loaded, *saved), found


def _digest(asking: Sequence[Instance | Prompt]) -> str:
    """SHA-256 over everything that is asked."""
    sha = hashlib.sha256()
    for one in asking:
        sha.update(json.dumps(asdict(one), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
    return sha.hexdigest()
