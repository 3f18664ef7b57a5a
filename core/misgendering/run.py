"""Runs of misgendering: from templates to a table of verdicts, by probability and by what models write.

`score` asks models, and judges a file of generations where there is one; `run` lets the models write first.

Also the settings of runs of misgendering.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from evenhand.core.errors import N_, BadFile, Notice, Refused
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.generation.inputs import Context, ContextInput
from evenhand.core.generation.run import Settings as WriteSettings
from evenhand.core.generation.run import write_texts
from evenhand.core.misgendering import probability, template_files
from evenhand.core.misgendering.generations import Matched, context_rows, matched, read_generations
from evenhand.core.misgendering.slots import SETTINGS, Instance, Setting, text_file
from evenhand.core.models import Precision
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.runs.loop import LapTimer, Report, RunProgress, ask_models, check_models, each_model, open_table
from evenhand.core.runs.records import TEXTS, run_file, run_target, runs_folder, write_record
from evenhand.core.scoring.cache import CachedScorer, cache_path
from evenhand.core.text.pronouns import parse_sets, sets
from evenhand.core.types import JsonObject

BUILT_IN = "built-in"


@dataclass(frozen=True, slots=True)
class Drawn:
    """The input of models: the instances of a source, or the prompts of TANGO."""

    source: template_files.Source
    questions: tuple[Instance | template_files.Prompt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The options for filling templates, equal for every command."""

    templates: str = BUILT_IN
    limit: int | None = None
    seed: int = 0
    passes: int = template_files.PASSES
    pronouns: tuple[str, ...] = ()
    names: Path | None = None

    def drawn(self, *, competing: bool = True) -> Drawn:
        """Return the source and its instances.

        Sets that a published data set does not have are added to its contexts, but do not compete in its slots
        (*competing*): which forms do is a part of that measure.
        """
        source = template_files.built_in() if self.templates == BUILT_IN else template_files.read_source(self.templates)
        if source.prompts:
            return Drawn(source, tuple(source.prompts))
        only = parse_sets(self.pronouns)
        instances = template_files.instances(
            source, passes=self.passes, seed=self.seed, also=only if source.dataset == "own" or not competing else (),
            only=only, people=template_files.read_people(self.names) if self.names else None, limit=self.limit,
        )  # fmt: skip
        return Drawn(source, tuple(instances))

    @property
    def source_name(self) -> str:
        """The name of the templates in a record: never a path."""
        return self.templates if self.templates == BUILT_IN else Path(self.templates).name

    @property
    def facts(self) -> JsonObject:
        """The settings for drawing instances, for the record."""
        names = ("passes", "seed", "limit", "pronouns")
        return {name: getattr(self, name) for name in names} | {"names": self.names.name if self.names else None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings(Drawing):
    """The options of `misgendering score`. `generations`: a file of what models wrote; None: only by probability."""

    models: tuple[str, ...]
    out: Path | None = None
    run_name: str | None = None
    generations: Path | None = None
    precision: Precision = "fp32"
    threads: int | None = None
    no_cache: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Drawing):
    """The options of `misgendering run`: every model writes `each` texts of `new_tokens` tokens after every context.

    `trim`: contexts without the space at their end (published: with it).
    """

    models: tuple[str, ...]
    run_name: str
    each: int = 5
    setting: Literal["pre", "post", "both"] = "pre"
    new_tokens: int = 50
    trim: bool = False
    threads: int | None = None

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The ends of contexts that models continue."""
        return SETTINGS if self.setting == "both" else (self.setting,)


KEPT = N_("Nothing is lost: a resumed run keeps the texts already written.")
MOST_NAMED = 20  # lines of a file that are not generations and are named one by one
MORE_LINES = N_("{n} more lines are not generations and were skipped.")
NEED_GENERATIONS = N_(
    "A TANGO text becomes a template only after a model has continued it. Run `generate` first, then give its"
    " generations here."
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens that went through the model, and those of the texts one by one; `factor`: how many times fewer."""

    fed: int
    one_by_one: int
    also_in_json: ClassVar = ("factor", "factor_reason")

    @property
    def factor(self) -> float | None:
        """The tokens of the texts one by one over those that went through."""
        return round(self.one_by_one / self.fed, 3) if self.fed else None

    @property
    def factor_reason(self) -> str | None:
        """The reason for which the factor is missing; None where it is defined."""
        return None if self.fed else "Everything was remembered."


