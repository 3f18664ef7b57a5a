"""`rule FILE`: the first-pronoun rule on what models wrote. `human-vs-rule PROJECT`: people against that rule."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from evenhand.annotations.guideline.versions import refuse_own_scheme
from evenhand.annotations.human_vs_rule.people_by_instance import design_of
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.quantities.generations import comparison_estimates
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.commands.permissions import guarded, needs
from evenhand.commands.shared import answer, json_option, margin_option, opened_project, option, table
from evenhand.core.errors import N_, BadFile, EvenhandError, Refused
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.human_vs_rule.apply_rule import CHOICES, apply_rule
from evenhand.core.human_vs_rule.compare import BINS, MEASURES, Cell, Comparison, comparison, repetition
from evenhand.core.human_vs_rule.means_over_contexts import Mean
from evenhand.core.report.numbers import points
from evenhand.core.statistics import RESAMPLES, Resampling
from evenhand.core.statistics.equivalence import MARGINS, difference_json, equivalence
from evenhand.core.text.pronouns import PRONOUN_DATASETS, PronounSet, RuleResult, parse_sets, set_named
from evenhand.core.text.repetition import Variant
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject

CELL = ("dataset", "model", "pronoun", "setting")
VARIANTS: tuple[Variant, ...] = ("published", "completion")


@click.command("rule")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@option(
    "--dataset",
    type=click.Choice(PRONOUN_DATASETS),
    help="The data set whose list of forms counts; default: the one that each line names.",
)
@option(
    "--pronouns",
    multiple=True,
    help="Further sets whose forms count as pronouns: fae, ze/hir/hir/hirs/hirself; repeat for several.",
)
@option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
@json_option
@needs("measure")
def rule(file: Path, dataset: str | None, pronouns: tuple[str, ...], out: Path) -> None:
    """Judge each completion in FILE (JSON lines) by its first pronoun.

    Reads `completion` and `pronoun` (he, she, they, xe, several, or forms:
    ze/hir), or `pronouns`. Writes every line to --out with rule_correct (1, or
    0: the first pronoun is none of the person's; a text without a pronoun
    is 1) and rule_pronoun (null if there is none).
    """
    extra = tuple(set_named(name) for name in parse_sets(list(pronouns)))
    rows, problems = _read(file)
    if not rows:
        message = N_("{file} has no line that can be judged: {why}")
        raise BadFile(message, file=file.name, why=problems[0]["message"] if problems else "it is empty")
    counts = {"correct": 0, "wrong": 0, "no_pronoun": 0, "undefined": 0}
    lines = [json.dumps(_judged(row, dataset, extra, counts), ensure_ascii=False, allow_nan=False) for row in rows]
    if counts["undefined"] == len(rows):
        raise BadFile(
            N_("No line of {file} can be judged: each needs a completion and a known pronoun set."),
            file=file.name,
        )
    with whole_file(out) as write:
        write("\n".join(lines) + "\n")
    text = "{rows} lines: {correct} correct ({no_pronoun} of them without a pronoun), {wrong} wrong".format(
        rows=len(rows), **counts
    )
    for problem in problems:
        click.echo(f"{problem['file']}, line {problem['line']}: {problem['message']}", err=True)
    if counts["undefined"]:
        text += f", {counts['undefined']} without a verdict (rule_correct_reason says why)"
    answer({"rows": len(rows), **counts, "dataset": dataset or "of each line", "errors": problems}, text)


def _read(file: Path) -> tuple[list[JsonObject], list[JsonObject]]:
    rows, problems = [], []
    try:
        with file.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    row = None
                if isinstance(row, dict):
                    rows.append(row)
                else:
                    problems.append({"file": file.name, "line": number, "message": "This line is no JSON object."})
    except UnicodeDecodeError as error:
        raise BadFile(N_("{file} is not UTF-8 encoded; save it as UTF-8."), file=file.name) from error
    return rows, problems


def _judged(row: JsonObject, dataset: str | None, extra: tuple[PronounSet, ...], counts: dict[str, int]) -> JsonObject:
    """Return *row* with the rule's verdict; null and the reason if there is none."""
    verdict, reason = _verdict(row, dataset, extra)
    if verdict.correct is None:
        counts["undefined"] += 1
        return {**row, "rule_correct": None, "rule_correct_reason": reason, "rule_pronoun": verdict.pronoun}
    counts["correct" if verdict.correct else "wrong"] += 1
    counts["no_pronoun"] += verdict.pronoun is None
    return {**row, "rule_correct": verdict.correct, "rule_pronoun": verdict.pronoun}


