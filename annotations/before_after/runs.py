"""Runs that change models and compare them, on files or the texts of a project; each is a kind of job."""

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.scoring_input import PROJECT, InputOptions, open_input
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import project as find_project
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.core.before_after.grid import GridReport, Items, run_grid
from evenhand.core.before_after.report import ModelsReport
from evenhand.core.before_after.run import before_and_after, built_in_language, built_in_source
from evenhand.core.before_after.settings import GridSettings, Settings
from evenhand.core.errors import N_, Notice
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.tune.report import TrainingReport, TuneReport, stopped_early
from evenhand.core.tune.run import run
from evenhand.core.tune.settings import Settings as TuneSettings

FROM_CHECKPOINT = N_("Nothing is lost: a resumed run continues from its latest checkpoint and gives the same result.")


def tune_model(settings: TuneSettings, place: Place) -> TuneReport:
    """Change a model with a file of texts, or with the accepted texts of a project; see `core.tune.run.run`."""
    if not settings.texts.startswith(PROJECT):
        return run(settings, place)
    with Store.open(place.database) as store:
        name = settings.texts.removeprefix(PROJECT)
        project = project_by_uid(store, settings.uid) if settings.uid else find_project(store, name)
        texts = [item.text for item in items(store, project, accepted_only=True)]
    return run(settings, place, texts)


def compare_models(settings: Settings, place: Place) -> ModelsReport:
    """Compare models on a file, a project or the built-in sentences; see `core.before_after.run.before_and_after`."""
    language = built_in_language(settings.items, settings.before, settings.language)
    if language:
        source = built_in_source(language)
    else:
        reading = InputOptions(settings.language)
        source = open_input(settings.items, db=place.database, uid=settings.uid, reading=reading)
    return before_and_after(settings, source, place)


def make_grid(settings: GridSettings, place: Place) -> GridReport:
    """Make the models of a grid and measure them; see `core.before_after.grid.run_grid`."""
    reading = InputOptions(settings.language)
    source = open_input(settings.items, db=place.database, reading=reading) if settings.items else None
    return run_grid(settings, place, Items.of(source) if source else None)


def _early(report: TuneReport) -> list[Notice]:
    notice = stopped_early(report)
    return [notice] if notice else []


TUNE = JobKind("tune", TuneSettings, TrainingReport, tune_model, _early, resuming=FROM_CHECKPOINT)  # type: ignore[arg-type]
BEFORE_AFTER = JobKind("before-after", Settings, ModelsReport, compare_models)
TUNE_GRID = JobKind("tune-grid", GridSettings, GridReport, make_grid)