@dataclass(frozen=True, slots=True)
class ModelVerdicts:
    """The result of one model: counts, signature, and the tokens saved by shared beginnings."""

    model: str
    signature: str
    summary: probability.Summary
    seconds: float
    loading_seconds: float
    tokens: Tokens
    remembered: int
    json_names: ClassVar = {"summary": ""}
    also_in_json: ClassVar = ("scored",)

    @property
    def scored(self) -> int:
        """The number of instances with a verdict."""
        return self.summary.judged


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictReport(Report[ModelVerdicts]):
    """The report of verdicts. `texts`: the generations next to the table; `strangers`: those of no instance."""

    kind: str = "misgendering"
    out: Path
    texts: Path | None
    source: dict[str, str]
    instances: int
    rows: int
    strangers: int
    settings: JsonObject
    json_names: ClassVar = {"strangers": "generations_of_no_instance"}
    also_in_json: ClassVar = ("sentences", "texts_reason")

    @property
    def sentences(self) -> int:
        """The number of instances, as every record names its rows."""
        return self.instances

    @property
    def texts_reason(self) -> str | None:
        """The reason for which generations are missing; None where the run has some."""
        return "This run has no generations." if self.texts is None else None


@dataclass(frozen=True, slots=True)
class _Question:
    """The questions to every model: instances, or prompts of TANGO; and the models' texts about them."""

    dataset: str
    asked: Sequence[Instance | template_files.Prompt]
    texts: Matched | None

    @property
    def prompts(self) -> list[template_files.Prompt]:
        return [prompt for prompt in self.asked if isinstance(prompt, template_files.Prompt)]

    @property
    def instances(self) -> list[Instance]:
        return [instance for instance in self.asked if isinstance(instance, Instance)]

    @property
    def gens(self) -> int:
        """The most generations of an instance."""
        return self.texts.most if self.texts is not None else 0

    @property
    def options(self) -> tuple[str, ...]:
        """Every pronoun set that competes anywhere."""
        names = (name for one in self.asked for name in (one.options if isinstance(one, Instance) else one.pronouns))
        return tuple(dict.fromkeys((*sets(self.dataset), *names)))


def score(settings: ScoreSettings, place: Place) -> VerdictReport:
    """Judge every instance (TANGO: every prompt) by every model and write the table.

    The table appears when it is whole; a copy of the generations is next to it under its name with .jsonl. A model that
    cannot be used is in `failed` and the others continue. Raises ModelUnavailable where no model could be used, Refused
    for TANGO without generations, BadFile.
    """
    drawn = settings.drawn()
    out, is_run = run_target(place.database, "misgendering", settings.out, settings.run_name)
    files = [*drawn.source.files, *([settings.generations] if settings.generations else [])]
    if any(path.resolve() == out.resolve() for path in files):
        raise BadFile(N_("{file} cannot be both input and output."), file=out.name)
    report = verdicts_on(drawn, settings, out, place)
    if is_run:
        write_record(out, report)
    return report


