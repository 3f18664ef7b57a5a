"""The table of models, and single sentences, as HTML in which every text is escaped.

Each line of the table is a measure with its meaning and a cell per model, in the caller's order.

Models are neither ranked nor ordered by bias: less lean is not better (docs/methods.md#pair-and-context).
"""

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.core.errors import N_
from evenhand.core.language import Say, translate_stored
from evenhand.core.model_bias import Summary, in_ln
from evenhand.core.model_bias.summary import MissingValues
from evenhand.core.report.numbers import interval, percent, plain_number, probability, signed_number
from evenhand.core.sentence_bias.bias import LN10, SideMeans
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.estimate import note_text
from evenhand.core.types import TableRow

Asked = Callable[[Summary], Mapping[str, Estimate]]  # the numbers of a model by id (run.bias.*), of the catalogue
Paper = Mapping[str, float]  # bias_man, bias_woman, model_bias in ln, as Table 4 prints them


@dataclass(frozen=True, slots=True)
class BarPart:
    """A piece of a bar in a cell: its name, its share of 1, and the name of its colour."""

    name: str
    share: float
    colour: str  # male, female, none, pairs, widths, contexts


@dataclass(frozen=True, slots=True)
class Cell:
    """The content of a cell: the number, smaller lines below it, a bar, and the reason for a missing number.

    `quantity`: the id of the number in the catalogue; "" for several numbers.
    """

    text: str
    below: tuple[str, ...] = ()
    parts: tuple[BarPart, ...] = ()
    reason: str = ""
    quantity: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A measure: its name, its meaning in a sentence, a cell per model."""

    name: str
    meaning: str
    cells: tuple[Cell, ...]
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Lines that belong together, under a heading."""

    name: str
    lines: tuple[Line, ...] = field(default_factory=tuple)


def table_lines(
    summaries: Sequence[Summary],
    asked: Asked,
    *,
    corrected: Mapping[str, SideMeans],
    papers: Mapping[str, Paper],
    say: Say,
) -> list[Group]:
    """Return the whole table. Per model: *corrected* has the side means after prior correction, *papers* Table 4."""
    return [
        Group(say(N_("Bias")), _lean(summaries, asked, papers, say)),
        Group(say(N_("Confounds")), _mixed(summaries, asked, corrected, say)),
        Group(say(N_("Sentences")), _counts(summaries, say)),
    ]


def _lean(summaries: Sequence[Summary], asked: Asked, papers: Mapping[str, Paper], say: Say) -> tuple[Line, ...]:
    named = (
        ("bias_man", "Bias_man", N_("Mean Bias_c of the sentences that lean towards the male word.")),
        ("bias_woman", "Bias_woman", N_("Mean |Bias_c| of the sentences that lean towards the female word.")),
        (
            "model_bias",
            "Model_bias",
            N_(
                "The mean of Bias_man and Bias_woman. A smaller bias is not necessarily better:"
                " interpret it with the rows below."
            ),
        ),
    )
    lines = [
        Line(title, say(meaning), tuple(_both_bases(s, asked, name, papers, say) for s in summaries), strong=True)
        for name, title, meaning in named
    ]
    signed = tuple(_over_stems(s, asked, "signed_mean", say) for s in summaries)
    size = tuple(_number(asked(s), "mean_abs", say, ln=True) for s in summaries)
    lines.append(Line(say(N_("Signed mean")), say(N_("Mean Bias_c; above 0: towards the male word overall.")), signed))
    lines.append(Line(say(N_("Mean magnitude")), say(N_("Mean |Bias_c|, in either direction.")), size))
    meaning = N_("Sentences with |Bias_c| above 0.3 (log10): one word is at least twice as likely as the other.")
    lines.append(Line(say(N_("Obvious")), say(meaning), tuple(_obvious(s, say) for s in summaries)))
    meaning = N_(
        "Model_bias and mean magnitude after every |Bias_c| below 0.3 is set to 0. Model_bias rises;"
        " the mean magnitude falls."
    )
    lines.append(Line(say(N_("Small values set to 0")), say(meaning), tuple(_small(s, say) for s in summaries)))
    return tuple(lines)


def _mixed(
    summaries: Sequence[Summary], asked: Asked, corrected: Mapping[str, SideMeans], say: Say
) -> tuple[Line, ...]:
    after = N_(
        "Model_bias after the mean Bias_c of each word pair is subtracted: what remains is the effect of the contexts."
    )
    mass = N_("Median probability of both words together. Where it is small, the model prefers other words.")
    shares = N_("What explains the variance of Bias_c: word pair, number of masks, or context.")
    side = N_(
        "How well Bias_c predicts, within a pair, which word the source had. 0.5: chance level, the"
        " context is uninformative."
    )
    return (
        Line(say(N_("Prior-corrected")), say(after), tuple(_corrected(corrected.get(s.model), say) for s in summaries)),
        Line(say(N_("Pair mass")), say(mass), tuple(_mass(s, say) for s in summaries)),
        Line(say(N_("Variance")), say(shares), tuple(_shares(s, say) for s in summaries)),
        Line(say(N_("Side AUC")), say(side), tuple(_over_stems(s, asked, "side_auc", say) for s in summaries)),
    )


