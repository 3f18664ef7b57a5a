"""The report of a comparison for an appendix: every figure with its interval, what was compared, what it rests on."""

from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from evenhand.core.errors import N_

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


def interval(facts: dict[str, Any] | None, form: str = "+z.3f", say: Say = _same) -> str:
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


def parts(facts: dict[str, Any] | None, form: str = "+z.3f", say: Say = _same) -> tuple[str, str]:
    """A value with its interval as in `interval`, and apart from it why one of them is missing ("" where none is)."""
    if not facts or not facts.get("note"):
        return interval(facts, form, say), ""
    value = DASH if facts.get("value") is None else format(facts["value"], form).replace("-", "−")
    bare = interval({**facts, "note": None}, form, say) if facts.get("low") is not None else value
    return bare, "" if facts.get("low") is not None else note_words(facts["note"], say)


def signed(value: float) -> str:
    """A number with its sign and two decimals."""
    return f"{value:+z.2f}".replace("-", "−")


CAPTION = N_(
    "Magnitude: the mean of |Bias_c| (log10). Change in magnitude below 0: leans less. Shift above 0: towards the male"
    " word. Increase in loss above 0: predicts less well (mean −ln p of a token of held-out text). Top-1 accuracy:"
    " percentage points. In brackets: 95% intervals, over word stems for items and over texts for losses."
)
WHO = N_("Before: {before}. Models after: {after}, placebos: {placebos}.")
OVER_SEEDS = N_("The change is the mean over the models after, less that over the placebos; the unit is the seed.")
OVER_SEEDS_ALONE = N_("The change is the mean over the models after; the unit is the seed.")
HELD_OUT = N_("Held-out text: {name}, {texts} texts, {tokens} tokens; perplexity before {perplexity}.")
CANNOT, MEANS = N_("What the verdict cannot rule out:"), N_("Mean Bias_c (log10), above 0 towards the male word.")
MADE, WAYS = N_("Made {created} (UTC)."), N_("How the models were made")
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


def left_out_text(apart: dict[str, Any], say: Say = _same) -> str:
    """The effect on pairs that were not swapped in training, beside that on the others."""
    values = {"pairs": " ".join(apart["pairs"]), "left_out": interval(apart["left_out"], say=say)}
    return say(APART).format(**values, swapped=interval(apart["swapped"], say=say))


def appendix(record: dict[str, Any], say: Say = _same) -> str:
    """Markdown; figures are those of the record."""
    effect = record["effect"]
    lines = [f"# {say(TITLE)}", "", f"**{say(record['verdict'])}**", ""]
    lines += [say(CHANGE).format(effect=interval(effect, say=say)), ""]
    lines += [*_setting(record, say), ""]
    lines += _doubts(record, say)
    lines += [f"| {' | '.join(map(say, HEADS))} |", "|" + "---|" * len(HEADS)]
    lines += [f"| {' | '.join(_row(one, say(name), say))} |" for role, name in ROLES.items() for one in record[role]]
    lines += ["", say(CAPTION)]
    if apart := record.get("left_out"):
        lines += ["", left_out_text(apart, say)]
    equivalent = record["equivalence"]
    if equivalent.get("margin"):
        lines += ["", say(MARGIN).format(margin=f"{equivalent['margin']:g}") + " " + note_words(record["remark"], say)]
    ways = [f"- {short(one['model'])}: {one['way']}" for role in ROLES for one in record[role] if one.get("way")]
    lines += ["", f"## {say(WAYS)}", "", *ways] if ways else []
    lines += ["", f"## {say(PAIRS)}", "", say(MEANS), "", *_pairs(record, say), "", f"## {say(SIGNATURES)}", ""]
    lines += [f"- `{one['signature']}`" for one in record["models"]]
    lines += ["", ", ".join(f"{name} {version}" for name, version in record["versions"].items()), ""]
    return "\n".join(lines)


