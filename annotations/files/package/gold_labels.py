"""Import of the gold labels of a package, and the numbers of what the package lacks.

A release holds the labels of annotators who consented, and every gold label. A gold label that does not follow from
the imported labels and decisions is stored as a record with its origin (`annotations.items.imported_gold`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.items.imported_gold import PART, store_gold
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadLine
from evenhand.core.files.archives import Member
from evenhand.core.files.readers import Row, file_sha256, open_source, rows
from evenhand.core.files.timestamps import timestamp
from evenhand.core.types import Problem

CHUNK = 500  # gold labels per transaction
LEFT_OUT = ("annotators", "labels", "comments", "open_cases")
NOT_STATED = N_("The package does not say which labels were left out of it.")
ITEM = """
SELECT item.id, item.gold, EXISTS (SELECT 1 FROM label WHERE label.item = item.id
    AND NOT EXISTS (SELECT 1 FROM label_of_file WHERE label_of_file.label = label.id))
FROM published_item AS item WHERE item.uid = ? AND item.project = ?
"""
WITH_GOLD = "SELECT item.id, item.uid FROM published_item AS item WHERE item.project = ? AND item.gold NOT NULL"


@dataclass(slots=True)
class GoldLabels:
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
    rejected: int = 0
    withheld: int = 0
    left_out: dict[str, int] | None = None
    errors: list[Problem] = field(default_factory=list)

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
            item, gold, here, labelled = self._checked(row)
        except BadLine as error:
            self.report.rejected += 1
            self.report.errors.append(Problem(error.file, error.line, error.reason, error.message, error.values))
            return
        if here == gold:
            self.report.here += 1
        elif here is None or (self.rebuilt and not labelled):
            self._store(item, gold)
            self.report.imported += 1
        else:
            self.report.kept += 1

    def _checked(self, row: Row) -> tuple[int, str, str | None, bool]:
        """Return the item, its gold label in the package and here, and whether it was labelled at a desk here."""
        if row.problem is not None:
            raise row.problem
        uid, gold = row.values.get("item"), row.values.get("gold")
        found = isinstance(uid, str) and self.store.db.execute(ITEM, (uid, self.project.id)).fetchone()
        if not found:
            message = N_("This project has no item {item}. Import its items first, as JSON Lines or as a package.")
            raise BadLine(self.name, row.line, "no_item", message, item=str(uid)[:40])
        if not isinstance(gold, str) or gold not in self.codes:
            message = N_("{choice} is not a choice of this guideline.")
            raise BadLine(self.name, row.line, "label", message, choice=str(gold)[:40])
        self.listed.add(str(uid))
        return found[0], gold, found[1], bool(found[2])

    def _withhold(self) -> None:
        """Store that items have no gold label where the package has none and fewer labels than it knew would decide."""
        found = [item for item, uid in self.store.db.execute(WITH_GOLD, (self.project.id,)) if uid not in self.listed]
        source = iter(found)
        while some := list(islice(source, CHUNK)):
            with self.store.write():
                for item in some:
                    self._store(item, None)
                    self.report.withheld += 1

    def _store(self, item: int, gold: str | None) -> None:
        file = self._label_file()
        store_gold(self.store, self.project, item, file, gold)
        self.store.db.execute("UPDATE label_file SET labels = labels + 1 WHERE id = ?", (file,))

    def _label_file(self) -> int:
        """Return the record of this file: that of an interrupted import, or a new one."""
        if not self.file:
            values = (self.project.id, self.name, file_sha256(self.member.path))
            query = "SELECT id FROM label_file WHERE project = ? AND file = ? AND sha256 = ? AND undone IS NULL"
            row = self.store.db.execute(query, values).fetchone()
            self.file = row[0] if row else self._new_file(values)
        return self.file

    def _new_file(self, values: tuple[int, str, str]) -> int:
        query = "INSERT INTO label_file (project, file, sha256, created, program, undone) VALUES (?, ?, ?, ?, ?, NULL)"
        return int(self.store.db.execute(query, (*values, timestamp(), "Evenhand")).lastrowid or 0)
