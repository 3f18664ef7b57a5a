"""`audit draw|send|result`: are the extremes of a model bias, or sentences that give the answer away?"""

import sys
from pathlib import Path
from typing import Any

import click

from evenhand.commands.judges.command import difference_of
from evenhand.commands.permissions import needs, own_new_project
from evenhand.commands.shared import answer, db_option, existing_store, json_option, margin_option
from evenhand.core.statistics.equivalence import difference_json

READ = click.Path(path_type=Path)


@click.group()
def audit() -> None:
    """Audits of extremes: draw them with matched controls, have people judge them blind, and see which leak."""


def _draw_sample(scores: Path, model: str | None, n: int, seed: int, by: Any) -> Any:
    from evenhand.core.audit.sample import draw
    from evenhand.core.errors import N_, Refused
    from evenhand.core.model_bias import label_of, models_of, read_scores

    frame = read_scores(scores)
    names = models_of(frame)
    if model is None and len(names) > 1:
        message = N_("{file} contains several models. Choose one with --model: {models}")
        raise Refused(message, file=scores.name, models=", ".join(names))
    return draw(frame, label_of(frame, model or names[0]), n, seed, by=by)


def _draw_options(function: Any) -> Any:
    for option in (
        click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Start of the random draws."),
        click.option("--by", type=click.Choice(["bias", "corrected"]), default="bias", show_default=True,
                     help="Extremes of Bias_c, or of Bias_c less the mean of its pair."),
        click.option("--n", type=click.IntRange(1), default=25, show_default=True, help="Extremes each way."),
        click.option("--model", help="Which model of the file; needed where there are several."),
    ):  # fmt: skip
        function = option(function)
    return function


def _counts(sample: Any) -> dict[str, Any]:
    from evenhand.core.audit.sample import reach

    extremes, controls = sample.count("extreme"), sample.count("control")
    found: dict[str, Any] = {
        "model": sample.model,
        "signature": sample.signature,
        "by": sample.by,
        "seed": sample.seed,
        "extremes": {"male": sample.count("extreme", "male"), "female": sample.count("extreme", "female")},
        "controls": controls,
        "shortages": [{"pair": s.pair, "side": s.side, "wanted": s.wanted, "found": s.found} for s in sample.shortages],
        "drawn_from": sample.finite,
        "left_out": sample.left_out,
        "repeated": sample.repeated,
        "reach": reach(extremes, controls),
    }
    if found["reach"] is None:
        found["reach_reason"] = "There are no controls to compare with."
    return found


def _counts_text(found: dict[str, Any]) -> str:
    lines = [
        f"{found['model']}: {found['extremes']['male']} extremes towards the male word, "
        f"{found['extremes']['female']} towards the female word, {found['controls']} matched controls",
        f"drawn from {found['drawn_from']} sentences; {found['left_out']} without a finite value, "
        f"{found['repeated']} repeated",
    ]
    lines += [
        f"too few controls: {short['pair']}, source {short['side']}: {short['found']} of {short['wanted']}"
        for short in found["shortages"]
    ]
    if found["reach"] is not None:
        lines.append(f"a difference of shares under {found['reach']:.0%} can be missed by an audit of this size")
    return "\n".join([*lines, found["signature"]])


@audit.command()
@click.argument("scores", type=READ)
@_draw_options
@click.option("--out", type=READ, help="Write the sample to this CSV, strata and values included: not for annotators.")
@json_option
@needs("measure")
def draw(scores: Path, model: str | None, n: int, by: str, seed: int, out: Path | None, as_json: bool) -> None:
    """Draw the extremes of a model in SCORES and matched controls; nothing is sent."""
    sample = _draw_sample(scores, model, n, seed, by)
    if out is not None:
        from evenhand.core.files.csv_out import csv_line
        from evenhand.core.files.whole_file import whole_file

        with whole_file(out) as write:
            write(csv_line(["row", "sentence", "pair", "side", "stratum", "toward", "bias_log10"]))
            for i in sample.items:
                write(csv_line([i.row, i.sentence, i.pair, i.side, i.stratum, i.toward, i.bias_log10]))
    found = _counts(sample)
    answer(found, _counts_text(found), as_json=as_json)


@audit.command()
@click.argument("scores", type=READ)
@click.argument("project")
@_draw_options
@click.option("--annotators", default="", help="Names, separated by commas.")
@click.option("--per-item", type=click.IntRange(1, 100), default=3, show_default=True, help="Labels per sentence.")
@click.option("--guideline", "language", type=click.Choice(["zh", "en"]), default="zh", show_default=True)
@db_option
@json_option
@needs("create_projects")
def send(
    scores: Path,
    project: str,
    model: str | None,
    n: int,
    by: str,
    seed: int,
    annotators: str,
    per_item: int,
    language: str,
    db: str,
    as_json: bool,
) -> None:
    """Draw, and make the blind desk project PROJECT of the sample."""
    from evenhand.annotations.audit import audit_projects
    from evenhand.annotations.database.store import Store

    sample = _draw_sample(scores, model, n, seed, by)
    people = [name for name in (part.strip() for part in annotators.replace("，", ",").split(",")) if name]
    with Store.open(db) as store:
        made = audit_projects.create_audit_project(
            store, sample, project, people, per_item=per_item, language=language, run=scores.stem
        )
        own_new_project(store, made)
    found = _counts(sample) | {"project": made.name, "labels": len(sample.items) * per_item}
    text = f"{made.name}: {len(sample.items)} sentences, {found['labels']} labels to make\n{_counts_text(found)}"
    answer(found, text, as_json=as_json)