def _setting(record: dict[str, Any], say: Say) -> list[str]:
    """Which models, items and texts, what the change is a mean of, and when: a sentence a line."""
    source, effect, after, placebo = (record[key] for key in ("source", "effect", "after", "placebo"))
    models = {"before": short(record["before"]["model"]), "after": len(after), "placebos": len(placebo)}
    values = {"name": source.get("name", ""), "number": f"{record['sentences']:,}"}
    said = [say(WHO).format(**models)]
    said.append(say(DATA).format(**values, method=say(effect["method"]) if effect.get("method") else DASH))
    if source.get("sha256"):
        said.append(f"SHA-256: `{source['sha256']}`.")
    if len(after) > 1:
        said.append(say(OVER_SEEDS if placebo else OVER_SEEDS_ALONE))
    if (cost := after[0].get("cost")) and record.get("text"):
        texts = {"name": record["text"]["name"], "texts": f"{cost['texts']:,}", "tokens": f"{cost['tokens']:,}"}
        said.append(say(HELD_OUT).format(**texts, perplexity=f"{cost['before_perplexity']:.1f}"))
    if record.get("created"):
        said.append(say(MADE).format(created=str(record["created"])[:16].replace("T", " ")))
    return [f"- {line}" for line in said]


def _doubts(record: dict[str, Any], say: Say) -> list[str]:
    notes = [f"- {note_words(note, say)}" for note in record["notes"]]
    return [say(CANNOT), "", *notes, ""] if notes else []


def in_points(facts: dict[str, Any] | None) -> dict[str, Any] | None:
    """A difference of shares in percentage points."""
    if not facts:
        return None
    return facts | {key: 100 * facts[key] for key in ("value", "low", "high") if facts.get(key) is not None}


def _row(one: dict[str, Any], role: str, say: Say) -> list[str]:
    cost = one.get("cost") or {}
    sizes = [DASH if one[time] is None else f"{one[time]:.3f}" for time in ("before", "after")]
    return [
        short(one["model"]), role, f"{one['items']:,}", *sizes, interval(one["size"], say=say),
        interval(one["shift"], say=say), interval(cost.get("rise"), say=say),
        interval(in_points(cost.get("guesses")), "+z.2f", say),
    ]  # fmt: skip


def _pairs(record: dict[str, Any], say: Say) -> list[str]:
    models = [one["model"] for one in record["models"]]
    heads = [say(PAIR), say(ITEMS), *map(short, models)]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for one in record["by_pair"]:
        means = [one["models"].get(model) for model in models]
        cells = [DASH if mean is None else format(mean["mean"], "+z.3f").replace("-", "−") for mean in means]
        lines.append(f"| {one['pair']} | {one['items']:,} | {' | '.join(cells)} |")
    return lines


BESIDE, BESIDE_SEEDS, UNIT = (
    N_("{items} items that both runs answered; before: {before}, after: {after}."),
    N_("{items} items that all runs answered; before: {before}, after: {after}; placebos: {placebos}."),
    N_("Intervals: t over {unit}."),
)
MEASURES = (N_("measure"), N_("items"), N_("before"), N_("after"), N_("change"))
SHARES = (N_("what is right"), N_("in both"), N_("only before"), N_("only after"), N_("in neither"), N_("McNemar p"))
MCNEMAR = N_("McNemar's p is exact and treats items as independent; the intervals do not.")
UNITS = {
    "profession × word": N_("professions and person words"), "occupation": N_("occupations"), "row": N_("rows"),
    "template × name": N_("templates and names"), "template": N_("templates"), "name": N_("names"),
    "instance": N_("instances"), "seed": N_("seeds"), "context": N_("templates, or contexts without one"),
}  # fmt: skip


def data_text(record: dict[str, Any], say: Say = _same) -> str:
    """What the models were asked about, as far as the runs say it."""
    source = record.get("source") or {}
    name = source.get("name") or record["before"]["table"]
    known = source.get("sha256") or source.get("signature")
    return say(DATA_OF).format(name=name, digest=known) if known else say(DATA_NAMED).format(name=name)


