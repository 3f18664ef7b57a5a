"""Rows to generations: context, completion, the person meant and this person's pronouns; and the published samples.

In the published samples of document 004 (docs/files.md#the-published-samples), context and completion are in one
column and are separated here. The
context is the template with name and declared pronouns filled in, cut before the slot (pre) or with the slot filled by
the right form (post); the completion is what follows it. `{he,she,they,xe}_{pre,post}_mask_gen.csv` name pronouns and
setting in the name of the file.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import (
    GENERATION_KEYS,
    GOLD_KEYS,
    Columns,
    Layout,
    Usable,
    bad,
    origin_of,
    setting_of,
)
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.items.batch import NewItem
from evenhand.annotations.items.batch import items as stored_items
from evenhand.annotations.text_policy import CANARY_ID, CANARY_KEY
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import N_, BadFile
from evenhand.core.files.csv_out import data_line
from evenhand.core.files.readers import Row, Source
from evenhand.core.human_vs_rule.apply_rule import apply_rule
from evenhand.core.text.pronouns import CASES, PRONOUN_DATASETS, parse_sets, sets
from evenhand.core.text.sentences import control_character

FILE_NAME = re.compile(r"(?:^|[^a-z])(he|she|they|xe)_(pre|post)_mask", re.I)
COLUMN_SETTING = re.compile(r"(pre|post)_?(?:mask_?)?gen", re.I)
# {name} and $OCCUPATION stand for words, {nom} and $NOM_PRONOUN for a pronoun, [MASK] for the pronoun asked for.
PLAIN_FOLDERS = ("samples", "data", "out", "outputs", "generations", "human_eval", "annotation", "annotations")
SLOT = re.compile(r"\{([A-Za-z_]{1,20})\}|\$([A-Z_]{2,20})|(\[MASK\]|<mask>)")
MASKS = {"mask_token", "mask", "mask_pronoun"}
CASE_OF = {
    **{case: case for case in CASES},
    "pos_indep": "pos_ind",
    "gen_att": "pos_dep",
    "gen_pred": "pos_ind",
    "nom_pronoun": "nom",
    "acc_pronoun": "acc",
    "poss_pronoun": "pos_dep",
}
MOST_SLOTS, MOST_WORDS = 30, 3  # with more names, their ends are ambiguous


@dataclass(frozen=True, slots=True)
class GenerationParts:
    """Context and completion of a generation, with `name` and `pronouns` of the template or ""."""

    context: str
    completion: str
    name: str = ""
    pronouns: str = ""


def of_file(name: str) -> tuple[str, str]:
    """Return pronouns and setting in the name of a sample file; ("", "") for any other name."""
    match = FILE_NAME.search(name.lower())
    return (match[1], match[2]) if match else ("", "")


def of_column(name: str) -> str:
    """Return the setting in the name of a column such as random_pre_gen; "" for any other name."""
    match = COLUMN_SETTING.search(name)
    return match[1].lower() if match else ""


def of_path(path: str) -> str:
    """Return the data set that a folder or file is named after, or ""."""
    low = path.lower()
    return next((pronoun_dataset for pronoun_dataset in PRONOUN_DATASETS[:3] if pronoun_dataset in low), "")


def of_folder(path: str) -> str:
    """Return the model whose folder holds a sample file (Llama-70B/pre/he_pre_mask_gen.csv); "" for other folders."""
    folders = PurePosixPath(path).parts[:-1] if of_file(PurePosixPath(path).name)[0] else ()
    plain = {*BASES, *SETTINGS, *PLAIN_FOLDERS}
    return next((folder for folder in reversed(folders) if not of_path(folder) and folder.lower() not in plain), "")


def split_generation(
    template: str, generation: str, *, pronouns: Sequence[str], setting: str, dataset: str
) -> GenerationParts | None:
    """Return the context and the completion of *generation*; None if they cannot be separated.

    `pronouns`: names of sets; (): as the template declares. `setting`: "pre", "post", or "" for the one that fits.
    Blanks and line breaks count as equal, and upper and lower case of a pronoun do; nothing else may differ.
    """
    asked = setting_of(setting)
    settings = (asked,) if asked in ("pre", "post") else ("post", "pre")
    known = sets(dataset if dataset in PRONOUN_DATASETS else "own")
    names = [pronoun for pronoun in pronouns if pronoun in known] or list(known)
    for word in settings:
        for name in names:
            pattern = _pattern(template, word, known[name].forms)
            result = pattern.match(generation) if pattern is not None else None
            if result is not None:
                named = next((text for text in result.groups() if text), "")
                # With a pronoun in the context only one set fits.
                only = len([match for match in SLOT.finditer(template) if _case(match)]) > 1
                declared = name if only or pronouns else ""
                return GenerationParts(generation[: result.end()], generation[result.end() :], named, declared)
    return None


def _slot(match: re.Match[str]) -> str:
    return (match[1] or match[2] or "mask").lower()


def _case(match: re.Match[str]) -> str:
    return CASE_OF.get(_slot(match), "")


@lru_cache(maxsize=4096)
def _pattern(template: str, setting: str, forms: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return the pattern of the context; None if the template does not define its end."""
    slots = list(SLOT.finditer(template))
    if len(slots) > MOST_SLOTS:
        return None
    match = _match_question(slots)
    if setting == "pre" and match is not None:
        template, slots = template[: match.start()], slots[: slots.index(match)]
    if len({_slot(slot) for slot in slots if not _case(slot)} - MASKS) > MOST_WORDS:
        return None
    parts: list[str] = []
    groups: dict[str, int] = {}
    last = 0
    for slot in slots:
        parts.append(_words(template[last : slot.start()]))
        parts.append(_fill_slots(slot, forms, groups))
        last = slot.end()
    rest = template[last:]
    if not rest.strip() and slots and not _case(slots[-1]) and _slot(slots[-1]) not in MASKS:
        return None  # a name at the very end: its end is unknown
    # In post-[MASK] the sentence is complete; the completion may begin without a blank.
    end = _words(rest.rstrip()) + (r"\s*" if setting == "pre" and rest != rest.rstrip() else "")
    return re.compile("".join([*parts, end]) + ("" if rest.strip() or setting == "pre" else r"\b"))


