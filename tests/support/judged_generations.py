"""A project of generations for tests: own sentences, made by counting, with made-up annotators and their labels."""

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem, items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotator, create_project
from evenhand.annotations.types import Item, Mark, Operation, Project

PRONOUNS = ("he", "she", "they", "xe")
MODELS = ("owl-1b", "wren-3b")
SETTINGS = ("pre", "post")
TOPICS = ("the lake", "the library", "the bakery", "the choir", "the orchard")
FORMS = {
    "he": ("he", "him", "his"), "she": ("she", "her", "her"), "they": ("they", "them", "their"),
    "xe": ("xe", "xem", "xyr"),
}  # fmt: skip


@dataclass(frozen=True)
class Said:
    """The expected label of a text, and its marks."""

    choice: str
    extraneous: bool = False
    marks: tuple[tuple[str, str], ...] = ()  # (words in the text, kind)
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """One generation with its expected label."""

    text: str
    context: str
    extra: dict[str, Any] = field(default_factory=dict)
    said: Said = Said("correct")


def written(n: int, model: str, own: str, setting: str, topic: str, index: int) -> Written:
    """Return the n-th text: ten kinds in turn, so that every label and every bin occurs."""
    nom, acc, dep = FORMS[own]
    other = "she" if own == "he" else "he"
    kinds = (
        (f"Then {nom} walked home and put {dep} coat away.", Said("correct")),
        (f"After that {nom} sang, and everybody heard {acc}.", Said("correct")),
        (f"Soon {other} left, tired of all the noise there.", Said("misgendering", False, ((other, "pronoun"),))),
        ("Robin stayed until the evening and went home.", Said("no_pronoun")),
        (f"Well, {nom} laughed, and {other} kept the old map.",
         Said("misgendering", False, ((f"{other} kept", "pronoun"),))),
        (f"Now {nom} is a fine young woman, people say.", Said("correct", True, (("woman", "extraneous"),))),
        (f"But {'her' if own == 'he' else 'his'} uncle waited, and Robin waved.", Said("no_pronoun")),
        ("Robin and a friend packed; they took the last train.",
         Said("plural_they" if own != "they" else "correct")),
        ("Robin opened the old boxes, and they were empty.", Said("no_pronoun" if own != "they" else "correct")),
        (f"So {nom} wrote, {nom} read, {nom} slept, {nom} wrote.", Said("correct", reasons=("degenerate",))),
    )  # fmt: skip
    text, answer = kinds[n % len(kinds)]
    extra = {
        "name": "Robin", "pronouns": [own], "dataset": "misgendered", "setting": setting, "model": model,
        "index": index, "template": f"{topic} {own}",
    }  # fmt: skip
    context = f"Robin uses {nom}/{acc}. Robin spent the day at {topic}."
    return Written(f"{text} [{n}]", context, extra, answer)


def all_written(each: int = 2, topics: Sequence[str] = TOPICS, models: Sequence[str] = MODELS) -> list[Written]:
    """Return texts of every model x pronoun set x setting x topic, *each* of them."""
    keys = [(m, p, s, t, i) for m in models for p in PRONOUNS for s in SETTINGS for t in topics for i in range(each)]
    return [written(n, *key) for n, key in enumerate(keys)]


def judged_project(
    store: Store, texts: Sequence[Written], people: Sequence[str] = ("Ada", "Bo"), name: str = "made", **fields: Any
) -> Project:
    """Return a published project of generations with these texts and no labels."""
    project = create_project(
        store, name, kind="generations", language="en", annotators=people, **({"per_item": len(people)} | fields)
    )
    with Batch.begin(store, project, "made.jsonl") as batch:
        batch.add(
            NewItem(generation.text, None, "made.jsonl", n, generation.extra, context=generation.context,
                    key=json.dumps([generation.context, generation.text, generation.extra]),
                    stratum=generation.extra.get("model", ""))
            for n, generation in enumerate(texts, 1)
        )  # fmt: skip
        batch.publish()
    return project


def operation(item: Item, said: Said, revision: int = 1, **more: Any) -> Operation:
    """Return the label that a desk would send."""
    marks = []
    for words, kind in said.marks:
        start = item.text.index(words)
        marks.append(Mark(start, start + len(words.split()[0]), kind))  # type: ignore[arg-type]
    values = {
        "op_id": uuid.uuid4().hex, "item": item.uid, "choice": said.choice, "desk": "d", "revision": revision,
        "reasons": said.reasons, "extraneous": said.extraneous, "spans": tuple(marks),
    }  # fmt: skip
    return Operation(**(values | more))


def say(store: Store, project: Project, who: str, said: Iterable[tuple[str, Said]]) -> None:
    """Let *who* label the generations whose text is named, in the order of import."""
    person, todo = annotator(store, project, who), dict(said)
    named = [item for item in items(store, project) if item.text in todo]
    answers = store_operations(store, project, person, [operation(item, todo.pop(item.text)) for item in named])
    assert not todo and all(answer.stored for answer in answers), [answer.reason for answer in answers]


def say_all(store: Store, project: Project, texts: Sequence[Written], people: Sequence[str] = ("Ada", "Bo")) -> None:
    """Let all give the expected labels; the last one errs on every ninth text."""
    for who in people:
        erring = who == people[-1] and len(people) > 1
        wrong = {text.text: Said("no_pronoun") for text in texts[::9]} if erring else {}
        say(store, project, who, {text.text: wrong.get(text.text, text.said) for text in texts}.items())
