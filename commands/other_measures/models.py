"""`other-measures` asks a model with its untrained twin and a control; `classifier-gaps` reads predictions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, db_option, json_option, warn
from evenhand.commands.tables import Cell, table
from evenhand.core.language import significant
from evenhand.core.other_measures.classifiers import ClassifierGaps, read_gaps
from evenhand.core.other_measures.figures import Figure
from evenhand.core.other_measures.measures import BY_NAME
from evenhand.core.other_measures.run import MeasureReport, run
from evenhand.core.other_measures.settings import Settings
from evenhand.core.runs.kinds import Place
from evenhand.core.typed_json import to_json

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUT = click.Path(dir_okay=False, path_type=Path)
HEADS = ["", "", "value", "by chance", "p"]


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
@click.option("--no-untrained", is_flag=True, help="Do not score a randomly initialised copy of each model.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda, mps.")
@click.option("--out", type=OUT, help="A table of every text and its score (CSV).")
@click.option("--run", "run_name", help="Instead of --out: the name of a run that the page Other measures lists.")
@db_option
@json_option
@needs("start_jobs")
def other_measures(db: str, as_json: bool, **options: Any) -> None:
    """Score models, their randomly initialised copies and a control by one MEASURE from the literature.

    Published values and known limitations are printed with it.
    """
    with Meter() as meter:
        report = run(Settings(**options), Place(Path(db), meter))
    warn(report.notices, report.failed)
    answer(to_json(report), _text(report), as_json=as_json)


def _text(report: MeasureReport) -> Iterator[str]:
    what = BY_NAME[report.measure]
    yield f"{what.title} {report.variant}".rstrip()
    for result in report.models:
        yield result.model
        yield table([_row(figure) for figure in result.figures], HEADS, form=".4f", indent="  ")
        yield from filter(None, (result.signature, result.untrained_signature))
    for row in report.published:
        yield f"published: {row['model']}, {row['quantity']} {row['value']} ({row['source']})"
    yield what.against


def _row(figure: Figure) -> list[Cell]:
    chance = f"{figure.band[0]:.2f} to {figure.band[1]:.2f}" if figure.band else ""
    p = "" if figure.p is None else significant(figure.p, 4)
    return [figure.quantity, figure.role, figure.estimate, chance, p]


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
    answer(to_json(found), _gaps_text(found), as_json=as_json)


def _gaps_text(found: ClassifierGaps) -> Iterator[str]:
    rows: list[list[Cell]] = [[gap.name, gap.value.value, *(gap.null or ())] for gap in found.gaps]
    if rows:
        yield table(rows, ["", "gap", "groups by chance", "95th percentile"], form=".4f")
    if found.consistency is not None and found.consistency.value is not None:
        yield f"swap consistency: {found.consistency.value:.4f}"
    if found.f1_gap is not None and found.f1_gap.value is not None:
        yield f"F1 pro {found.f1['pro']:.4f}, anti {found.f1['anti']:.4f}, gap {found.f1_gap.value:+.4f}"
