"""`misgendering`: both ways of measuring misgendering, and how far they agree."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.annotations.quantities.runs import run_json
from evenhand.commands.permissions import guarded, needs
from evenhand.commands.shared import (
    NO_DRAWS,
    Meter,
    answer,
    json_option,
    margin_option,
    option,
    options,
    settings_from,
    spreadsheet_option,
    warn,
    write_spreadsheet,
)
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.misgendering.generations import context_rows
from evenhand.core.misgendering.run import BUILT_IN, Drawing, ScoreSettings, Settings, VerdictReport
from evenhand.core.misgendering.run import run as run_both
from evenhand.core.misgendering.run import score as score_verdicts
from evenhand.core.misgendering.slots import SETTINGS
from evenhand.core.misgendering.template_files import PASSES
from evenhand.core.runs.kinds import Place
from evenhand.core.statistics.equivalence import MARGINS, equivalence
from evenhand.core.typed_json import with_reasons
from evenhand.core.types import JsonObject

if TYPE_CHECKING:
    from evenhand.core.misgendering.metrics import Metrics, Variation
    from evenhand.core.statistics import Estimate

NAMES = {
    "prob": "right, probability-based",
    "right": "right, with a pronoun",
    "without": "texts without a pronoun",
    "wrong": "texts with a wrong pronoun",
    "gen": "right, gen. as published",
    "sigma": "variation of generations",
    "sigma_prob": "variation of templates",
    "mcc": "MCC",
    "kappa": "Cohen's kappa",
    "agreement": "raw agreement",
    "disagreement": "share that disagrees",
    "difference": "right, prob less gen",
    "failure": "templates that failed",
}


@click.group()
def misgendering() -> None:
    """Measure whether a model uses a person's pronouns, by probability and by generation."""


@misgendering.command("metrics")
@click.argument("file", type=click.Path(dir_okay=False))
@option("--resamples", type=click.IntRange(100, 100_000), expose_value=False, help=NO_DRAWS)
@option("--seed", type=click.IntRange(0), expose_value=False, help=NO_DRAWS)
@option("--no-cells", is_flag=True, help="Measure all rows together only, not each model and pronoun.")
@margin_option("share", of="difference of the right shares of the two ways")
@json_option
@needs("measure")
def metrics_command(file: str, no_cells: bool, margin: float) -> None:
    """Print variation, agreement of the two ways, and the Beta fit, of a table of verdicts (CSV or TSV).

    FILE has the columns instance, prob and gen1, gen2, ... with 1 (right), 0 (wrong) or nothing (missing); prob1,
    prob2, ... if an instance has several templates. Columns none1, none2, ... say which texts have no pronoun (1):
    the share right is then of texts with a pronoun, next to the published one. Columns template and name make
    intervals rest on these; model, pronoun, dataset and setting split the table into cells.
    """
    from evenhand.core.misgendering.metrics import by_cell, metrics
    from evenhand.core.misgendering.verdict_table import read_verdicts

    frame = read_verdicts(file)
    whole = metrics(frame)
    cells = [] if no_cells else list(by_cell(frame))
    data = metrics_data(whole, margin)
    if cells:
        data["cells"] = [{**key, **metrics_data(one, margin)} for key, one in cells]
    texts = [for_people(whole, "all rows", margin)]
    texts += [for_people(one, " · ".join(key.values()), margin) for key, one in cells if len(cells) > 1]
    answer(data, "\n\n".join(texts))


def metrics_data(found: "Metrics", margin: float | None = MARGINS["share"]) -> JsonObject:
    """Return the measures as one JSON object; an undefined number is null, with its reason in `<key>_reason`.

    `texts` holds right / (right + wrong) among texts with a pronoun, the share without one and the share wrong;
    `right.gen` is the published definition, which counts a text without a pronoun as right.

    The intervals of mcc (low, high) and kappa (half) are the published ones; `by_units` holds those over the units,
    and the difference of the two ways against *margin* (0 to 1).
    """
    half = None if found.kappa.high is None or found.kappa.value is None else found.kappa.high - found.kappa.value
    data: JsonObject = {
        "sigma": _variation(found.sigma),
        "mcc": with_reasons(found.mcc.numbers(), found.mcc.missing),
        "kappa": with_reasons({"value": found.kappa.value, "half": half}, found.kappa.missing),
        "agreement": with_reasons({"value": found.agreement.value, "se": found.agreement.se}, found.agreement.missing),
        "beta": with_reasons({"alpha": found.beta.alpha.value, "beta": found.beta.beta.value}, found.beta.alpha.missing)
        | {"n": found.beta.n},
        "n": found.n,
        "dropped": found.dropped,
        "rows": found.rows,
        "right": {"prob": found.prob.to_json("", reasons="every"), "gen": found.gen.to_json("", reasons="every")},
        "texts": {
            name: getattr(found.texts, name).to_json("", reasons="every") for name in ("right", "without", "wrong")
        },
        "by_units": {name: by_unit.to_json("", reasons="every") for name, by_unit in found.by_units.items()},
        "cells_of_verdicts": {key: getattr(found.cells, key) for key in found.cells.__dataclass_fields__},
        "units": dict(zip(found.clusters.kinds, found.clusters.counts, strict=True)),
    }
    data["by_units"]["difference"]["equivalence"] = equivalence(found.by_units["difference"], margin).data
    if found.sigma_prob is not None and found.failure is not None:
        data["sigma_prob"] = _variation(found.sigma_prob)
        data["failure"] = with_reasons({"value": found.failure.value, "se": found.failure.se}, found.failure.missing)
    data["quantities"] = run_json("misgendering", found)
    if found.flips is not None:
        data["flips"] = {"count": found.flips[0], "n": found.flips[1]}
    return data | {"signature": found.signature}