def unit_text(record: dict[str, Any], say: Say = _same) -> str:
    """What the intervals of a comparison of runs rest on."""
    said = say(UNIT).format(unit=say(UNITS.get(record["unit"], record["unit"])))
    if record["unit"] != "seed":
        return said
    return f"{say(OVER_SEEDS if record['placebos'] else OVER_SEEDS_ALONE)} {said}"


def beside_text(record: dict[str, Any], say: Say = _same) -> str:
    """How many items two runs share, and which models."""
    names = {time: short(record[time]["model"]) for time in ("before", "after")}
    if names["before"] == names["after"]:  # one model, asked in two ways
        names = {time: f"{name} ({PurePath(record[time]['table']).stem})" for time, name in names.items()}
    if record["kind"] == "people":
        numbers = {key: f"{record[key]:,}" for key in ("items", "contexts", "annotators")}
        return say(BY_PEOPLE).format(**numbers, **names)
    if len(record["models"]) > 2:
        several = {key: ", ".join(short(one["model"]) for one in record[f"{key}s"]) for key in ("after", "placebo")}
        names |= {"after": several["after"], "placebos": several["placebo"] or DASH}
        return say(BESIDE_SEEDS).format(items=f"{record['items']:,}", **names)
    return say(BESIDE).format(items=f"{record['items']:,}", **names)


def measure_rows(record: dict[str, Any], say: Say = _same) -> list[list[str]]:
    """The measures of two runs, the first of which the verdict is on: name, items, before, after, change."""
    return [
        [" · ".join(map(say, one["label"])), f"{one['items']:,}", *(_number(one[time]) for time in ("before", "after")),
         interval(one["change"], say=say)]
        for one in record["measures"]
    ]  # fmt: skip


def share_rows(record: dict[str, Any], say: Say = _same) -> list[list[str]]:
    """Right and wrong of the same items in two runs, with McNemar's p."""
    return [
        [" · ".join([say(one["label"]), *filter(None, [one.get("model")])]),
         *(f"{one[key]:,}" for key in ("both", "only_before", "only_after", "neither")),
         f"{one['p']:.4f}" if one["p"] >= 1e-4 else "< 0.0001"]
        for one in record["shares"]
    ]  # fmt: skip


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:z.3f}".replace("-", "−")


def runs_appendix(record: dict[str, Any], say: Say = _same) -> str:
    """The report of two runs side by side; figures are those of the record."""
    lines = [f"# {say(TITLE)}", "", f"**{say(record['verdict'])}**", "", beside_text(record, say), ""]
    lines += _doubts(record, say)
    lines += [*_table([say(head) for head in MEASURES], measure_rows(record, say)), ""]
    lines += [unit_text(record, say), "", data_text(record, say), ""]
    if rows := share_rows(record, say):
        lines += [*_table([say(head) for head in SHARES], rows), "", say(MCNEMAR), ""]
    if record["equivalence"].get("margin"):
        lines += [
            f"{say(MARGIN_OF).format(margin=format(record['margin'], 'g'))} {note_words(record['remark'], say)}",
            "",
        ]
    lines += [f"## {say(SIGNATURES)}", "", *(f"- `{one['signature'] or one['table']}`" for one in record["models"])]
    lines += ["", ", ".join(f"{name} {version}" for name, version in record["versions"].items()), ""]
    return "\n".join(lines)


BY_PEOPLE = N_(
    "{items} generations of {contexts} templates or contexts, judged by people who did not know which model wrote"
    " them (annotators: {annotators}); before: {before}, after: {after}."
)
DATA_OF = N_("Data: {name} (SHA-256 or signature: {digest}).")
DATA_NAMED = N_("Data: {name}.")
MARGIN_OF = N_("Margin: {margin}.")


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *(f"| {' | '.join(row)} |" for row in cells)]
