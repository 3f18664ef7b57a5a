"""The kinds of jobs by name; each is imported when it is first needed."""

from importlib import import_module
from pathlib import Path
from typing import Any

from evenhand.annotations.jobs.jobs import Job
from evenhand.core.errors import N_, BadFile, NotFound
from evenhand.core.runs.kinds import AnyKind
from evenhand.core.typed_json import from_json

KINDS = {
    "import": "evenhand.annotations.imports.run:IMPORT",
    "undo": "evenhand.annotations.files.undo_import:UNDO",
    "guideline send-back": "evenhand.annotations.pilot.start_relabelling:START_RELABELLING",
    "release": "evenhand.annotations.release.make:RELEASE",
    "hub push": "evenhand.annotations.hub.push:PUSH",
    "mine": "evenhand.core.mining.request:MINE",
    "score": "evenhand.annotations.files.scoring_input:SCORING",
    "nli ask": "evenhand.core.nli.run:NLI_ASK",
    "nli rates": "evenhand.core.nli.bias_rates:NLI_RATES",
    "other-measures": "evenhand.core.other_measures.run:OTHER_MEASURES",
    "association": "evenhand.core.association.run:ASSOCIATION",
    "before-after": "evenhand.annotations.before_after.runs:BEFORE_AFTER",
    "generate": "evenhand.core.generation.run:GENERATE",
    "judge again": "evenhand.annotations.judges.job_kinds:AGAIN",
    "judge import": "evenhand.annotations.judges.job_kinds:IMPORT",
    "judge run": "evenhand.annotations.judges.job_kinds:RUN",
    "misgendering run": "evenhand.core.misgendering.run:MISGENDERING",
    "tune": "evenhand.annotations.before_after.runs:TUNE",
    "tune-grid": "evenhand.annotations.before_after.runs:TUNE_GRID",
}


def kind_named(name: str) -> AnyKind:
    """Return the kind of a name. Raises NotFound."""
    if name not in KINDS:
        raise NotFound(N_("There is no kind of job named {name}."), name=name)
    module, attribute = KINDS[name].split(":")
    kind: AnyKind = getattr(import_module(module), attribute)
    return kind


def kind_of(job: Job) -> AnyKind | None:
    """Return the kind of a job; None for a job of an earlier version, or of a kind that is not known here."""
    return kind_named(job.kind) if job.kind in KINDS else None


def settings_of(job: Job) -> Any:
    """Return the typed settings of a job. Raises NotFound for an unknown kind, BadFile for settings it cannot read."""
    kind = kind_named(job.kind)
    return from_json(kind.settings, job.settings)


def report_of(job: Job) -> Any:
    """Return the typed report of a finished job; None if it has none that can be read."""
    kind = kind_of(job)
    if kind is None or job.state != "done" or job.result is None:
        return None
    try:
        return from_json(kind.report, job.result)
    except BadFile:
        return None


def run_name(job: Job) -> str:
    """Return the name of the run that a job writes; "" if it writes none."""
    kind, settings = kind_of(job), _settings_or_none(job)
    return kind.run_name(settings) if kind is not None and settings is not None else ""


def partial_file(job: Job, database: Path) -> Path | None:
    """Return the file that a job is writing, if its rows can be read before it is complete."""
    kind, settings = kind_of(job), _settings_or_none(job)
    return kind.partial_file(settings, database) if kind is not None and settings is not None else None


def _settings_or_none(job: Job) -> Any:
    try:
        return settings_of(job)
    except (NotFound, BadFile):  # of another version
        return None
