"""Packages that leave one database and come into another."""

from pathlib import Path

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_labels import store_labels
from evenhand.annotations.files.label_files import label_rows_in, open_labels
from evenhand.annotations.items.batch import NewItem
from evenhand.annotations.types import Project
from evenhand.core.text.keywords import find


def bring(store: Store, project: Project, path: Path, *rows: tuple[str, str, str]) -> None:
    """Import a file of labels: item, annotator, choice."""
    body = "".join(f"{item},{who},{choice}\n" for item, who, choice in rows)
    path.write_text("item,annotator,choice\n" + body, encoding="utf-8")
    store_labels(store, project, path.name, label_rows_in(open_labels(path)))


def placed(text: str, number: int) -> NewItem:
    return NewItem(text, find(text)[number], "placed", 1)
