"""`misgendering`: both ways of measuring misgendering, and how far they agree."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import NO_DRAWS, answer, json_option, margin_option
from evenhand.core.statistics.equivalence import MARGINS, equivalence
from evenhand.core.typed_json import with_reasons

if TYPE_CHECKING:
    from evenhand.core.misgendering.metrics import Metrics, Variation
    from evenhand.core.statistics import Estimate

# subcommand -> its function. Imported only when it is called, because scoring loads a model library.
SUBCOMMANDS = {
    "run": "evenhand.commands.misgendering.run:run",
    "score": "evenhand.commands.misgendering.score:score",
    "convert": "evenhand.commands.misgendering.score:convert",
    "metrics": "evenhand.commands.misgendering.command:metrics_command",
}
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


class Subcommands(click.Group):
    """A group that imports a subcommand when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every subcommand, in the order of the work."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of that name, or None."""
        if cmd_name not in SUBCOMMANDS:
            return None
        module, name = SUBCOMMANDS[cmd_name].split(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=Subcommands)
def misgendering() -> None:
    """Does a model use a person's pronouns? By probability and by generation."""


@click.command("metrics")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--resamples", type=click.IntRange(100, 100_000), expose_value=False, help=NO_DRAWS)
@click.option("--seed", type=click.IntRange(0), expose_value=False, help=NO_DRAWS)
@click.option("--no-cells", is_flag=True, help="Only all rows together, not each model and pronoun too.")
@margin_option("share", of="difference of the right shares of the two ways")
@json_option
@needs("measure")
def metrics_command(file: str, no_cells: bool, margin: float, as_json: bool) -> None:
    """Variation, agreement of the two ways, and the Beta fit, of a table of verdicts (CSV or TSV).

    FILE has the columns instance, prob and gen1, gen2, ... with 1 (right), 0 (wrong) or nothing (missing); prob1,
    prob2, ... where an instance has several templates. Columns none1, none2, ... say which texts have no pronoun (1):
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
    answer(data, "\n\n".join(texts), as_json=as_json)


def metrics_data(found: "Metrics", margin: float | None = MARGINS["share"]) -> dict[str, Any]:
    """The measures as one JSON object; what is undefined is null with `<key>_reason` beside it.

    `texts` holds right / (right + wrong) among texts with a pronoun, the share without one and the share wrong;
    `right.gen` is the published definition, which counts a text without a pronoun as right.

    The intervals of mcc (low, high) and kappa (half) are the published ones; `by_units` holds those over the units,
    and the difference of the two ways against *margin* (0 to 1).
    """
    half = None if found.kappa.high is None or found.kappa.value is None else found.kappa.high - found.kappa.value
    data: dict[str, Any] = {
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
        "by_units": {name: one.to_json("", reasons="every") for name, one in found.by_units.items()},
        "cells_of_verdicts": {key: getattr(found.cells, key) for key in found.cells.__dataclass_fields__},
        "units": dict(zip(found.clusters.kinds, found.clusters.counts, strict=True)),
    }
    data["by_units"]["difference"]["equivalence"] = equivalence(found.by_units["difference"], margin).data
    if found.sigma_prob is not None and found.failure is not None:
        data["sigma_prob"] = _variation(found.sigma_prob)
        data["failure"] = with_reasons({"value": found.failure.value, "se": found.failure.se}, found.failure.missing)
    if found.flips is not None:
        data["flips"] = {"count": found.flips[0], "n": found.flips[1]}
    return data | {"signature": found.signature}


def _variation(found: "Variation") -> dict[str, Any]:
    from evenhand.core.misgendering.metrics import NOT_FIVE

    values = {"mean": found.mean.value, "std": found.std, "low": found.mean.low, "high": found.mean.high}
    data = with_reasons(values, found.mean.missing)
    data["levels"] = found.levels
    if found.levels is None:
        data["levels_reason"] = str(NOT_FIVE)
    data |= found.mean.method_data
    return data | {"n": found.n, "complete": found.complete, "dropped": found.dropped}


def for_people(found: "Metrics", title: str, margin: float | None = MARGINS["share"]) -> str:
    """The measures as lines of text."""
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
