"""`other-measures` asks a model with its untrained twin and a control; `classifier-gaps` reads predictions."""

from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, db_option, json_option, warn
from evenhand.core.language import significant
from evenhand.core.other_measures.classifiers import ClassifierGaps, read_gaps
from evenhand.core.other_measures.measures import BY_NAME
from evenhand.core.other_measures.run import Asked, OtherReport, run_measure
from evenhand.core.runs.records import target_or_none

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("other-measures")
@click.argument("measure", type=click.Choice(list(BY_NAME)))
@click.option("--model", "models", multiple=True, required=True, help="A model; repeat for several.")
@click.option("--set", "file", type=FILE, help="Your copy of the set; for SEAT, WEAT and the pro/anti gap one ships.")
@click.option("--variant", default="", help="crows: published, changed, mean; seat: sentences, words; pro-anti: type 1,"
              " type 2. Default: the first.")  # fmt: skip
@click.option("--bias", help="crows, aul: only pairs of this bias_type, such as gender.")
@click.option("--test", "tests", multiple=True, metavar="X,Y,A,B", help="seat, weat: four sets, or career, math,"
              " science, flowers, instruments, disease, age.")  # fmt: skip
@click.option("--language", default="", help="lpbs: en, es, eu, zh; seat: of the sentences. Default: the model's.")
@click.option("--layer", type=int, default=-1, show_default=True, help="seat: 0 is the input, -1 the last.")
@click.option("--pooling", type=click.Choice(["first", "mean", "last"]), help="seat: default first, causal last.")
@click.option("--no-untrained", is_flag=True, help="Do not ask the untrained twin of each model.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda, mps.")
@click.option("--out", type=click.Path(dir_okay=False), help="A table of every text and its score (CSV).")
@click.option("--run", "run_name", help="Instead of --out: the name of a run that the page Other measures lists.")
@db_option
@json_option
@needs("start_jobs")
def other_measures(measure: str, models: tuple[str, ...], db: str, as_json: bool, **options: Any) -> None:
    """Ask models one MEASURE from the literature, each with its untrained twin and a control without gender.

    Published values are printed beside it, and what is known against it.
    """
    out, record = target_or_none(db, "measures", options["out"], options["run_name"])
    asked = Asked(
        measure, models, options["variant"], options["file"], options["bias"], options["tests"], options["language"],
        options["layer"], options["pooling"], options["device"], not options["no_untrained"],
    )  # fmt: skip
    with Meter() as meter:
        report = run_measure(asked, out, record=record, watch=meter)
    warn(report.notices, report.failed)
    answer(report.as_json(), for_people(report), as_json=as_json)


def for_people(report: OtherReport) -> str:
    """The figures in words, then what is known against the measure."""
    what = report.asked.what
    lines = [f"{what.title} {report.asked.of_variant}".rstrip()]
    for one in report.models:
        lines += [one.model] + [_line(figure.as_json()) for figure in one.figures]
        lines += [part for part in (one.signature, one.untrained_signature) if part]
    for row in report.as_json()["published"]:
        lines.append(f"published: {row['model']}, {row['quantity']} {row['value']} ({row['source']})")
    return "\n".join([*lines, what.against])


def _line(data: dict[str, Any]) -> str:
    if data["value"] is None:
        return f"  {data['quantity']} ({data['role']}): — ({data['value_reason']})"
    ends = "" if data["low"] is None else f", 95 %: {data['low']:.2f} to {data['high']:.2f}"
    band = "" if data["band"] is None else f", chance: {data['band'][0]:.2f} to {data['band'][1]:.2f}"
    p = "" if data["p"] is None else f", p = {significant(data['p'], 4)}"
    return f"  {data['quantity']} ({data['role']}): {data['value']:.4f}{ends}{band}{p}"


@click.command("classifier-gaps")
@click.argument("file", type=FILE)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the shuffled groups.")
@json_option
@needs("measure")
def classifier_gaps(file: Path, seed: int, as_json: bool) -> None:
    """FPED and FNED, swap consistency, and the F1 gap of WinoBias from a table of predictions.

    FILE has gold and predicted, and group (Dixon et al. 2018), predicted_swapped (the thesis) or set with pro and anti.
    """
    found = read_gaps(file, seed)
    answer(found.as_json(), gaps_text(found), as_json=as_json)


def gaps_text(found: ClassifierGaps) -> str:
    """The gaps in words."""
    lines = []
    for one in found.gaps:
        value = one.value.value
        null = "" if one.null is None else f"; groups by chance: {one.null[0]:.4f}, 95th percentile {one.null[1]:.4f}"
        lines.append(f"{one.name}: —" if value is None else f"{one.name}: {value:.4f}{null}")
    if found.consistency is not None and found.consistency.value is not None:
        lines.append(f"swap consistency: {found.consistency.value:.4f}")
    if found.f1_gap is not None and found.f1_gap.value is not None:
        lines.append(f"F1 pro {found.f1['pro']:.4f}, anti {found.f1['anti']:.4f}, gap {found.f1_gap.value:+.4f}")
    return "\n".join(lines) or "—"
