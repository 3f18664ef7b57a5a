"""The contexts that models continue (a file, templates with a slot, the built-in set), and the texts to write.

Each context gets several texts, each with its own seed.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evenhand.core.errors import N_, BadFile, EvenhandError, Refused
from evenhand.core.files.readers import Row, open_source, rows
from evenhand.core.misgendering.slots import SETTINGS, Setting
from evenhand.core.misgendering.template_files import LAYOUTS, built_in, instances, read_source
from evenhand.core.misgendering.template_files import Source as TemplateSource
from evenhand.core.text.pronouns import PRONOUN_DATASETS, parse_sets, sets
from evenhand.core.types import JsonObject, Problem

CHUNK = 64  # texts in a batch; part of what a run is, since a batch may change the last digit of a probability
SEED = 42  # as in document 004


@dataclass(frozen=True, slots=True)
class Context:
    """A text to continue, and the person whom it is about.

    `pronouns`: names of sets (text.pronouns), any of which is right; `template`: the text's own template, the cluster
    that intervals rest on; `extra`: further columns, which go along.
    """

    text: str
    name: str = ""
    pronouns: tuple[str, ...] = ()
    dataset: str = "own"
    setting: str = ""
    template: str = ""
    extra: JsonObject = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The identity of the context: equal keys are one context."""
        parts = [self.text, self.name, self.pronouns, self.dataset, self.setting]
        return json.dumps(parts, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Task:
    """One text to be written: the context, its number among those of the context (from 0), the seed, its place."""

    number: int
    context: Context
    index: int
    seed: int

    def row(self, completion: str, model: str, signature: str, seed: int) -> JsonObject:
        """Return the line of the generations file."""
        context = self.context
        taken = {"context", "completion", "name", "pronouns", "dataset", "setting", "template", "model", "index"}
        return {
            "context": context.text,
            "completion": completion,
            "name": context.name,
            "pronouns": list(context.pronouns),
            "dataset": context.dataset,
            "setting": context.setting,
            "template": context.template or context.text,
            "model": model,
            "index": self.index,
            "seed": seed,
            "signature": signature,
            **{key: value for key, value in context.extra.items() if key not in taken | {"seed", "signature"}},
        }


def seed_of(seed: int, key: str, index: int) -> int:
    """Return the seed of one text, 0 to 2^53 - 1 (exact in JSON), from the run's seed, the context and its number."""
    data = f"{seed}\0{index}\0{key}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") >> 11


def distinct(contexts: Iterable[Context]) -> dict[str, Context]:
    """Return the first context of each key, in their order."""
    result: dict[str, Context] = {}
    for context in contexts:
        result.setdefault(context.key, context)
    return result


def tasks(contexts: Iterable[Context], each: int, seed: int = SEED) -> list[Task]:
    """Return *each* tasks for every context, in the order of the contexts; a repeated context counts once.

    Raises Refused where there would be no task.
    """
    kept = list(distinct(contexts).items())
    if each < 1 or not kept:
        raise Refused(N_("There is nothing to generate: at least one context and one text per context are needed."))
    return [
        Task(place * each + index, context, index, seed_of(seed, key, index))
        for place, (key, context) in enumerate(kept)
        for index in range(each)
    ]


def chunks(found: Sequence[Task], size: int = CHUNK) -> list[list[Task]]:
    """Return the batches of a run: contexts of similar length together, independent of the order of the contexts."""
    order = sorted(found, key=lambda task: (len(task.context.text), task.context.key, task.index))
    return [order[start : start + size] for start in range(0, len(order), size)]


def context_digest(contexts: Iterable[Context]) -> str:
    """Return the SHA-256 of the contexts with their templates and extra columns, in their order."""
    sha = hashlib.sha256()
    for context in contexts:
        line = json.dumps(
            [context.key, context.template, context.extra], ensure_ascii=False, sort_keys=True, default=str
        )
        sha.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return sha.hexdigest()


BUILT_IN = "built-in"  # the name of the built-in set where a file name is possible
TEXT_COLUMNS = ("context", "prompt", "text", "sentence")
FACTS = ("name", "pronouns", "dataset", "setting", "template")
NOT_TAKEN = ("completion", "model", "index", "seed", "signature")  # of a file that was generated before
MAX_LENGTH = 20_000  # code points
ENDINGS = ["jsonl", "csv", "tsv", "txt"]


@dataclass(frozen=True, slots=True)
class ContextInput:
    """Contexts and the name of their source; `problems`: rows without a context; `twice`: the number of repetitions."""

    name: str
    contexts: tuple[Context, ...]
    problems: tuple[Problem, ...] = ()
    twice: int = 0

    def facts(self) -> JsonObject:
        """Return the facts for a record."""
        return {
            "name": self.name,
            "contexts": len(self.contexts),
            "sha256": context_digest(self.contexts),
            "unusable": len(self.problems),
            "twice": self.twice,
        }


