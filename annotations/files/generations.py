"""Rows to generations: context, completion, the person meant and this person's pronouns."""

import json
from collections.abc import Mapping
from typing import Any

from evenhand.annotations.files.columns import Columns, setting_of
from evenhand.annotations.files.detect import GENERATION_KEYS, GOLD_KEYS, Layout, Usable, bad, origin_of
from evenhand.annotations.files.published_samples import (
    GenerationParts,
    of_column,
    of_file,
    of_folder,
    of_path,
    split_generation,
)
from evenhand.annotations.items.batch import NewItem
from evenhand.core.errors import N_, BadFile
from evenhand.core.files.readers import Row, Source
from evenhand.core.text.pronouns import PRONOUN_DATASETS, parse_sets
from evenhand.core.text.sentences import control_character

MAX_LENGTH = 20_000  # code points of a context or a completion
LONGEST_FACT = 300  # of a name, a model, a setting
LINE_BREAKS = "\t\n\r"  # allowed: models write them and the desk shows them
ODD_SIGNS = "\u200b\ufffd"  # allowed and reported: models write them, and a text stays as it was written
ALLOWED = str.maketrans("", "", LINE_BREAKS + ODD_SIGNS)
FACTS = ("name", "pronouns", "dataset", "setting", "model", "index", "template")  # keys that `Item.extra` always has


def generation_row(source: Source, layout: Layout, row: Row) -> Usable:
    """The item of *row*: its identity is context, completion, model, setting and index (DESIGN 9).

    `NewItem.extra` gets name, pronouns (names of sets, [] if unknown), dataset (one of PRONOUN_DATASETS), setting,
    model, index, template (the cluster; by default the context), and the other columns. Of a comparison also
    second_model; its identity is the same whichever text is first.
    """
    columns = layout.columns or Columns({"context": "context", "completion": "completion"})
    values = {key: row.values.get(column) for key, column in columns.named.items()}
    given = {key: _stated(values.get(key), columns.fixed.get(key)) for key in FACTS}
    facts = _facts(source, columns, given)
    told = _generation_parts(values, facts)
    second = _second_text(values, told) if layout.compares or "second" in columns.named else None
    if second is not None:
        named = _stated(values.get("second_model"), columns.fixed.get("second_model"))
        facts["second_model"] = _short_text(named, "second_model")
    facts |= {"name": facts["name"] or told.name, "pronouns": facts["pronouns"] or parse_sets(told.pronouns or None)}
    facts["pronouns"] = list(facts["pronouns"])
    facts["template"] = given["template"] or told.context
    texts: list[Any] = [told.completion, str(facts["model"])]
    if second is not None:
        texts = [sorted([texts, [second, facts["second_model"]]])]
    key = [told.context, *texts, *(str(facts[name]) for name in ("setting", "index"))]
    read = set(columns.named.values())
    computed = GOLD_KEYS if row.values.keys() >= set(GOLD_KEYS) else ()  # exports of earlier versions have none of them
    origin = origin_of(source, row, (*GENERATION_KEYS, *computed), (*read, "canary"))
    others = {
        f"{name} (column)" if name in facts else name: value for name, value in origin.extra.items() if name not in read
    }
    item = NewItem(
        text=told.completion,
        candidate=None,
        file=origin.file,
        line=origin.line,
        extra={name: value for name, value in facts.items() if value != ""} | others,
        uid=origin.uid,
        context=told.context,
        key=json.dumps(key, ensure_ascii=False),
        stratum=_stratum(facts),
        second=second,
    )
    return Usable(item)


def _stratum(facts: Mapping[str, Any]) -> str:
    dataset = "" if facts["dataset"] == "own" else facts["dataset"]
    models = sorted({facts["model"], facts["second_model"]} - {""}) if "second_model" in facts else [facts["model"]]
    parts = (" vs. ".join(models), dataset, "+".join(facts["pronouns"]), facts["setting"])
    return " / ".join(str(part) for part in parts if part != "")


def _stated(value: Any, fixed: str | None) -> Any:
    if value is None or (isinstance(value, str) and not value.strip()):
        return (fixed or "").strip()
    return value


