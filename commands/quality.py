"""`quality PROJECT`: retest agreement and known answers."""

import sys
from collections.abc import Iterator

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_labels import KnownReport, import_known_answers
from evenhand.annotations.quality.known_answers import answer_choices, wrong_answers
from evenhand.annotations.quality.retest_agreement import Quality, RetestAgreement
from evenhand.annotations.quality.retest_agreement import quality as quality_of
from evenhand.annotations.quantities.catalogue import QUALITY, estimates
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.annotations.text_policy import without_text
from evenhand.annotations.types import Project
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import answer, opened_project, option, say_unsettled, table
from evenhand.core.statistics import RESAMPLES, Resampling
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject


@click.command("quality")
@click.argument("project")
@option(
    "--known",
    "file",
    type=click.Path(exists=True, dir_okay=False),
    help="First make the rows of this file known answers.",
)
@option("--author", default="", help="Who knows the answers of that file.")
@option("--resamples", type=click.IntRange(100, 100_000), default=RESAMPLES, help="Draws per interval.")
@option("--seed", type=click.IntRange(0), default=0, help="Start of the random draws.")
@guarded("see_names", "project")
def quality(project: str, file: str | None, author: str, resamples: int, seed: int, db: str) -> None:
    """Measure how steadily the annotators of PROJECT judge, and how often they give known answers. For the lead.

    Retest agreement is the share of retests with the same choice as before, with Wilson's 95% interval, modified for
    rare counts, and Cohen's kappa. The score on known answers is the share of an annotator's blind labels on these
    items that equal the answer; its 95% interval is over source articles if these hold several, else Wilson's,
    modified in the same way. A file of known answers has the columns item (or text) and choice, and optionally why; for
    generations a column context distinguishes equal texts. Unusable rows are listed on stderr. The exit code is 2 if no
    row could be used.
    """
    with opened_project(db, project) as (store, stored_project):
        brought = import_known_answers(store, stored_project, file, author=author) if file else None
        say_unsettled(store, stored_project)
        with store.read():
            report = quality_of(store, stored_project, resampling=Resampling(resamples, seed))
            numbers = quantities_json(estimates(Snapshot(store, stored_project), QUALITY))
            data = _report_json(store, stored_project, report, brought) | {"quantities": numbers}
    if brought is not None:
        for problem in brought.problems:
            click.echo(f"{problem.file}, line {problem.line}: {problem}", err=True)
    answer(data, _text(report, brought))
    if brought is not None and brought.problems and not brought.marked:
        sys.exit(2)


def _report_json(store: Store, project: Project, report: Quality, brought: KnownReport | None) -> JsonObject:
    again = report.consistency
    known = {
        "items": len(report.known),
        "choices": [choice.code for choice in answer_choices(store, project)],
        "annotators": [to_json(score) for score in report.scores],
        "misses": [
            without_text(
                project,
                {
                    "item": wrong_answer.item.uid, "text": wrong_answer.item.text, "annotator": wrong_answer.annotator,
                    "answer": wrong_answer.answer,
                    "choice": wrong_answer.choice, "reasons": list(wrong_answer.reasons), "note": wrong_answer.note,
                    "why": wrong_answer.why,
                },
                "text", "note", "why",
            )
            for wrong_answer in wrong_answers(store, project)
        ],
        "signature": report.known_signature,
    }  # fmt: skip
    return {
        "project": project.name,
        "agreement_with_oneself": {
            "share": again.share,
            "hours": again.hours,
            "choices": [choice.code for choice in again.choices],
            "together": _consistency(again.together),
            "annotators": [
                {"annotator": annotator.annotator, **_consistency(annotator)} for annotator in again.annotators
            ],
            "signature": again.signature,
        },
        "hidden_gold": known,
        **({} if brought is None else {"marked": brought.marked, "not_used": len(brought.problems)}),
    }


def _consistency(retest_agreement: RetestAgreement) -> JsonObject:
    days: JsonObject = {"days": retest_agreement.days}
    if retest_agreement.days is None:
        days["days_reason"] = str(retest_agreement.agreed.reason)
    return {
        "same_choice": retest_agreement.agreed.to_json(),
        "kappa": retest_agreement.kappa.to_json(),
        **({} if retest_agreement.flag is None else {"same_flag": retest_agreement.flag.to_json()}),
        "table": retest_agreement.table,
        **days,
        "waiting": retest_agreement.waiting,
        "handed_out": retest_agreement.handed_out,
        "other_guideline": retest_agreement.other_guideline,
        "seen": retest_agreement.seen,
        "void": retest_agreement.void,
        "of_people_who_left": retest_agreement.left,
    }


def _text(report: Quality, brought: KnownReport | None) -> Iterator[str]:
    again = report.consistency
    results = [*((result.annotator, result) for result in again.annotators), ("all together", again.together)]
    if brought is not None:
        yield f"{brought.file}: {brought.marked} items with a known answer\n"
    yield f"Retest agreement ({100 * again.share:g}% retested after {again.hours} hours)"
    for name, result in results:
        flag = [] if result.flag is None else [("  flag", result.flag)]
        measures = [(name, result.agreed), ("  kappa", result.kappa), *flag]
        yield table([(label, estimate, f"n = {estimate.units}") for label, estimate in measures])
    yield table(
        [
            (name, result.waiting, result.handed_out, result.other_guideline + result.seen, result.left, result.void)
            for name, result in results
        ],
        ["retests", "waiting", "on a desk", "left out", "of people who left", "void"],
    )
    yield f"{again.signature}\n"
    yield f"Known answers: {len(report.known)} items"
    scores = [
        (score.annotator, score.share, score.share.units, score.right, score.wrong, score.unlabelled)
        for score in report.scores
    ]
    yield table(scores, ["", "share right", "n", "right", "wrong", "not labelled"])
    yield report.known_signature
