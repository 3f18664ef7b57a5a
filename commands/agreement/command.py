"""`agreement PROJECT`: how far the annotators of a project agree."""

from collections.abc import Iterator
from typing import Any

import click

from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.agreement.measures import agreement as report_of
from evenhand.annotations.agreement.preferences import LeftChosen, left_chosen
from evenhand.annotations.agreement.report import FormRates
from evenhand.annotations.agreement.schemes import mark_agreement, ways_of
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import compares
from evenhand.annotations.items.articles import only_files
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.projects.projects import project as find_project
from evenhand.annotations.types import Project
from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, db_option, existing_store, json_option, margin_option, say_unsettled
from evenhand.commands.tables import table
from evenhand.core.statistics import RESAMPLES, Estimate, Resampling
from evenhand.core.statistics.equivalence import MARGINS, difference_json, equivalence
from evenhand.core.typed_json import to_json

STOPPED = "Items stop at a first reject: on all labelled items these numbers are biased; take --on share."
SHARED = "Items stop at a first reject: computed on the random share that everybody labels."
ENDED = "Under an earlier plan a first reject ended items, and {ended} of these still lack labels: "
ENDED_ALL = "on all labelled items these numbers are biased towards acceptance; take --on share."
ENDED_SHARE = "computed on the random share that everybody labels."
EVERY_VERSION = "Labels made under every version of the guideline."
ALIKE = "items of one resemble each other. What they hold: docs/coverage.md."
TWO_LABELS = "with at least two blind labels"
NO_FORMS = "Generations are shown in one form only."


def on_reason(report: AgreementReport) -> str:
    """Return why a report is on the random share, or what is wrong with it outside."""
    if report.ended:
        return ENDED.format(ended=report.ended) + (ENDED_ALL if report.biased else ENDED_SHARE)
    return STOPPED if report.biased else SHARED


def report_json(report: AgreementReport, margin: float | None = MARGINS["share"]) -> dict[str, Any]:
    """Return the report as one JSON object; `percent` is the share of items on which everybody agreed.

    *margin*: up to which size the accept rates of two forms do not differ, 0 to 1.
    """
    ended = {"ended_at_reject": report.ended, "imported_ended_at_reject": report.imported_ended}
    return {
        "project": report.project,
        **to_json(report.overall),
        "all_items": report.all_items,
        "items_by_labels": to_json(report.by_labels),
        "annotators": list(report.annotators),
        "categories": to_json(report.categories),
        "cohen_kappa": to_json(report.cohen),
        "by_pair": [{"pair": name, **to_json(measures)} for name, measures in report.by_pair],
        "on": report.on,
        **({"on_reason": on_reason(report), **ended} if report.stopped else {}),
        "version": report.version,
        **({"version_reason": EVERY_VERSION} if report.version is None else {}),
        "by_version": [{"version": version, **to_json(measures)} for version, measures in report.by_version],
        **_by_form(report.by_form, margin),
        "signature": report.signature,
    }


def _by_form(rates: FormRates | None, margin: float | None) -> dict[str, Any]:
    def of(rates: FormRates) -> dict[str, Any]:
        return {"forms": to_json(rates.forms), "difference": difference_json(rates.difference, margin)}

    if rates is None:
        return {"by_form": None, "by_form_reason": NO_FORMS}
    paired = {"difference_same_items": difference_json(rates.paired, margin)}
    return {
        "by_form": of(rates)
        | paired
        | {"annotators": [{"annotator": name, **of(own)} for name, own in rates.annotators]}
    }


def by_ways(
    store: Store, project: Project, resampling: Resampling, version: int | None = None, on: ItemScope | None = None
) -> dict[str, Any]:
    """Return what `agreement --json` adds of generations: labels in four ways, marks, models x pronouns."""
    ways = {}
    for way in ways_of(store, project):
        report = report_of(store, project, resampling=resampling, way=way, version=version, on=on)
        data = {key: value for key, value in report_json(report).items() if key not in ("project", "by_pair")}
        cells = [{"model": model, "pronoun": pronoun, **to_json(measures)} for model, pronoun, measures in report.cells]
        ways[way] = data | {"by_model_and_pronoun": cells}
    marks = {marks.kind: to_json(marks) for marks in mark_agreement(store, project, resampling)}
    left = {"left_chosen": _left(left_chosen(store, project))} if compares(store, project) else {}
    return {"ways": ways, "marks": marks} | left


def _left(left: LeftChosen) -> dict[str, Any]:
    """Return how often the left text of a comparison was chosen."""
    people = [{"annotator": name, **share.to_json()} for name, share in left.by_annotator]
    return {**left.share.to_json(), "annotators": people, "ties": left.ties, "unknown": left.unknown}


