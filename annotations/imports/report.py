"""What an import did."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.annotations.files.detect import english_problem
from evenhand.annotations.files.import_items import ImportReport
from evenhand.annotations.files.import_labels import LabelImport
from evenhand.annotations.files.other_tools.import_tasks import TaskImport
from evenhand.annotations.files.package.write_package import GoldLabels
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadFile, Notice
from evenhand.core.runs.kinds import UnusableLine
from evenhand.core.types import Problem


@dataclass(frozen=True, slots=True)
class LabelsReport:
    """What an import of labels did, or of a package: its items and gold labels."""

    labels: LabelImport
    items: ImportReport | None = None
    gold: GoldLabels | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the report as `import --json` prints it."""
        numbers = ("rows", "imported", "duplicates", "beside", "rejected", "decisions")
        data = {key: getattr(self.labels, key) for key in numbers} | {"errors": self.labels.errors_json()}
        items = {} if self.items is None else {"items": self.items.as_json()}
        return data | items | ({} if self.gold is None else {"gold_labels": self.gold.as_json()})


Report = ImportReport | TaskImport | LabelsReport


@dataclass(frozen=True, slots=True)
class Outcome:
    """The report of an import, and the project that it created."""

    report: Report
    created: Project | None = None

    @property
    def lines(self) -> ImportReport | LabelImport:
        """The report of the lines of the file."""
        if isinstance(self.report, ImportReport):
            return self.report
        return self.report.items if isinstance(self.report, TaskImport) else self.report.labels

    @property
    def problems(self) -> list[Problem]:
        """The lines that could not be used: the first ones."""
        return self.lines.errors + (self.report.labels.errors if isinstance(self.report, TaskImport) else [])

    def refuse_unusable(self, file: str) -> None:
        """Raise BadFile where no line could be used."""
        lines = self.lines
        if lines.rejected and lines.rejected == lines.rows:
            message = N_("None of the {rows} lines of {file} could be used; line {line}: {why}")
            first = lines.errors[0]
            raise BadFile(message, rows=lines.rows, file=first.file, line=first.line, why=english_problem(first))


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows of a file were imported, were here already, or could not be used, and the first of these."""

    rows: int
    imported: int
    duplicates: int
    rejected: int
    errors: tuple[UnusableLine, ...] = ()

    @property
    def notices(self) -> Sequence[Notice]:
        """These numbers as a sentence."""
        text = N_("{rows} rows: {imported} imported, {duplicates} duplicates, {rejected} unusable.")
        names = ("rows", "imported", "duplicates", "rejected")
        return (Notice(text, {name: f"{getattr(self, name):,}" for name in names}),)