def _facts(source: Source, columns: Columns, given: Mapping[str, Any]) -> dict[str, Any]:
    by_file, setting = of_file(source.name)
    setting = setting or of_column(columns.named.get("generation", ""))
    dataset = _short_text(given["dataset"], "dataset") or of_path(source.name)
    facts: dict[str, Any] = {
        "name": _short_text(given["name"], "name"),
        "pronouns": _pronouns(given["pronouns"] or by_file),
        "dataset": dataset.lower() if dataset.lower() in PRONOUN_DATASETS else "own",
        "setting": setting_of(_short_text(given["setting"], "setting")) or setting,
        "model": _short_text(given["model"], "model") or of_folder(source.name),
        "index": _index(given["index"]),
        "template": "",
    }
    if dataset.lower() not in (*PRONOUN_DATASETS, ""):
        facts["dataset_named"] = dataset  # another data set: its name is kept, the forms of "own" are used
    return facts


def _pronouns(value: Any) -> tuple[str, ...]:
    """The pronoun sets that a cell names. Raises BadLine for an unknown one."""
    if not isinstance(value, str | list):
        bad("pronouns", N_("The pronouns are not text: {value}."), value=repr(value)[:80])
    try:
        return parse_sets(value)
    except BadFile as error:
        bad("pronouns", error.message, **{name: str(inner)[:80] for name, inner in error.values.items()})


def _short_text(value: Any, key: str) -> str:
    text = str(value).strip() if isinstance(value, str | int | float) else ""
    if len(text) > LONGEST_FACT:
        message = N_("{key} has {length} characters; the maximum is {limit}. Is this the right column?")
        bad("too_long", message, key=key, length=len(text), limit=LONGEST_FACT)
    return text


def _index(value: Any) -> int | str:
    """A whole number if it is one ("3" and 3 are the same index), else the text."""
    text = _short_text(value, "index")
    return int(text) if text.isdecimal() and len(text) < 16 and text == str(int(text)) else text


def _generation_parts(values: Mapping[str, Any], facts: Mapping[str, Any]) -> GenerationParts:
    """Context and completion: from two columns, or split from the one that holds both."""
    if "completion" in values:
        return GenerationParts(
            _text(values.get("context") or "", ""), _text(values["completion"], NO_COMPLETION), "", ""
        )
    whole = _text(values.get("generation"), NO_COMPLETION)
    if "context" in values:
        context = _text(values["context"] or "", "")
        completion = whole.removeprefix(context)
        return GenerationParts(context, _text(completion, NO_COMPLETION), "", "")
    template = _text(values.get("template"), N_("There is no template, so the start of the completion is unknown."))
    told = split_generation(
        template, whole, pronouns=facts["pronouns"], setting=facts["setting"], dataset=facts["dataset"]
    )
    if told is None:
        message = N_(
            "The text does not begin with its filled-in template, so the completion cannot be found. Check"
            " pronouns and setting, or put context and completion into two columns."
        )
        bad("not_told_apart", message)
    return GenerationParts(told.context, _text(told.completion, NO_COMPLETION), told.name, told.pronouns)


def _second_text(values: Mapping[str, Any], told: GenerationParts) -> str:
    """The other text of a comparison; without the context where the first text was told apart from it."""
    second = _text(values.get("second"), NO_SECOND)
    if "completion" not in values:
        second = _text(second.removeprefix(told.context), NO_SECOND)
    if second == told.completion:
        bad("same_texts", N_("Both texts are the same, so there is nothing to compare."))
    return second


NO_SECOND = N_(
    "This row has no second text to compare. Fill in its column, or import the row into a project without comparisons."
)
NO_COMPLETION = N_("This row has no completion.")


def _text(value: Any, missing: str) -> str:
    if not isinstance(value, str) or (missing and not value.strip()):
        bad("no_text", missing or N_("The context is not text."))
    if len(value) > MAX_LENGTH:
        bad(
            "too_long",
            N_("The text has {length} characters; the limit is {limit}."),
            length=len(value),
            limit=MAX_LENGTH,
        )
    control = control_character(value.translate(ALLOWED))
    if control is not None:
        bad("control_characters", N_("The text contains a control character: {character}."), character=control)
    return value
