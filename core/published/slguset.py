"""The printed numbers of the SlguSet conference paper, calculated again (docs/model_bias.md#published-numbers)."""

import math
from collections.abc import Iterator

from scipy import stats

from evenhand.core.errors import N_
from evenhand.core.published.claims import SLGUSET, PrintedClaim, agrees, half_unit
from evenhand.core.resources import table
from evenhand.core.sentence_bias.bias import LN10, check_printed
from evenhand.core.statistics import Note

Row = dict[str, str]
BASES = {"log10": 10.0, "ln": math.e, "log2": 2.0}
OBVIOUS_COUNTS = (7223, 6024, 6743)  # |Bias_c| < 0.3, > 0.3, < -0.3 of BERT-base (section 5.2)
SENTENCES = 20_000
CHILDREN = (78, 158, 238)  # case study of 男童/女童: male, female; rows of the released file with these words
READING = N_(
    "{reading}: mean |Bias_c| is {mean} in log10, so {normal} (half-normal) to {exponential} (exponential)"
    " lie below 0.3"
)
FIFTH_MALE = 2.425  # the fifth largest value of Table 5, log10


def slguset_claims() -> Iterator[PrintedClaim]:
    """Yield every checked claim of the paper, in its order."""
    yield _quotas()
    yield from (_model(row) for row in table("published_models"))
    yield _base_of_models()
    yield _larger_male_side()
    yield _counts()
    yield from (_row(row) for row in table("published_rows"))
    yield _base_of_rows()
    yield _children()
    yield PrintedClaim(
        "slguset.case.rows",
        SLGUSET,
        Note(N_("Case study, number of examples")),
        "6",
        "5",
        False,
        Note(N_("The text announces six sentences; each table shows five.")),
    )


def table4() -> dict[str, dict[str, float]]:
    """Return Table 4: {model on the hub: {bias_man, bias_woman, model_bias}}, in ln (see `_base_of_models`)."""
    names = ("bias_man", "bias_woman", "model_bias")
    return {row["name"]: {name: float(row[name]) for name in names} for row in table("published_models")}


def _quotas() -> PrintedClaim:
    rows = [row for row in table("pairs") if row["table1_quota"]]
    others = [row for row in table("pairs") if not row["table1_quota"]]
    quotas = [int(row["table1_quota"]) for row in rows]
    values: dict[str, object] = {
        "pairs": ", ".join(f"{row['male']}/{row['female']}" for row in others),
        "count": sum(int(row["released_male"]) + int(row["released_female"]) for row in others),
    }
    return PrintedClaim(
        "slguset.table1.sum",
        SLGUSET,
        Note(N_("Table 1, sum of the quotas")),
        f"{SENTENCES:,}",
        f"{sum(quotas):,}",
        sum(quotas) == SENTENCES,
        Note(N_("The table lacks {pairs}; the released file contains {count} sentences of them."), values),
        (f"{' + '.join(map(str, quotas))} = {sum(quotas):,}",),
    )


def _model(row: Row) -> PrintedClaim:
    man, woman, printed = (row[name] for name in ("bias_man", "bias_woman", "model_bias"))
    mean = (float(man) + float(woman)) / 2
    slack = (half_unit(man) + half_unit(woman)) / 2
    return PrintedClaim(
        f"slguset.table4.{row['paper_name']}",
        SLGUSET,
        Note(N_("Table 4, Model_bias of {model}"), {"model": row["paper_name"]}),
        printed,
        f"{mean:.5f}",
        agrees(printed, mean - slack, mean + slack),
        None,
        (f"({man} + {woman}) / 2 = {mean:.5f}",),
    )


def readings() -> dict[tuple[str, str], tuple[float, float, float]]:
    """Return for each reading of Table 4, (equation, base), the mean |Bias_c| in log10 and P(|Bias_c| < 0.3).

    The probability has two values: for a half-normal and for an exponential distribution.
    """
    result = {}
    model = table4()["bert-base-chinese"]["model_bias"]
    for equation, factor in (("side", 1), ("all", 2)):  # divided by all, the two sides add up to mean |Bias_c|
        for name, base in BASES.items():
            mean_abs = factor * model * math.log10(base)
            sigma = mean_abs * math.sqrt(math.pi / 2)  # of a half-normal distribution; the other is exponential
            shares = math.erf(0.3 / sigma / math.sqrt(2)), 1 - math.exp(-0.3 / mean_abs)
            result[equation, name] = (mean_abs, *shares)
    return result


