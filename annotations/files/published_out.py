"""Generations in the layout of the published samples (SPEC 7): {he,she,they,xe}_{pre,post}_mask_gen.csv."""

from annotations.database.store import Store
from annotations.files.export_formats import Wanted
from annotations.files.published_samples import told_apart
from annotations.items.items import items as stored_items
from annotations.text_policy import CANARY_ID, CANARY_KEY
from annotations.types import Item, Project
from core.files.csv_out import csv_line
from core.human_vs_rule.apply_rule import apply_rule

BASES = ("he", "she", "they", "xe")
SETTINGS = ("pre", "post")


def published_files(store: Store, project: Project, wish: Wanted) -> dict[str, str]:
    """File name -> CSV with the columns template, random_{pre,post}_gen (context and completion), correct, pronoun,
    model, dataset, item; what has no such place goes into `other_gen.csv` with setting and all its pronouns.

    `correct` is the verdict of the first-pronoun rule on the completion (SPEC 4.3), empty where nobody says which
    pronouns are right; it is no label.
    """
    files: dict[str, list[str]] = {}
    for item in stored_items(store, project, accepted_only=wish.items == "accepted"):
        name, column = _place(item)
        rows = files.setdefault(name, [csv_line(_header(column))])
        rows.append(csv_line(_row(item, column)))
    return {name: "".join(files[name]) for name in sorted(files)}


def _place(item: Item) -> tuple[str, str]:
    sets, setting = item.extra.get("pronouns") or [], item.extra.get("setting", "")
    if len(sets) == 1 and sets[0] in BASES and setting in SETTINGS:
        return f"{sets[0]}_{setting}_mask_gen.csv", f"random_{setting}_gen"
    return "other_gen.csv", "random_gen"


def _header(column: str) -> list[str]:
    more = ["setting"] if column == "random_gen" else []
    return ["template", column, "correct", "pronoun", "model", *more, "dataset", "name", "index", "item", CANARY_KEY]


def _row(item: Item, column: str) -> list[object]:
    extra, context = item.extra, item.context or ""
    sets = [str(one) for one in extra.get("pronouns") or []]
    correct = apply_rule({**extra, "completion": item.text}).correct
    template = str(extra.get("template") or context)
    told = told_apart(template, context + item.text, pronouns=sets, setting=str(extra.get("setting", "")),
                      dataset=str(extra.get("dataset", "own")))  # fmt: skip
    if told is None or told.context != context:
        template = context  # a template by its number, or one that does not say where the context ends
    more = [extra.get("setting", "")] if column == "random_gen" else []
    return [
        template, context + item.text, "" if correct is None else correct, "; ".join(sets), extra.get("model", ""),
        *more, extra.get("dataset", "own"), extra.get("name", ""), extra.get("index", ""), item.uid, CANARY_ID,
    ]  # fmt: skip