def _counts(summaries: Sequence[Summary], say: Say) -> tuple[Line, ...]:
    sides = say(N_("{man} lean towards the male word, {woman} towards the female word"))
    return (
        Line(
            say(N_("Sentences with a value")),
            say(N_("Finite Bias_c; all means are over these sentences.")),
            tuple(Cell(f"{s.n:,}", (sides.format(man=f"{s.n_man:,}", woman=f"{s.n_woman:,}"),)) for s in summaries),
        ),
        Line(
            say(N_("Excluded from the means")),
            say(N_("Undefined, infinite (one word has probability 0), or below the minimum pair mass.")),
            tuple(_left_out(s, say) for s in summaries),
        ),
        Line(
            say(N_("Bounds for missing values")),
            say(
                N_(
                    "Signed mean over all sentences if those without a value all leaned towards the female"
                    " word, or all towards the male word, with the model's largest |Bias_c|."
                )
            ),
            tuple(_bounds(s.missing, say) for s in summaries),
        ),
        Line(
            say(N_("Computation")),
            say(N_("The signature of the scores and the resampling method of the intervals.")),
            tuple(Cell("", (s.signature or "—", s.intervals)) for s in summaries),
        ),
    )


def _number(stated: Mapping[str, Estimate], name: str, say: Say, *, signed: bool = False, ln: bool = False) -> Cell:
    """Return the cell of a number by its id; *ln*: with its value in ln below."""
    id_ = f"run.bias.{name}"
    estimate = stated[id_]
    if estimate.value is None:
        return Cell("—", reason=note_text(estimate.reason, say), quantity=id_)
    write = signed_number if signed else plain_number
    spread = interval(estimate.low, estimate.high, signed=signed) or note_text(estimate.note, say)
    below = [spread] if spread else []
    if estimate.low is not None and estimate.note is not None:
        below.append(note_text(estimate.note, say))
    if ln:
        below.append(say(N_("ln: {number}")).format(number=write(in_ln(estimate).value)))
    return Cell(write(estimate.value), tuple(below), quantity=id_)


def _over_stems(summary: Summary, asked: Asked, name: str, say: Say) -> Cell:
    """Return a measure with its interval over stems, and below it the interval for these pairs only."""
    stated, fixed, signed = asked(summary), summary.fixed_pairs[name], name == "signed_mean"
    estimate, cell = stated[f"run.bias.{name}"], _number(stated, name, say, signed=signed, ln=signed)
    if estimate.value is None or fixed is estimate:
        return cell
    below = [say(N_("over {n} stems of word pairs")).format(n=estimate.units)] if estimate.low is not None else []
    if spread := interval(fixed.low, fixed.high, signed=signed):
        below.append(say(N_("these pairs only: {interval}")).format(interval=spread))
    return replace(cell, below=(*cell.below, *below))


def _both_bases(summary: Summary, asked: Asked, name: str, papers: Mapping[str, Paper], say: Say) -> Cell:
    cell = _number(asked(summary), name, say, ln=True)
    if (paper := papers.get(summary.model)) is None:
        return cell
    printed = say(N_("Table 4: {number} (ln)")).format(number=plain_number(paper[name], 4))
    return replace(cell, below=(*cell.below, printed))


def _obvious(summary: Summary, say: Say) -> Cell:
    if not summary.n:
        return Cell("—", reason=note_text(summary.signed_mean.reason, say))
    obvious, n = summary.obvious, summary.n
    parts = (
        BarPart(say(N_("female word")), obvious.female / n, "female"),
        BarPart(say(N_("neither")), obvious.none / n, "none"),
        BarPart(say(N_("male word")), obvious.male / n, "male"),
    )
    return Cell("", (f"◀ {obvious.female:,} · {obvious.none:,} · {obvious.male:,} ▶",), parts)


def _small(summary: Summary, say: Say) -> Cell:
    thresholded = summary.small_set_to_zero
    reason = say(N_("One side has no sentence with obvious bias.")) if thresholded.model_bias is None else ""
    return Cell(f"{plain_number(thresholded.model_bias)} · {plain_number(thresholded.mean_abs)}", reason=reason)


def _corrected(means: SideMeans | None, say: Say) -> Cell:
    if means is None or means.model_bias is None:
        return Cell("—", reason=say(N_("One side has no sentences after the correction.")))
    ln = say(N_("ln: {number}")).format(number=plain_number(means.model_bias * LN10))
    man, woman = f"Bias_man {plain_number(means.bias_man)}", f"Bias_woman {plain_number(means.bias_woman)}"
    return Cell(plain_number(means.model_bias), (ln, man, woman))


