"""A concordance in sentences with {named} values, as JSON, and its lines as rows of a file."""

import csv
import io
import math
import re
from collections.abc import Iterable

from evenhand.core.concordance.counting import Concordance, Line, Passage, Question, concordance
from evenhand.core.concordance.odds import Contrast
from evenhand.core.errors import N_
from evenhand.core.files.csv_out import neutralised
from evenhand.core.language import columns_wide
from evenhand.core.statistics import Estimate, Note
from evenhand.core.types import JsonObject

MOST = 1000.0  # a ratio beyond it is only "more than"


def ratio(value: float | None) -> str:
    """Return a ratio for people: 2.3, 0.42, 18; above 1000 as > 1,000; a dash where undefined."""
    if value is None:
        return "—"
    if value > MOST:
        return f"> {MOST:,.0f}"
    if value and value < 1 / MOST:
        return f"< {1 / MOST:.3f}"
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def differs(estimate: Estimate, neutral: float) -> bool:
    """Check whether the 95% interval excludes *neutral*."""
    if estimate.low is None:
        return False
    return estimate.low > neutral or (estimate.high is not None and estimate.high < neutral)


def near_says(answer: Concordance, number: int) -> Note:
    """Describe one near word against sentences without the word: 2.3 times as often near 她 as elsewhere."""
    one = answer.near[number]
    values = {"word": answer.question.word, "near": answer.question.near[number]}
    values |= {"count": f"{one.counts[0]:,}", "sentences": f"{one.counts[0] + one.counts[1]:,}"}
    if one.times.value is None:
        message = N_("{word} occurs near {near} in {count} of {sentences} sentences.")
        return Note(message, values)
    values |= {"times": ratio(one.times.value), "low": ratio(one.times.low), "high": ratio(one.times.high)}
    if one.times.low is None:
        message = N_(
            "Sentences with {word} contain {near} {times} times as often as sentences without it (no interval)."
        )
    elif differs(one.times, 1.0):
        message = N_(
            "Sentences with {word} contain {near} {times} times as often as sentences without it (95%"
            " interval: {low} to {high})."
        )
    else:
        message = N_(
            "{word} occurs near {near} in {count} of {sentences} sentences: no clear difference from other"
            " sentences ({times} times as often, 95% interval: {low} to {high})."
        )
    return Note(message, values)


def contrast_says(answer: Concordance) -> Note | None:
    """Compare the two near words in a sentence; None without a contrast of two words."""
    one = answer.contrast
    if one is None:
        return None
    first, second = answer.question.near
    odds = one.log_odds
    values = {"word": answer.question.word, "first": first, "second": second}
    if odds.value is None:
        message = N_("{first} against {second}: too few sentences to compare.")
        return Note(message, values)
    if odds.low is None or odds.high is None or not differs(odds, 0.0):
        message = N_("{first} against {second}: no clear difference near {word} from the rest of the text.")
        return Note(message, values)
    more, less = (first, second) if odds.value > 0 else (second, first)
    ends = sorted(math.exp(abs(end)) for end in (odds.low, odds.high))
    values |= {"more": more, "less": less, "times": ratio(math.exp(abs(odds.value)))}
    values |= {"low": ratio(ends[0]), "high": ratio(ends[1])}
    message = N_(
        "Near {word}, the odds of {more} against {less} are {times} times those in the rest of the text"
        " (95% interval: {low} to {high})."
    )
    return Note(message, values)


def as_json(answer: Concordance) -> JsonObject:
    """Return the counts and contrasts as one JSON object; an undefined one is null, its reason in `<key>_reason`."""
    question = answer.question
    near = [_contrast(contrast) | {"word": word} for word, contrast in zip(question.near, answer.near, strict=True)]
    pair = None
    if answer.contrast is not None:
        pair = {"first": question.near[0], "second": question.near[1], "is_pair": question.is_pair} | _contrast(
            answer.contrast
        )
    names = ("occurrences", "sentences_with", "sentences", "documents", "characters", "unit", "both", "signature")
    return {"word": question.word, "near": near, "contrast": pair} | {name: getattr(answer, name) for name in names}


def _contrast(one: Contrast) -> JsonObject:
    names = ("with_near", "with_only", "near_only", "neither")
    row: JsonObject = dict(zip(names, one.counts, strict=True))
    row |= {"share": one.share, "share_elsewhere": one.share_elsewhere}
    for name, share in (("share", one.share), ("share_elsewhere", one.share_elsewhere)):
        if share is None:
            row[f"{name}_reason"] = str(one.log_odds.reason)
    for name, estimate in (("log_odds", one.log_odds), ("times", one.times)):
        row |= estimate.under(name, "units")
    return row | {"corrected": one.corrected}


COLUMNS = ("document", "place", "left", "word", "right", "near")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def row(line: Line, asked: Question) -> tuple[str, int, str, str, str, str]:
    """Return one line as cells in the order of COLUMNS; near words keep their order and are joined by spaces."""
    left, word, right = line.parts
    near = " ".join(line.sentence[start:end] for start, end, _ in line.near)
    return line.document, line.place, left, word, right, near


def lines_csv(texts: Iterable[Passage], question: Question) -> str:
    """Return every line of *texts* as CSV with COLUMNS; no cell is run by a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)

    def write(line: Line) -> None:
        writer.writerow([neutralised(str(cell)) for cell in row(line, question)])

    concordance(texts, question, on_line=write, listed=0)
    return text.getvalue()


def terminal_line(line: Line, width: int) -> str:
    """Return one line with the word in the middle of *width* columns, without control characters of a terminal."""
    left, word, right = (CONTROL.sub(" ", part) for part in line.parts)
    room = max(4, (width - columns_wide(word) - 4) // 2)
    while columns_wide(left) > room:
        left = left[1:]
    while columns_wide(right) > room:
        right = right[:-1]
    return " " * (room - columns_wide(left)) + f"{left} [{word}] {right}"
