"""`agreement PROJECT`: how far the annotators of a project agree."""

from typing import Any

import click

from evenhand.annotations.agreement.by_form import FormRates
from evenhand.annotations.agreement.left_chosen import LeftChosen, left_chosen
from evenhand.annotations.agreement.measures import AgreementReport, Measures, TwoAnnotators
from evenhand.annotations.agreement.measures import agreement as report_of
from evenhand.annotations.agreement.schemes import mark_agreement, ways_of
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.comparison import compares
from evenhand.annotations.items.articles import only_files
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.projects.projects import project as find_project
from evenhand.annotations.types import Project
from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, db_option, existing_store, json_option, margin_option, say_unsettled
from evenhand.core.statistics import RESAMPLES, Estimate, Resampling
from evenhand.core.statistics.equivalence import MARGINS, equivalence

STOPPED = "Items stop at a first reject: on all labelled items these numbers are biased; take --on share."
SHARED = "Items stop at a first reject: computed on the random share that everybody labels."
ENDED = "Under an earlier plan a first reject ended items, and {ended} of these still lack labels: "
ENDED_ALL = "on all labelled items these numbers are biased towards acceptance; take --on share."
ENDED_SHARE = "computed on the random share that everybody labels."
EVERY_VERSION = "Labels made under every version of the guideline."
ALIKE = "items of one resemble each other. What they hold: docs/coverage.md."
TWO_LABELS = "with at least two blind labels"
NO_FORMS = "Generations are shown in one form only."


def measured_difference(estimate: Estimate, margin: float | None) -> dict[str, Any]:
    """Return a difference for JSON with the answer of two one-sided tests against *margin* in its unit."""
    return estimate.to_json() | {"equivalence": equivalence(estimate, margin).data}


def _measures(measures: Measures) -> dict[str, Any]:
    return {
        "items": measures.items,
        "labels": measures.labels,
        "percent": measures.unanimity.to_json(),
        "pairwise_percent": measures.pairwise.to_json(),
        "fleiss_kappa": measures.fleiss.to_json(),
        "krippendorff_alpha": measures.alpha.to_json(),
        "gwet_ac1": measures.ac1.to_json(),
        "gwet_ac1_used": measures.ac1_used.to_json(),
        "categories": {"scheme": measures.categories, "used": measures.used},
    }


def _two(two: TwoAnnotators) -> dict[str, Any]:
    return {
        "a": two.a,
        "b": two.b,
        **two.kappa.to_json(),
        "n": two.items,
        "percent": two.agreed.to_json(),
        "largest_kappa": two.largest.to_json(),
        "table": two.table,
    }


def on_reason(report: AgreementReport) -> str:
    """Why a report is on the random share, or what is wrong with it outside."""
    if report.ended:
        return ENDED.format(ended=report.ended) + (ENDED_ALL if report.biased else ENDED_SHARE)
    return STOPPED if report.biased else SHARED


def report_json(report: AgreementReport, margin: float | None = MARGINS["share"]) -> dict[str, Any]:
    """The whole report as one JSON object; `percent` is the share of items on which everybody agreed.

    *margin*: up to which size the accept rates of two forms do not differ, 0 to 1.
    """
    return {
        "project": report.project,
        **_measures(report.overall),
        "all_items": report.all_items,
        "items_by_labels": {str(n): count for n, count in report.by_labels.items()},
        "annotators": list(report.annotators),
        "categories": [
            {
                "category": row.choice.code,
                "labels": row.labels,
                "prevalence": row.prevalence.to_json(),
                "specific_agreement": row.specific.to_json(),
            }
            for row in report.categories
        ],
        "cohen_kappa": [_two(two) for two in report.cohen],
        "by_pair": [{"pair": name, **_measures(measures)} for name, measures in report.by_pair],
        "on": report.on,
        **(
            {
                "on_reason": on_reason(report),
                "ended_at_reject": report.ended,
                "imported_ended_at_reject": report.imported_ended,
            }
            if report.stopped
            else {}
        ),
        "version": report.version,
        **({"version_reason": EVERY_VERSION} if report.version is None else {}),
        "by_version": [{"version": version, **_measures(measures)} for version, measures in report.by_version],
        **_by_form(report.by_form, margin),
        "signature": report.signature,
    }


def _by_form(rates: FormRates | None, margin: float | None) -> dict[str, Any]:
    if rates is None:
        return {"by_form": None, "by_form_reason": NO_FORMS}
    annotators = [{"annotator": name, **_rates(own, margin)} for name, own in rates.annotators]
    paired = measured_difference(rates.paired, margin)
    return {"by_form": {**_rates(rates, margin), "difference_same_items": paired, "annotators": annotators}}


