"""`release` freezes, writes and verifies a version of a project; `hub` puts it on the Hugging Face Hub or pulls."""

import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.hub.pull import Wanted
from evenhand.annotations.hub.pull import pull as fetch
from evenhand.annotations.hub.push import GATES
from evenhand.annotations.hub.push import Settings as PushSettings
from evenhand.annotations.hub.push import run as push_release
from evenhand.annotations.items.check_derived import NAMED
from evenhand.annotations.projects.projects import named_project
from evenhand.annotations.release import stored_releases
from evenhand.annotations.release import verify as checking
from evenhand.annotations.release.make import Made, Settings, run, state_rights
from evenhand.annotations.release.proof.checks import CHECKS, REASONS
from evenhand.annotations.release.readiness import readiness
from evenhand.annotations.release.stored_releases import Release
from evenhand.annotations.release.verify import Verification
from evenhand.annotations.types import Project
from evenhand.commands.files import import_file
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import (
    answer,
    ask_password,
    environment_password,
    existing_store,
    option,
    settings_from,
    table,
)
from evenhand.core.errors import N_, NotFound, Refused
from evenhand.core.runs.kinds import Place
from evenhand.core.types import JsonObject

SHOWN = 20
STALE_GOLD = N_(
    "In {number} items the gold label or status of release {version}, or that of the database, does not follow from the"
    " labels and decisions ({items}). The database was changed outside the app."
)


@click.command("release")
@click.argument("name", metavar="PROJECT")
@click.argument("version", required=False)
@option("--out", type=click.Path(path_type=Path), help="A new folder, or a file that ends in .zip.")
@option("--licence", help="The licence of the set; stored with the project.")
@option("--source", "statement", help="Where the texts come from, and on what legal basis; kept with the project.")
@option("--notes", default="", help="Further remarks on this release; goes into its list of changes.")
@option(
    "--reason",
    default="",
    help="Why it is made although cases are open or the agreement says nothing; goes into the data sheet.",
)
@option(
    "--creator",
    "creators",
    multiple=True,
    metavar="NAME",
    help='Who is cited: "Family, Given" or an organisation. [default: those of the last release]',
)
@option("--author", default="", help="Who makes it; stays in the database.")
@option(
    "--password",
    "lock",
    is_flag=True,
    help="Encrypt what holds text, with the password in EVENHAND_PASSWORD or one that is asked for. The text of "
    "generations leaves only encrypted.",
)
@option("--without-package", is_flag=True, help="Leave out the folder that Evenhand can import again.")
@option("--list", "listing", is_flag=True, help="List the releases.")
@option("--check", is_flag=True, help="List what a release still needs.")
@option("--verify", type=click.Path(path_type=Path), help="Check a release in a folder or .zip.")
@option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@guarded("release", "name", by_uid=True)
def release(
    version: str | None, lock: bool, listing: bool, check: bool, verify: Path | None, db: str,
    **options: Any,
) -> None:  # fmt: skip
    """Freeze PROJECT as VERSION, or write an existing release to --out.

    A release holds the accepted items in several layouts, labels with pseudonyms,
    hard cases, data sheet, method section, changes against the last release
    and a package that can be imported again. It never changes; the project
    continues. Without VERSION: --list, --check or --verify.
    """
    settings = settings_from(Settings, options | {"version": version or ""})
    if verify is None and version is not None:
        password = ask_password(new=True) if lock else environment_password()
        _answer(run(settings, Place(Path(db), password=password)))
        return
    with existing_store(db) as store:
        project = state_rights(store, named_project(store, settings.name, settings.uid), settings)
        if verify is not None:
            _verify(store, project, verify)
        else:
            _show(store, project, check=check, listing=listing)


def _answer(made: Made) -> None:
    stored_release = made.release
    data = described(stored_release) | {"new": made.new}
    text = (
        f"{stored_release.version}: {stored_release.items} items, {stored_release.labels} labels, {stored_release.hash}"
    )
    if made.out is not None:
        data["out"], text = str(made.out), f"{text}\n{'made and ' if made.new else ''}written to {made.out}"
    answer(data, text)


