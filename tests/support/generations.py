"""Generations of our own for tests, with columns that an annotator must never get to see."""

from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.projects.projects import change_project, create_project
from evenhand.annotations.types import Project

NAMES = ("Noa", "Ilya", "Robin", "Sam", "Kit")
SETS: tuple[list[str], ...] = (["he"], ["she"], ["they"], ["xe"], ["she", "they"])
MODELS = ("Secret-7B", "Secret-70B", "Secret-8x7B")
FILE = "secret.jsonl"
SETTINGS = (
    "checked",
    "blur",
    "pause_minutes",
    "doubled",
    "open_text",
)  # settings of a project in addition to those given at its creation


def generation(n: int, text: str = "", **extra: Any) -> NewItem:
    """Return the nth generation; its text begins with a space, as models write."""
    name, sets = NAMES[n % len(NAMES)], SETS[n % len(SETS)]
    context = f"{name} keeps bees behind the old mill in Dunmoor ({n})."
    results = {
        "name": name, "pronouns": sets, "template": f"secret-template-{n}", "model": MODELS[n % len(MODELS)],
        "setting": "pre-secret", "dataset": "tango", "index": 4711, "rule_correct": 0, **extra,
    }  # fmt: skip
    written = text or f" On day {n} he walked down to the river, and she's sure they saw him."
    stratum = f"{results['model']} / {sets[0]} / {results['setting']}"
    return NewItem(written, None, FILE, n, results, context=context, key=f"{n}|{written}", stratum=stratum)


def generations_project(store: Store, name: str, texts: int | list[str] = 12, **fields: Any) -> Project:
    """Return a project of generations for Ada and Bo, two labels each, published; *fields* go by their names."""
    written = [""] * texts if isinstance(texts, int) else texts
    settings = {key: fields.pop(key) for key in SETTINGS if key in fields}
    made: dict[str, Any] = {"per_item": 2, "language": "en", "annotators": ("Ada", "Bo"), **fields}
    project = change_project(store, create_project(store, name, kind="generations", **made), **settings)
    with Batch.begin(store, project, FILE) as batch:
        batch.add(generation(n, text) for n, text in enumerate(written, 1))
        batch.publish()
    return project