def _variation(variation: "Variation") -> JsonObject:
    from evenhand.core.misgendering.metrics import NOT_FIVE

    values = {
        "mean": variation.mean.value,
        "std": variation.std,
        "low": variation.mean.low,
        "high": variation.mean.high,
    }
    data = with_reasons(values, variation.mean.missing)
    data["levels"] = variation.levels
    if variation.levels is None:
        data["levels_reason"] = str(NOT_FIVE)
    data |= variation.mean.method_data
    return data | {"n": variation.n, "complete": variation.complete, "dropped": variation.dropped}


def for_people(found: "Metrics", title: str, margin: float | None = MARGINS["share"]) -> str:
    """Return the measures as lines of text."""
    by_units = found.by_units
    texts = [(name, getattr(found.texts, name)) for name in ("right", "without", "wrong")]
    rows = [("prob", found.prob), *texts, ("gen", found.gen), ("sigma", found.sigma.mean)]
    rows += [("sigma_prob", found.sigma_prob.mean)] if found.sigma_prob else []
    rows += [(name, by_units[name]) for name in ("mcc", "kappa", "agreement", "disagreement", "difference")]
    lines = [f"{title}: {found.n:,} instances with both verdicts, {found.dropped:,} dropped"]
    lines += [_line(NAMES[name], estimate) for name, estimate in rows]
    if (apart := by_units["difference"]).value is not None:
        lines.append(f"  {'':<26} {equivalence(apart, margin).text}")
    if found.sigma.levels is not None:
        shares = ", ".join(f"{level}: {share:.3f}" for level, share in found.sigma.levels.items())
        lines.append(f"  {'levels of variation':<26} {shares}")
    if found.failure is not None:
        lines.append(_line(NAMES["failure"], found.failure))
    alpha, beta = found.beta.alpha, found.beta.beta
    fit = f"—   {alpha.reason}" if alpha.value is None else f"alpha {alpha.value:.3f}, beta {beta.value:.3f}"
    lines.append(f"  {'Beta of disagreement':<26} {fit}")
    if found.flips is not None:
        lines.append(f"  {'flips, mean against sum':<26} {found.flips[0]:,} of {found.flips[1]:,}")
    return "\n".join([*lines, f"  {found.signature}"])


def _line(name: str, estimate: "Estimate") -> str:
    if estimate.value is None:
        return f"  {name:<26} —   {estimate.reason}"
    return f"  {name:<26} {estimate.value:>6.3f} {estimate.interval_text('.3f')} {estimate.note or ''}".rstrip()


# How templates are filled.
drawing_options = options(
    option("--names", type=click.Path(dir_okay=False), help="Own names: one per line, or columns name, pronouns."),
    option("--pronouns", multiple=True,
           help="Only these sets: he, they, ze/hir/hir/hirs/hirself; repeat for several. New ones compete."),
    option("--passes", type=click.IntRange(1), default=PASSES, help="Names per template."),
    option("--seed", type=click.IntRange(0), default=0, help="Start of the draws of names."),
    option("--limit", type=click.IntRange(1), help="A seeded sample of this many instances."),
)  # fmt: skip