def _match_question(slots: list[re.Match[str]]) -> re.Match[str] | None:
    """Return the slot that the model fills: the mask, else the last pronoun; earlier ones are declared."""
    masks = [slot for slot in slots if _slot(slot) in MASKS]
    pronouns = [slot for slot in slots if _case(slot)]
    return masks[-1] if masks else pronouns[-1] if pronouns else None


def _fill_slots(match: re.Match[str], forms: tuple[str, ...], groups: dict[str, int]) -> str:
    slot = _slot(match)
    if slot in MASKS:
        return "(?i:" + "|".join(map(re.escape, dict.fromkeys(form for form in forms if form))) + ")"
    if case := _case(match):
        return f"(?i:{re.escape(forms[CASES.index(case)])})"
    if slot in groups:
        return rf"\{groups[slot]}"
    groups[slot] = len(groups) + 1
    return r"(\S(?:[^\n]{0,60}?\S)?)"


def _words(text: str) -> str:
    """Return the pattern of a literal part: a blank matches any run of blanks."""
    return r"\s+".join(map(re.escape, re.split(r"\s+", text))) if text else ""


BASES = ("he", "she", "they", "xe")
SETTINGS = ("pre", "post")


def published_files(store: Store, project: Project, wish: ExportOptions) -> dict[str, list[str]]:
    """Return file name -> lines of a CSV.

    The columns are template, random_{pre,post}_gen (context and completion), correct, pronoun, model, dataset, item.
    Generations that fit no file go into `other_gen.csv` with setting and all their pronouns. `correct` is not a label:
    it is the verdict of the first-pronoun rule on the completion (docs/human_vs_rule.md#the-rule), empty if the right
    pronouns are unknown.
    """
    files: dict[str, list[str]] = {}
    for item in stored_items(store, project, accepted_only=wish.items == "accepted"):
        name, column = _place(item)
        more = ["setting"] if column == "random_gen" else []
        last = ("dataset", "name", "index", "item", CANARY_KEY)
        header = data_line(("template", column, "correct", "pronoun", "model", *more, *last))
        rows = files.setdefault(name, [header])
        rows.append(data_line(_row(item, column)))
    return {name: files[name] for name in sorted(files)}