def _rates(rates: FormRates, margin: float | None) -> dict[str, Any]:
    return {
        "forms": [
            {
                "form": one.form,
                "labels": one.labels,
                "items": one.items,
                "accepted": one.accepted,
                "accept_rate": one.rate.to_json(),
            }
            for one in rates.forms
        ],
        "difference": measured_difference(rates.difference, margin),
    }


def by_ways(
    store: Store, project: Project, resampling: Resampling, version: int | None = None, on: ItemScope | None = None
) -> dict[str, Any]:
    """What `agreement --json` says beside the usual of generations: labels in four ways, marks, models x pronouns."""
    reports = {
        way: report_of(store, project, resampling=resampling, way=way, version=version, on=on)
        for way in ways_of(store, project)
    }
    return {
        "ways": {
            way: {
                **{key: value for key, value in report_json(report).items() if key not in ("project", "by_pair")},
                "by_model_and_pronoun": [
                    {"model": model, "pronoun": pronoun, **_measures(measures)}
                    for model, pronoun, measures in report.cells
                ],
            }
            for way, report in reports.items()
        },
        "marks": {
            one.kind: {
                "f1": one.pooled.to_json(),
                "mean_f1": one.mean,
                **({"mean_f1_reason": str(one.pooled.reason)} if one.mean is None else {}),
                "pairs_with_a_mark": one.pairs,
                "both_marked": one.both,
                "same_marks": one.same,
            }
            for one in mark_agreement(store, project, resampling)
        },
        **({"left_chosen": _left(left_chosen(store, project))} if compares(store, project) else {}),
    }


def _left(found: LeftChosen) -> dict[str, Any]:
    """How often the left text of a comparison was chosen."""
    people = [{"annotator": name, **one.to_json()} for name, one in found.by_annotator]
    return {**found.share.to_json(), "annotators": people, "ties": found.ties, "unknown": found.unknown}


def _line(name: str, estimate: Estimate, items: str = "") -> str:
    """One measure; *items* says which items it is of."""
    if estimate.value is None:
        return f"{name:<22}      —   {estimate.reason}"
    interval = estimate.interval_text(".3f")
    rests = f"n = {estimate.units} {items}".rstrip()
    return f"{name:<22} {estimate.value:>6.3f}  {interval:<17} {rests}  {estimate.note or ''}".rstrip()


def _ac1_lines(found: Measures) -> list[str]:
    """AC1 over the categories of the scheme, and over those that were used where they are fewer."""
    lines = [_line("Gwet's AC1", found.ac1, f"with a label; over the {found.categories} categories of the scheme")]
    if 0 < found.used < found.categories:
        items = f"with a label; over those of them that were chosen ({found.used} of {found.categories})"
        lines.append(_line("  categories used", found.ac1_used, items))
    return lines


def for_people(report: AgreementReport, margin: float | None = MARGINS["share"]) -> str:
    """The report for people: one line a measure, 95% intervals."""
    found, units = report.overall, "contexts" if "unit:context" in report.signature else "source articles"
    lines = [
        f"{report.project}: {report.items} of {report.all_items} items with {report.labels} blind labels",
        *([on_reason(report)] if report.stopped else []),
        *([f"Intervals over {found.pairwise.clusters} {units}: {ALIKE}"] if found.pairwise.clusters else []),
        _line("full agreement", found.unanimity, TWO_LABELS),
        _line("pairwise agreement", found.pairwise, TWO_LABELS),
        _line("Fleiss' kappa", found.fleiss, "with the commonest number of labels"),
        _line("Krippendorff's alpha", found.alpha, TWO_LABELS),
        *_ac1_lines(found),
    ]
    lines += [_line(f"kappa {two.a} & {two.b}", two.kappa, "that both labelled") for two in report.cohen]
    for row in report.categories:
        lines += [_line(f"share of {row.choice.code}", row.prevalence), _line("  chosen by both", row.specific)]
    lines += [_line(f"alpha {name or '(no pair)'}", measures.alpha) for name, measures in report.by_pair]
    if len(report.by_version) > 1:
        lines += [_line(f"alpha, version {version}", measures.alpha) for version, measures in report.by_version]
    if report.by_form is not None and report.by_form.compared:
        lines += [_line(f"accepted, {one.form}", one.rate) for one in report.by_form.forms]
        apart = (("  masked - original", report.by_form.difference), ("  on the same items", report.by_form.paired))
        for name, one in apart:
            lines += [_line(name, one), *([] if one.value is None else [f"    {equivalence(one, margin).text}"])]
    return "\n".join([*lines, report.signature])


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
    said = for_people(report, margin)
    answer(report_json(report, margin) | more, f"{said}\n{files.text}" if files else said, as_json=as_json)
