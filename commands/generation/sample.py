"""`sample`: which generations people should judge, distinct contexts first, and what either design is worth."""

from pathlib import Path
from typing import Any

import click

from evenhand.annotations.files.generation_sample import (
    GenerationSample,
    draw_sample,
    pilot_by_people,
    pilot_by_rule,
    read_generations,
    write_sample,
)
from evenhand.annotations.projects.projects import project as find_project
from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, db_option, existing_store, json_option
from evenhand.core.human_vs_rule.sample import Correlation, Design, designs


@click.command("sample")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--per-cell",
    type=click.IntRange(1),
    default=25,
    show_default=True,
    help="Generations of each model, data set, pronoun set and setting.",
)
@click.option(
    "--out", type=click.Path(dir_okay=False), help="The sample to write (JSON lines); without it only the numbers."
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--project", "name", help="A project whose blind labels are the pilot; else the first-pronoun rule on FILE is."
)
@db_option
@json_option
@needs("import_files", "name")
def sample(file: str, per_cell: int, out: str | None, seed: int, name: str | None, db: str, as_json: bool) -> None:
    """Draw generations of FILE for people to judge: every context once before any twice.

    Prints the expected standard error of a cell's rate for each way to spend the labels (25 contexts x 1, 5 x 5), from
    the intra-class correlation of a pilot.
    """
    found = read_generations(file)
    drawn = draw_sample(found, per_cell, seed)
    if name is None:
        pilot = pilot_by_rule(found)
    else:
        with existing_store(db) as store:
            pilot = pilot_by_people(store, find_project(store, name))
    if out is not None:
        write_sample(drawn, Path(out))
    ways = designs(per_cell, pilot.mean, pilot.value)
    data = drawn.facts() | {
        "seed": seed,
        "out": out,
        "pilot": _pilot(pilot, name),
        "designs": [_strata_of(w) for w in ways],
    }
    answer(data, _for_people(drawn, pilot, ways, out), as_json=as_json)


def _pilot(pilot: Correlation, name: str | None) -> dict[str, Any]:
    values = {"contexts": pilot.contexts, "labels": pilot.labels, "mean": pilot.mean, "icc": pilot.value}
    reason = {} if pilot.reason is None else {"icc_reason": str(pilot.reason)}
    return {"from": "labels" if name else "rule"} | values | reason


def _strata_of(one: Design) -> dict[str, Any]:
    values: dict[str, Any] = {"contexts": one.contexts, "per_context": one.per_context, "se": one.se}
    values |= {"design_effect": one.effect, "independent_labels": one.independent}
    return values if one.se is not None else values | {"se_reason": "The pilot gives no intra-class correlation."}


def _for_people(drawn: GenerationSample, pilot: Correlation, ways: list[Design], out: str | None) -> str:
    lines = [
        f"{len(drawn.rows):,} of {drawn.of:,} generations in {drawn.cells:,} cells (fewest {drawn.fewest:,}), "
        f"{drawn.contexts:,} contexts, at most {drawn.most_of_one:,} of one context in a cell"
    ]
    if pilot.value is None or pilot.mean is None:
        lines.append(f"No intra-class correlation: {pilot.reason}")
    else:
        lines.append(
            f"Pilot: {pilot.labels:,} generations of {pilot.contexts:,} contexts in cells, rate {pilot.mean:.3f}, "
            f"intra-class correlation {pilot.value:.3f}"
        )
        lines += [
            f"  {one.contexts} contexts x {one.per_context}: standard error {one.se:.3f}, "
            f"worth {one.independent:.1f} independent labels"
            for one in ways
            if one.se is not None and one.independent is not None
        ]
    return "\n".join([*lines, *([f"Written: {out}"] if out else [])])