def _verdict(row: JsonObject, dataset: str | None, extra: tuple[PronounSet, ...]) -> tuple[RuleResult, str]:
    nothing = RuleResult(None, None, None, None)
    if not isinstance(row.get("completion"), str):
        return nothing, "There is no completion."
    named = dataset or str(row.get("dataset") or "own").lower()
    try:
        return apply_rule(row, named, extra), "Nobody knows which pronouns are right here: the line names none."
    except (EvenhandError, TypeError) as error:
        return nothing, str(error)


@click.command("human-vs-rule")
@click.argument("project")
@option("--resamples", type=click.IntRange(100, 100_000), default=RESAMPLES, help="Draws per interval.")
@option("--seed", type=click.IntRange(0), default=0, help="Start of the random draws.")
@margin_option("share", of="difference of the misgendering that the rule and that people find")
@guarded("see_names", "project")
def human_vs_rule(project: str, resamples: int, seed: int, margin: float, db: str) -> None:
    """Compare people's labels of the generations of PROJECT with the first-pronoun rule.

    Only generations that have all their labels count. Shares have 95%
    intervals over contexts; `se_published` treats generations as independent.
    """
    with opened_project(db, project) as (store, stored_project):
        if stored_project.kind != "generations":
            raise Refused(N_("{project} holds sentences; the rule judges generations."), project=project)
        refuse_own_scheme(store, stored_project)
        items = generations(store, stored_project)
        design = design_of(store, stored_project, items)
        made = comparison(items, labels_of_generations(store, stored_project), Resampling(resamples, seed), design)
    data = {"project": stored_project.name, **comparison_json(made, margin)}
    answer(data, for_people(stored_project.name, made, margin))


def _mean(mean: Mean) -> JsonObject:
    return {**to_json(mean), "se": mean.estimate.se, "se_published": mean.published}


def _cell(cell: Cell) -> JsonObject:
    key = dict(zip(CELL, cell.key, strict=True))
    means = {name: _mean(cell.means[name]) for name in MEASURES}
    return {**key, "generations": cell.generations, "labels": cell.counts, **means}


def comparison_json(made: Comparison, margin: float | None = MARGINS["share"]) -> JsonObject:
    """Return the comparison as one JSON object; `rule_less_people`: misgendering by the rule less by people."""
    weighted = {name: to_json(made.weighted(name)) for name in ("agreement", *CHOICES, "extraneous")}
    repeated = {variant: repetition(made.items, ("model", "pronoun"), variant) for variant in VARIANTS}
    return {
        "quantities": quantities_json(comparison_estimates(made)),
        "generations": len(made.items),
        "finished": len(made.table),
        "labels": len(made.labels),
        **{name: _mean(made.overall[name]) for name in MEASURES},
        "rule_less_people": difference_json(made.rule_less_people, margin),
        "misgendering_with_rule": made.both.both.to_json() | {"lambda": made.both.weight, "worth": made.both.worth},
        "kappa": made.kappa.to_json(),
        "confusion": {
            choice: {"rule_correct": right, "rule_misgendering": wrong}
            for choice, (right, wrong) in made.confusion.items()
        },
        "disagreements": {name: sum(difference.bin == name for difference in made.differences) for name in BINS},
        "cells": [_cell(cell) for cell in made.cells(CELL)],
        "weighted": weighted,
        "repetition": {
            variant: [{"model": model, "pronoun": pronoun, **to_json(rr)} for (model, pronoun), rr in groups.items()]
            for variant, groups in repeated.items()
        },
        "signature": made.signature,
    }


def for_people(project: str, made: Comparison, margin: float | None = MARGINS["share"]) -> Iterator[str]:
    """Yield the comparison for people: one line a measure."""
    yield f"{project}: {len(made.table)} of {len(made.items)} generations are finished, {len(made.labels)} labels"
    rows = [(name, made.overall[name].estimate, *_errors(made.overall[name])) for name in MEASURES]
    yield table(rows, form=".1%")
    apart, both, worth = made.rule_less_people, made.both.both, made.both.worth
    if apart.value is not None:
        yield f"rule less people  {points(apart.value)}  {equivalence(apart, margin).in_points}"
    if made.both.weight:
        yield f"both  {both.text('.1%', note=True)}  effective sample size: {worth or 0:,.0f} human labels"
    yield table([("kappa", made.kappa)])
    yield table([(choice, *counts) for choice, counts in made.confusion.items()], ("", "rule correct", "misgendering"))
    yield made.signature


def _errors(mean: Mean) -> tuple[str, str]:
    """Return the standard error over contexts, and the published one."""
    clustered = "" if mean.estimate.se is None else f"SE over contexts {mean.estimate.se:.3f}"
    return clustered, "" if mean.published is None else f"published SE {mean.published:.3f}"