def for_people(report: AgreementReport, margin: float | None = MARGINS["share"]) -> Iterator[str]:
    """Yield the report for people: one line a measure, 95% intervals."""
    overall, units = report.overall, "contexts" if "unit:context" in report.signature else "source articles"
    yield f"{report.project}: {report.items} of {report.all_items} items with {report.labels} blind labels"
    if report.stopped:
        yield on_reason(report)
    if overall.pairwise.clusters:
        yield f"Intervals over {overall.pairwise.clusters} {units}: {ALIKE}"
    for measures in _measures(report):
        yield table([(name, measure, f"n = {measure.units} {items}".rstrip()) for name, measure, items in measures])
    if report.by_form is not None and report.by_form.compared:
        apart = {"masked - original": report.by_form.difference, "  on the same items": report.by_form.paired}
        yield table([(f"accepted, {rate.form}", rate.rate) for rate in report.by_form.forms])
        for name, difference in apart.items():
            yield table([(name, difference)])
            if difference.value is not None:
                yield f"    {equivalence(difference, margin).text}"
    yield report.signature


def _measures(report: AgreementReport) -> Iterator[list[tuple[str, Estimate, str]]]:
    """Yield each group of measures: the name of a measure, its value, and which items it is of."""
    yield list(_overall(report))
    yield [(f"kappa {two.a} & {two.b}", two.kappa, "that both labelled") for two in report.cohen]
    yield [
        row
        for share in report.categories
        for row in ((f"share of {share.choice.code}", share.prevalence, ""), ("  chosen by both", share.specific, ""))
    ]
    yield [(f"alpha {name or '(no pair)'}", measures.alpha, "") for name, measures in report.by_pair]
    if len(report.by_version) > 1:
        yield [(f"alpha, version {version}", measures.alpha, "") for version, measures in report.by_version]


def _overall(report: AgreementReport) -> Iterator[tuple[str, Estimate, str]]:
    overall, categories = report.overall, report.overall.categories
    yield "full agreement", overall.unanimity, TWO_LABELS
    yield "pairwise agreement", overall.pairwise, TWO_LABELS
    yield "Fleiss' kappa", overall.fleiss, "with the commonest number of labels"
    yield "Krippendorff's alpha", overall.alpha, TWO_LABELS
    yield "Gwet's AC1", overall.ac1, f"with a label; over the {categories.scheme} categories of the scheme"
    if 0 < categories.used < categories.scheme:
        items = f"with a label; over those of them that were chosen ({categories.used} of {categories.scheme})"
        yield "  categories used", overall.ac1_used, items


@click.command("agreement")
@click.argument("project")
@click.option(
    "--resamples", type=click.IntRange(100, 100_000), default=RESAMPLES, show_default=True, help="Draws per interval."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Start of the random draws.")
@click.option("--version", type=click.IntRange(1), help="Only labels made under this version of the guideline.")
@click.option(
    "--on",
    type=click.Choice(["all", "share"]),
    help="All labelled items, or the random share that everybody labels; default: the share where items stop at a "
    "first reject.",
)
@margin_option("share", of="difference of the accept rates of two forms")
@db_option
@json_option
@needs("see_names", "project")
def agreement(
    project: str,
    resamples: int,
    seed: int,
    version: int | None,
    on: ItemScope | None,
    margin: float,
    db: str,
    as_json: bool,
) -> None:
    """How far the annotators of PROJECT agree, with 95% intervals over items.

    On all labelled items and blind labels. `percent` is the share of items with at least two blind labels on which
    everybody agreed. Of generations the four labels are compared, with intervals over contexts; --json adds `ways`: the
    same on three labels (plural they counts as no pronoun), on two (misgendering or not) and on the flag for extraneous
    gendered language (of an own scheme: its choices and each of its flags), and `marks`: how far the same characters
    were marked (F1). `by_version`: the measures under each version of the guideline; `by_form`: accept rates of
    sentences shown in the original and the masked form.
    """
    with existing_store(db) as store, store.read():
        found, resampling = find_project(store, project), Resampling(resamples, seed)
        say_unsettled(store, found)
        report = report_of(store, found, resampling=resampling, version=version, on=on)
        more = by_ways(store, found, resampling, version, on) if as_json and found.kind == "generations" else {}
        files = only_files(store, found)
    text = [*for_people(report, margin), *([files.text] if files else [])]
    answer(report_json(report, margin) | more, text, as_json=as_json)
