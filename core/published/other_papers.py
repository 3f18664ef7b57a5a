"""Recalculated numbers of the thesis on BEC-Pro, the Japanese inference paper and the misgendering paper."""

import math
from collections.abc import Iterator

import numpy as np
from statsmodels.stats.inter_rater import cohens_kappa

from evenhand.core.errors import N_
from evenhand.core.published.claims import INFERENCE, MISGENDERING, THESIS, PrintedClaim, agrees, half_unit
from evenhand.core.published.slguset import slguset_claims
from evenhand.core.resources import table
from evenhand.core.statistics import Note, wilson
from evenhand.core.statistics.estimate import NO_LABEL

Row = dict[str, str]
Z = 1.959963984540054
CLASSES = {"balanced": N_("balanced professions"), "female": N_("female professions"), "male": N_("male professions")}
SEEDS = 11  # bias rates 0.0, 0.1, ..., 1.0
RANK_CORRELATIONS = ("0.820", "-0.114")


def checks() -> list[PrintedClaim]:
    """Return every checked claim, by document in the order of DOCUMENTS."""
    return [*slguset_claims(), *thesis_claims(), *inference_claims(), *misgendering_claims()]


def thesis_claims() -> Iterator[PrintedClaim]:
    """Check tables 4.5 to 4.8 of the thesis, and its counts (docs/association.md#hypotheses)."""
    yield PrintedClaim(
        "thesis.sentences",
        THESIS,
        Note(N_("Number of sentences with 16 subjects")),
        "5,400",
        f"{5 * 60 * 16:,}",
        False,
        Note(N_("18 subjects (9 and 9, as in the word lists) give the reported number.")),
        (f"5 × 60 × 16 = {5 * 60 * 16:,}", f"5 × 60 × 18 = {5 * 60 * 18:,}"),
    )
    yield from (_difference(row) for row in table("published_differences"))
    yield _spanish_hypothesis()
    yield _balanced()
    yield PrintedClaim(
        "thesis.corpus",
        THESIS,
        Note(N_("Table A.1, words of local news in the corpus (millions)")),
        "6436",
        "≤ 224.6",
        False,
        Note(N_("A part cannot be larger than the whole; 64 to 65 million would fit.")),
        ("6436 > 224.6",),
    )


def _difference(row: Row) -> PrintedClaim:
    woman, man, printed = row["woman"], row["man"], row["difference"]
    value = float(woman) - float(man)
    slack = 2 * half_unit("0.000")  # the tables print three decimals; a lost one is an error of its own
    follows = agrees(printed, value - slack, value + slack)
    remark = None
    if not follows:
        needed = {"man": f"{float(woman) - float(printed):.3f}", "printed": man}
        remark = Note(
            N_("{printed} lacks a decimal: {man} would give the reported difference."),
            needed,
        )
    return PrintedClaim(
        f"thesis.{row['table']}.{row['model']}.{row['class']}".replace(" ", "-").lower(),
        THESIS,
        Note(
            N_("{table}, {model}, {class}, W − M"),
            {"table": row["table"], "model": row["model"], "class": CLASSES[row["class"]]},
        ),
        printed,
        f"{value:.3f}",
        follows,
        remark,
        (f"{woman} - ({man}) = {value:.3f}",),
    )


def _spanish_hypothesis() -> PrintedClaim:
    result = _means("ES")
    literal = [key for key, means in result.items() if means["female"][0] > 0 and means["male"][1] > 0]
    lines = [f"{' '.join(key)}: W/F {means['female'][0]}, M/M {means['male'][1]}" for key, means in result.items()]
    return PrintedClaim(
        "thesis.spanish.h1",
        THESIS,
        Note(N_("Spanish: the first hypothesis (associations above 0)")),
        Note(N_("does not hold")).message,
        f"{len(literal)} / {len(result)}",
        False,
        Note(
            N_(
                "Read literally, it holds in all Spanish tables; the thesis argues with the larger of the two"
                " values instead."
            )
        ),
        tuple(lines),
    )


def _balanced() -> PrintedClaim:
    row = next(r for r in table("published_differences") if r["table"] == "EN" and r["class"] == "balanced")
    return PrintedClaim(
        "thesis.balanced.text",
        THESIS,
        Note(N_("Section 4.4.1, direction for balanced professions, {model}"), {"model": row["model"]}),
        Note(N_("towards the female words")).message,
        row["difference"],
        False,
        Note(N_("W − M is negative: the association is stronger for the male words.")),
        (f"{row['woman']} - {row['man']} = {row['difference']}",),
    )


def _means(language: str) -> dict[tuple[str, str], dict[str, tuple[float, float]]]:
    result: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    for row in table("published_differences"):
        if row["table"].startswith(language):
            means = result.setdefault((row["table"], row["model"]), {})
            means[row["class"]] = float(row["woman"]), float(row["man"])
    return result


