"""`import` of labels and of whole projects: exported files are imported again."""

from collections.abc import Sequence
from typing import Any

import click

from evenhand.annotations.accounts.accounts import take_over_roles
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import Examined, ImportReport
from evenhand.annotations.files.import_labels import LabelImport
from evenhand.annotations.files.package import write_package
from evenhand.annotations.files.package.gold_labels import NOT_STATED, GoldLabels
from evenhand.annotations.files.rejections import english_problem
from evenhand.annotations.projects.projects import create_project, project_by_uid
from evenhand.annotations.projects.projects import project as find_project
from evenhand.annotations.types import Kind, Project
from evenhand.commands.permissions import own_new_project
from evenhand.commands.shared import answer, existing_store
from evenhand.core.errors import N_, BadFile, NotFound
from evenhand.core.files.archives import Member
from evenhand.core.language import Count
from evenhand.core.types import Problem

SHOWN = 20  # problems printed for people; --json lists them all


def bring_labels(
    name: str, members: Sequence[Member], file: str, *, uid: str | None, layout: str, db: str, as_json: bool
) -> None:
    """Import labels into an existing project, or a package into a new or existing one; print the report."""
    if layout == "package" or write_package.is_package(members):
        with Store.open(db) as store:
            there = project_by_uid(store, uid) if uid else _project_named(store, name)
            brought = write_package.import_package(store, name if there is None else there.name, members, file)
            if there is None:
                own_new_project(store, brought.project)
            else:
                take_over_roles(store, there, brought.project)
        labels, gold = brought.labels, brought.gold
        items = {} if brought.items is None else {"items": brought.items.as_json()}
        text = (
            ""
            if brought.items is None
            else f"{brought.items.imported} items imported, {brought.items.duplicates} duplicates; "
        )
    else:
        with existing_store(db) as store:
            found = project_by_uid(store, uid) if uid else find_project(store, name)
            labels = LabelImport()
            for member in members:
                labels.add(
                    write_package.import_package_labels(
                        store, found, member, file if len(members) == 1 else member.name
                    )
                )
        items, text, gold = {}, "", None
    more = {} if gold is None else {"gold_labels": gold.as_json()}
    summary = text + labels_summary(labels) + f"; {labels.decisions} decisions and comments" + beside_summary(labels)
    parts = [summary, "" if gold is None else _gold_summary(gold)]
    answer_import(_described(labels) | items | more, parts, labels, labels.errors, as_json=as_json)


def answer_import(
    data: dict[str, Any],
    text: Sequence[str],
    counted: ImportReport | LabelImport,
    problems: Sequence[Problem],
    *,
    as_json: bool,
) -> None:
    """Print the first problems of an import on stderr, and its report. Raises BadFile if no line could be used."""
    for problem in [] if as_json else problems[:SHOWN]:
        click.echo(f"{problem.file}:{problem.line}: {problem.reason}: {english_problem(problem)}", err=True)
    answer(data, text, as_json=as_json)
    if counted.rejected and counted.rejected == counted.rows:
        message = N_("None of the {rows} lines of {file} could be used; line {line}: {why}")
        first = counted.errors[0]
        raise BadFile(message, rows=counted.rows, file=first.file, line=first.line, why=english_problem(first))


def _project_named(store: Store, name: str) -> Project | None:
    try:
        return find_project(store, name)
    except NotFound:
        return None


def _described(labels: LabelImport) -> dict[str, Any]:
    numbers = ("rows", "imported", "duplicates", "beside", "rejected", "decisions")
    return {key: getattr(labels, key) for key in numbers} | {"errors": labels.errors_json()}


def labels_summary(labels: LabelImport) -> str:
    """Return how many labels a file has, and what became of them."""
    return (
        f"{labels.rows} labels read: {labels.imported} imported, {labels.duplicates} here already, "
        f"{labels.rejected} rejected"
    )


def beside_summary(labels: LabelImport) -> str:
    """Return how many labels lost to one that was here first; "" if none did."""
    return f"; {labels.beside} kept beside a label that was here first" if labels.beside else ""


def _gold_summary(gold: GoldLabels) -> str:
    """Return the numbers of the gold labels of a package, and of what it lacks, for the terminal."""
    if not gold.rows and not gold.withheld and not gold.left_out:
        return ""
    text = (
        f"{gold.rows} gold labels: {gold.here} from labels and decisions, {gold.imported} imported without all of "
        f"their single labels, {gold.kept} differ from those here, which stay, {gold.rejected} rejected"
    )
    if gold.withheld:
        text += f"; {gold.withheld} items without a gold label, although the labels in the package agree"
    if gold.left_out and any(gold.left_out.values()):
        text += (
            "\nnot in the package: {labels} {labels:label|labels} of {annotators} {annotators:annotator|annotators} "
            "who did not consent, {comments} {comments:comment|comments} "
            "(theirs and private ones), some labels of {open_cases} open {open_cases:case|cases}"
        ).format(**{name: Count(number) for name, number in gold.left_out.items()})
    elif gold.imported and gold.left_out is None:
        text += f"\n{NOT_STATED}"
    return text


# The settings of a project that an import creates: models are judged on English (SPEC 4)
BEGUN: dict[Kind, dict[str, Any]] = {"sentences": {}, "generations": {"language": "en"}}


def project_for(store: Store, name: str, examined: Sequence[Examined]) -> Project | None:
    """The project, created if needed; None if it does not exist and the file has no usable row."""
    try:
        return find_project(store, name)
    except NotFound:
        kind = examined[0].layout.kind
        usable = any(one.usable for one in examined)
        if not usable:
            return None
        made = create_project(store, name, kind=kind, **BEGUN[kind])
        own_new_project(store, made)
        return made


def pairs(given: Sequence[str], option: str, known: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE from the command line. Raises BadFile for anything else."""
    found = [text.partition("=") for text in given]
    for key, sign, _value in found:
        if not sign or key.strip() not in known:
            message = N_("{option} takes NAME=VALUE, where NAME is one of {known}.")
            raise BadFile(message, option=option, known=", ".join(known))
    return {key.strip(): value.strip() for key, _sign, value in found}


def import_summary(report: ImportReport) -> str:
    """The report of an import in words."""
    text = (
        f"{report.rows} rows read ({report.encoding}): {report.imported} imported, "
        f"{report.duplicates} duplicates, {report.rejected} rejected"
    )
    if report.reasons:
        text += " (" + ", ".join(f"{reason} {count}" for reason, count in report.reasons.most_common()) + ")"
    if report.spans:
        text += "\npositions: " + ", ".join(f"{status} {count}" for status, count in report.spans.most_common())
    if report.repeated:
        text += f"\nleft out, the same rows again: {', '.join(report.repeated)}"
    if report.odd_signs:
        signs = ", ".join(f"{sign} in {count}" for sign, count in sorted(report.odd_signs.items()))
        text += f"\nkept as they are, texts with {signs}"
    if report.turned:
        text += f"\nduplicates with the two texts the other way round: {report.turned}"
    return text
