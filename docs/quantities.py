"""docs/quantities.md, made from the catalogue of quantities: `python -m docs.quantities [--check]`."""

from pathlib import Path
from typing import Any

from docs.generated import write_or_check
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import UNITS, Quantity
from evenhand.core.language import translate

FILE = Path(__file__).with_name("quantities.md")
HEAD = """# Quantities

Every number that the app states about a project has one entry here, and one function that computes it. Pages, commands
(`quantities` in their `--json`), `release.json` and the documents of a release ask for it by its id, so a number means
the same wherever it is printed. Some entries are of a file, of two releases, of a run, or of each row of a table. Two
populations are two quantities with two names. The sign *?* next to a number on a page names its entry. Made from
`annotations/quantities/` by `make docs`; do not edit by hand.
"""
GROUPS = {
    "mining": "Mining",
    "texts": "Texts",
    "items": "Items",
    "adjudication": "Adjudication",
    "labels": "Labels",
    "annotators": "Annotators",
    "retest": "Retests",
    "known": "Known answers",
    "agreement": "Agreement",
    "generations": "Generations",
    "pilot": "Pilots",
    "remaining": "The remaining work",
    "sample": "Each sample",
    "study": "The pay in a study",
    "forecast": "The forecast of work",
    "changes": "Changes between two releases",
    "cells": "Each pair and side",
    "pairs": "Each keyword pair",
    "two": "Each two annotators",
    "annotator": "Each annotator",
    "run": "Runs of models",
    "open": "Active projects together",
}


def document() -> str:
    """Return the whole of docs/quantities.md."""
    parts = [HEAD]
    for group, title in GROUPS.items():
        entries = [_entry(one) for one in ENTRIES.values() if one.id.partition(".")[0] == group]
        parts += [f"\n## {title}\n", *entries] if entries else []
    return "".join(parts)


def _entry(one: Quantity[Any, Any]) -> str:
    labels = translate("blind labels", "zh")
    population = one.population.words.format(labels="blind labels")
    chinese = translate(one.population.words, "zh").format(labels=labels)
    condition = " ".join(one.population.condition.split()).removeprefix("AND ")
    lines = [
        f"**{one.name}** · {translate(one.name, 'zh')}",
        f"Population: {population} · {chinese}" + (f"; `{condition}`" if condition else ""),
        *([f"A row for each: {one.by}."] if one.by else []),
        f"Unit of analysis: {one.each}. Unit: {UNITS[one.unit]}. Formula: [{one.formula}]({one.formula})."
        + (f" Source: {one.source}." if one.source else ""),
    ]
    if one.interval:
        study = f"[{one.interval.coverage}]({one.interval.coverage})"
        lines.append(f"Interval: {one.interval.words}. Coverage: {study}.")
    return f"\n### {one.id}\n\n" + "\n".join(f"- {line}" for line in lines) + "\n"


if __name__ == "__main__":
    write_or_check(FILE, document(), "the catalogue says")