def inference_claims() -> Iterator[PrintedClaim]:
    """Check scores and rank correlations of the Japanese inference paper (docs/nli.md#published-tables)."""
    rows = table("published_inference")
    for row in rows:
        value = float(row["shares_sum"]) / 3
        yield PrintedClaim(
            f"inference.{row['model']}".replace(" ", "-").lower(),
            INFERENCE,
            Note(N_("Table 4, score of {model}"), {"model": row["model"]}),
            row["printed"],
            f"{value:.4f}",
            agrees(row["printed"], value - half_unit("0.000"), value + half_unit("0.000")),
            None,
            (f"(e_p + c_a + (1 - n_n)) / 3 = {row['shares_sum']} / 3 = {value:.4f}",),
        )
    order = [row["model"] for row in sorted(rows, key=lambda row: -float(row["shares_sum"]))]
    printed = [row["model"] for row in sorted(rows, key=lambda row: int(row["rank"]))]
    yield PrintedClaim(
        "inference.order",
        INFERENCE,
        Note(N_("Table 4, order of the five scores")),
        "1 … 5",
        "1 … 5" if order == printed else ", ".join(order),
        order == printed,
        None,
        tuple(f"{row['rank']}. {row['model']}: {float(row['shares_sum']) / 3:.4f}" for row in rows),
    )
    yield from (_rank_correlation(printed) for printed in RANK_CORRELATIONS)


def _rank_correlation(printed: str) -> PrintedClaim:
    """Check a rank correlation: without ties the sum of squared differences is even, so rho has steps of 2 / 220."""
    largest = SEEDS * (SEEDS**2 - 1) // 6
    rhos = [1 - even / largest for even in range(0, 2 * largest + 1, 2)]
    nearest = sorted(sorted(rhos, key=lambda rho: abs(rho - float(printed)))[:2])
    return PrintedClaim(
        f"inference.rho.{printed}",
        INFERENCE,
        Note(N_("Rank correlation with 11 bias rates")),
        printed,
        f"{nearest[0]:.4f}, {nearest[1]:.4f}",
        any(agrees(printed, rho, rho) for rho in nearest),
        Note(
            N_(
                "Eleven values without ties can only give these two correlations nearby: there were"
                " ties, or values were averaged."
            )
        ),
        (f"rho = 1 - D / {largest}, D = 0, 2, 4, …, {2 * largest}",),
    )


def misgendering_claims() -> Iterator[PrintedClaim]:
    """Check intervals and counts of the misgendering paper (docs/misgendering.md#published-numbers)."""
    for number, row in enumerate(table("published_intervals"), 1):
        yield _interval(row, number) if row["kind"] == "correlation" else _kappa(row, number)
    cells = (6, 2, 4, 2, 25)
    yield PrintedClaim(
        "misgendering.sample",
        MISGENDERING,
        Note(N_("Appendix G, generations judged by people")),
        "2,400",
        f"{math.prod(cells):,}",
        math.prod(cells) == 2400,
        None,
        (" × ".join(map(str, cells)) + f" = {math.prod(cells):,}",),
    )
    yield PrintedClaim(
        "misgendering.cells",
        MISGENDERING,
        Note(N_("Appendix G, independent generations per cell")),
        "25",
        "5 (5 × 5)",
        False,
        Note(
            N_(
                "The released samples have 5 contexts with 5 generations each in all 96 cells; standard"
                " errors that treat the 25 as independent are too small."
            )
        ),
        ("5 × 5 = 25",),
    )
    share = wilson(192, 200, nothing=NO_LABEL)
    yield PrintedClaim(
        "misgendering.agreement",
        MISGENDERING,
        Note(N_("Appendix G, agreement of two annotators")),
        "96%",
        f"192 / 200 [{share.low or 0:.3f}, {share.high or 0:.3f}]",
        None,
        Note(N_("The paper does not say whether the share is over two, three or four categories.")),
    )
    yield PrintedClaim(
        "misgendering.rates",
        MISGENDERING,
        Note(N_("Disagreement rates, all and xe")),
        "20.2%, 24.2%",
        "—",
        None,
        Note(N_("The paper does not say how the rates were averaged, and the outputs are not public.")),
    )


def _interval(row: Row, number: int) -> PrintedClaim:
    r, n = float(row["printed"]), int(row["n"])

    def ends(value: float) -> tuple[float, float]:
        reach = Z / math.sqrt(n - 3)
        return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)

    slack = half_unit(row["printed"])
    below, middle, above = ends(r - slack), ends(r), ends(r + slack)
    return PrintedClaim(
        f"misgendering.interval.{number}",
        MISGENDERING,
        Note(N_("95% interval of MCC {value}, {n} instances"), {"value": row["printed"], "n": n}),
        f"[{row['low']}, {row['high']}]",
        f"[{middle[0]:.4f}, {middle[1]:.4f}]",
        agrees(row["low"], below[0], above[0]) and agrees(row["high"], below[1], above[1]),
        None,
        (f"tanh(atanh({row['printed']}) ± 1.96 / √({n} - 3))",),
    )


def _kappa(row: Row, number: int) -> PrintedClaim:
    first, second = int(row["first"]), int(row["second"])
    halves = [_half_width(np.array(cells)) for cells in ([[0, 0], [first, second]], [[first, second]])]
    return PrintedClaim(
        f"misgendering.kappa.{number}",
        MISGENDERING,
        Note(N_("Table 4, kappa of 0.000, half-width of its interval")),
        row["high"],
        "—",
        False,
        Note(
            N_(
                "One of the two always gave the same answer, so kappa is 0 for any answers of the"
                " other and has no interval. A table with a single row gives the reported width;"
                " with both labels the formula gives a standard error of 0."
            )
        ),
        (f"2 × 2 [[0, 0], [{first}, {second}]]: ± {halves[0]:.6f}", f"1 × 2 [[{first}, {second}]]: ± {halves[1]:.6f}"),
    )


def _half_width(cells: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        return float(Z * cohens_kappa(cells).std_kappa)