def _show(store: Store, project: Project, *, check: bool, listing: bool) -> None:
    found, checks = stored_releases.releases(store, project), readiness(store, project, whole=True)
    data = {
        "project": project.name,
        "releases": [described(stored_release) for stored_release in found],
        "checks": [{"code": one.code, "state": one.state, "message": str(one)} for one in checks],
    }
    rows = [
        (
            stored_release.version,
            stored_release.created[:10],
            stored_release.items,
            stored_release.labels,
            stored_release.hash,
        )
        for stored_release in found
    ]
    releases = table(rows, ["version", "created", "items", "labels", "hash"]) if rows else "There is no release yet."
    needs = table([(one.state, str(one)) for one in checks])
    answer(data, ["" if check and not listing else releases, needs if check or not listing else ""])


def described(release: Release) -> JsonObject:
    """Return a release for JSON, without the names behind its codes."""
    facts = {key: value for key, value in release.facts.items() if key != "codes"}
    names = ("version", "hash", "items", "labels", "created", "author")
    return {name: getattr(release, name) for name in names} | {"facts": facts}


def _verify(store: Store, project: Project, path: Path) -> None:
    verification = checking.verify(path, password=environment_password())
    try:
        known = stored_releases.release(store, project, verification.version)
    except NotFound:
        known = None
    else:
        verification = checking.verify(path, password=environment_password(), store=store, release=known)
    data = {
        "version": verification.version, "hash": verification.hash, "hash_found": verification.found,
        "files": verification.files,
        "problems": [{"file": name, "problem": what} for name, what in verification.problems],
        "unread": list(verification.unread), "in_database": verification.known, "whole": verification.intact,
        "stale_gold": None if verification.gold is None else list(verification.gold.stale),
        "gold_unchecked": None if verification.gold is None else verification.gold.unchecked,
        "checks": checks_json(verification),
    }  # fmt: skip
    if verification.gold is None:
        data["stale_gold_reason"] = data["gold_unchecked_reason"] = "This database does not have the release."
    if verification.found is None:
        data["hash_found_reason"] = "The package is not in this folder, or is locked."
    answer(data, _verification_text(verification))
    if verification.gold is not None and verification.gold.stale:
        items = ", ".join(verification.gold.stale[:NAMED]) + (" ..." if len(verification.gold.stale) > NAMED else "")
        raise Refused(STALE_GOLD, version=verification.version, number=f"{len(verification.gold.stale):,}", items=items)
    if not verification.intact:
        message = N_("{path} differs from release {version} as it was created.")
        raise Refused(message, path=str(path), version=verification.version)


def checks_json(verification: Verification) -> list[JsonObject]:
    """Return the result of every check, by the ids that proof.html shows."""
    return [asdict(result) for result in verification.checks]


def check_lines(verification: Verification) -> list[str]:
    """Return a line for each check that differs or is incomplete, with its first differences, and one of the counts."""
    names = {check.id: check.name for check in CHECKS}
    lines = []
    for result in verification.checks:
        if result.state == "different":
            lines.append(f"different: {result.check} ({names[result.check]}): {result.expected} / {result.found}")
            lines += [f"  {one.item}: {one.expected} / {one.found}" for one in result.items[:SHOWN]]
        elif result.reason:
            lines.append(f"not checked: {result.check}: {result.unchecked or 'all'}, {REASONS[result.reason]}")
    counts = Counter(result.state for result in verification.checks)
    summary = f"{counts['equal']} checks equal, {counts['different']} different, {counts['unchecked']} not checkable"
    return [*lines, summary]


