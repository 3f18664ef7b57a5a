"""What models go on from, and the list of texts to be written: so many of each context, each with its own seed."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.core.errors import N_, Refused

CHUNK = 64  # texts in a batch; part of what a run is, since a batch may change the last digit of a probability
SEED = 42  # as in document 004


@dataclass(frozen=True, slots=True)
class Context:
    """A text to go on from, and whom it is about.

    `pronouns`: names of sets (text.pronouns), any of which is right; `template`: the text's own template, the cluster
    that intervals rest on; `extra`: further columns, which go along.
    """

    text: str
    name: str = ""
    pronouns: tuple[str, ...] = ()
    dataset: str = "own"
    setting: str = ""
    template: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What makes it itself: equal keys are one context."""
        parts = [self.text, self.name, self.pronouns, self.dataset, self.setting]
        return json.dumps(parts, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Task:
    """One text to be written: the context, its number among those of the context (from 0), the seed, its place."""

    number: int
    context: Context
    index: int
    seed: int

    def row(self, completion: str, model: str, signature: str, seed: int) -> dict[str, Any]:
        """The line of the generations file."""
        one = self.context
        taken = {"context", "completion", "name", "pronouns", "dataset", "setting", "template", "model", "index"}
        return {
            "context": one.text,
            "completion": completion,
            "name": one.name,
            "pronouns": list(one.pronouns),
            "dataset": one.dataset,
            "setting": one.setting,
            "template": one.template or one.text,
            "model": model,
            "index": self.index,
            "seed": seed,
            "signature": signature,
            **{key: value for key, value in one.extra.items() if key not in taken | {"seed", "signature"}},
        }


def seed_of(seed: int, key: str, index: int) -> int:
    """The seed of one text, 0 to 2^53 - 1 (exact in JSON): it depends on the run's seed, the context and its number."""
    data = f"{seed}\0{index}\0{key}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") >> 11


def distinct(contexts: Iterable[Context]) -> dict[str, Context]:
    """Key -> the first context of it, in their order."""
    found: dict[str, Context] = {}
    for one in contexts:
        found.setdefault(one.key, one)
    return found


def tasks(contexts: Iterable[Context], each: int, seed: int = SEED) -> list[Task]:
    """*each* texts of every context, in the order of the contexts; a repeated context counts once.

    Raises Refused where nothing would be written.
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
    """The batches of a run: contexts of like lengths together, the same for the same contexts in any order."""
    order = sorted(found, key=lambda task: (len(task.context.text), task.context.key, task.index))
    return [order[start : start + size] for start in range(0, len(order), size)]


def context_digest(contexts: Iterable[Context]) -> str:
    """SHA-256 over the contexts and what goes along, in their order."""
    sha = hashlib.sha256()
    for one in contexts:
        line = json.dumps([one.key, one.template, one.extra], ensure_ascii=False, sort_keys=True, default=str)
        sha.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return sha.hexdigest()
