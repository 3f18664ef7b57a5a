"""`bias SCORES`, `report SCORES`: the measures of the papers from a score file, as text, JSON or an HTML file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.annotations.quantities.runs import bias_numbers, run_json
from evenhand.commands.permissions import needs
from evenhand.commands.shared import DASH, answer, json_option, margin_option, number, option, seeds_options, table
from evenhand.core.language import LANGUAGES, Language, p_value
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject

if TYPE_CHECKING:  # pandas only when the command runs
    from evenhand.core.model_bias import Summary
    from evenhand.core.model_bias.report import (
        BiasReport,
        CorrelationResult,
        DifferenceResult,
        ModelResult,
        Settings,
    )
    from evenhand.core.model_bias.summary import MissingValues
    from evenhand.core.statistics.equivalence import Margins

MEANS = {
    "bias_man": "Bias_man",
    "bias_woman": "Bias_woman",
    "model_bias": "Model_bias",
    "signed_mean": "signed mean",
    "mean_abs": "mean |Bias_c|",
}
GROUPED = ("n", "Bias_man", "Bias_woman", "Model_bias", "signed mean (log10)")
FOOT = (
    "Positive leans towards the male word, negative towards the female word. Intervals: 95%, for these pairs only"
    " unless stems are named. Models are in the order of the file; a smaller bias is not necessarily better."
)
CORRELATED = (
    "Correlations of two models, prior-corrected (raw holds the leans of the word pairs); * outside the null band"
)


@click.command("bias")
@click.argument("scores", type=click.Path(dir_okay=False, path_type=Path))
@option("--model", "models", multiple=True, help="Only this model; repeat for several, in this order.")
@option(
    "--denominator",
    type=click.Choice(["side", "all"]),
    default="side",
    help="Divide each side's sum by the sentences of that side, or by all.",
)
@option(
    "--unit",
    type=click.Choice(["auto", "sentence", "source"]),
    default="auto",
    help="What intervals for these word pairs are over; auto: the source article where the file names it. Of"
    " differences auto is the stem of the word pair.",
)
@option(
    "--least-mass",
    type=click.FloatRange(0, 1),
    help="Leave out sentences where both words together are less probable than this.",
)
@option(
    "--missing-size",
    type=click.FloatRange(0),
    help="|Bias_c| (log10) of a sentence without a value, for the bounds of the mean. [default: the model's largest]",
)
@option(
    "--by",
    type=click.Choice(["pair", "side", "masks", "group"]),
    help="Also per word pair, side, mask width, or group of the file.",
)
@option(
    "--pair-difference",
    "differences",
    nargs=2,
    multiple=True,
    metavar="A B",
    help="Model A minus model B on the same sentences.",
)
@margin_option("log10", of="difference of means")
@margin_option("auc", "--auc-margin", of="difference of side AUC")
@option(
    "--correlations", is_flag=True, help="Also how every two models correlate, prior-corrected, with the null band."
)
@seeds_options
@option("--nulls", is_flag=True, help="Also measure shuffled sides, each with the measure of which it is the null.")
@option("--list", "listed", type=click.IntRange(0), default=20, help="Undefined sentences to list.")
@option("--resamples", type=click.IntRange(100, 100_000), default=2000, help="Draws per interval.")
@option("--seed", type=click.IntRange(0), default=0, help="Start of the random draws.")
@json_option
@needs("measure")
def bias(**options: Any) -> None:
    """Print Bias_man, Bias_woman and Model_bias of every model in SCORES, with 95% intervals.

    SCORES is a file of the command score. Values are in log10 and in ln; positive leans towards the male word. Pair
    mass, variance shares and side AUC are printed too, because a mean can come from word frequency alone. Models are in
    the order of the file or of --model; less lean is not better.
    """
    from evenhand.core.model_bias.report import Settings, bias_report

    settings = Settings(**options)
    report = bias_report(settings)
    numbers = {model: run_json("bias", result.summary) for model, result in report.models.items()}
    data: JsonObject = to_json(report)
    answer(data | {"quantities": numbers}, _text(report, settings))


def _text(report: "BiasReport", settings: "Settings") -> Iterator[str]:
    from evenhand.core.model_bias import grouping

    for result in report.models.values():
        yield from (*_model_text(result), "\n")
    if report.seeds:
        yield str(grouping({name: result.models for name, result in report.seeds.items()}))
        for name, seeds in report.seeds.items():
            yield f"{name}, mean over its seeds (log10; the AUC has no base)"
            yield table(
                [(_title(measure), estimate) for measure, estimate in seeds.measures.items()], form=".4f", indent="  "
            )
        yield "\n"
    for difference in report.differences or ():
        yield from (*_difference_text(difference, settings.margins), "\n")
    if report.correlations is not None:
        yield CORRELATED
        rows = [_correlation_row(result) for result in report.correlations]
        yield table(rows, ["", "correlation", "", "", "stems", "band", "raw"], indent="  ")
        yield "\n"
    yield FOOT


def _title(measure: str) -> str:
    return MEANS.get(measure, "side AUC")


def _model_text(result: "ModelResult") -> Iterator[str]:
    summary = result.summary
    yield summary.model + ("  (reference: random weights)" if summary.reference else "")
    yield (
        f"  {summary.n:,} sentences; undefined {summary.undefined:,}, infinite {summary.infinite:,},"
        f" left out {summary.left_out:,}"
    )
    stated = bias_numbers(summary)
    means = [(title, stated[f"run.bias.{name}"], summary.ln(name), _fixed_pairs(name, summary)) for name, title in
             MEANS.items()]  # fmt: skip
    yield table(means, ["", "log10", "ln"], form=".4f", indent="  ")
    yield table(_facts(summary).items(), indent="  ")
    yield f"  {summary.signature}"
    yield from (f"  undefined: row {row.row}: {row.reason}" for row in result.undefined_rows)
    yield from (f"  infinite: row {row.row}: leans {row.leans}" for row in result.infinite_rows)
    if result.groups:
        yield table(_group_rows(result), [f"by {result.by}", *GROUPED], indent="  ")
        yield f"  {result.several.sentence} (* signed mean)"
    for null in result.nulls.values():
        interval = f"[{number(null.low, '.4f')}, {number(null.high, '.4f')}]"
        p = f"p {p_value(null.p, '= ')}"
        yield f"  {null.says}"
        yield f"    {number(null.observed, '.4f')}, null {interval}, {p} ({null.reason or f'{null.stems} stems'})"


def _fixed_pairs(name: str, summary: "Summary") -> str:
    """Return what the interval of a mean over stems is for these word pairs alone; "" for other means."""
    fixed = summary.fixed_pairs.get(name)
    if fixed is None or fixed is getattr(summary, name) or fixed.value is None:
        return ""
    return f"over {summary.stems} stems of word pairs; for these pairs only: {fixed.interval_text('.4f') or DASH}"


def _facts(summary: "Summary") -> dict[str, str]:
    """Return what is printed below the means, by its title."""
    obvious, mass, shares, cut = (
        summary.obvious, summary.pair_mass, summary.variance_shares, summary.small_set_to_zero,
    )  # fmt: skip
    return {
        "side AUC": f"{bias_numbers(summary)['run.bias.side_auc'].text('.3f')} (0.5: nothing)",
        "obvious": f"male word {obvious.male:,}, female word {obvious.female:,}, neither {obvious.none:,}",
        "pair mass": f"median {number(mass.median, '.4f')}, under 1%: {number(mass.under_1_percent, '.1%')}"
        f"  {mass.reason or ''}",
        "variance": f"word pairs {number(shares.between_pairs, '.1%')} (of it mask widths"
        f" {number(shares.widths, '.1%')}), contexts {number(shares.contexts, '.1%')}  {shares.reason or ''}",
        "|Bias_c| < 0.3 set to 0": f"Model_bias {number(cut.model_bias, '.4f')}, mean |Bias_c|"
        f" {number(cut.mean_abs, '.4f')} (log10)",
        "missing": f"{summary.missing.missing:,} of {summary.missing.rows:,}{_bounds(summary.missing)}",
        "denominator": f"{summary.denominator}; {summary.units:,} units; {summary.intervals}",
    }


def _bounds(missing: "MissingValues") -> str:
    """Return the bounds of the means if all missing values leaned to one side."""
    if not missing.missing + missing.infinite:
        return ""
    if missing.signed_mean_if_female is None:
        return f"  {missing.reason}"
    how = "the largest |Bias_c|" if missing.size_is == "largest" else "as asked"
    least, most = (number(share, ".1%") for share in (missing.male_share_if_female, missing.male_share_if_male))
    return (
        f"; if all leaned towards the female or the male word by {missing.size:.3f} (log10, {how}): signed mean"
        f" {missing.signed_mean_if_female:+.4f} to {missing.signed_mean_if_male:+.4f}, share towards the male word"
        f" {least} to {most}"
    )


def _group_rows(result: "ModelResult") -> Iterator[Sequence[object]]:
    """Yield a row per group; * marks a signed mean that differs from 0 after Holm's adjustment."""
    for group, stays in zip(result.groups, result.several.stays, strict=True):
        sizes = (group.bias_man.value, group.bias_woman.value, group.model_bias.value)
        yield group.group, group.n, *sizes, group.signed_mean, "*" if stays else ""