@dataclass(frozen=True, slots=True)
class Filling:
    """The way to fill templates; see `contexts_of`.

    `limit`: the number of contexts to use, from the first; `column`: the column of a table with the contexts; `trim`:
    leave out the space at the end of a context, because many models begin their next word with it.
    """

    passes: int = 1
    seed: int = 42
    settings: Sequence[Setting] = SETTINGS
    only: Sequence[str] = ()
    limit: int | None = None
    column: str | None = None
    trim: bool = False


def open_contexts(named: Path | str, filling: Filling | None = None) -> ContextInput:
    """Return the contexts of *named*: "built-in", a folder or table of templates, or a file with a context a row.

    A file of contexts is JSON lines, CSV or TSV with a column context (or prompt, text, sentence; *column* names
    another) and, if wished, name, pronouns, dataset, setting and template; or text with a context a line. Other
    columns are kept. A row without a valid context is reported as a problem. Raises BadFile if no row is valid.
    """
    filling = filling or Filling()
    if str(named) == BUILT_IN:
        return _input(BUILT_IN, list(contexts_of(built_in(), filling)), [], filling)
    path = Path(named)
    if path.is_dir():
        return _input(path.name, list(contexts_of(read_source(path), filling)), [], filling)
    source = open_source(path)
    header = set(source.columns)
    templates = source.shape in ("csv", "tsv") and any(set(needed) <= header for needed in LAYOUTS.values())
    if templates and "context" not in header and filling.column is None:
        return _input(source.name, list(contexts_of(read_source(path), filling)), [], filling)
    column = filling.column or next((name for name in TEXT_COLUMNS if name in source.columns), None)
    if source.shape == "text":
        column = "sentence"
    if column is None or (source.shape != "text" and source.columns and column not in source.columns):
        message = N_("{file} has no column context. Its columns: {found}. Rename the column of contexts, or choose it.")
        raise BadFile(message, file=source.name, found=", ".join(source.columns[:20]) or "—")
    contexts, problems = [], []
    for row in rows(source):
        try:
            if row.problem is not None:
                raise row.problem
            contexts.append(_context(row, column))
        except EvenhandError as error:
            problems.append(Problem(source.name, row.line, "context", error.message, error.values))
    return _input(source.name, contexts, problems, filling)


def contexts_of(source: TemplateSource, filling: Filling) -> Iterator[Context]:
    """Yield the contexts of a source: each instance before its slot (pre) and whole, with the right form (post).

    `passes`: how many people fill each template, drawn by `seed`, the same for every pronoun set; `only`: keep these
    sets, and add those that the data set does not have (ze, fae/faer, ze/hir/hir/hirs/hirself). Texts of TANGO are
    used unchanged. Raises Refused if nothing is left, BadFile for pronouns in *only* that are not a set.
    """
    only = parse_sets(list(filling.only))
    if not source.prompts:
        also = [name for name in only if name not in sets(source.dataset)]
        found = instances(source, passes=filling.passes, seed=filling.seed, also=also, only=only)
        for setting in filling.settings:
            for instance in found:
                text = instance.context(setting)
                yield Context(
                    text,
                    instance.name,
                    instance.pronouns,
                    instance.dataset,
                    setting,
                    f"{instance.dataset}:{instance.template}",
                )
        return
    prompts = [prompt for prompt in source.prompts if not only or any(name in only for name in prompt.pronouns)]
    if not prompts:
        raise Refused("No instance is left: there is no template, nobody is named, or no set is chosen.")
    for prompt in prompts:
        kind = {"antecedent": prompt.kind} if prompt.kind else {}
        yield Context(prompt.text, prompt.name, prompt.pronouns, source.dataset, "", f"tango:{prompt.id}", kind)


def _input(name: str, contexts: list[Context], problems: list[Problem], filling: Filling) -> ContextInput:
    if filling.trim:
        contexts = [replace(context, text=context.text.rstrip()) for context in contexts]
    once = tuple(distinct(contexts).values())
    if not once:
        if not problems:
            raise BadFile(N_("{file} contains no context."), file=name)
        first = problems[0]
        message = N_("{file} contains no usable context; line {line}: {why}")
        why = first.message.format(**first.values) if first.values else first.message
        raise BadFile(message, file=name, line=first.line, why=why)
    kept = once[: filling.limit] if filling.limit else once
    return ContextInput(name, kept, tuple(problems), len(contexts) - len(once))


def _context(row: Row, column: str) -> Context:
    values = row.values
    text = values.get(column)
    if not isinstance(text, str) or not text.strip():
        raise BadFile(N_("There is no context."))
    if len(text) > MAX_LENGTH:
        raise BadFile(N_("The text has {length} characters; the limit is {limit}."), length=len(text), limit=MAX_LENGTH)
    dataset = str(values.get("dataset") or "own").strip().lower()
    return Context(
        text,
        str(values.get("name") or "").strip(),
        parse_sets(values.get("pronouns") or values.get("pronoun")),
        dataset if dataset in PRONOUN_DATASETS else "own",
        str(values.get("setting") or "").strip(),
        str(values.get("template") or "").strip(),
        {k: v for k, v in values.items() if k not in (*FACTS, *NOT_TAKEN, "pronoun", column) and v not in (None, "")},
    )
