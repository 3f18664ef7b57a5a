"""Items as JSON lines with all their data; importing the file gives the same items with the same ids."""

from collections.abc import Iterator
from typing import Any

from evenhand.annotations.adjudication.decisions import decisions_in_force
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import GENERATION_KEYS, GOLD_KEYS, ITEM_KEYS, SPAN_KEYS
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.items.batch import items as stored_items
from evenhand.annotations.items.gold import generation_statuses
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary
from evenhand.annotations.types import Item, Project
from evenhand.core.files.csv_out import json_line
from evenhand.core.files.paths import short_path, without_folders


def item_lines(store: Store, project: Project, wish: ExportOptions) -> Iterator[str]:
    """One object per item; a file of generations begins with the canary line, which an import skips."""
    yield from map(json_line, item_objects(store, project, accepted_only=wish.items == "accepted"))


def item_lines_with_gold(store: Store, project: Project, wish: ExportOptions) -> Iterator[str]:
    """The same; a generation also has its gold label, whether the adjudicator decided it, and that flag and marks."""
    if project.kind != "generations":
        yield from item_lines(store, project, wish)
        return
    if needs_canary(project):
        yield json_line({CANARY_KEY: CANARY})
    states, decided = generation_statuses(store, project), decisions_in_force(store, project)
    for item in stored_items(store, project, accepted_only=wish.items == "accepted"):
        found = item_object(item)
        clashing = {name: found.pop(name) for name in GOLD_KEYS if name in found}
        gold = {"status": states[item.uid], "gold": item.gold} | dict.fromkeys(GOLD_KEYS[1:]) | {"adjudicated": False}
        found |= gold | decided.get(item.uid, {})
        yield json_line(found | ({"extra": found.get("extra", {}) | clashing} if clashing else {}))


def item_objects(store: Store, project: Project, *, accepted_only: bool = False) -> Iterator[dict[str, Any]]:
    """The same lines as objects."""
    if needs_canary(project):
        yield {CANARY_KEY: CANARY}
    for item in stored_items(store, project, accepted_only=accepted_only):
        yield item_object(item)


def item_object(item: Item) -> dict[str, Any]:
    """An item as a flat object; an imported column with one of these names is in `extra`.

    Absolute paths are shortened here too: old items still hold some.
    """
    place = {"status": item.status, "file": short_path(item.file), "line": item.line}
    columns = without_folders(item.extra)
    if item.word is None or item.stem is None:
        own: dict[str, Any] = {"item": item.uid, "context": item.context, "completion": item.text}
        own |= ({} if item.second is None else {"second": item.second}) | place
    else:
        spans = (*item.word, *item.stem, item.keyword, item.counterpart, item.pair)
        own = {"item": item.uid, "sentence": item.text, **dict(zip(SPAN_KEYS, spans, strict=True)), "side": item.side}
        own |= place
    reserved = GENERATION_KEYS if item.word is None else ITEM_KEYS
    clashing = {name: value for name, value in columns.items() if name in reserved}
    free = {name: value for name, value in columns.items() if name not in reserved}
    return own | free | ({"extra": clashing} if clashing else {})
