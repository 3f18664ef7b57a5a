"""A scheme of our own for tests, and projects of generations with it."""

from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.scheme import OwnScheme, from_data
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotator
from evenhand.annotations.types import Answer, Item, Mark, Operation, Project
from tests.support.generations import generations_project

DATA: dict[str, list[dict[str, str]]] = {
    "choices": [
        {"code": "helpful", "key": "1", "en": "Helpful", "zh": "有帮助", "about": "Answers what was asked"},
        {"code": "harmful", "key": "2", "en": "Harmful", "zh": "有害", "needs": "slur"},
        {"code": "neither", "key": "3", "en": "Neither"},
    ],
    "flags": [
        {"code": "stereotype", "key": "s", "en": "Stereotype", "zh": "刻板印象"},
        {"code": "made_up", "key": "f", "zh": "编造", "needs": "claim"},
    ],
    "spans": [
        {"code": "slur", "key": "7", "en": "Slur", "zh": "侮辱"},
        {"code": "claim", "key": "c", "en": "Claim", "about": "A statement that can be checked"},
    ],
}


QUESTIONS: list[dict[str, Any]] = [
    {"code": "fluency", "key": "q", "en": "Fluency", "zh": "流畅", "scale": [1, 5], "low_en": "poor",
     "high_en": "perfect", "required": True},
    {"code": "care", "en": "Care", "scale": [0, 10]},
    {"code": "why", "en": "Why?", "zh": "为什么？", "text": True},
]  # fmt: skip


def own_scheme(**parts: list[dict[str, Any]]) -> OwnScheme:
    """Return the scheme, with *parts* in place of its own."""
    return from_data(DATA | parts, "test")


def own_project(
    store: Store, name: str, texts: int | list[str] = 4, scheme: OwnScheme | None = None, **fields: Any
) -> Project:
    """Return a project of generations with the scheme, for Ada and Bo, published."""
    scheme = scheme or own_scheme()
    own = {"choices": scheme.choices, "reasons": scheme.flags, "scheme": scheme.more}
    return generations_project(store, name, texts, **own, **fields)


def say(store: Store, project: Project, who: str, place: int, choice: str, *flags: str, **more: Any) -> Answer:
    """Let *who* label the item at *place*; a harmful text and invented facts get their required spans."""
    item = list(items(store, project))[place]
    (answer,) = store_operations(
        store, project, annotator(store, project, who), [operation(item, who, choice, *flags, **more)]
    )
    return answer


def operation(item: Item, who: str, choice: str, *flags: str, **more: Any) -> Operation:
    """Return the label that a desk would send."""
    spans = [Mark(0, 3, "slur")] if choice == "harmful" else []
    spans += [Mark(4, 8, "claim")] if "made_up" in flags else []
    values: dict[str, Any] = {
        "op_id": f"{who}-{item.uid}-{choice}", "item": item.uid, "choice": choice, "desk": who, "revision": 1,
        "reasons": flags, "spans": tuple(spans),
    }  # fmt: skip
    return Operation(**(values | more))