def _mass(summary: Summary, say: Say) -> Cell:
    mass = summary.pair_mass
    if mass.median is None:
        return Cell("—", reason=note_text(mass.reason, say))
    below = say(N_("below 1%: {share} of the sentences")).format(share=percent(mass.under_1_percent))
    return Cell(percent(mass.median), (below,))


def _shares(summary: Summary, say: Say) -> Cell:
    variance_shares = summary.variance_shares
    if variance_shares.widths is None or variance_shares.pairs is None or variance_shares.contexts is None:
        return Cell("—", reason=note_text(variance_shares.reason, say))
    named: tuple[tuple[str, float, str], ...] = (
        (say(N_("pairs")), variance_shares.pairs, "pairs"),
        (say(N_("masks")), variance_shares.widths, "widths"),
        (say(N_("contexts")), variance_shares.contexts, "contexts"),
    )
    words = tuple(f"{name} {percent(share)}" for name, share, _colour in named)
    return Cell("", words, tuple(BarPart(*row) for row in named))


def _left_out(summary: Summary, say: Say) -> Cell:
    whole = summary.undefined + summary.infinite + summary.left_out
    named: tuple[tuple[str, int], ...] = (
        (N_("undefined: {n}"), summary.undefined),
        (N_("infinite: {n}"), summary.infinite),
        (N_("small pair mass: {n}"), summary.left_out),
    )
    return Cell(f"{whole:,}", tuple(say(text).format(n=f"{n:,}") for text, n in named if n))


def _bounds(missing_values: MissingValues, say: Say) -> Cell:
    if not missing_values.missing + missing_values.infinite:
        return Cell("—", (say(N_("no value is missing")),))
    least, most = missing_values.male_share_if_female, missing_values.male_share_if_male
    low, high = missing_values.signed_mean_if_female, missing_values.signed_mean_if_male
    if low is None or high is None or least is None or most is None or missing_values.size is None:
        return Cell("—", reason=note_text(missing_values.reason, say))
    texts = (
        say(N_("{n} of {rows} sentences without a value")).format(
            n=f"{missing_values.missing:,}", rows=f"{missing_values.rows:,}"
        ),
        say(N_("each counts as {size}")).format(size=plain_number(missing_values.size)),
        say(N_("share towards the male word: {low} to {high}")).format(low=percent(least), high=percent(most)),
    )
    return Cell(f"{signed_number(low)} … {signed_number(high)}", texts)


