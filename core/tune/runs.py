"""Tuned models that the pages list: folders beside the database, each with the record of a run and its curve."""

import shutil
from pathlib import Path

from evenhand.core.files.csv_out import data_line
from evenhand.core.files.whole_file import whole_file
from evenhand.core.runs.records import TABLE, Run, run_file, runs_folder, runs_in, write_record
from evenhand.core.tune.report import RECORD, TrainingReport, TuneReport

WORK, CURVE = ".work", "curve.jsonl"
CURVE_COLUMNS = ("step", "loss", "held_out_loss", "held_out_accuracy")


def tuned_folder(folder: Path, name: str) -> Path:
    """Where the model of a new run of that name goes. Raises Refused for a name that is none, or is taken."""
    table = run_file(folder, name)
    return table.with_name(table.name.removesuffix(TABLE))


def work_folder(folder: Path) -> Path:
    """The hidden folder of a run next to *folder*: checkpoints and the curve, until the model is whole."""
    return folder.with_name(f".{folder.name}{WORK}")


def write_run(report: TuneReport) -> None:
    """Put the curve and the record of a run beside the folder of its model."""
    table = report.folder.with_name(report.folder.name + TABLE)
    with whole_file(table) as write:
        write(data_line(CURVE_COLUMNS))
        for point in report.curve if isinstance(report, TrainingReport) else ():
            write(data_line([point.get(column) for column in CURVE_COLUMNS]))
    models = [{"model": report.folder.name, "signature": report.method_text}]
    write_record(table, report.record | {"models": models})


def tuned_runs(database: Path | str) -> list[Run]:
    """The finished runs of a database, the newest first; those whose model is gone are left out."""
    return [run for run in runs_in(runs_folder(database, "tunes")) if (model_of(run) / RECORD).is_file()]


def model_of(run: Run) -> Path:
    """The folder of a run's model."""
    return run.table.with_name(run.name)


def delete_run(run: Run) -> None:
    """Delete a run with its model and what a stopped one has left."""
    run.delete()
    for folder in (model_of(run), work_folder(model_of(run))):
        shutil.rmtree(folder, ignore_errors=True)