def verdicts_on(
    drawn: Drawn, settings: ScoreSettings, out: Path, place: Place, facts: Mapping[str, Any] | None = None
) -> VerdictReport:
    """Judge the drawn instances, as `score` does; *facts*: further settings for the record."""
    check_models(settings.models)
    if drawn.source.prompts and settings.generations is None:
        raise Refused(NEED_GENERATIONS)
    asking, notices, written = drawn.questions, list[Notice](), 0
    cache = None if settings.no_cache else cache_path(place.database)
    texts = None if settings.generations is None else out.with_suffix(TEXTS)
    given = None if texts is None else _texts(asking, settings, texts, notices)
    question = _Question(drawn.source.dataset, asking, given)
    header = probability.columns(question.options, question.gens, templates=question.gens if question.prompts else 0)
    with open_table(out, header) as write_row:

        def ask(model: str, steps: RunProgress) -> ModelVerdicts:
            nonlocal written
            result, table = _judge_with(model, question, settings, cache, steps, notices)
            for row in table:
                write_row(row)
                written += 1
            return result

        models = ask_models(settings.models, ask, len(asking), place.progress)
    named = {"models": settings.models, "precision": settings.precision, "threads": settings.threads}
    files = {"cache": cache and cache.name, "generations": settings.generations and settings.generations.name}
    return VerdictReport(
        models=models.models, failed=models.failed, notices=tuple(notices), seconds=models.seconds, out=out,
        texts=texts, instances=len(asking), rows=written, strangers=given.strangers if given else 0,
        source={
            "kind": "templates", "name": settings.source_name, "dataset": drawn.source.dataset,
            "sha256": _digest(asking),
        },
        settings={**settings.facts, **(facts or {}), **named, **files},
    )  # fmt: skip


def _texts(
    asking: Sequence[Instance | template_files.Prompt], settings: ScoreSettings, out: Path, notices: list[Notice]
) -> Matched:
    """Return the generations of the file, of which a copy goes to *out*."""
    assert settings.generations is not None
    if settings.generations.resolve() != out.resolve():
        _join([settings.generations], out)
    skipped: list[BadFile] = []
    texts = read_generations(out, skipped)
    result = matched((text for text in texts if text.model in ("", *settings.models)), asking)
    notices += (Notice(error.message, error.values) for error in skipped[:MOST_NAMED])
    if len(skipped) > MOST_NAMED:
        notices.append(Notice(MORE_LINES, {"n": len(skipped) - MOST_NAMED}))
    return result


def _judge_with(
    model: str,
    question: _Question,
    settings: ScoreSettings,
    cache: Path | None,
    steps: RunProgress,
    notices: list[Notice],
) -> tuple[ModelVerdicts, Iterable[Sequence[Any]]]:
    """Return what came of a model, and its rows: a verdict an instance, or one a generation of a prompt of TANGO."""
    from evenhand.core.models.continuations import open_perplexity

    lap = LapTimer()
    scorer = open_perplexity(model, precision=settings.precision, threads=settings.threads)
    loading_seconds, tally = lap(), probability.Tally()

    def say(done: int, total: int) -> None:
        steps(round(done / max(1, total) * len(question.asked)), message=model)

    judged: list[tuple[template_files.Prompt | Instance, list[probability.Judged]]] = []
    with CachedScorer(scorer, cache) as cached:
        if question.prompts:
            texts = question.texts or Matched()
            judged += probability.judge_prompts(question.prompts, texts, model, cached, scorer.read, progress=say)
        else:
            judged += (
                (one.instance, [one])
                for one in probability.judge(question.instances, cached, scorer.read, progress=say)
            )
        notices += [notice for notice in cached.notices if notice not in notices]
        tokens, remembered = Tokens(scorer.fed, scorer.alone), cached.hits
    each = [one for _, some in judged for one in some]
    for one in each:
        tally.count(one)
    seconds = round(lap(), 3), round(loading_seconds, 3)
    model_verdicts = ModelVerdicts(model, scorer.signature, tally.summary, *seconds, tokens, remembered)
    how = (model, model_verdicts.signature, question.options)
    steps.finish(len(question.asked))
    if question.prompts:
        return model_verdicts, probability.prompt_rows(judged, *how, question.texts or Matched(), question.gens)
    return model_verdicts, probability.rows(each, *how, question.texts, question.gens)


