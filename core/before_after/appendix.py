"""The report of a comparison for an appendix: every figure with its interval, the compared items, their basis."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TypeVar

from evenhand.core.before_after.report import ChangedModel, LeftOut, ModelsReport, RunsReport
from evenhand.core.errors import N_
from evenhand.core.language import Say, same
from evenhand.core.report.numbers import plain_number
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.estimate import note_text

Cell = TypeVar("Cell", bound=str)
DASH = "—"


def short(model: str) -> str:
    """Return the name of a model in a table: its name, or the last part of its folder."""
    return PurePath(model).name if model.startswith(("/", ".", "~")) else model


def parts(estimate: Estimate | None, form: str = "+z.3f", say: Say = same) -> tuple[str, str]:
    """Return a value with its interval, and separately why one of them is missing ("" if none is)."""
    if estimate is None:
        return DASH, ""
    why = estimate.reason or estimate.note if estimate.value is None or estimate.low is None else None
    value = DASH if estimate.value is None else estimate.text(form).replace("-", "−")
    return value, note_text(why, say)


def interval(estimate: Estimate | None, form: str = "+z.3f", say: Say = same) -> str:
    """Return a value with its interval; where one is missing, the reason in brackets."""
    value, why = parts(estimate, form, say)
    return f"{value} ({why.rstrip('.。')})" if why else value


def signed(value: float) -> str:
    """Return a number with its sign and two decimals."""
    return f"{value:+z.2f}".replace("-", "−")


CAPTION = N_(
    "Magnitude: the mean of |Bias_c| (log10). Change in magnitude below 0: leans less. Shift above 0: towards the male"
    " word. Increase in loss above 0: predicts less well (mean −ln p of a token of held-out text). Top-1 accuracy:"
    " percentage points. In brackets: 95% intervals, over word stems for items and over texts for losses."
)
WHO = N_("Before: {before}. Models after: {after}, placebos: {placebos}.")
OVER_SEEDS = N_("The change is the mean over the models after minus the mean over the placebos; the unit is the seed.")
OVER_SEEDS_ALONE = N_("The change is the mean over the models after; the unit is the seed.")
HELD_OUT = N_("Held-out text: {name}, {texts} texts, {tokens} tokens; perplexity before {perplexity}.")
CANNOT, MEANS = N_("What the verdict cannot rule out:"), N_("Mean Bias_c (log10), above 0 towards the male word.")
MADE, WAYS = N_("Created {created} (UTC)."), N_("How the models were made")
TITLE, CHANGE = N_("Before and after"), N_("Change in |Bias_c| (log10; below 0: leans less): {effect}.")
DATA = N_("Items: {name}, {number}. Intervals: {method}.")
APART = N_("Pairs left out of the swap ({pairs}): {left_out}. All others: {swapped}.")
MARGIN = N_("Margin: {margin} (log10).")
PAIRS, SIGNATURES, PAIR, ITEMS = N_("Word pairs"), N_("Signatures"), N_("word pair"), N_("items")
HEADS = (
    N_("model"), N_("role"), N_("items"), N_("magnitude before"), N_("magnitude after"), N_("change in magnitude"),
    N_("shift towards the male word"), N_("increase in held-out loss"), N_("change in top-1 accuracy"),
)  # fmt: skip
ROLES = {"after": N_("after"), "placebo": N_("placebo")}


def left_out_text(apart: LeftOut, say: Say = same) -> str:
    """Write the effect on pairs that were not swapped in training, and the effect on the others."""
    effects = {"left_out": interval(apart.left_out, say=say), "swapped": interval(apart.swapped, say=say)}
    return say(APART).format(pairs=" ".join(apart.pairs), **effects)


def appendix(report: ModelsReport, say: Say = same) -> str:
    """Write a comparison as Markdown, with the figures of the report."""
    lines = [f"# {say(TITLE)}", "", f"**{say(report.outcome)}**", ""]
    lines += [say(CHANGE).format(effect=interval(report.effect, say=say)), "", *_setting(report, say), ""]
    lines += _doubts(report.notes, say)
    changed = [
        *((ROLES["after"], model) for model in report.after),
        *((ROLES["placebo"], model) for model in report.placebo),
    ]
    lines += [*_table(map(say, HEADS), [_row(model, say(role), say) for role, model in changed]), "", say(CAPTION)]
    lines += ["", left_out_text(report.left_out, say)] if report.left_out else []
    if report.margin:
        lines += ["", f"{say(MARGIN).format(margin=format(report.margin, 'g'))} {note_text(report.remark, say)}"]
    ways = [f"- {short(model.model)}: {model.way}" for _, model in changed if model.way]
    lines += ["", f"## {say(WAYS)}", "", *ways] if ways else []
    lines += ["", f"## {say(PAIRS)}", "", say(MEANS), "", *_pairs(report, say)]
    return "\n".join([*lines, *_end(report, say)])


def _end(report: ModelsReport | RunsReport, say: Say) -> list[str]:
    """Return lines with the signature of each model, and the versions."""
    signatures = [f"- `{model.signature or model.table}`" for model in report.models]
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return ["", f"## {say(SIGNATURES)}", "", *signatures, "", versions, ""]


def _setting(report: ModelsReport, say: Say) -> list[str]:
    """Return lines, one sentence each: the models, the items and texts, how the change is averaged, and the time."""
    source, effect, after, placebo = report.source, report.effect, report.after, report.placebo
    lines = [say(WHO).format(before=short(report.before.model), after=len(after), placebos=len(placebo))]
    method = say(effect.method) if effect.method else DASH
    lines.append(say(DATA).format(name=source.get("name", ""), number=f"{report.sentences:,}", method=method))
    if source.get("sha256"):
        lines.append(f"SHA-256: `{source['sha256']}`.")
    if len(after) > 1:
        lines.append(say(OVER_SEEDS if placebo else OVER_SEEDS_ALONE))
    if (cost := after[0].cost) and report.text:
        texts = {"name": report.text["name"], "texts": f"{cost.texts:,}", "tokens": f"{cost.tokens:,}"}
        lines.append(say(HELD_OUT).format(**texts, perplexity=f"{cost.before_perplexity:.1f}"))
    if report.created:
        lines.append(say(MADE).format(created=report.created[:16].replace("T", " ")))
    return [f"- {line}" for line in lines]


def _doubts(notes: Iterable[Note], say: Say) -> list[str]:
    lines = [f"- {note_text(note, say)}" for note in notes]
    return [say(CANNOT), "", *lines, ""] if lines else []


def changed_row(
    model: ChangedModel, cell: Callable[[str, Estimate | None, str], Cell]
) -> tuple[str | Cell, ...]:  # fmt: skip
    """Return the numbers of a model after or a placebo, named as in HEADS; *cell* writes a named estimate in a form."""
    rise, guesses = (model.cost.rise, in_points(model.cost.guesses)) if model.cost else (None, None)
    sizes = (DASH if size is None else f"{size:.3f}" for size in (model.before, model.after))
    changes = {"magnitude": model.size, "shift": model.shift, "loss": rise, "accuracy": guesses}
    cells = (cell(name, one, "+z.2f" if name == "accuracy" else "+z.3f") for name, one in changes.items())
    return f"{model.items:,}", *sizes, *cells


def in_points(share: Estimate) -> Estimate:
    """Return a difference of shares in percentage points."""
    points = {end: 100 * value for end in ("value", "low", "high") if (value := getattr(share, end)) is not None}
    return replace(share, **points)


def _row(model: ChangedModel, role: str, say: Say) -> list[str]:
    return [short(model.model), role, *changed_row(model, lambda _, one, form: interval(one, form, say))]


def _pairs(report: ModelsReport, say: Say) -> list[str]:
    models = [model.model for model in report.models]
    rows = []
    for pair in report.by_pair:
        means = (pair.models.get(model) for model in models)
        cells = (DASH if mean is None else f"{mean['mean']:+z.3f}".replace("-", "−") for mean in means)
        rows.append([pair.pair, f"{pair.items:,}", *cells])
    return _table([say(PAIR), say(ITEMS), *map(short, models)], rows)


BESIDE, BESIDE_SEEDS, UNIT = (
    N_("{items} items that both runs answered; before: {before}, after: {after}."),
    N_("{items} items that all runs answered; before: {before}, after: {after}; placebos: {placebos}."),
    N_("Intervals: t over {unit}."),
)
MEASURES = (N_("measure"), N_("items"), N_("before"), N_("after"), N_("change"))
SHARES = (N_("what is right"), N_("in both"), N_("only before"), N_("only after"), N_("in neither"))
UNITS = {
    "profession × word": N_("professions and person words"), "occupation": N_("occupations"), "row": N_("rows"),
    "template × name": N_("templates and names"), "template": N_("templates"), "name": N_("names"),
    "instance": N_("instances"), "seed": N_("seeds"), "context": N_("templates, or contexts without one"),
}  # fmt: skip


def data_text(report: RunsReport, say: Say = same) -> str:
    """Return a sentence on the data of the models, as far as the runs record it."""
    name = report.source.get("name") or report.before.table
    known = report.source.get("sha256") or report.source.get("signature")
    return say(DATA_OF).format(name=name, digest=known) if known else say(DATA_NAMED).format(name=name)


def unit_text(report: RunsReport, say: Say = same) -> str:
    """Return text on the units over which a comparison of runs has its intervals."""
    text = say(UNIT).format(unit=say(UNITS.get(report.unit, report.unit)))
    if report.unit != "seed":
        return text
    return f"{say(OVER_SEEDS if report.placebos else OVER_SEEDS_ALONE)} {text}"


def beside_text(report: RunsReport, say: Say = same) -> str:
    """Return a sentence with the number of items that the runs share, and the models."""
    sides = {"before": report.before, "after": report.after}
    names = {time: short(side.model) for time, side in sides.items()}
    if names["before"] == names["after"]:  # one model, asked in two ways
        names = {time: f"{name} ({PurePath(sides[time].table).stem})" for time, name in names.items()}
    items = f"{report.items:,}"
    if report.kind == "people":
        numbers = {"contexts": f"{report.contexts:,}", "annotators": f"{report.annotators:,}"}
        return say(BY_PEOPLE).format(items=items, **numbers, **names)
    if len(report.models) > 2:
        after, placebos = (", ".join(short(side.model) for side in some) for some in (report.afters, report.placebos))
        names |= {"after": after, "placebos": placebos or DASH}
        return say(BESIDE_SEEDS).format(items=items, **names)
    return say(BESIDE).format(items=items, **names)


def measure_rows(report: RunsReport, say: Say = same) -> list[list[str]]:
    """Return the measures of two runs, the one of the verdict first: name, items, before, after, change."""
    return [
        [" · ".join(map(say, measure.label)), f"{measure.items:,}", plain_number(measure.before),
         plain_number(measure.after), interval(measure.change, say=say)]
        for measure in report.measures
    ]  # fmt: skip


def share_rows(report: RunsReport, say: Say = same) -> list[list[str]]:
    """Return the right and wrong answers of the same items in two runs."""
    return [
        [" · ".join(filter(None, [say(share.label), share.model])),
         *(f"{count:,}" for count in (share.both, share.only_before, share.only_after, share.neither))]
        for share in report.shares
    ]  # fmt: skip


def runs_appendix(report: RunsReport, say: Say = same) -> str:
    """Write the report of two runs as Markdown, with the figures of the report."""
    lines = [f"# {say(TITLE)}", "", f"**{say(report.verdict)}**", "", beside_text(report, say), ""]
    lines += [*_doubts(report.notes, say), *_table(map(say, MEASURES), measure_rows(report, say)), ""]
    lines += [unit_text(report, say), "", data_text(report, say)]
    if rows := share_rows(report, say):
        lines += ["", *_table(map(say, SHARES), rows)]
    if report.margin:
        lines += ["", f"{say(MARGIN_OF).format(margin=format(report.margin, 'g'))} {note_text(report.remark, say)}"]
    return "\n".join([*lines, *_end(report, say)])


BY_PEOPLE = N_(
    "{items} generations from {contexts} templates or contexts, judged blind to the model (annotators:"
    " {annotators}); before: {before}, after: {after}."
)
DATA_OF = N_("Data: {name} (SHA-256 or signature: {digest}).")
DATA_NAMED = N_("Data: {name}.")
MARGIN_OF = N_("Margin: {margin}.")


def _table(heads: Iterable[str], rows: Iterable[Sequence[str]]) -> list[str]:
    names = list(heads)
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(names)} |", "|" + "---|" * len(names), *(f"| {' | '.join(row)} |" for row in cells)]
