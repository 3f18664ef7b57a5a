"""Runs of misgendering: from templates to a table of verdicts, by probability and by what models write.

`verdicts_to_file` asks models, and judges a file of generations where there is one; `run_both` lets the models write
first.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, BadFile, Notice, Refused
from evenhand.core.files.whole_file import whole_file
from evenhand.core.generation.contexts import Context
from evenhand.core.generation.inputs import ContextInput
from evenhand.core.generation.run import Request, generate_to_file
from evenhand.core.misgendering.generations import Matched, context_rows, matched, read_generations
from evenhand.core.misgendering.probability import Judged, Summary, Tally, judge, judge_prompts
from evenhand.core.misgendering.slots import SETTINGS, Instance
from evenhand.core.misgendering.template_files import Prompt, Source
from evenhand.core.misgendering.verdict_rows import columns, prompt_rows, rows
from evenhand.core.models import Precision
from evenhand.core.runs.loop import (
    Laps,
    RunReport,
    Steps,
    Watcher,
    WriteRow,
    check_models,
    each_model,
    made_now,
    open_table,
    plain_settings,
)
from evenhand.core.runs.records import TEXTS, write_record
from evenhand.core.scoring.cache import CachedScorer
from evenhand.core.text.pronouns import sets

MOST_NAMED = 20  # lines of a file that are no generations and are named one by one
MORE_LINES = N_("{n} more lines are not generations and were skipped.")
NEED_GENERATIONS = N_(
    "TANGO texts become templates through what a model writes. First run `generate`, then give the generations here."
)


@dataclass(frozen=True, slots=True)
class VerdictSettings:
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
class VerdictReport(RunReport[ModelVerdicts]):
    """What a run of verdicts did. `texts`: the generations beside the table; `strangers`: those of no instance."""

    name: str
    dataset: str
    digest: str
    instances: int
    facts: dict[str, Any]
    settings: VerdictSettings
    out: Path
    texts: Path | None = None
    rows: int = 0
    strangers: int = 0

    def as_json(self) -> dict[str, Any]:
        """Everything that a reader needs to trust the table or to make it again."""
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
            "failed": self.failures,
            "notices": self.remarks,
            "settings": {**self.facts, **plain_settings(self.settings)},
            **made_now(),
        }


@dataclass(frozen=True, slots=True)
class _Question:
    """What every model is asked: instances, or prompts of TANGO; and what the models wrote about them."""

    dataset: str
    asked: Sequence[Instance | Prompt]
    texts: Matched | None

    @property
    def number(self) -> int:
        return len(self.asked)

    @property
    def prompts(self) -> list[Prompt]:
        return [one for one in self.asked if isinstance(one, Prompt)]

    @property
    def instances(self) -> list[Instance]:
        return [one for one in self.asked if isinstance(one, Instance)]

    @property
    def gens(self) -> int:
        """The most generations of an instance."""
        return self.texts.most if self.texts is not None else 0

    @property
    def options(self) -> tuple[str, ...]:
        """Every pronoun set that competes anywhere."""
        names = (name for one in self.asked for name in (one.options if isinstance(one, Instance) else one.pronouns))
        return tuple(dict.fromkeys((*sets(self.dataset), *names)))

    def header(self) -> tuple[str, ...]:
        return columns(self.options, self.gens, templates=self.gens if self.prompts else 0)


def verdicts_to_file(
    source: Source,
    instances: Sequence[Instance],
    settings: VerdictSettings,
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
    check_models(settings.models)
    if source.prompts and settings.generations is None:
        raise Refused(NEED_GENERATIONS)
    asking: Sequence[Instance | Prompt] = source.prompts or instances
    report = VerdictReport(name, source.dataset, _digest(asking), len(asking), facts or {}, settings, out)
    question = _Question(source.dataset, asking, _texts(asking, report))
    with open_table(out, question.header()) as write_row:

        def ask(model: str, steps: Steps) -> ModelVerdicts:
            return _judge_with(model, question, report, steps, write_row)

        report.ask_models(settings.models, ask, len(asking), watch)
    if record:
        write_record(out, report.as_json())
    return report


def _texts(asking: Sequence[Instance | Prompt], report: VerdictReport) -> Matched | None:
    """The generations of the file; None where there is none. A copy stays beside the table."""
    settings = report.settings
    if settings.generations is None:
        return None
    report.texts = report.out.with_suffix(TEXTS)
    if settings.generations.resolve() != report.texts.resolve():
        _join([settings.generations], report.texts)
    skipped: list[BadFile] = []
    texts = read_generations(report.texts, skipped)
    found = matched((one for one in texts if one.model in ("", *settings.models)), asking)
    report.add_notices(Notice(error.message, error.values) for error in skipped[:MOST_NAMED])
    if len(skipped) > MOST_NAMED:
        report.add_notices([Notice(MORE_LINES, {"n": len(skipped) - MOST_NAMED})])
    report.strangers = found.strangers
    return found


def _judge_with(
    model: str, question: _Question, report: VerdictReport, steps: Steps, write_row: WriteRow
) -> ModelVerdicts:
    """Write the rows of a model: a verdict an instance, or a verdict a generation for each prompt of TANGO."""
    from evenhand.core.models.perplexity import open_perplexity

    settings, lap = report.settings, Laps()
    scorer = open_perplexity(model, precision=settings.precision, threads=settings.threads)
    loading_seconds, tally = lap(), Tally()

    def say(done: int, total: int) -> None:
        steps(round(done / max(1, total) * question.number), message=model)

    judged: list[tuple[Prompt | Instance, list[Judged]]] = []
    with CachedScorer(scorer, settings.cache) as cached:
        if question.prompts:
            judged += judge_prompts(
                question.prompts, question.texts or Matched(), model, cached, scorer.read, progress=say
            )
        else:
            judged += ((one.instance, [one]) for one in judge(question.instances, cached, scorer.read, progress=say))
        report.add_notices(cached.notices)
        saved = (scorer.fed, scorer.alone, cached.hits)
    each = [one for _, some in judged for one in some]
    for one in each:
        tally.count(one)
    found = ModelVerdicts(model, scorer.signature, tally.summary, lap(), loading_seconds, *saved)
    how = (model, found.signature, question.options)
    table = (
        prompt_rows(judged, *how, question.texts or Matched(), question.gens)
        if question.prompts
        else rows(each, *how, question.texts, question.gens)
    )
    for row in table:
        write_row(row)
        report.rows += 1
    steps.finish(question.number)
    return found


def _digest(asking: Sequence[Instance | Prompt]) -> str:
    """SHA-256 over everything that is asked."""
    sha = hashlib.sha256()
    for one in asking:
        sha.update(json.dumps(asdict(one), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
    return sha.hexdigest()


@dataclass(frozen=True, slots=True)
class Writing:
    """What models write: `each` texts of `tokens` new tokens after every context of `settings` ("pre", "post").

    `trim`: contexts without the space at their end (published: with it). `seed`: start of every draw.
    """

    each: int
    settings: tuple[str, ...] = SETTINGS
    tokens: int = 50
    seed: int = 42
    trim: bool = False


def run_both(
    source: Source,
    instances: Sequence[Instance],
    settings: VerdictSettings,
    writing: Writing,
    out: Path,
    *,
    name: str,
    facts: dict[str, Any] | None = None,
    watch: Watcher | None = None,
    record: bool = False,
) -> VerdictReport:
    """Let every model write, then judge as `verdicts_to_file` does, with the texts beside the table (.jsonl).

    What was written stays when a run is ended: the same request goes on with it. A model that cannot be used is in
    `failed` and the others go on. Raises ModelUnavailable or Refused where no model could be used, BadFile.
    """
    check_models(settings.models)
    asking: Sequence[Instance | Prompt] = source.prompts or instances
    contexts = tuple(contexts_of(asking, writing))
    texts_of_one = len(contexts) * writing.each
    steps = Steps(watch, (texts_of_one + len(asking)) * len(settings.models))

    def write(model: str) -> tuple[str, Path]:
        part = _write_with(model, ContextInput(name, contexts), settings, writing, out, steps)
        steps.finish(texts_of_one)
        return model, part

    parts, failed = each_model(settings.models, write, steps, texts_of_one + len(asking))
    texts = out.with_suffix(TEXTS)
    _join([part for _, part in parts], texts)
    mine = replace(settings, models=tuple(model for model, _ in parts), generations=texts)
    more = (facts or {}) | {"each": writing.each, "setting": list(writing.settings), "new_tokens": writing.tokens}
    report = verdicts_to_file(source, instances, mine, out, name=name, facts=more, watch=steps)
    report.failed[:0] = failed
    if record:
        write_record(out, report.as_json())
    for _, part in parts:
        part.unlink(missing_ok=True)
    return report


def contexts_of(asking: Sequence[Instance | Prompt], writing: Writing) -> Iterator[Context]:
    """What models go on from; each carries the id of its instance along."""
    for row in context_rows(asking, writing.settings):
        extra = {key: value for key, value in row.items() if key in ("instance", "case", "kind")}
        text = row["context"].rstrip() if writing.trim else row["context"]
        facts = (row["name"], tuple(row["pronouns"]), row["dataset"], row["setting"], row["template"])
        yield Context(text, *facts, extra)


def _write_with(
    model: str, given: ContextInput, settings: VerdictSettings, writing: Writing, out: Path, steps: Steps
) -> Path:
    """A hidden file of what a model writes; one that is whole is not written again."""
    request = Request(
        model,
        writing.each,
        writing.seed,
        tokens=writing.tokens,
        precision=settings.precision,
        threads=settings.threads,
    )
    key = f"{model}|{given.facts()['sha256']}|{sorted(request.lasting.items())}"
    file = out.with_name(f".{out.stem[:60]}.{hashlib.sha256(key.encode()).hexdigest()[:12]}{TEXTS}")
    if not file.exists():
        generate_to_file(given, request, file, watch=steps)
    return file


def _join(files: Sequence[Path], out: Path) -> None:
    """The texts of all models, readable by the owner only: what models write about people may hurt. Raises BadFile."""
    with whole_file(out) as write:
        for file in files:
            try:
                with file.open(encoding="utf-8-sig") as lines:
                    for line in lines:
                        write(line if line.endswith("\n") else line + "\n")
            except FileNotFoundError:
                raise BadFile(N_("There is no file {path}."), path=file) from None
            except (UnicodeDecodeError, OSError) as error:
                raise BadFile(N_("{file} is not UTF-8 text."), file=file.name) from error