def _digest(asking: Sequence[Instance | template_files.Prompt]) -> str:
    """Return the SHA-256 of everything that is asked."""
    sha = hashlib.sha256()
    for one in asking:
        sha.update(json.dumps(asdict(one), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
    return sha.hexdigest()


def run(settings: Settings, place: Place) -> VerdictReport:
    """Let every model write, then judge as `score` does, with the texts next to the table (.jsonl).

    What was written stays when a run is ended: the same settings continue it. A model that cannot be used is in
    `failed` and the others continue. Raises ModelUnavailable or Refused where no model could be used, BadFile.
    """
    drawn = settings.drawn()
    out = run_file(runs_folder(place.database, "misgendering"), settings.run_name)
    drawing = {field.name: getattr(settings, field.name) for field in fields(Drawing)}
    score_settings = ScoreSettings(**drawing, models=settings.models, threads=settings.threads)
    if not settings.each:
        report = verdicts_on(drawn, score_settings, out, place)
        write_record(out, report)
        return report
    check_models(settings.models)
    contexts = tuple(_contexts(drawn.questions, settings))
    texts_of_one = len(contexts) * settings.each
    share = texts_of_one + len(drawn.questions)
    steps = RunProgress(place.progress, share * len(settings.models))

    def write(model: str) -> tuple[str, Path]:
        part = _write_with(model, ContextInput(settings.source_name, contexts), settings, out, steps)
        steps.finish(texts_of_one)
        return model, part

    parts, failed = each_model(settings.models, write, steps, share)
    texts = out.with_suffix(TEXTS)
    _join([part for _, part in parts], texts)
    score_settings = replace(score_settings, models=tuple(model for model, _ in parts), generations=texts)
    facts = {"each": settings.each, "setting": settings.settings, "new_tokens": settings.new_tokens}
    report = verdicts_on(drawn, score_settings, out, replace(place, progress=steps), facts)
    report = replace(report, failed=(*failed, *report.failed))
    write_record(out, report)
    for _, part in parts:
        part.unlink(missing_ok=True)
    return report


def _contexts(asking: Sequence[Instance | template_files.Prompt], settings: Settings) -> Iterator[Context]:
    """Yield what models continue; each carries the id of its instance along."""
    for row in context_rows(asking, settings.settings):
        extra = {key: value for key, value in row.items() if key in ("instance", "case", "kind")}
        text = row["context"].rstrip() if settings.trim else row["context"]
        facts = (row["name"], tuple(row["pronouns"]), row["dataset"], row["setting"], row["template"])
        yield Context(text, *facts, extra)


def _write_with(model: str, context_input: ContextInput, settings: Settings, out: Path, steps: RunProgress) -> Path:
    """Return a hidden file with a model's texts; a complete file is not written again."""
    how = WriteSettings(
        contexts="", model=model, each=settings.each, seed=settings.seed, tokens=settings.new_tokens,
        threads=settings.threads,
    )  # fmt: skip
    key = f"{model}|{context_input.facts()['sha256']}|{sorted(how.lasting.items())}"
    file = out.with_name(f".{out.stem[:60]}.{hashlib.sha256(key.encode()).hexdigest()[:12]}{TEXTS}")
    if not file.exists():
        write_texts(context_input, how, file, steps)
    return file


def _join(files: Sequence[Path], out: Path) -> None:
    """Join the texts of all models into *out*, readable by the owner only, as they may hurt people. Raises BadFile."""
    with whole_file(out) as write:
        for file in files:
            with text_file(file), file.open(encoding="utf-8-sig") as lines:
                for line in lines:
                    write(line if line.endswith("\n") else line + "\n")


@dataclass(frozen=True, slots=True)
class Written:
    """The number of instances and of rows that a job wrote."""

    instances: int
    rows: int


def _job(settings: Settings, place: Place) -> Written:
    report = run(settings, place)
    return Written(report.instances, report.rows)


MISGENDERING = JobKind("misgendering run", Settings, Written, _job, resuming=KEPT)
