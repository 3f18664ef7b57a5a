"""Settings of the commands that let a judge label, and the same work as kinds of jobs."""

from dataclasses import dataclass, fields
from pathlib import Path

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.import_file import JudgeImport, import_judge
from evenhand.annotations.judges.judges import Judge
from evenhand.annotations.judges.run import JudgeReport, Request, ask_again, run_judge
from evenhand.annotations.projects.projects import project as find_project
from evenhand.core.errors import N_, Notice, Refused
from evenhand.core.judges.server import Constraint, ServerSettings
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.servers.asking import Pace
from evenhand.core.typed_json import fields_of

KEPT = N_("Nothing is lost: labels are kept, and a resumed run labels the rest.")
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
        """Return what is asked of which judge. Raises Refused for a file that is not UTF-8."""
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