@misgendering.command("score")
@click.argument("templates", default=BUILT_IN)
@option("--model", "models", multiple=True, required=True, help="A causal model; repeat for several.")
@option("--out", type=click.Path(dir_okay=False), help="The table of verdicts to write (CSV).")
@option("--run", "run_name", help="Instead of --out: the name of a run that the page Misgendering lists.")
@spreadsheet_option
@option(
    "--generations",
    type=click.Path(dir_okay=False),
    help="What the models wrote (JSONL of `generate`): adds gen1, gen2, ... by the first-pronoun rule.",
)
@option("--precision", type=click.Choice(["fp32", "bf16"]), default="fp32")
@option("--threads", type=click.IntRange(1), help="Threads of the model in this process; default: all.")
@option("--no-cache", is_flag=True, help="Do not cache scores beyond this run.")
@drawing_options
@guarded("start_jobs")
def score(db: str, **options: Any) -> None:
    """Find the pronoun that makes a text least perplexing: one row per instance of TEMPLATES, model and setting.

    TEMPLATES: "built-in", a table with columns case and text (slot [MASK]), MISGENDERED's folder, RUFF's eo_task.tsv,
    or TANGO's misgendering_prompts.csv (needs generations). prob is 1 if the right form has the least perplexity,
    prob_sum if it has the least sum. `misgendering metrics` reads the table.
    """
    with Meter() as meter:
        report = score_verdicts(settings_from(ScoreSettings, options), Place(Path(db), meter))
    write_spreadsheet(report.out, options["spreadsheet"])
    answer_verdicts(report)


@misgendering.command("convert")
@click.argument("templates", default=BUILT_IN)
@option("--setting", type=click.Choice(["pre", "post", "both"]), default="both")
@option("--trim", is_flag=True, help="Leave out the space at the end of contexts; the published code keeps it.")
@option("--out", type=click.Path(dir_okay=False), help="The contexts to write (JSONL), for `generate`.")
@drawing_options
@json_option
@needs("measure")
def convert(setting: str, trim: bool, out: str | None, **options: Any) -> None:
    """Write templates as contexts for a model: pre-[MASK] ends before the slot, post-[MASK] after the whole text.

    Without --out the lines go to stdout.
    """
    asked = settings_from(Drawing, options).drawn(competing=False).questions
    rows = list(context_rows(asked, SETTINGS if setting == "both" else (setting,)))
    for row in rows:
        row["context"] = row["context"].rstrip() if trim else row["context"]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    if out is None:
        click.echo("\n".join(lines))
        return
    with whole_file(Path(out)) as write:
        write("\n".join(lines) + "\n")
    facts = {"instances": len(asked), "contexts": len(rows), "out": out}
    answer(facts, f"{len(rows):,} contexts of {len(asked):,} instances. Written: {out}")


def answer_verdicts(report: VerdictReport) -> None:
    """Print what went wrong, and what came of each model."""
    warn(report.notices, report.failed)
    answer(report, _text(report))


def _text(report: VerdictReport) -> Iterator[str]:
    yield f"{report.instances:,} instances of {report.source['name']} ({report.source['dataset']})"
    for model in report.models:
        summary, tokens = model.summary, model.tokens
        yield f"{model.model}: {summary.judged:,} judged in {model.seconds:.1f} s"
        for name, counts in summary.by_pronoun.items():
            shares = (counts.right / counts.n, counts.right_by_sum / counts.n)
            yield f"  {name}: {shares[0]:.3f} right ({counts.right:,} of {counts.n:,}); by the sum {shares[1]:.3f}"
        yield f"  {summary.flips:,} verdicts flip between mean and sum, {summary.moves:,} choices move"
        yield from (f"  {count:,} without a verdict: {reason}" for reason, count in summary.reasons.items())
        if tokens.factor is not None:
            saved = f"{tokens.fed:,} tokens read instead of {tokens.one_by_one:,} (factor {tokens.factor:.2f})"
            yield f"  {saved}: beginnings are shared"
        yield f"  {model.signature}"
    if report.strangers:
        yield f"{report.strangers:,} generations go on from no instance of this run"
    yield f"Written: {report.out}"


@misgendering.command("run")
@click.argument("templates", default=BUILT_IN)
@option("--model", "models", multiple=True, required=True, help="A causal model; repeat for several.")
@option("--run", "run_name", required=True, help="The name of the run, which the page Misgendering lists.")
@option("--each", type=click.IntRange(0, 100), default=5, help="Texts per context; 0: none.")
@option(
    "--setting",
    type=click.Choice(["pre", "post", "both"]),
    default="pre",
    help="Continue from before the slot, from the whole text with the right form, or both.",
)
@option("--new-tokens", type=click.IntRange(1, 4096), default=50, help="Length of each text.")
@option("--trim", is_flag=True, help="Leave out the space at the end of contexts; the published code keeps it.")
@option("--threads", type=click.IntRange(1), help="Threads of the model in this process; default: all.")
@drawing_options
@guarded("start_jobs")
def run(db: str, **options: Any) -> None:
    """Ask models both ways: let them write after every context of TEMPLATES, and ask which form is most likely.

    TEMPLATES as for `misgendering score`. The table of verdicts and the texts are stored next to the database; a
    repeated command continues an interrupted run.
    """
    with Meter() as meter:
        report = run_both(settings_from(Settings, options), Place(Path(db), meter))
    answer_verdicts(report)
