"""Compare several models: differences of two with their margins, and means over the seeds of one; for page and report.

Also topic words (Table 7 of the paper): both sides of a model by both methods, as a table.
"""

import html
from collections.abc import Mapping, Sequence
from itertools import combinations

import pandas as pd

from evenhand.core.errors import N_
from evenhand.core.language import Say
from evenhand.core.model_bias import Groups, Summary, grouping, over_seeds, paired_differences, unit_of
from evenhand.core.model_bias.compare_models import against_margins
from evenhand.core.model_bias.topic_words import topic_words
from evenhand.core.report.numbers import DASH, interval, plain_number, signed_number
from evenhand.core.sentence_bias.bias import OBVIOUS, Denominator
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import (
    ANSWERS,
    MARGINS,
    NO_MARGIN,
    SCALES,
    Margins,
    Scale,
)
from evenhand.core.statistics.estimate import note_text

NAMES = {
    "bias_man": "Bias_man",
    "bias_woman": "Bias_woman",
    "model_bias": "Model_bias",
    "signed_mean": N_("Signed mean"),
    "mean_abs": N_("Mean magnitude"),
    "side_auc": N_("Side AUC"),
}
TITLE = N_("{a} − {b}, on the sentences both models scored")
NO_OTHER = N_("All models are seeds of one model, so there are no two models to compare.")
HOW = N_(
    "log10 (AUC: 0 to 1). Intervals over {n} stems of word pairs, treated as independent. Against"
    " the margin: two one-sided tests (the 90% interval lies inside the margin). Minimum detectable"
    " difference: approximate, at 80% power (two-sided, 0.05)."
)


def default_margins() -> dict[Scale, float | None]:
    """Return the margins of the scales on which models are compared."""
    return {scale: MARGINS[scale] for scale in ("log10", "auc")}


def rows_of_differences(found: Mapping[str, Estimate], margins: Margins, say: Say) -> list[dict[str, str]]:
    """Return a row per measure: difference, interval, answer of the tests, minimum detectable difference."""
    tested = against_margins(found, margins)
    return [
        {
            say(N_("measure")): say(NAMES[name]),
            say(N_("difference")): signed_number(estimate.value),
            say(N_("95% interval")): interval(estimate.low, estimate.high, signed=True) or DASH,
            say(N_("against the margin")): say(ANSWERS[tested[name].answer]),
            say(N_("minimum detectable difference")): plain_number(tested[name].smallest),
        }
        for name, estimate in found.items()
    ]


def margins_say(margins: Margins, say: Say) -> str:
    """Write the margin of each scale and mark defaults, as in: Margins: 0.1 (log10, default); none (AUC, 0 to 1)."""
    written = []
    for scale, margin in margins.items():
        name = say(SCALES[scale])
        name = say(N_("{scale}, default")).format(scale=name) if margin and margin == MARGINS[scale] else name
        text = say(N_("{margin} ({scale})") if margin else N_("none ({scale})"))
        written.append(text.format(margin=f"{margin or 0:g}", scale=name))
    return say(N_("Margins: {margins}.")).format(margins=say(N_("; ")).join(written))


def reading(found: Mapping[str, Estimate], margins: Margins, say: Say) -> list[str]:
    """Return the notes below the table: scale, units, tests, margins, and why an interval or an answer is missing."""
    units = max((estimate.units for estimate in found.values()), default=0)
    lines = [f"{say(HOW).format(n=f'{units:,}')} {margins_say(margins, say)}"]
    reasons = [estimate.reason or estimate.note for estimate in found.values() if estimate.low is None]
    reasons += [] if all(margins.values()) else [NO_MARGIN]
    return lines + [f"{DASH} {text}" for text in dict.fromkeys(note_text(reason, say) for reason in reasons)]


def differences_html(
    frame: pd.DataFrame,
    models: Sequence[str],
    *,
    groups: Groups,
    margins: Margins,
    denominator: Denominator,
    say: Say,
) -> str:
    """Return a table for every two models of *frame*, except seeds of one model, then the notes; text is escaped."""
    parts: list[str] = []
    notes: dict[str, None] = {}
    for a, b in combinations(models, 2):
        if unit_of(a, groups) == unit_of(b, groups):
            continue
        differences = paired_differences(frame, a, b, denominator=denominator)
        title = html.escape(say(TITLE).format(a=a, b=b))
        parts.append(f"<h3>{title}</h3>{_table(rows_of_differences(differences, margins, say))}")
        notes |= dict.fromkeys(reading(differences, margins, say))
    notes |= {} if parts else {say(NO_OTHER): None}
    return "".join([*parts, *(f"<p class=note>{html.escape(note)}</p>" for note in notes)])


def rows_over_seeds(seeds: Sequence[Summary], say: Say) -> list[dict[str, str]]:
    """Return a row per measure: its mean over the seeds of a model, with a t interval over these."""
    return [
        {
            say(N_("measure")): say(NAMES[name]),
            say(N_("mean over seeds")): plain_number(over_seed.value),
            say(N_("95% interval")): interval(over_seed.low, over_seed.high)
            or note_text(over_seed.note or over_seed.reason, say)
            or DASH,
        }
        for name, over_seed in over_seeds(seeds).items()
    ]


def seeds_html(found: Mapping[str, Summary], groups: Groups, say: Say) -> str:
    """Return the grouping in words, then the means of each model over its seeds; text is escaped."""
    parts = [f"<p class=note>{html.escape(note_text(grouping(groups), say))}</p>"]
    for name, seeds in groups.items():
        parts.append(f"<h3>{html.escape(name)}</h3>{_table(rows_over_seeds([found[seed] for seed in seeds], say))}")
    return "".join(parts)


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in rows[0])
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row.values()) + "</tr>" for row in rows
    )
    return f'<table class="words"><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>'


METHODS = {"tfidf": "TF-IDF", "textrank": "TextRank"}


def words_of(rows: pd.DataFrame, *, top: int = 5, value: str = "bias_log10") -> pd.DataFrame:
    """Return `topic_words` of the obviously leaning sentences of one model, with shuffling within keyword pairs."""
    male, female = rows[rows[value] > OBVIOUS], rows[rows[value] < -OBVIOUS]
    return topic_words(
        male["sentence"].tolist(),
        female["sentence"].tolist(),
        keywords=[word for pair in rows["pair"].drop_duplicates() for word in pair.split("/")],
        top=top,
        strata=(male["pair"].tolist(), female["pair"].tolist()),
    )


def words_html(rows: pd.DataFrame, model: str, say: Say) -> str:
    """Return a table of one model: a line per side and method; an asterisk marks contrasts that stay after Holm."""
    found = words_of(rows)
    head = f"<h3>{html.escape(model)}</h3>"
    if found.empty:
        nothing = say(N_("No sentence leans obviously either way."))
        return f"{head}<p class=note>{html.escape(nothing)}</p>"
    sides = {"female": say(N_("female word")), "male": say(N_("male word"))}
    lines = []
    for side, name in sides.items():
        for method, title in METHODS.items():
            some = found[(found["side"] == side) & (found["method"] == method)]
            words = "、".join(
                word + (" *" if stays else "") for word, stays in zip(some["word"], some["stays"], strict=True)
            )
            cells = "".join(f"<td>{html.escape(text)}</td>" for text in (title, words or "—"))
            lines.append(f'<tr><th scope="row" class="models-side {side[0]}">{html.escape(name)}</th>{cells}</tr>')
    return f'{head}<table class="words">{"".join(lines)}</table>'
