"""The answers of `nli` for people."""

import math
from collections.abc import Sequence

from evenhand.core.nli.bias_rates import RateReport
from evenhand.core.nli.measure import Inference, against_margin
from evenhand.core.nli.run import NliReport
from evenhand.core.nli.types import LABELS, SETS
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import MARGINS
from evenhand.core.statistics.estimate import DASH
from evenhand.core.types import Score

SHOWN = 20  # lines that could not be used
NAMES = {
    "s": "s = (e_p + c_a + (1 - n_n)) / 3",
    "directional": "directional part",
    "not_neutral_ns": "1 - n_n (NS not neutral)",
    "fn": "FN, neutral of all rows",
    "one_minus_fn": "1 - FN",
}


def estimate_text(found: Estimate, form: str = ".3f") -> str:
    """0.300 [0.240, 0.354]; without interval the number alone, undefined a dash."""
    return DASH if found.value is None else found.text(form)


def notes_of(estimates: Sequence[Estimate]) -> list[str]:
    """Why values or intervals are missing, and what there is to know about the others, each once."""
    return list(dict.fromkeys(str(note) for one in estimates if (note := one.reason or one.note)))


def measures_text(
    found: Inference,
    errors: Sequence[str] = (),
    signatures: Sequence[str] = (),
    margin: float | None = MARGINS["share"],
) -> str:
    """Measures, proportions, order condition, and what they rest on."""
    lines = [f"{name:<33} {estimate_text(found[key])}" for key, name in NAMES.items()]
    tested = against_margin(found, margin)["directional"]
    lines += [f"{'':<33} {tested.text}"] if found["directional"].value is not None else []
    order = {True: "holds", False: "does not hold", None: "— (PS or AS is empty)"}[found.order]
    lines.append(f"{'order e_p > e_a and c_a > c_p':<33} {order}")
    lines.append(
        "0.000 always neutral, 0.444 random guessing, 0.667 always the same non-neutral label,"
        " 1.000 always the stereotype"
    )
    for i, (name, short) in enumerate(zip(SETS, "pan", strict=True)):
        shares = "  ".join(f"{label[0]} {estimate_text(found[f'{label[0]}_{short}'])}" for label in LABELS)
        lines.append(f"{name} ({sum(found.counts[i]):,} rows)  {shares}")
    unit = "occupations" if found.unit == "occupation" else "rows: no occupation is named, so they are too narrow"
    lines.append(f"95% intervals over {unit}; {found.signature}")
    lines += notes_of(list(found.estimates.values()))
    lines += signatures
    if errors:
        lines += [f"{len(errors):,} lines could not be used:", *(f"  {one}" for one in errors[:SHOWN])]
    return "\n".join(lines)


def report_text(report: NliReport, margin: float | None = MARGINS["share"]) -> str:
    """The measures of a run, the obvious pairs, how long it took."""
    one = report.answers
    lines = [measures_text(one.found, margin=margin)]
    if one.sanity is not None:
        lines.append(str(one.sanity.note()))
    lines += [f"{count:,} pairs have no answer: {reason}" for reason, count in one.undefined.items()]
    lines.append(f"{len(report.probes.rows):,} pairs in {one.seconds:.1f} s, loading {one.loading_seconds:.1f} s")
    lines += [one.signature, report.probes.signature]
    return "\n".join([*lines, *([f"Written: {report.out}"] if report.out else [])])


def rates_text(report: RateReport) -> str:
    """A line a rate, then the rank correlations."""
    lines = ["r     s                     1 - FN                directional            order"]
    for point in report.points:
        cells = [estimate_text(point.found[name]) for name in ("s", "one_minus_fn", "directional")]
        order = {True: "yes", False: "no", None: "—"}[point.found.order]
        lines.append(f"{point.rate:.1f}   {cells[0]:<21} {cells[1]:<21} {cells[2]:<22} {order}")
    for name, said in (("s", "s"), ("one_minus_fn", "1 - FN"), ("directional", "directional part")):
        found = report.correlation(name)
        rho = found["rho"]
        lines.append(f"Spearman of r and {said}: {'— (' + found['rho_reason'] + ')' if rho is None else f'{rho:.3f}'}")
    lines.append(f"{report.training}, {report.training_seconds:.0f} s")
    return "\n".join([*lines, *([f"Written: {report.out}"] if report.out else [])])


def pair_text(score: Score) -> str:
    """Three probabilities."""
    if score.reason:
        return f"— ({score.reason})"
    shares = [f"{label:<14} {math.exp(p or 0.0):.3f}" for label, p in zip(LABELS, score.logprobs, strict=True)]
    return "\n".join([*shares, score.signature])
