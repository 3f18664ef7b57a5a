"""The kept items of a release in every layout of one line an item, written from one reading of items and labels."""

from collections.abc import Collection
from itertools import islice
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import RELEASED_HEADER, released_line
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.files.item_lines import item_object
from evenhand.annotations.files.label_tables import labelled_items
from evenhand.annotations.files.other_tools.doccano_write import gold_line
from evenhand.annotations.files.other_tools.label_studio_write import task
from evenhand.annotations.files.package.write_package import canary_lines
from evenhand.annotations.release.dataset_card import DATA, data_row
from evenhand.annotations.release.frozen_file import Freezing
from evenhand.annotations.release.labelled_files import ITEMS_AT_ONCE, Table
from evenhand.annotations.types import Item, Project
from evenhand.core.files.csv_out import json_line

Labelled = tuple[Item, list[dict[str, Any]]]  # an item with its valid labels


class KeptSets:
    """The files of the kept items. `table`: the layout of the published data set, which only sentences have.

    *people*: the names whose labels may stand in it one by one.
    """

    def __init__(self, store: Store, project: Project, kept: ExportOptions, people: Collection[str]) -> None:
        self.project = project
        self.table = Table("slguset.csv")
        self.items, self.data = Freezing("kept.jsonl"), Freezing(DATA)
        self.tasks, self.doccano = Freezing("label_studio.json"), Freezing("doccano.jsonl")
        self.table.add([RELEASED_HEADER])
        self.items.add(map(json_line, canary_lines(project)))
        self.tasks.add(["[\n"])
        self._written = 0
        source = labelled_items(store, project, kept, people)
        while some := list(islice(source, ITEMS_AT_ONCE)):
            self._add(some)
        self.tasks.add(["\n]\n" if self._written else "]\n"])

    def _add(self, some: list[Labelled]) -> None:
        project = self.project
        objects = [item_object(item) for item, _ in some]  # made once, the longest part of three of the layouts
        if project.kind == "sentences":
            self.table.add(released_line(item) for item, _ in some)
        self.items.add(map(json_line, objects))
        self.data.add(json_line(data_row(project, item)) for item, _ in some)
        for (item, labels), data in zip(some, objects, strict=True):
            self._written += 1
            before = ",\n" if self._written > 1 else ""
            self.tasks.add([before + task(project, item, labels, self._written, data)])
            self.doccano.add([gold_line(project, item, self._written, data)])