def _place(item: Item) -> tuple[str, str]:
    sets, setting = item.extra.get("pronouns") or [], item.extra.get("setting", "")
    if len(sets) == 1 and sets[0] in BASES and setting in SETTINGS:
        return f"{sets[0]}_{setting}_mask_gen.csv", f"random_{setting}_gen"
    return "other_gen.csv", "random_gen"


def _row(item: Item, column: str) -> list[object]:
    extra, context = item.extra, item.context or ""
    sets = [str(entry) for entry in extra.get("pronouns") or []]
    correct = apply_rule({**extra, "completion": item.text}).correct
    template = str(extra.get("template") or context)
    generation_parts = split_generation(template, context + item.text, pronouns=sets, setting=str(extra.get("setting",
    "")),
                      dataset=str(extra.get("dataset", "own")))  # fmt: skip
    if generation_parts is None or generation_parts.context != context:
        template = context  # a template by its number, or one without a defined end of the context
    more = [extra.get("setting", "")] if column == "random_gen" else []
    return [
        template, context + item.text, "" if correct is None else correct, "; ".join(sets), extra.get("model", ""),
        *more, extra.get("dataset", "own"), extra.get("name", ""), extra.get("index", ""), item.uid, CANARY_ID,
    ]  # fmt: skip


MAX_LENGTH = 20_000  # code points of a context or a completion
LONGEST_FACT = 300  # of a name, a model, a setting
LINE_BREAKS = "\t\n\r"  # allowed: models write them and the desk shows them
ODD_SIGNS = "\u200b\ufffd"  # allowed and reported: models write them, and a text stays as it was written
ALLOWED = str.maketrans("", "", LINE_BREAKS + ODD_SIGNS)
FACTS = ("name", "pronouns", "dataset", "setting", "model", "index", "template")  # keys that `Item.extra` always has


def generation_row(source: Source, layout: Layout, row: Row) -> Usable:
    """Return the item of *row*, identified by context, completion, model, setting and index.

    See docs/architecture.md#storage.

    `NewItem.extra` gets name, pronouns (names of sets, [] if unknown), dataset (one of PRONOUN_DATASETS), setting,
    model, index, template (the cluster; by default the context), and the other columns. A comparison also gets
    second_model; its identity does not depend on the order of the two texts.
    """
    columns = layout.columns or Columns({"context": "context", "completion": "completion"})
    values = {key: row.values.get(column) for key, column in columns.named.items()}
    given = {key: _stated(values.get(key), columns.fixed.get(key)) for key in FACTS}
    facts = _facts(source, columns, given)
    generation_parts = _generation_parts(values, facts)
    second = _second_text(values, generation_parts) if layout.compares or "second" in columns.named else None
    if second is not None:
        named = _stated(values.get("second_model"), columns.fixed.get("second_model"))
        facts["second_model"] = _short_text(named, "second_model")
    facts |= {
        "name": facts["name"] or generation_parts.name,
        "pronouns": facts["pronouns"] or parse_sets(generation_parts.pronouns or None),
    }
    facts["pronouns"] = list(facts["pronouns"])
    facts["template"] = given["template"] or generation_parts.context
    texts: list[Any] = [generation_parts.completion, str(facts["model"])]
    if second is not None:
        texts = [sorted([texts, [second, facts["second_model"]]])]
    key = [generation_parts.context, *texts, *(str(facts[name]) for name in ("setting", "index"))]
    read = set(columns.named.values())
    computed = GOLD_KEYS if row.values.keys() >= set(GOLD_KEYS) else ()  # exports of earlier versions have none of them
    origin = origin_of(source, row, (*GENERATION_KEYS, *computed), (*read, "canary"))
    others = {
        f"{name} (column)" if name in facts else name: value for name, value in origin.extra.items() if name not in read
    }
    models = sorted({facts["model"], facts.get("second_model", facts["model"])} - {""})
    dataset = "" if facts["dataset"] == "own" else facts["dataset"]
    parts = (" vs. ".join(models), dataset, "+".join(facts["pronouns"]), facts["setting"])
    item = NewItem(
        text=generation_parts.completion,
        candidate=None,
        file=origin.file,
        line=origin.line,
        extra={name: value for name, value in facts.items() if value != ""} | others,
        uid=origin.uid,
        context=generation_parts.context,
        key=json.dumps(key, ensure_ascii=False),
        stratum=" / ".join(str(part) for part in parts if part != ""),
        second=second,
    )
    return Usable(item)