@audit.command()
@click.argument("project")
@click.option("--scores", type=READ, help="The scores that the audit was drawn from: adds the measures of all of them.")
@margin_option("share", of="difference of the shares of leaks")
@db_option
@json_option
@needs("see_all_labels", "project")
def result(project: str, scores: Path | None, margin: float, db: str, as_json: bool) -> None:
    """The share of leaks among extremes and controls of the audit PROJECT, and the measures without the leaks."""
    from evenhand.annotations.audit import audit_projects
    from evenhand.annotations.projects.projects import project as find_project
    from evenhand.core.model_bias import read_scores

    frame = None if scores is None else read_scores(scores)
    with existing_store(db) as store:
        found = audit_projects.audit_result(store, find_project(store, project), frame)
    if not found.audit.settled:
        click.echo("No sentence has all its labels yet.", err=True)
    answer(_result(found, margin), _result_text(found, margin), as_json=as_json)
    sys.stdout.flush()


def _result(found: Any, margin: float) -> dict[str, Any]:
    whole = found.audit
    return {
        "project": whole.project.name,
        "model": whole.model,
        "signature": whole.signature,
        "sentences": len(whole.sentences),
        "judged": len(whole.settled),
        "labels": whole.labels,
        "labels_wanted": whole.labels_wanted,
        "finished": whole.finished,
        "shares": {rule: [_compared(row, margin) for row in rows] for rule, rows in found.shares.items()},
        "reasons": {code: {"extremes": e, "controls": c} for code, (e, c) in found.reasons.items()},
        "measures": {
            rule: {scope: _means(part) for scope, part in parts.items()} for rule, parts in found.measures.items()
        },
        "agreement": {
            "percent": found.agreement.overall.unanimity.to_json(),
            "krippendorff_alpha": found.agreement.overall.alpha.to_json(),
            "gwet_ac1": found.agreement.overall.ac1.to_json(),
        },
        "agreement_signature": found.agreement.signature,
    }


def _compared(row: Any, margin: float) -> dict[str, Any]:
    (leaks, judged), (other_leaks, other) = row.counts
    return {
        "end": row.toward or "both",
        "extremes": {"leaks": leaks, "n": judged, "share": row.extreme.to_json()},
        "controls": {"leaks": other_leaks, "n": other, "share": row.control.to_json()},
        "difference": difference_json(row.difference, margin),
    }


def _means(part: Any) -> dict[str, Any]:
    def means(found: Any) -> dict[str, Any]:
        data = {"n": found.n, **{name: getattr(found, name) for name in ("bias_man", "bias_woman", "model_bias")}}
        why = "One side has no sentence."
        return data | {f"{name}_reason": why for name, value in data.items() if value is None}

    return {"sentences": part.sentences, "leaks": part.leaks, "all": means(part.all), "without": means(part.kept)}


RULES = {"unanimous": "all say leak", "any": "one says leak", "label": "labels that say leak"}


def _result_text(found: Any, margin: float) -> str:
    from evenhand.core.audit.leak_rates import verdict
    from evenhand.core.statistics.equivalence import equivalence

    whole = found.audit
    lines = [f"{whole.project.name}: {len(whole.settled)} of {len(whole.sentences)} sentences judged, {whole.model}"]
    lines.append(str(verdict(found.shares["unanimous"][0])))
    if found.shares["unanimous"][0].difference.value is not None:
        lines.append(equivalence(found.shares["unanimous"][0].difference, margin).text)
    for rule, rows in found.shares.items():
        for row in rows:
            three = "  ".join((_share(row.extreme), _share(row.control), difference_of(row.difference)))
            lines.append(f"{RULES[rule]:<22}{row.toward or 'both':<8}{three}")
    for scope, part in found.measures["unanimous"].items():
        means = f"Model_bias {_value(part.all.model_bias)}, without them {_value(part.kept.model_bias)}"
        lines.append(f"{scope:<10}{part.sentences:>7} sentences, {part.leaks} leaks: {means}")
    return "\n".join([*lines, whole.signature])


def _share(found: Any) -> str:
    if found.value is None:
        return f"{'—':>6}{'':<16}"
    return f"{found.value:>6.1%} {found.interval_text('.1%'):<16}"


def _value(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"
