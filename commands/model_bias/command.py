"""`bias SCORES`: the measures of the papers from a score file, with intervals and what they mix."""

from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, json_option, margin_option, seeds_options

if TYPE_CHECKING:  # pandas only when the command runs
    import pandas as pd

    from evenhand.core.statistics.equivalence import Margins


@click.command("bias")
@click.argument("scores", type=click.Path(dir_okay=False))
@click.option("--model", "models", multiple=True, help="Only this model; repeat for several, in this order.")
@click.option(
    "--denominator",
    type=click.Choice(["side", "all"]),
    default="side",
    show_default=True,
    help="Divide each side's sum by the sentences of that side, or by all.",
)
@click.option(
    "--unit",
    type=click.Choice(["auto", "sentence", "source"]),
    default="auto",
    show_default=True,
    help="What intervals for these word pairs are over; auto: the source article where the file names it. Of"
    " differences auto is the stem of the word pair.",
)
@click.option(
    "--least-mass",
    type=click.FloatRange(0, 1),
    help="Leave out sentences where both words together are less probable than this.",
)
@click.option(
    "--missing-size",
    type=click.FloatRange(0),
    help="|Bias_c| (log10) of a sentence without a value, for the bounds of the mean. [default: the model's largest]",
)
@click.option("--by", type=click.Choice(["pair", "side", "masks"]), help="Also per word pair, side or mask width.")
@click.option(
    "--pair-difference",
    "differences",
    nargs=2,
    multiple=True,
    metavar="A B",
    help="Model A minus model B on the same sentences.",
)
@margin_option("log10", of="difference of means")
@margin_option("auc", "--auc-margin", of="difference of side AUC")
@click.option(
    "--correlations", is_flag=True, help="Also how every two models correlate, prior-corrected, with the null band."
)
@seeds_options
@click.option("--nulls", is_flag=True, help="Also what shuffled sides give, and of which measure it is the null.")
@click.option(
    "--list", "listed", type=click.IntRange(0), default=20, show_default=True, help="Undefined sentences to list."
)
@click.option(
    "--resamples", type=click.IntRange(100, 100_000), default=2000, show_default=True, help="Draws per interval."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Start of the random draws.")
@json_option
@needs("measure")
def bias(scores: str, models: tuple[str, ...], differences: tuple[tuple[str, str], ...], **options: Any) -> None:
    """Bias_man, Bias_woman and Model_bias of every model in SCORES, with 95% intervals.

    SCORES is a file of the command score. Values are in log10 and in ln; positive leans towards the male word. Beside
    them stand pair mass, variance shares and side AUC: a mean alone can be mere word frequency. Models come in the
    order of the file or of --model; less lean is not better.
    """
    from evenhand.commands.model_bias.answers import FOOT
    from evenhand.core.model_bias import models_of, plain_names, read_groups, read_scores, rows_of, seed_groups

    as_json, extra = options.pop("as_json"), {name: options.pop(name) for name in ("by", "nulls", "listed")}
    named, by_name = options.pop("seeds"), not options.pop("no_seed_names")
    margins: Margins = {"log10": options.pop("margin"), "auc": options.pop("auc_margin")}
    correlated = options.pop("correlations")
    frame = read_scores(scores)
    for name in (*models, *chain(*differences)):
        rows_of(frame, name)  # refuse an unknown name before the work
    wanted = list(models or models_of(frame))
    groups = seed_groups(models_of(frame), read_groups(named), by_name=by_name)
    found = [_model(rows_of(frame, name), options, **extra) for name in wanted]
    names = plain_names(frame)
    data: dict[str, Any] = {"models": {names[label]: one for (label, one), _ in found}}
    texts = [text for _, text in found]
    if seeded := [one for one in groups.items() if set(one[1]) <= set(wanted)]:
        data["seeds"], text = _seeds(frame, dict(seeded), options)
        texts.append(text)
    if differences:
        data["differences"], text = _differences(frame, differences, options, margins)
        texts.append(text)
    if correlated:
        data["correlations"], text = _correlations(frame, [label for (label, _data), _text in found], options["seed"])
        texts.append(text)
    answer(data, "\n\n".join([*texts, FOOT]), as_json=as_json)


def _model(
    rows: "pd.DataFrame", options: dict[str, Any], *, by: Any, nulls: bool, listed: int
) -> tuple[tuple[str, dict[str, Any]], str]:
    """One model: ((name, JSON), text)."""
    from evenhand.commands.model_bias import answers
    from evenhand.core.model_bias import many_intervals, shuffled_sides, summarise, summarise_by

    summary = summarise(rows, **options)
    data = {**answers.summary_data(summary), **answers.odd_rows(rows, listed)}
    lines = [*answers.summary_text(summary), *answers.odd_lines(data)]
    if by:
        groups = summarise_by(rows, by, **options)
        data["by"] = {
            "group": by,
            "rows": [{"name": group.group, **answers.summary_data(group)} for group in groups],
            "several": answers.several_data(many_intervals([group.signed_mean for group in groups])),
        }
        lines += answers.groups_text(groups, by)
    if nulls:
        chance = shuffled_sides(rows, unit=options["unit"], shuffles=options["resamples"], seed=options["seed"])
        data["nulls"] = {name: answers.null_data(null) for name, null in chance.items()}
        lines += answers.nulls_text(chance)
    return (summary.model, data), "\n".join(lines)


def _seeds(
    frame: "pd.DataFrame", groups: dict[str, tuple[str, ...]], options: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    from evenhand.commands.model_bias import answers
    from evenhand.core.model_bias import grouping, over_seeds, rows_of, summarise

    data, lines = {}, [str(grouping(groups))]
    for name, seeds in groups.items():
        found = over_seeds([summarise(rows_of(frame, seed), **options) for seed in seeds])
        data[name] = {"models": list(seeds), **answers.measures_data(found)}
        lines += answers.seeds_text(name, found)
    return data, "\n".join(lines)


def _differences(
    frame: "pd.DataFrame",
    wanted: tuple[tuple[str, str], ...],
    options: dict[str, Any],
    margins: "Margins",
) -> tuple[list[dict[str, Any]], str]:
    from evenhand.commands.model_bias import answers
    from evenhand.core.model_bias import paired_differences
    from evenhand.core.report.several_models import against_margins

    kept = {name: options[name] for name in ("denominator", "unit", "resamples", "seed")}
    data: list[dict[str, Any]] = []
    lines: list[str] = []
    for a, b in wanted:
        estimates = paired_differences(frame, a, b, **kept)
        fixed = paired_differences(frame, a, b, **(kept | {"unit": _fixed_unit(frame, options["unit"])}))
        found = against_margins(estimates, margins)
        named, of_these_pairs = answers.measures_data(estimates), answers.measures_data(fixed)
        for name, one in found.items():
            named[name]["equivalence"] = one.data
        units = max(estimate.units for estimate in estimates.values())
        data.append({"a": a, "b": b, **named, "units": units, "fixed_pairs": of_these_pairs})
        lines += answers.difference_text(a, b, estimates, fixed, found, margins)
    return data, "\n".join(lines)


def _fixed_unit(frame: "pd.DataFrame", unit: str) -> str:
    from evenhand.core.model_bias import units_of

    return units_of(frame).kind if unit == "auto" else unit


def _correlations(frame: "pd.DataFrame", models: list[str], seed: int) -> tuple[list[dict[str, Any]], str]:
    from evenhand.commands.model_bias import answers
    from evenhand.core.model_bias import correlation

    frame = frame[frame["model"].isin(models)]
    found, raw = (correlation(frame, corrected=corrected, seed=seed) for corrected in (True, False))
    return answers.correlation_data(found, raw), "\n".join(answers.correlation_text(found, raw))