def _stated(value: Any, fixed: str | None) -> Any:
    if value is None or (isinstance(value, str) and not value.strip()):
        return (fixed or "").strip()
    return value


def _facts(source: Source, columns: Columns, given: Mapping[str, Any]) -> dict[str, Any]:
    by_file, setting = of_file(source.name)
    setting = setting or of_column(columns.named.get("generation", ""))
    dataset = _short_text(given["dataset"], "dataset") or of_path(source.name)
    index = _short_text(given["index"], "index")  # "3" and 3 are the same
    facts: dict[str, Any] = {
        "name": _short_text(given["name"], "name"),
        "pronouns": _pronouns(given["pronouns"] or by_file),
        "dataset": dataset.lower() if dataset.lower() in PRONOUN_DATASETS else "own",
        "setting": setting_of(_short_text(given["setting"], "setting")) or setting,
        "model": _short_text(given["model"], "model") or of_folder(source.name),
        "index": int(index) if index.isdecimal() and len(index) < 16 and index == str(int(index)) else index,
        "template": "",
    }
    if dataset.lower() not in (*PRONOUN_DATASETS, ""):
        facts["dataset_named"] = dataset  # another data set: its name is kept, the forms of "own" are used
    return facts


def _pronouns(value: Any) -> tuple[str, ...]:
    """Return the pronoun sets that a cell names. Raises BadLine for an unknown one."""
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


def _generation_parts(values: Mapping[str, Any], facts: Mapping[str, Any]) -> GenerationParts:
    """Return context and completion: from two columns, or split from the one that holds both."""
    if "completion" in values:
        return GenerationParts(_text(values.get("context") or "", ""), _text(values["completion"], NO_COMPLETION))
    whole = _text(values.get("generation"), NO_COMPLETION)
    if "context" in values:
        context = _text(values["context"] or "", "")
        completion = whole.removeprefix(context)
        return GenerationParts(context, _text(completion, NO_COMPLETION))
    template = _text(values.get("template"), N_("There is no template, so the start of the completion is unknown."))
    generation_parts = split_generation(
        template, whole, pronouns=facts["pronouns"], setting=facts["setting"], dataset=facts["dataset"]
    )
    if generation_parts is None:
        message = N_(
            "The text does not begin with its filled-in template, so the completion cannot be found. Check"
            " pronouns and setting, or put context and completion into two columns."
        )
        bad("not_told_apart", message)
    return GenerationParts(
        generation_parts.context,
        _text(generation_parts.completion, NO_COMPLETION),
        generation_parts.name,
        generation_parts.pronouns,
    )


def _second_text(values: Mapping[str, Any], generation_parts: GenerationParts) -> str:
    """Return the other text of a comparison, without the context if the first text was separated from it."""
    second = _text(values.get("second"), NO_SECOND)
    if "completion" not in values:
        second = _text(second.removeprefix(generation_parts.context), NO_SECOND)
    if second == generation_parts.completion:
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
        message = N_("The text has {length} characters; the limit is {limit}.")
        bad("too_long", message, length=len(value), limit=MAX_LENGTH)
    control = control_character(value.translate(ALLOWED))
    if control is not None:
        bad("control_characters", N_("The text contains a control character: {character}."), character=control)
    return value