def _base_of_models() -> PrintedClaim:
    share = OBVIOUS_COUNTS[0] / sum(OBVIOUS_COUNTS)
    lines: list[Note | str] = [Note(N_("Reported share with |Bias_c| < 0.3: {share}"), {"share": f"{share:.3f}"})]
    fitting = []
    for (equation, base), (mean_abs, normal, exponential) in readings().items():
        values = {"reading": f"{base}, {equation}", "mean": f"{mean_abs:.3f}"}
        lines.append(Note(READING, {**values, "normal": f"{normal:.3f}", "exponential": f"{exponential:.3f}"}))
        if normal <= share <= exponential:
            fitting.append(f"{base} ({equation})")
    sigma = table4()["bert-base-chinese"]["model_bias"] / LN10 * math.sqrt(math.pi / 2)
    fifth = sigma * float(stats.norm.isf(5 / (SENTENCES / 2) / 2))
    predicted = {"fifth": f"{fifth:.2f}", "printed": f"{FIFTH_MALE:.3f}"}
    lines.append(
        Note(
            N_("In ln, a half-normal predicts {fifth} for the fifth largest value; the paper reports {printed}."),
            predicted,
        )
    )
    return PrintedClaim(
        "slguset.table4.base",
        SLGUSET,
        Note(N_("Table 4, base of the logarithm")),
        "—",
        ", ".join(fitting),
        None,
        Note(
            N_(
                "Not stated. Only one reading agrees with the reported share of small values: natural"
                " logarithms, with each side divided by its own number of sentences. This is an inference,"
                " not a proof."
            )
        ),
        tuple(lines),
    )


def _larger_male_side() -> PrintedClaim:
    rows = table("published_models")
    larger = [row["paper_name"] for row in rows if float(row["bias_man"]) > float(row["bias_woman"])]
    return PrintedClaim(
        "slguset.table4.sides",
        SLGUSET,
        Note(N_("Table 4, the two sides of BERT-wwm-ext")),
        Note(N_("very close")).message,
        "1.4367 > 1.4353",
        True,
        Note(
            N_("True; it is also the only model whose male side is larger: {models}."),
            {"models": ", ".join(larger)},
        ),
        tuple(f"{row['paper_name']}: {row['bias_man']}, {row['bias_woman']}" for row in rows),
    )


def _counts() -> PrintedClaim:
    total = sum(OBVIOUS_COUNTS)
    return PrintedClaim(
        "slguset.obvious.sum",
        SLGUSET,
        Note(N_("Section 5.2, three counts of obvious bias")),
        f"{SENTENCES:,}",
        f"{total:,}",
        total == SENTENCES,
        Note(
            N_("{missing} sentences are missing; values of exactly 0.3 may have been dropped."),
            {"missing": SENTENCES - total},
        ),
        (f"{' + '.join(f'{count:,}' for count in OBVIOUS_COUNTS)} = {total:,}",),
    )


def _digits(printed: str) -> int:
    return len(printed.lower().partition("e")[0].replace(".", "").lstrip("0"))


def _row(row: Row) -> PrintedClaim:
    man, woman, printed = row["p_man"], row["p_woman"], row["printed"]
    printed_check = check_printed(float(man), float(woman), float(printed), digits=_digits(man))
    remark = None
    if not printed_check.consistent:
        values = {"p_man": f"{printed_check.needed_p_male:.3e}", "p_woman": f"{printed_check.needed_p_female:.3e}"}
        remark = Note(N_("p_man = {p_man} or p_woman = {p_woman} would give the reported value."), values)
    ranges = {"low": f"{printed_check.low:.4f}", "high": f"{printed_check.high:.4f}"}
    others = ", ".join(
        f"{base} {printed_check.calculated * LN10 / math.log(BASES[base]):.4f}" for base in ("ln", "log2")
    )
    return PrintedClaim(
        f"slguset.table{row['table']}.{row['row']}",
        SLGUSET,
        Note(N_("Table {table}, row {row}, Bias_c"), {"table": row["table"], "row": row["row"]}),
        printed,
        f"{printed_check.calculated:.4f}",
        printed_check.consistent,
        remark,
        (
            f"log10({man} / {woman}) = {printed_check.calculated:.4f}",
            Note(N_("Rounding of the probabilities allows {low} to {high}."), ranges),
            others,
        ),
    )


def _base_of_rows() -> PrintedClaim:
    fits = {
        name: sum(
            check_printed(float(r["p_man"]), float(r["p_woman"]), float(r["printed"]), base=base).consistent
            for r in table("published_rows")
        )
        for name, base in BASES.items()
    }
    best = max(fits, key=lambda name: fits[name])
    return PrintedClaim(
        "slguset.rows.base",
        SLGUSET,
        Note(N_("Tables 5, 6, 8, 9, base of the logarithm")),
        "—",
        best,
        None,
        Note(
            N_("Not stated, but the reported probabilities determine it: {rows} of 20 rows fit log10."),
            {"rows": fits[best]},
        ),
        tuple(f"{name}: {count} / {len(table('published_rows'))}" for name, count in fits.items()),
    )


def _children() -> PrintedClaim:
    male, female, released = CHILDREN
    return PrintedClaim(
        "slguset.case.sum",
        SLGUSET,
        Note(N_("Case study 男童/女童, sentences of both signs")),
        f"{male} + {female}",
        f"{released}",
        male + female == released,
        Note(
            N_(
                "The second number is counted in the released file, so the released file is not the set that was"
                " scored."
            )
        ),
        (f"{male} + {female} = {male + female}",),
    )
