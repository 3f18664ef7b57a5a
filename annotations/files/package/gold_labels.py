"""Import of the gold labels of a package, and the numbers of what the package lacks.

A release holds the labels of annotators who consented, and every gold label. A gold label that does not follow from
the imported labels and decisions is stored as a record with its origin (`annotations.items.imported_gold`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.label_files import (
    CameWith,
    add_to_file,
    insert_label_file,
    is_labelled_here,
    label_files,
)
from evenhand.annotations.files.rejections import Rejections, problem_of
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.items.batch import item, items
from evenhand.annotations.items.imported_gold import PART, store_gold
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadLine, NotFound
from evenhand.core.files.archives import Member
from evenhand.core.files.readers import Row, file_sha256, open_source, rows
from evenhand.core.files.timestamps import timestamp

CHUNK = 500  # gold labels per transaction
LEFT_OUT = ("annotators", "labels", "comments", "open_cases")
NOT_STATED = N_("The package does not say which labels were left out of it.")


@dataclass(slots=True)
class GoldLabels(Rejections):
    """The report of the gold labels of a package: `rows` = `here` + `imported` + `kept` + `rejected`.

    `here`: they follow from the labels and decisions, or were stored before; `imported`: stored without all of their
    labels; `kept`: the project has another gold label, which stays. `withheld`: items that have no gold label in the
    package, although the labels in it would decide. `left_out`: what the package lacks by its own account: annotators,
    their labels, comments, open cases; None: it does not say.
    """

    rows: int = 0
    here: int = 0
    imported: int = 0
    kept: int = 0
    withheld: int = 0
    left_out: dict[str, int] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the numbers for `import --json`."""
        names = ("rows", "here", "imported", "kept", "rejected", "withheld")
        found: dict[str, Any] = {name: getattr(self, name) for name in names} | {"left_out": self.left_out}
        return found if self.left_out is not None else found | {"left_out_reason": NOT_STATED}


def left_out_of(described: Mapping[str, Any]) -> dict[str, int] | None:
    """Return what a package lacks, as its project.json says; None if it does not say."""
    found = described.get("left_out")
    if not isinstance(found, dict) or not all(isinstance(found.get(name), int) for name in LEFT_OUT):
        return None
    return {name: found[name] for name in LEFT_OUT}


def import_gold_labels(
    store: Store, project: Project, member: Member, file: str, *, rebuilt: bool = False
) -> GoldLabels:
    """Store the gold labels of gold.jsonl that do not follow from the labels and decisions of the project.

    Call it after the import of labels and decisions. *rebuilt*: the package makes the project, so its gold labels
    override what its labels alone would give; else they fill in where an item has none.
    """
    return _GoldLabelImport(store, project, member, f"{file}: {PART}", rebuilt).run()


class _GoldLabelImport:
    """The import of the gold labels of one package."""

    def __init__(self, store: Store, project: Project, member: Member, name: str, rebuilt: bool) -> None:
        self.store, self.project, self.member, self.name, self.rebuilt = store, project, member, name, rebuilt
        self.codes = {each.code for version in guidelines(store, project) for each in version.choices}
        self.report, self.file = GoldLabels(), 0
        self.listed: set[str] = set()  # items with a gold label in the package

    def run(self) -> GoldLabels:
        """Store all of them in short transactions; a repeated import continues."""
        source = iter(rows(open_source(self.member.path, self.name)))
        while some := list(islice(source, CHUNK)):
            with self.store.write():
                for row in some:
                    self._take(row)
        if self.rebuilt:
            self._withhold()
        return self.report

    def _take(self, row: Row) -> None:
        if row.problem is None and row.values.get("gold") is None:
            return  # no gold label
        self.report.rows += 1
        try:
            row_id, gold, here, labelled = self._checked(row)
        except BadLine as error:
            self.report.note(problem_of(error))
            return
        if here == gold:
            self.report.here += 1
        elif here is None or (self.rebuilt and not labelled):
            self._store(row_id, gold)
            self.report.imported += 1
        else:
            self.report.kept += 1

    def _checked(self, row: Row) -> tuple[int, str, str | None, bool]:
        """Return the item, its gold label in the package and here, and whether it was labelled at a desk here."""
        if row.problem is not None:
            raise row.problem
        uid, gold = row.values.get("item"), row.values.get("gold")
        try:
            found = item(self.store, self.project, uid if isinstance(uid, str) else "")
        except NotFound:
            message = N_("This project has no item {item}. Import its items first, as JSON Lines or as a package.")
            raise BadLine(self.name, row.line, "no_item", message, item=str(uid)[:40]) from None
        if not isinstance(gold, str) or gold not in self.codes:
            message = N_("{choice} is not a choice of this guideline.")
            raise BadLine(self.name, row.line, "label", message, choice=str(gold)[:40])
        self.listed.add(str(uid))
        return found.id, gold, found.gold, is_labelled_here(self.store, found.id)

    def _withhold(self) -> None:
        """Store that items have no gold label where the package has none and fewer labels than it knew would decide."""
        every = items(self.store, self.project)
        source = iter([one.id for one in every if one.gold is not None and one.uid not in self.listed])
        while some := list(islice(source, CHUNK)):
            with self.store.write():
                for row_id in some:
                    self._store(row_id, None)
                    self.report.withheld += 1

    def _store(self, row_id: int, gold: str | None) -> None:
        file = self._label_file()
        store_gold(self.store, self.project, row_id, file, gold)
        add_to_file(self.store, file)

    def _label_file(self) -> int:
        """Return the record of this file: that of an interrupted import, or a new one."""
        if not self.file:
            came = CameWith("Evenhand", self.name, file_sha256(self.member.path), timestamp())
            same = (file.id for file in label_files(self.store, self.project)
                    if replace(file.came, program=came.program, created=came.created) == came)  # fmt: skip
            self.file = next(same, 0) or insert_label_file(self.store, self.project, came)
        return self.file
