"""`harness task` and `harness read`: a released set as a task of a harness, and what a harness logged."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from evenhand.annotations.release import stored_releases
from evenhand.annotations.release.dataset_card import DATA
from evenhand.annotations.text_policy import text_may_leave
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import answer, opened_project, option
from evenhand.core.errors import N_, NotFound, Refused
from evenhand.core.files.atomic_file import make_folder, whole_file, whole_path
from evenhand.core.files.csv_out import json_line
from evenhand.core.harness.logs import Log, log_files, read_log
from evenhand.core.harness.tasks import HARNESSES, Harness, task_files, task_name
from evenhand.core.runs.records import target_or_none


@click.group()
def harness() -> None:
    """Exchange with lm-evaluation-harness and Inspect.

    Neither needs to be installed here.
    """


@harness.command("task")
@click.argument("name", metavar="PROJECT")
@click.argument("version")
@click.argument("out", type=click.Path(path_type=Path))
@option("--for", "which", type=click.Choice(HARNESSES), required=True, help="Which harness is to run it.")
@guarded("see_all_labels", "name")
def task(name: str, version: str, out: Path, which: Harness, db: str) -> None:
    """Write release VERSION of PROJECT to the new folder OUT as a task.

    Each accepted sentence with the male and with the female word. lm-eval: which is more likely, and by how much.
    inspect: which word a chat model puts in.
    """
    with opened_project(db, name) as (store, project):
        made = stored_releases.release(store, project, version)
        if project.kind != "sentences":
            raise Refused(N_("A task consists of sentences, but {project} holds generations."), project=project.name)
        if not text_may_leave(project):
            raise Refused(N_("The texts of {project} can only be exported encrypted."), project=project.name)
        rows = [
            json.loads(line) for line in stored_releases.release_file(store, made, DATA).decode().split("\n") if line
        ]
    files = task_files(
        which, rows, project=project.name, version=made.version, language=project.language, content_hash=made.hash
    )
    with whole_path(out) as part:
        make_folder(part)
        for file, text in files.items():
            (part / file).write_text(text, encoding="utf-8")
    called = task_name(project.name, made.version)
    data = {"task": called, "for": which, "out": str(out), "pairs": len(rows), "files": sorted(files)}
    answer(data, f"{len(rows)} pairs written to {out} as {called}")


@harness.command("read")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG...")
@option("--out", type=click.Path(dir_okay=False), help="Scores: the table as `score` writes it (CSV).")
@option("--run", help="Scores: a name under which the pages list them.")
@option(
    "--texts", type=click.Path(dir_okay=False, path_type=Path),
    help="Generations: JSON lines, as `import --format generations` reads them.",
)  # fmt: skip
@option("--model", default="", help="The name of the model, if the log does not name it.")
@guarded("start_jobs")
def read(logs: tuple[Path, ...], out: str | None, run: str | None, texts: Path | None, model: str, db: str) -> None:
    """Read LOGs of single samples, or folders of them.

    samples_*.jsonl of lm-evaluation-harness (--log_samples), .json and .eval
    of Inspect. Texts that models wrote become generations; comparisons of a
    task of `harness task` become scores.
    """
    files = log_files(list(logs))
    if missing := next((file for file in files if not file.is_file()), None) or (None if files else logs[0]):
        raise NotFound(N_("There is no file or folder {path}."), path=str(missing))
    found = [(file, read_log(file, model=model)) for file in files]
    table, listed = target_or_none(db, "scores", out, run)
    if table is not None:
        _write_scores(found, table, listed)
    if texts is not None:
        with whole_file(texts) as write:
            for _file, log in found:
                for generation in log.generations:
                    write(json_line(asdict(generation)))
    rows = [
        {"file": file.name, "harness": log.harness, "model": log.model, "generations": len(log.generations),
         "scores": len(log.scores), "left": dict(log.left)}
        for file, log in found
    ]  # fmt: skip
    lines = [
        f"{row['file']}: {row['model']}: {row['generations']} generations, {row['scores']} scores"
        + "".join(f", {number} {why}" for why, number in log.left.items())
        for row, (_file, log) in zip(rows, found, strict=True)
    ]
    written = {"table": None if table is None else str(table), "texts": None if texts is None else str(texts)}
    answer({"logs": rows, **written}, "\n".join(lines))


def _write_scores(found: list[tuple[Path, Log]], table: Path, listed: bool) -> None:
    from evenhand.core.runs.loop import made_now, open_table
    from evenhand.core.runs.records import write_record
    from evenhand.core.scoring.rows import COLUMNS, OK

    scored = [(file, log) for file, log in found if log.scores]
    if not scored:
        raise Refused(N_("These logs contain no scores of sentence pairs. Use --texts to read generated texts."))
    with open_table(table, COLUMNS) as write_row:
        for _file, log in scored:
            for score in log.scores:
                write_row(score.values())
    if listed:
        models = [
            {"model": log.model, "rows": len(log.scores), "scored": sum(score.status == OK for score in log.scores),
             "signature": log.scores[0].signature}
            for _file, log in scored
        ]  # fmt: skip
        source = {"name": ", ".join(file.name for file, _log in scored)}
        sentences = max(len(log.scores) for _file, log in scored)
        write_record(table, {"sentences": sentences, "models": models, "source": source, **made_now()})