def _verification_text(verification: Verification) -> list[str]:
    lines = [table([(what, name) for name, what in verification.problems[:SHOWN]])]
    if len(verification.problems) > SHOWN:
        lines.append(f"and {len(verification.problems) - SHOWN} more")
    same = {None: "not read", verification.hash: "the same"}.get(verification.found, "DIFFERENT")
    lines.append(
        f"release {verification.version}: {verification.files} files, {len(verification.problems)} problems,"
        f" contents {same}"
    )
    if verification.unread:
        lines.append(f"{len(verification.unread)} files were left out or are locked")
    lines.append(
        "compared with the database" if verification.known else "this database has no such release to compare with"
    )
    if verification.gold is not None and verification.gold.unchecked:
        lines.append(
            f"{verification.gold.unchecked} gold labels not checked: labels, decisions or settings changed since"
        )
    return lines + check_lines(verification)


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
@option("--private", is_flag=True, help="Only its owner sees the data set.")
@option("--gated", type=click.Choice(GATES), help="Users must ask for the files; auto: all requests are granted.")
@option(
    "--with-package", "package", is_flag=True,
    help="The folder that Evenhand can import again too. It reveals known answers and the random share.",
)  # fmt: skip
@option("--password", "lock", is_flag=True, help="For text that can only be exported encrypted: as for `release`.")
@option("--author", default="", help="Who puts it there; stays in the database.")
@option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@guarded("release", "name", by_uid=True)
def push(lock: bool, db: str, **options: Any) -> None:
    """Put release VERSION of PROJECT on the hub as the data set OWNER/NAME.

    Its files go as they were frozen, in one commit with the version as its
    tag; the card is README.md of the release. Files of an earlier release
    that this one has not are taken away; a data set that holds anything else
    is refused.
    """
    settings = settings_from(PushSettings, options)
    password = ask_password(new=True) if lock else environment_password()
    done = push_release(settings, Place(Path(db), password=password))
    version = settings.version
    data = {"url": done.url, "commit": done.commit, "files": done.files, "removed": done.removed, "version": version}
    taken = f", {done.removed} of before taken away" if done.removed else ""
    answer(data, f"{done.files} files of {version} put on {done.url}{taken}\ncommit {done.commit}")


@hub.command("pull")
@click.argument("name", metavar="PROJECT")
@click.argument("repo", metavar="OWNER/NAME")
@option("--revision", help="A branch, a tag or a commit; else the newest.")
@option("--part", help="A configuration of the data set; else its default.")
@option("--split", help="A split of the data set; default: train.")
@option("--file", "file", help="These files instead, by name or pattern (data/*.csv).")
@option("--out", type=click.Path(file_okay=False, exists=True, path_type=Path), help="Keep the file in this folder.")
@option("--column", help="As for `import`: the column that holds the sentences.")
@option("--map", "named", multiple=True, metavar="NAME=VALUE", help="As for `import`.")
@option("--set", "fixed", multiple=True, metavar="NAME=VALUE", help="As for `import`.")
@option("--annotator", "people", multiple=True, metavar="FOUND=NAME", help="As for `import`.")
@option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs; it is never created.")
@click.pass_context
@guarded("import_files", "name", by_uid=True, creates=True)
def pull(
    context: click.Context, /, repo: str, revision: str | None, part: str | None, split: str | None, file: str | None,
    out: Path | None, **options: Any,
) -> None:  # fmt: skip
    """Import the rows of the data set OWNER/NAME into PROJECT, as `import` does with a file.

    CSV, JSON, JSON lines and Parquet; what is read where nothing is said is
    what `load_dataset` would read. A project that Argilla put on the hub comes
    with the answers of its users, which become labels.
    """
    with tempfile.TemporaryDirectory(prefix="evenhand-hub-") as folder:
        pulled = fetch(Wanted(repo, revision, part, split, file), out or Path(folder))
        click.echo(f"{', '.join(pulled.files)} of {repo} at {pulled.commit}", err=True)
        context.invoke(import_file, file=str(pulled.path), layout="auto", known=False, **options)
