"""Settings of the commands that let a judge label or read its labels from a file, and the same work as kinds of jobs.

A file has a row an item, `item` (its public id) and `label`. Optional columns: `extraneous` (0 or 1), `spans` (JSON:
[[start, end, "pronoun" or "extraneous"], ...], code points), `shares` (JSON: a share from 0 to 1 for each choice).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.judges import (
    LABELLED,
    Judge,
    Spec,
    add_judge,
    choices_of,
    labelled_items,
    store_labels,
)
from evenhand.annotations.judges.run import JudgeReport, Request, ask_again, run_judge
from evenhand.annotations.labels.checks import check_flag, check_marks, mark_kinds, parse_marks
from evenhand.annotations.projects.projects import project as find_project
from evenhand.annotations.types import Guideline, Project
from evenhand.core.errors import N_, BadFile, BadLine, EvenhandError, Notice, Refused
from evenhand.core.files.readers import Row, Source, file_sha256, open_source, rows
from evenhand.core.judges.backends import Constraint, ServerSettings
from evenhand.core.judges.prompts import JudgeLabel
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.servers.client import Pace
from evenhand.core.typed_json import fields_of

NEEDED = ("item", "label")
LISTED = 10_000  # bad lines of a report
FLAGS = {"0": False, "1": True, "false": False, "true": True, "0.0": False, "1.0": True}


@dataclass(slots=True)
class JudgeImport:
    """The report: `imported` are new, `duplicates` are of items that this judge had labelled."""

    rows: int = 0
    imported: int = 0
    duplicates: int = 0
    rejected: int = 0
    errors: list[BadLine] = field(default_factory=list)

    def note(self, error: BadLine) -> None:
        """Count a line that could not be used; the first 10,000 are listed."""
        self.rejected += 1
        if len(self.errors) < LISTED:
            self.errors.append(error)


def import_judge(
    store: Store, project: Project, file: Path, name: str, *, version: int | None = None, author: str = ""
) -> tuple[Judge, JudgeImport]:
    """Append the labels of *file* to the judge *name*, which is added if it does not exist.

    A further file under the same name adds missing labels; labelled items stay unchanged. *version*: of the
    guideline whose choices the labels are; None: the newest. Raises BadFile if the file or a column is missing.
    """
    source = open_source(file)
    columns = {column.strip().lower() for column in source.columns}
    if source.shape == "text" or not set(NEEDED) <= columns:
        missing = next((text for text in NEEDED if text not in columns), NEEDED[0])
        message = N_("{file} has no column {column}; it needs {needed}.")
        raise BadFile(message, file=source.name, column=missing, needed=", ".join(NEEDED))
    guideline = choices_of(store, project, version)
    spec = Spec("file", guideline.version, f"file|{name.strip()}|guideline={guideline.version}", model=name.strip())
    judge = add_judge(store, project, name, spec, author=author)
    report = JudgeImport()
    reader = _Reader(store, project, source, guideline, judge, report)
    report.imported = store_labels(store, judge, reader.labels())
    with store.write():
        record(
            store, project, LABELLED, author=author, judge=judge.name, file=source.name, sha256=file_sha256(file),
            labels=report.imported,
        )  # fmt: skip
    return judge, report


class _Reader:
    """The rows of a file as labels; those that are none are noted."""

    def __init__(
        self, store: Store, project: Project, source: Source, guideline: Guideline, judge: Judge, report: JudgeImport
    ) -> None:
        self.items = {item.uid: (item.id, len(item.text)) for item in items(store, project)}
        self.source, self.guideline, self.report = source, guideline, report
        self.choices = {choice.code for choice in guideline.choices}
        self.there = labelled_items(store, judge)

    def labels(self) -> Iterator[JudgeLabel]:
        for row in rows(self.source):
            self.report.rows += 1
            try:
                if row.problem is not None:
                    raise row.problem
                label = self._label(row)
            except BadLine as error:
                self.report.note(error)
                continue
            except EvenhandError as error:  # of a mark
                self.report.note(BadLine(self.source.name, row.line, "spans", error.message, **error.values))
                continue
            if label.item in self.there:
                self.report.duplicates += 1
                continue
            self.there.add(label.item)
            yield label

    def _label(self, row: Row) -> JudgeLabel:
        cells = {name.strip().lower(): value for name, value in row.values.items()}
        uid, choice = (str(cells.get(name) or "").strip() for name in NEEDED)
        if uid not in self.items:
            raise self._bad(row, "no_item", N_("This project has no item {item}."), item=uid[:40])
        if choice not in self.choices:
            message = N_("{label} is not a choice of this guideline. Choices: {choices}.")
            raise self._bad(row, "label", message, label=choice[:40], choices=", ".join(sorted(self.choices)))
        item, length = self.items[uid]
        spans = parse_marks(self._json(row, cells, "spans") or [])
        check_marks(spans, length, mark_kinds(self.guideline))
        flag = str(cells.get("extraneous") if cells.get("extraneous") is not None else "").strip().lower()
        if flag and flag not in FLAGS:
            raise self._bad(row, "extraneous", N_("{value} is not a flag; use 0 or 1."), value=flag[:40])
        check_flag(self.guideline, FLAGS.get(flag))
        marks = tuple((span.start, span.end, str(span.kind)) for span in spans)
        return JudgeLabel(item, choice, FLAGS.get(flag), marks, self._shares(row, cells))

    def _shares(self, row: Row, cells: dict[str, Any]) -> dict[str, float] | None:
        result = self._json(row, cells, "shares")
        if result is None:
            return None
        if not isinstance(result, dict) or not all(
            key in self.choices and isinstance(value, int | float) and 0 <= value <= 1 for key, value in result.items()
        ):
            raise self._bad(
                row, "shares", N_("The shares must be a JSON object with a number from 0 to 1 for each choice.")
            )
        return {key: float(value) for key, value in result.items()}

    def _json(self, row: Row, cells: dict[str, Any], name: str) -> Any:
        """Return the value of a cell that may hold JSON, which a table has as text; None for an empty one."""
        value = cells.get(name)
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise self._bad(row, name, N_("The value in column {column} is not JSON."), column=name) from error

    def _bad(self, row: Row, reason: str, message: str, **values: Any) -> BadLine:
        return BadLine(self.source.name, row.line, reason, message, **values)


KEPT = N_("Nothing is lost: labels are stored, and a resumed run labels the rest.")
IMPORTED = N_("{rows} rows: {imported} imported, {duplicates} duplicates, {rejected} unusable.")


@dataclass(frozen=True, slots=True, kw_only=True)
class WhichJudge:
    """The options that say which judge, of `judge run` and `judge forecast`; files hold prompt, system and examples."""

    project: str
    rule: bool = False
    model: str = ""
    server: str = ""
    name: str = ""
    prompt: Path | None = None
    system: Path | None = None
    examples: Path | None = None
    known: int = 0
    known_seed: int = 42
    log_probabilities: bool = False
    version: int | None = None
    samples: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    tokens: int = 300
    seed: int = 42
    constraint: Constraint = "schema"
    limit: int | None = None
    at_once: int = 8
    per_minute: float | None = None

    def request(self, *, with_key: bool = True, eps: float | None = None) -> Request:
        """Return the request: the judge and what it is asked. Raises Refused for a file that is not UTF-8."""
        how = ServerSettings(**{field.name: getattr(self, field.name) for field in fields(ServerSettings)})
        return Request(
            rule=self.rule, model=self.model, server=self.server, name=self.name, template=_text(self.prompt),
            system=_text(self.system), examples=_text(self.examples) or "", known=self.known,
            known_seed=self.known_seed, way="letter" if self.log_probabilities else None, version=self.version,
            settings=how, pace=Pace(self.at_once, self.per_minute), limit=self.limit, with_key=with_key, eps=eps,
        )  # fmt: skip


def _text(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Refused(N_("{file} is not UTF-8 encoded; save it as UTF-8."), file=file.name) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings(WhichJudge):
    """The options of `judge run`. `eps`: recorded before the first label; `no_key`: send a server no key."""

    eps: float | None = None
    no_key: bool = False
    author: str = ""


@dataclass(frozen=True, slots=True)
class AgainSettings:
    """The options of `judge again`: the judge *name* is asked about *number* items that it has labelled."""

    project: str
    name: str
    number: int = 100
    at_once: int = 8
    per_minute: float | None = None
    no_key: bool = False
    author: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSettings:
    """The options of `judge import`. `version`: of the guideline whose choices the labels are; None: the newest."""

    project: str
    file: Path
    name: str
    version: int | None = None
    author: str = ""


def label(settings: RunSettings, place: Place) -> JudgeReport:
    """Let a judge label a project; see `run_judge`."""
    request = settings.request(with_key=not settings.no_key, eps=settings.eps)
    with Store.open(place.database) as store:
        project = find_project(store, settings.project)
        return run_judge(store, project, request, watch=place.progress, author=settings.author)


def label_again(settings: AgainSettings, place: Place) -> JudgeReport:
    """Ask a judge a second time; see `ask_again`."""
    pace = Pace(settings.at_once, settings.per_minute)
    with Store.open(place.database) as store:
        project = find_project(store, settings.project)
        return ask_again(
            store, project, settings.name, settings.number, pace=pace, with_key=not settings.no_key,
            watch=place.progress, author=settings.author,
        )  # fmt: skip


def import_labels(settings: ImportSettings, place: Place) -> tuple[Judge, JudgeImport]:
    """Append the labels of a file to a judge; see `import_judge`."""
    with Store.open(place.database) as store:
        project = find_project(store, settings.project)
        return import_judge(
            store, project, settings.file, settings.name, version=settings.version, author=settings.author
        )


@dataclass(frozen=True, slots=True)
class Labelled:
    """The labels that a job added, and the texts without one."""

    judge: str
    labelled: int
    failed: int

    @classmethod
    def of(cls, report: JudgeReport) -> "Labelled":
        """Return the counts of a report."""
        return cls(report.judge.name, report.labelled, report.failed)


@dataclass(frozen=True, slots=True)
class Imported:
    """The rows of a file, as `JudgeImport` counts them."""

    rows: int
    imported: int
    duplicates: int
    rejected: int


def _import_job(settings: ImportSettings, place: Place) -> Imported:
    _, report = import_labels(settings, place)
    return Imported(report.rows, report.imported, report.duplicates, report.rejected)


def _in_numbers(report: Imported) -> list[Notice]:
    return [Notice(IMPORTED, {name: f"{number:,}" for name, number in fields_of(report).items()})]


RUN = JobKind(
    "judge run", RunSettings, Labelled, lambda settings, place: Labelled.of(label(settings, place)), resuming=KEPT
)
AGAIN = JobKind(
    "judge again", AgainSettings, Labelled, lambda settings, place: Labelled.of(label_again(settings, place)),
    resuming=KEPT,
)  # fmt: skip
IMPORT = JobKind("judge import", ImportSettings, Imported, _import_job, _in_numbers, resuming=KEPT)
