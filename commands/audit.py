"""`audit draw|send|result`: are the extremes of a model bias, or sentences that give the answer away?"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.annotations.quantities.runs import run_json
from evenhand.commands.permissions import guarded, needs, own_new_project
from evenhand.commands.shared import answer, existing_store, json_option, margin_option, number, option, options, table
from evenhand.core.report.numbers import difference_in_points
from evenhand.core.statistics.equivalence import difference_json
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject

if TYPE_CHECKING:
    from evenhand.annotations.audit.audit_projects import AuditResult
    from evenhand.core.audit.leak_rates import Compared
    from evenhand.core.audit.sample import AuditSample

READ = click.Path(path_type=Path)


@click.group()
def audit() -> None:
    """Audit extremes: draw them with matched controls, have people judge them blind, and report which leak."""


def _draw_sample(scores: Path, model: str | None, **options: Any) -> "AuditSample":
    from evenhand.core.audit.sample import draw
    from evenhand.core.errors import N_, Refused
    from evenhand.core.model_bias import label_of, models_of, read_scores

    frame = read_scores(scores)
    names = models_of(frame)
    if model is None and len(names) > 1:
        message = N_("{file} contains several models. Choose one with --model: {models}")
        raise Refused(message, file=scores.name, models=", ".join(names))
    return draw(frame, label_of(frame, model or names[0]), **options)


_draw_options = options(
    option("--model", help="The model of the file; needed if there are several."),
    option("--n", type=click.IntRange(1), default=25, help="Extremes each way."),
    option("--by", type=click.Choice(["bias", "corrected"]), default="bias",
           help="Extremes of Bias_c, or of Bias_c less the mean of its pair."),
    option("--seed", type=click.IntRange(0), default=0, help="Start of the random draws."),
)  # fmt: skip


def _counts(sample: "AuditSample") -> Iterator[str]:
    extremes = sample.extremes
    yield (
        f"{sample.model}: {extremes['male']} extremes towards the male word, {extremes['female']} towards the female"
        f" word, {sample.controls} matched controls"
    )
    yield (
        f"drawn from {sample.finite} sentences; {sample.left_out} without a finite value, {sample.repeated} repeated"
    )
    for short in sample.shortages:
        yield f"too few controls: {short.pair}, source {short.side}: {short.found} of {short.wanted}"
    if sample.reach is not None:
        yield f"a difference of shares under {sample.reach:.0%} can be missed by an audit of this size"
    yield sample.signature


@audit.command()
@click.argument("scores", type=READ)
@_draw_options
@option("--out", type=READ, help="Write the sample to this CSV, strata and values included: not for annotators.")
@json_option
@needs("measure")
def draw(scores: Path, out: Path | None, **options: Any) -> None:
    """Draw the extremes of a model in SCORES and matched controls; nothing is sent."""
    sample = _draw_sample(scores, **options)
    if out is not None:
        from evenhand.core.files.atomic_file import whole_file
        from evenhand.core.files.csv_out import csv_line

        with whole_file(out) as write:
            write(csv_line(["row", "sentence", "pair", "side", "stratum", "toward", "bias_log10"]))
            for i in sample.items:
                write(csv_line([i.row, i.sentence, i.pair, i.side, i.stratum, i.toward, i.bias_log10]))
    answer(sample, _counts(sample))


@audit.command()
@click.argument("scores", type=READ)
@click.argument("project")
@_draw_options
@option("--annotators", default="", help="Names, separated by commas.")
@option("--per-item", type=click.IntRange(1, 100), default=3, help="Labels per sentence.")
@option("--guideline", "language", type=click.Choice(["zh", "en"]), default="zh")
@guarded("create_projects")
def send(scores: Path, project: str, annotators: str, per_item: int, language: str, db: str, **options: Any) -> None:
    """Draw, and make the blind desk project PROJECT of the sample."""
    from evenhand.annotations.audit import audit_projects
    from evenhand.annotations.database.store import Store

    sample = _draw_sample(scores, **options)
    people = [name for name in (part.strip() for part in annotators.replace("，", ",").split(",")) if name]
    with Store.open(db) as store:
        made = audit_projects.create_audit_project(
            store, sample, project, people, per_item=per_item, language=language, run=scores.stem
        )
        own_new_project(store, made)
    labels = len(sample.items) * per_item
    text = f"{made.name}: {len(sample.items)} sentences, {labels} labels to make"
    answer({**to_json(sample), "project": made.name, "labels": labels}, [text, *_counts(sample)])


@audit.command()
@click.argument("project")
@option("--scores", type=READ, help="The scores that the audit was drawn from: adds the measures of all of them.")
@margin_option("share", of="difference of the shares of leaks")
@guarded("see_all_labels", "project")
def result(project: str, scores: Path | None, margin: float, db: str) -> None:
    """Print the share of leaks among extremes and controls of the audit PROJECT, and the measures without leaks."""
    from evenhand.annotations.audit import audit_projects
    from evenhand.annotations.projects.projects import project as find_project
    from evenhand.core.model_bias import read_scores

    frame = None if scores is None else read_scores(scores)
    with existing_store(db) as store:
        audit_result = audit_projects.audit_result(store, find_project(store, project), frame)
    if not audit_result.audit.settled:
        click.echo("No sentence has all its labels yet.", err=True)
    answer(_result(audit_result, margin), _result_text(audit_result, margin))
    sys.stdout.flush()


def _result(audit_result: "AuditResult", margin: float) -> JsonObject:
    whole = audit_result.audit
    return {
        "project": whole.project.name,
        "model": whole.model,
        "signature": whole.signature,
        "sentences": len(whole.sentences),
        "judged": len(whole.settled),
        "labels": whole.labels,
        "labels_wanted": whole.labels_wanted,
        "finished": whole.finished,
        "shares": {rule: [_compared(row, margin) for row in rows] for rule, rows in audit_result.shares.items()},
        "reasons": {code: {"extremes": e, "controls": c} for code, (e, c) in audit_result.reasons.items()},
        "measures": {
            rule: {scope: _means(part) for scope, part in parts.items()}
            for rule, parts in audit_result.measures.items()
        },
        "agreement": {
            "percent": audit_result.agreement.overall.unanimity.to_json(),
            "krippendorff_alpha": audit_result.agreement.overall.alpha.to_json(),
            "gwet_ac1": audit_result.agreement.overall.ac1.to_json(),
        },
        "agreement_signature": audit_result.agreement.signature,
        "quantities": run_json("leaks", audit_result),
    }


def _compared(row: "Compared", margin: float) -> JsonObject:
    (leaks, judged), (other_leaks, other) = row.counts
    return {
        "end": row.toward or "both",
        "extremes": {"leaks": leaks, "n": judged, "share": row.extreme.to_json()},
        "controls": {"leaks": other_leaks, "n": other, "share": row.control.to_json()},
        "difference": difference_json(row.difference, margin),
    }


def _means(part: Any) -> JsonObject:
    def means(found: Any) -> JsonObject:
        data = {"n": found.n, **{name: getattr(found, name) for name in ("bias_man", "bias_woman", "model_bias")}}
        why = "One side has no sentence."
        return data | {f"{name}_reason": why for name, value in data.items() if value is None}

    return {"sentences": part.sentences, "leaks": part.leaks, "all": means(part.all), "without": means(part.kept)}


RULES = {"unanimous": "all say leak", "any": "one says leak", "label": "labels that say leak"}


def _result_text(audit_result: "AuditResult", margin: float) -> Iterator[str]:
    from evenhand.core.audit.leak_rates import verdict
    from evenhand.core.statistics.equivalence import equivalence

    whole, first = audit_result.audit, audit_result.shares["unanimous"][0]
    yield f"{whole.project.name}: {len(whole.settled)} of {len(whole.sentences)} sentences judged, {whole.model}"
    yield str(verdict(first))
    if first.difference.value is not None:
        yield equivalence(first.difference, margin).text
    rows = [
        (RULES[rule], row.toward or "both", row.extreme, row.control, difference_in_points(row.difference))
        for rule, rows in audit_result.shares.items()
        for row in rows
    ]
    yield table(rows, ("", "end", "extremes", "controls", "difference"), form=".1%")
    for scope, part in audit_result.measures["unanimous"].items():
        means = (number(part.all.model_bias, ".4f"), number(part.kept.model_bias, ".4f"))
        yield f"{scope}: {part.sentences} sentences, {part.leaks} leaks: Model_bias {means[0]}, without them {means[1]}"
    yield whole.signature
