"""`hub push` and `hub pull`: releases to the Hugging Face Hub, data sets and Argilla projects from there."""

import tempfile
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.hub.pull import Wanted
from evenhand.annotations.hub.pull import pull as fetch
from evenhand.annotations.hub.push import GATES, Settings, run
from evenhand.commands.files.command import import_file
from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, ask_password, db_option, environment_password, json_option, settings_from
from evenhand.core.runs.kinds import Place


@click.group()
def hub() -> None:
    """Put a release on the Hugging Face Hub, or import a data set from it into a project.

    The address is HF_ENDPOINT, else https://huggingface.co. The token is that
    of HF_TOKEN or of `hf auth login`; it is neither stored nor written anywhere.
    """


@hub.command("push")
@click.argument("name", metavar="PROJECT")
@click.argument("version")
@click.argument("repo", metavar="OWNER/NAME")
@click.option("--private", is_flag=True, help="Only its owner sees the data set.")
@click.option("--gated", type=click.Choice(GATES), help="Who wants the files asks first; auto: everybody gets them.")
@click.option(
    "--with-package", "package", is_flag=True,
    help="The folder that Evenhand can import again too. It reveals known answers and the random share.",
)  # fmt: skip
@click.option(
    "--password", "lock", is_flag=True, help="For text that can only be exported encrypted: as for `release`."
)
@click.option("--author", default="", help="Who puts it there; stays in the database.")
@click.option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@db_option
@json_option
@needs("release", "name", by_uid=True)
def push(lock: bool, db: str, as_json: bool, **options: Any) -> None:
    """Put release VERSION of PROJECT on the hub as the data set OWNER/NAME.

    Its files go as they were frozen, in one commit with the version as its
    tag; the card is README.md of the release. Files of an earlier release
    that this one has not are taken away; a data set that holds anything else
    is refused.
    """
    settings = settings_from(Settings, options)
    password = ask_password(new=True) if lock else environment_password()
    done = run(settings, Place(Path(db), password=password))
    version = settings.version
    data = {"url": done.url, "commit": done.commit, "files": done.files, "removed": done.removed, "version": version}
    taken = f", {done.removed} of before taken away" if done.removed else ""
    answer(data, f"{done.files} files of {version} put on {done.url}{taken}\ncommit {done.commit}", as_json=as_json)


@hub.command("pull")
@click.argument("name", metavar="PROJECT")
@click.argument("repo", metavar="OWNER/NAME")
@click.option("--revision", help="A branch, a tag or a commit; else the newest.")
@click.option("--part", help="A configuration of the data set; else its default.")
@click.option("--split", help="train where nothing is said.")
@click.option("--file", "file", help="These files instead, by name or pattern (data/*.csv).")
@click.option(
    "--out", type=click.Path(file_okay=False, exists=True, path_type=Path), help="Keep the file in this folder."
)
@click.option("--column", help="As for `import`: the column that holds the sentences.")
@click.option("--map", "named", multiple=True, metavar="NAME=VALUE", help="As for `import`.")
@click.option("--set", "fixed", multiple=True, metavar="NAME=VALUE", help="As for `import`.")
@click.option("--annotator", "people", multiple=True, metavar="FOUND=NAME", help="As for `import`.")
@click.option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs; it is never created.")
@db_option
@json_option
@click.pass_context
@needs("import_files", "name", by_uid=True, creates=True)
def pull(
    context: click.Context,
    name: str,
    repo: str,
    revision: str | None,
    part: str | None,
    split: str | None,
    file: str | None,
    out: Path | None,
    column: str | None,
    named: tuple[str, ...],
    fixed: tuple[str, ...],
    people: tuple[str, ...],
    uid: str | None,
    db: str,
    as_json: bool,
) -> None:
    """Import the rows of the data set OWNER/NAME into PROJECT, as `import` does with a file.

    CSV, JSON, JSON lines and Parquet; what is read where nothing is said is
    what `load_dataset` would read. A project that Argilla put on the hub comes
    with the answers of its users, which become labels.
    """
    with tempfile.TemporaryDirectory(prefix="evenhand-hub-") as folder:
        got = fetch(Wanted(repo, revision, part, split, file), out or Path(folder))
        click.echo(f"{', '.join(got.files)} of {repo} at {got.commit}", err=True)
        context.invoke(
            import_file, name=name, file=str(got.path), layout="auto", column=column, named=named, fixed=fixed,
            people=people, known=False, uid=uid, db=db, as_json=as_json,
        )  # fmt: skip
