"""The generation-based verdict over a file of generations, matched to the instances that they continue.

See docs/human_vs_rule.md#the-rule.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core.errors import N_, BadFile
from evenhand.core.misgendering.slots import SETTINGS, Instance, text_file
from evenhand.core.misgendering.template_files import Prompt
from evenhand.core.text.pronouns import parse_sets
from evenhand.core.types import JsonObject


@dataclass(frozen=True, slots=True)
class Generation:
    """A text of a model after a context; `model` is "" if unknown."""

    context: str
    completion: str
    model: str
    setting: str
    instance: str
    index: int
    pronouns: tuple[str, ...]
    dataset: str


@dataclass(slots=True)
class Matched:
    """Generations by (instance, model, setting), in the order of their index; `strangers` continue no instance."""

    found: dict[tuple[str, str, str], list[Generation]] = field(default_factory=dict)
    strangers: int = 0

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings that occur, in their order."""
        return tuple(dict.fromkeys(setting for _, _, setting in self.found))

    @property
    def models(self) -> tuple[str, ...]:
        """The models that occur; empty text for lines that name none."""
        return tuple(dict.fromkeys(model for _, model, _ in self.found))

    @property
    def most(self) -> int:
        """The largest number of generations of one instance in one setting."""
        return max((len(some) for some in self.found.values()), default=0)

    def of(self, instance: str, model: str, setting: str) -> list[Generation]:
        """Return the generations of one instance in one setting: those of *model*, else those without a model."""
        return self.found.get((instance, model, setting)) or self.found.get((instance, "", setting)) or []


def read_generations(path: Path | str, skipped: list[BadFile]) -> Iterator[Generation]:
    """Yield the lines of a JSONL file: context, completion and optional values (see docs/files.md).

    A line that is not an object, lacks a key, or names an unknown pronoun set is left out: *skipped* gets the error
    with the line. Raises BadFile where no line can be used, or the file cannot be read.
    """
    place, used = Path(path), 0
    with text_file(place), place.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                generation = _generation(place.name, number, line)
            except BadFile as error:
                skipped.append(error)
                continue
            used += 1
            yield generation
    if skipped and not used:
        raise skipped[0]


def _generation(file: str, line: int, text: str) -> Generation:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        row = None
    lacking = [
        key for key in ("context", "completion") if not isinstance(row, dict) or not isinstance(row.get(key), str)
    ]
    if lacking:
        message = N_("{file}, line {line}: a generation must be a JSON object with {lacking}.")
        raise BadFile(message, file=file, line=line, lacking=", ".join(lacking))
    index = row.get("index")
    try:
        own = parse_sets(row.get("pronouns") or row.get("pronoun"))
    except BadFile as error:
        raise BadFile(N_("{file}, line {line}: {why}"), file=file, line=line, why=str(error)) from None
    facts = {key: "" if row.get(key) is None else str(row[key]) for key in ("model", "setting", "instance", "dataset")}
    return Generation(
        row["context"], row["completion"], pronouns=own, index=index if isinstance(index, int) else 0, **facts
    )


def matched(generations: Iterable[Generation], instances: Sequence[Instance | Prompt]) -> Matched:
    """Match each generation with the instance that it continues, by its instance id, else by context and pronouns.

    The space at the end of a context does not count. Instances with an equal beginning (two slots right after it) share
    a context; an instance without own generations takes those of its context.
    """
    ids = {instance.id: instance for instance in instances}
    result = Matched()
    by_text: dict[tuple[str, str, tuple[str, ...]], list[Generation]] = {}
    own: dict[tuple[str, str, str], list[Generation]] = {}
    texts = {context.rstrip() for instance in instances for _, context in contexts(instance)}
    for one in sorted(generations, key=lambda one: one.index):
        if one.instance in ids:
            same = (setting for setting, text in contexts(ids[one.instance]) if text.rstrip() == one.context.rstrip())
            own.setdefault((one.instance, one.model, one.setting or next(same, "")), []).append(one)
        elif one.context.rstrip() not in texts:
            result.strangers += 1
            continue
        by_text.setdefault((one.context.rstrip(), one.model, one.pronouns), []).append(one)
    models = dict.fromkeys(model for _, model, _ in by_text)
    for here in instances:
        for model in models:
            for setting, context in contexts(here):
                found = own.get((here.id, model, setting)) or by_text.get((context.rstrip(), model, here.pronouns))
                found = found or by_text.get((context.rstrip(), model, ()))
                if found:
                    result.found[here.id, model, setting] = found
    return result


def contexts(one: Instance | Prompt) -> list[tuple[str, str]]:
    """Return the contexts for a model as (setting, text); a prompt of TANGO is itself the context."""
    if isinstance(one, Prompt):
        return [("", one.text)]
    if not one.form:  # the set has no form for the slot, so no right text can be continued
        return [("pre", one.before)]
    return [(setting, one.context(setting)) for setting in SETTINGS]


def context_rows(instances: Sequence[Instance | Prompt], settings: Sequence[str]) -> Iterator[JsonObject]:
    """Yield the input of `generate`: one line per instance and setting, with the columns that generations keep."""
    for instance in instances:
        for setting, context in contexts(instance):
            if setting and setting not in settings:
                continue
            row: JsonObject = {"instance": instance.id, "context": context, "name": instance.name}
            row |= {"pronouns": list(instance.pronouns), "setting": setting}
            if isinstance(instance, Prompt):
                yield row | {"dataset": "tango", "template": instance.id.rpartition(".")[0], "kind": instance.kind}
            else:
                yield row | {"dataset": instance.dataset, "template": instance.template, "case": instance.case}
