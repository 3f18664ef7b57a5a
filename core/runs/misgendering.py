"""Both ways in one go: models write after every context, then texts and probabilities become one table of verdicts."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import EvenhandError, ModelUnavailable, Refused
from core.files.whole_file import whole_file
from core.generation.contexts import Context
from core.misgendering.generations import context_rows
from core.misgendering.slots import SETTINGS, Instance
from core.misgendering.template_files import Prompt, Source
from core.runs.generation import Request, generate_to_file
from core.runs.generation_inputs import ContextInput
from core.runs.records import write_record
from core.runs.scoring import check_models
from core.runs.verdicts import TEXTS, Asked, VerdictReport, Watcher, verdicts_to_file


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
    asked: Asked,
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
    check_models(asked.models)
    asking: Sequence[Instance | Prompt] = source.prompts or instances
    contexts = tuple(contexts_of(asking, writing))
    steps = _Steps(watch, len(contexts) * writing.each, len(asking), len(asked.models))
    parts, failed = list[tuple[str, Path]](), list[tuple[str, EvenhandError]]()
    for model in asked.models:
        try:
            parts.append((model, _written(model, contexts, asked, writing, out, name, steps)))
        except (ModelUnavailable, Refused) as error:
            failed.append((model, error))
        steps.next_model()
    if not parts:
        raise failed[0][1]
    texts = out.with_suffix(TEXTS)
    _join([part for _, part in parts], texts)
    mine = replace(asked, models=tuple(model for model, _ in parts), generations=texts)
    said = (facts or {}) | {"each": writing.each, "setting": list(writing.settings), "new_tokens": writing.tokens}
    report = verdicts_to_file(source, instances, mine, out, name=name, facts=said, watch=steps.judging)
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
        told = (row["name"], tuple(row["pronouns"]), row["dataset"], row["setting"], row["template"])
        yield Context(text, *told, extra)


class _Steps:
    """Adds up texts and verdicts over models: first every model writes, then every model is asked."""

    def __init__(self, watch: Watcher | None, texts: int, verdicts: int, models: int) -> None:
        self._watch, self._texts, self._verdicts = watch, texts, verdicts
        self._total, self._before = max(1, (texts + verdicts) * models), 0

    def _say(self, done: int, message: str) -> None:
        if self._watch is not None:
            self._watch(min(done, self._total), self._total, message)

    def writing(self, done: int, total: int | None = None, message: str = "") -> None:
        """So many texts of this model are there."""
        del total
        self._say(self._before + done, message)

    def next_model(self) -> None:
        """This model has written, or could not."""
        self._before += self._texts

    def judging(self, done: int, total: int | None = None, message: str = "") -> None:
        """So many instances of all models are judged."""
        del total
        self._say(self._before + done, message)


def _written(
    model: str, contexts: tuple[Context, ...], asked: Asked, writing: Writing, out: Path, name: str, steps: _Steps
) -> Path:
    """A hidden file of what a model writes; one that is whole is not written again."""
    given = ContextInput(name, contexts)
    request = Request(
        model,
        writing.each,
        writing.seed,
        tokens=writing.tokens,
        precision=asked.precision,
        threads=asked.threads,
    )
    told = f"{model}|{given.facts()['sha256']}|{sorted(request.lasting.items())}"
    file = out.with_name(f".{out.stem[:60]}.{hashlib.sha256(told.encode()).hexdigest()[:12]}{TEXTS}")
    if not file.exists():
        generate_to_file(given, request, file, watch=steps.writing)
    return file


def _join(parts: Sequence[Path], out: Path) -> None:
    """The texts of all models, readable by the owner only: what models write about people may hurt."""
    with whole_file(out, private=True) as write:
        for part in parts:
            with part.open(encoding="utf-8") as lines:
                for line in lines:
                    write(line)