def _difference_text(difference: "DifferenceResult", margins: "Margins") -> Iterator[str]:
    """Yield model a minus model b: shown to differ, shown to be smaller than the margin, or neither."""
    from evenhand.core.model_bias import many_intervals
    from evenhand.core.report.several_models import margins_say

    yield f"{difference.a} minus {difference.b}, same sentences (log10; the AUC has no base)"
    fixed, tested = difference.fixed_pairs, difference.tested
    rows = [
        (
            _title(name), estimate, "" if fixed[name] is estimate else fixed[name].interval_text(".4f"),
            tested[name].text if tested[name].smallest is not None else "",
        )
        for name, estimate in difference.measures.items()
    ]  # fmt: skip
    yield table(rows, ["", "difference", "for these pairs only"], form=".4f", indent="  ")
    yield f"  {margins_say(margins, str)}"
    yield f"  {many_intervals(list(difference.measures.values())).sentence}"


def _correlation_row(result: "CorrelationResult") -> Sequence[object]:
    """Return the row of two models; a star if they lie outside the null band."""
    names = f"{result.a}, {result.b}"
    if result.value is None or result.band is None:
        return names, None, "", result.reason
    star = "*" if abs(result.value) > result.band else ""
    ends = result.reason if result.low is None else f"[{result.low:+.3f}, {result.high:+.3f}]"
    return names, (result.value, "+.3f"), star, ends, result.stems, f"±{result.band:.2f}", (result.raw, "+.3f")


