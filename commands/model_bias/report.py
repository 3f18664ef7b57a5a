"""`report SCORES`: figures and tables of a score file as one HTML file."""

from pathlib import Path

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, json_option, margin_option, seeds_options
from evenhand.core.language import LANGUAGES


@click.command("report")
@click.argument("scores", type=click.Path(dir_okay=False))
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="The HTML file to write.")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Its language.")
@click.option("--model", "models", multiple=True, help="Only these models, in this order; all by default.")
@click.option(
    "--denominator",
    type=click.Choice(["side", "all"]),
    default="side",
    show_default=True,
    help="What each side's sum is divided by: the sentences of that side, or all.",
)
@click.option("--least-mass", type=click.FloatRange(0, 1), help="Leave out sentences with a smaller pair mass.")
@margin_option("log10", of="difference of means of two models")
@margin_option("auc", "--auc-margin", of="difference of side AUC")
@seeds_options
@json_option
@needs("measure")
def report(
    scores: str,
    out: str,
    lang: str,
    models: tuple[str, ...],
    denominator: str,
    least_mass: float | None,
    margin: float,
    auc_margin: float,
    seeds: tuple[str, ...],
    no_seed_names: bool,
    as_json: bool,
) -> None:
    """Write figures, tables, extremes, method and signatures of SCORES into one self-contained HTML file.

    It holds no script and fetches nothing.
    """
    from evenhand.core.model_bias import models_of, read_groups, read_scores, rows_of, seed_groups
    from evenhand.core.report.html_file import ReportSettings, file_digest, write_report

    frame = read_scores(scores)
    for model in models:
        rows_of(frame, model)  # an unknown name is refused with a list of the names
    shown = list(models) or models_of(frame)
    settings = ReportSettings(
        models=models,
        denominator="all" if denominator == "all" else "side",
        least_mass=least_mass,
        data=Path(scores).name,
        digest=file_digest(Path(scores)),
        seeds=seed_groups(shown, read_groups(seeds), by_name=not no_seed_names),
        margins={"log10": margin, "auc": auc_margin},
    )
    path = write_report(frame, Path(out), settings=settings, language="zh" if lang == "zh" else "en")
    size = path.stat().st_size
    answer(
        {"out": str(path), "models": shown, "bytes": size},
        f"{path} ({size:,} bytes): {', '.join(shown)}",
        as_json=as_json,
    )