def numbers(summary: Summary, asked: Asked, corrected: SideMeans | None, paper: Paper | None) -> TableRow:
    """Return one row of the table for a file: every measure with its interval in log10 and ln, and its signature."""
    row: TableRow = {"model": summary.model, "n": summary.n}
    stated = {id_.rpartition(".")[2]: estimate for id_, estimate in asked(summary).items()}
    for name in ("undefined", "infinite", "left_out", "n_man", "n_woman"):
        row[name] = getattr(summary, name)
    for name in ("bias_man", "bias_woman", "model_bias", "signed_mean", "mean_abs"):
        estimate = stated[name]
        row |= {f"{name}_log10": estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        row[f"{name}_ln"] = in_ln(estimate).value
    if paper:
        row |= {f"{name}_table4_ln": value for name, value in paper.items()}
    obvious = summary.obvious
    row |= {"obvious_male": obvious.male, "obvious_female": obvious.female, "obvious_none": obvious.none}
    row |= {"pair_mass_median": summary.pair_mass.median}
    row["pair_mass_under_1_percent"] = summary.pair_mass.under_1_percent
    row |= {f"variance_{name}": getattr(summary.variance_shares, name) for name in ("pairs", "widths", "contexts")}
    auc = stated["side_auc"]
    row |= {"side_auc": auc.value, "side_auc_low": auc.low, "side_auc_high": auc.high}
    missing = summary.missing
    row |= {"missing": missing.missing, "missing_size_log10": missing.size}
    row["signed_mean_if_missing_female"] = missing.signed_mean_if_female
    row["signed_mean_if_missing_male"] = missing.signed_mean_if_male
    for name, estimate in summary.fixed_pairs.items():
        row |= {f"{name}_fixed_pairs_low": estimate.low, f"{name}_fixed_pairs_high": estimate.high}
    row["corrected_model_bias_log10"] = corrected.model_bias if corrected else None
    row |= {"denominator": summary.denominator, "unit": summary.unit, "units": summary.units, "stems": summary.stems}
    row["intervals"] = " + ".join(
        dict.fromkeys(e.method for e in (stated["model_bias"], stated["signed_mean"], auc) if e.method)
    )
    return row | {"drawn": summary.intervals, "signature": summary.signature}


def table_html(
    models: Sequence[str],
    groups: Sequence[Group],
    *,
    corner: str,
    notes: Mapping[str, str],
    signatures: Mapping[str, str],
) -> str:
    """Return the table. *corner* is above the measures, *notes* are below model names; hovering shows *signatures*."""
    named = {
        model: f'<br><span class="models-note">{html.escape(note)}</span>' for model, note in notes.items() if note
    }
    heads = "".join(f'<th scope="col">{html.escape(model)}{named.get(model, "")}</th>' for model in models)
    rows = []
    for group in groups:
        name = f'<tr class="models-group"><th colspan="{len(models) + 1}" scope="rowgroup"><span>'
        rows.append(f"{name}{html.escape(group.name)}</span></th></tr>")
        rows += [_row(line, models, signatures) for line in group.lines]
    return (
        f'<div class="models-scroll" tabindex="0"><table class="models-table"><thead><tr><th scope="col">'
        f"<small>{html.escape(corner)}</small></th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(line: Line, models: Sequence[str], signatures: Mapping[str, str]) -> str:
    cells = "".join(_cell(cell, model, signatures) for model, cell in zip(models, line.cells, strict=True))
    head = f'<th scope="row">{html.escape(line.name)}<small>{html.escape(line.meaning)}</small></th>'
    return f"<tr{' class=models-strong' if line.strong else ''}>{head}{cells}</tr>"


def _cell(cell: Cell, model: str, signatures: Mapping[str, str]) -> str:
    number = f"<b>{html.escape(cell.text)}</b>" if cell.text else ""
    # A cell of small lines only says how something was made: long words without a place to break.
    kind = ' class="models-how"' if not cell.text and not cell.parts else ""
    below = "".join(f"<small{kind}>{html.escape(text)}</small>" for text in (*cell.below, cell.reason) if text)
    marked = f' data-quantity="{html.escape(f"{cell.quantity}:{model}")}"' if cell.quantity else ""
    return f'<td{marked} title="{html.escape(signatures.get(model, ""))}">{number}{_bar(cell.parts)}{below}</td>'


def _bar(parts: Sequence[BarPart]) -> str:
    if not parts:
        return ""
    text = ", ".join(f"{part.name} {100 * part.share:.1f}%" for part in parts)
    inner = "".join(f'<i class="{part.colour}" style="width:{100 * part.share:.2f}%"></i>' for part in parts)
    return f'<div class="models-bar" role="img" aria-label="{html.escape(text, quote=True)}">{inner}</div>'


def list_html(
    rows: Iterable[dict[str, Any]], *, say: Say, value: str = "bias_log10",
    links: Callable[[Mapping[str, Any]], str] = lambda row: "",
) -> str:  # fmt: skip
    """Return the rows of a score file as a list.

    *value* names the column of the large number; *links* gives the HTML of what a sentence leads to.
    """
    return f'<ul class="models-list">{"".join(_sentence(row, value, say, links(row)) for row in rows)}</ul>'


def _sentence(row: dict[str, Any], value: str, say: Say, links: str) -> str:
    number = row[value]
    colour, arrow = ("m", " ▶") if number > 0 else ("f", " ◀") if number < 0 else ("", "")
    male, _slash, female = str(row["pair"]).partition("/")
    facts = [
        f"ln {signed_number(row['bias_log10'] * LN10)}",
        f"p({html.escape(male)}) {probability(row['p_male'])}",
        f"p({html.escape(female)}) {probability(row['p_female'])}",
    ]
    if value != "bias_log10":
        facts.insert(0, f"Bias_c {signed_number(row['bias_log10'])}")
    if row["status"] != "ok":
        facts = [html.escape(translate_stored(str(row["status"]), say))]
    model = html.escape(str(row["model"]))
    signature = html.escape(f"{row['model']}: {row['signature']}", quote=True)
    text = " · ".join(f"<span>{fact}</span>" for fact in (*facts, model))
    below = f'<div class="models-links">{links}</div>' if links else ""
    return (
        f'<li><b class="{colour}" title="{signature}">{signed_number(number)}{arrow}</b><p>{marked(row)}</p>'
        f"<small>{text}</small>{below}</li>"
    )


def marked(row: dict[str, Any]) -> str:
    """Return the sentence as HTML with its keyword marked; the rest of the text is escaped."""
    text, start, end = str(row["sentence"]), row.get("start"), row.get("end")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(text):
        word = str(row["keyword"])
        start = text.find(word) if word else -1
        if start < 0:
            return html.escape(text)
        end = start + len(word)
    colour = {"male": "m", "female": "f"}.get(str(row.get("side")), "")
    word = f'<mark class="{colour}">{html.escape(text[start:end])}</mark>'
    return f"{html.escape(text[:start])}{word}{html.escape(text[end:])}"