@click.command("report")
@click.argument("scores", type=click.Path(dir_okay=False))
@option("--out", required=True, type=click.Path(dir_okay=False), help="The HTML file to write.")
@option("--lang", type=click.Choice(LANGUAGES), default="en", help="The language of the report.")
@option("--model", "models", multiple=True, help="Only these models, in this order; all by default.")
@option(
    "--denominator",
    type=click.Choice(["side", "all"]),
    default="side",
    help="What each side's sum is divided by: the sentences of that side, or all.",
)
@option("--least-mass", type=click.FloatRange(0, 1), help="Leave out sentences with a smaller pair mass.")
@margin_option("log10", of="difference of means of two models")
@margin_option("auc", "--auc-margin", of="difference of side AUC")
@seeds_options
@json_option
@needs("measure")
def report(
    scores: str, out: str, lang: Language, models: tuple[str, ...], margin: float, auc_margin: float,
    seeds: tuple[str, ...], no_seed_names: bool, **options: Any,
) -> None:  # fmt: skip
    """Write figures, tables, extremes, method and signatures of SCORES into one self-contained HTML file.

    It holds no script and fetches nothing.
    """
    from evenhand.core.files.readers import file_sha256
    from evenhand.core.model_bias import models_of, read_groups, read_scores, rows_of, seed_groups
    from evenhand.core.report.html_file import ReportSettings, write_report

    frame = read_scores(scores)
    for model in models:
        rows_of(frame, model)  # an unknown name is refused with a list of the names
    shown = list(models) or models_of(frame)
    settings = ReportSettings(
        models=models,
        data=Path(scores).name,
        digest=file_sha256(Path(scores)),
        seeds=seed_groups(shown, read_groups(seeds), by_name=not no_seed_names),
        margins={"log10": margin, "auc": auc_margin},
        **options,
    )
    path = write_report(frame, Path(out), bias_numbers, settings=settings, language=lang)
    size = path.stat().st_size
    answer({"out": str(path), "models": shown, "bytes": size}, f"{path} ({size:,} bytes): {', '.join(shown)}")
