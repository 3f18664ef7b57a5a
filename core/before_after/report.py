"""The report of a comparison for an appendix: every figure with its interval, what was compared, what it rests on."""

from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from core.errors import N_

Say = Callable[[str], str]
DASH = "—"


def _same(text: str) -> str:
    return text


def short(model: str) -> str:
    """What a model is called in a table: its name, or the last part of its folder."""
    return PurePath(model).name if model.startswith(("/", ".", "~")) else model


def note_words(note: dict[str, Any], say: Say = _same) -> str:
    """A note of a record in words."""
    text, values = say(str(note["message"])), note.get("values") or {}
    return text.format(**values) if values else text


def interval(facts: dict[str, Any] | None, form: str = "+.3f", say: Say = _same) -> str:
    """A value with its interval, or a dash with the reason."""
    if not facts:
        return DASH
    why = note_words(facts["note"], say).rstrip(".。") if facts.get("note") else DASH
    if facts.get("value") is None:
        return f"{DASH} ({why})"
    value = format(facts["value"], form).replace("-", "−")
    if facts.get("low") is None:
        return f"{value} ({why})"
    low, high = (format(facts[end], form).replace("-", "−") for end in ("low", "high"))
    return f"{value} [{low}, {high}]"


def signed(value: float) -> str:
    """A number with its sign and two decimals."""
    return f"{value:+.2f}".replace("-", "−")


TITLE, CHANGE = N_("Before and after"), N_("Change of |Bias_c| (log10), below 0 leans less: {effect}.")
DATA = N_("Items: {name}, {number}. Intervals: {method}.")
APART = N_("Pairs left out of the swap ({pairs}): {left_out}. All others: {swapped}.")
MARGIN = N_("Margin: {margin} (log10).")
PAIRS, SIGNATURES, PAIR, ITEMS = N_("Word pairs"), N_("Signatures"), N_("word pair"), N_("items")
HEADS = (
    N_("model"), N_("role"), N_("items"), N_("size before"), N_("size after"), N_("change of size"),
    N_("shift to the male word"), N_("rise of held-out loss"), N_("change of first guesses"),
)  # fmt: skip
ROLES = {"after": N_("after"), "placebo": N_("placebo")}


def left_out_text(apart: dict[str, Any], say: Say = _same) -> str:
    """The effect on pairs that were not swapped in training, beside that on the others."""
    values = {"pairs": " ".join(apart["pairs"]), "left_out": interval(apart["left_out"], say=say)}
    return say(APART).format(**values, swapped=interval(apart["swapped"], say=say))


def appendix(record: dict[str, Any], say: Say = _same) -> str:
    """Markdown; figures are those of the record."""
    source, effect = record["source"], record["effect"]
    lines = [f"# {say(TITLE)}", "", f"**{say(record['verdict'])}**", ""]
    lines += [say(CHANGE).format(effect=interval(effect, say=say)), ""]
    lines += [f"- {note_words(note, say)}" for note in record["notes"]]
    values = {"name": source.get("name", ""), "number": f"{record['sentences']:,}"}
    lines += ["", say(DATA).format(**values, method=say(effect["method"]) if effect.get("method") else DASH), ""]
    lines += [f"| {' | '.join(map(say, HEADS))} |", "|" + "---|" * len(HEADS)]
    lines += [f"| {' | '.join(_row(one, say(name)))} |" for role, name in ROLES.items() for one in record[role]]
    if apart := record.get("left_out"):
        lines += ["", left_out_text(apart, say)]
    equivalent = record["equivalence"]
    if equivalent.get("margin"):
        lines += ["", say(MARGIN).format(margin=f"{equivalent['margin']:g}") + " " + note_words(record["remark"], say)]
    lines += ["", f"## {say(PAIRS)}", "", *_pairs(record, say), "", f"## {say(SIGNATURES)}", ""]
    lines += [f"- `{one['signature']}`" for one in record["models"]]
    lines += ["", ", ".join(f"{name} {version}" for name, version in record["versions"].items()), ""]
    return "\n".join(lines)


def _row(one: dict[str, Any], role: str) -> list[str]:
    cost = one.get("cost") or {}
    sizes = [DASH if one[time] is None else f"{one[time]:.3f}" for time in ("before", "after")]
    return [
        short(one["model"]), role, f"{one['items']:,}", *sizes, interval(one["size"]), interval(one["shift"]),
        interval(cost.get("rise")), interval(cost.get("guesses"), "+.2%"),
    ]  # fmt: skip


def _pairs(record: dict[str, Any], say: Say) -> list[str]:
    models = [one["model"] for one in record["models"]]
    heads = [say(PAIR), say(ITEMS), *map(short, models)]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for one in record["by_pair"]:
        means = [one["models"].get(model) for model in models]
        cells = [DASH if mean is None else format(mean["mean"], "+.3f").replace("-", "−") for mean in means]
        lines.append(f"| {one['pair']} | {one['items']:,} | {' | '.join(cells)} |")
    return lines
