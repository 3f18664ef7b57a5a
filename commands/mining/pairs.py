"""`pairs check`: are the two words of a pair used alike in a corpus?"""

from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, json_option
from evenhand.core.mining.pairs_check import Compound, PairReport, PairsCheck, WordReport, check_pairs
from evenhand.core.resources import keyword_pairs
from evenhand.core.types import KeywordPair


@click.group("pairs")
def pairs() -> None:
    """Keyword pairs: are the two words of a pair used alike?"""


def chosen_pairs(name: str, typed: tuple[str, ...]) -> tuple[KeywordPair, ...]:
    """The pairs of a preset or file and those typed as 男士/女士; typed ones alone where no list is named."""
    from evenhand.core.mining.keyword_lists import read_pairs, typed_pairs

    if typed and not name:
        return typed_pairs(typed)
    listed = keyword_pairs("released") if name == "released" else keyword_pairs("table1")
    if name not in ("", "table1", "released"):
        listed = read_pairs(Path(name))
    return (*listed, *typed_pairs(typed)) if typed else listed


def _compound(found: Compound) -> dict[str, Any]:
    return {"text": found.text, "count": found.count, "swapped": found.swapped, "swapped_count": found.swapped_count}


def _word(found: WordReport, characters: int) -> dict[str, Any]:
    return {
        "word": found.word,
        "count": found.count,
        "inside_other_words": found.inside,
        "per_million": found.count / characters * 1e6 if characters else None,
        **({} if characters else {"per_million_reason": "No character was read."}),
        "after_a_surname": found.surnames,
        "unswapped": found.unswapped.to_json(),
        "before": [_compound(one) for one in found.left],
        "after": [_compound(one) for one in found.right],
    }


def pair_as_json(found: PairReport, characters: int) -> dict[str, Any]:
    """One pair for JSON: undefined values are null with a reason beside them."""
    return {
        "pair": found.pair.name,
        "male": _word(found.male, characters),
        "female": _word(found.female, characters),
        "share_male": found.share.to_json(),
        "asymmetry": found.asymmetry.to_json(),
        "verdict": found.verdict,
        "why": found.why,
    }


def check_json(found: PairsCheck) -> dict[str, Any]:
    """The whole check as one JSON object."""
    read = found.read
    return {
        "pairs": [pair_as_json(one, read.characters) for one in found.pairs],
        "read": {
            "files": read.files,
            "bytes": read.bytes,
            "characters": read.characters,
            "problems": [problem.to_json() for problem in read.problems],
        },
        "signature": found.signature,
    }


def _compounds(word: WordReport) -> str:
    """The commonest compounds, each with the count of its swapped twin: 王女士 50:0."""
    named = sorted({*word.left, *word.right}, key=lambda one: (-one.count, one.text))[:6]
    return ", ".join(f"{one.text} {one.count}:{one.swapped_count}" for one in named)


def for_people(found: PairsCheck) -> str:
    """The check in words."""
    lines = [f"Files: {found.read.files:,}; characters: {found.read.characters:,}"]
    for one in found.pairs:
        lines += [
            f"{one.pair.name}: {one.verdict}. {one.why}",
            f"  occurrences {one.male.count:,} and {one.female.count:,}"
            f" (inside other words {one.male.inside:,} and {one.female.inside:,})",
        ]
        if one.verdict == "absent":
            continue
        lines.append(f"  told apart by neighbours (0.5 = not at all): {one.asymmetry.text()}")
        for word in (one.male, one.female):
            lines.append(f"  {word.word}: never swapped {word.unswapped.text()}; {_compounds(word)}")
    return "\n".join([*lines, found.signature])


@pairs.command("check")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--pairs", "name", default="", metavar="table1|released|FILE", help="Keyword pairs; FILE: a TSV.")
@click.option("--pair", "typed", multiple=True, metavar="MALE/FEMALE", help="A pair to check, such as 男士/女士.")
@click.option("--column", help="The text column of tables.  [default: the longest]")
@click.option("--limit", type=click.IntRange(1), metavar="MEGABYTES", help="Stop after this much text.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Start of the random sample.")
@json_option
@needs("start_jobs")
def check(
    paths: tuple[Path, ...],
    name: str,
    typed: tuple[str, ...],
    column: str | None,
    limit: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Are the two words of each pair used alike in the text of PATH...?

    How often each occurs, its commonest neighbours with the count of the
    swapped compound (王女士 50:0), how well neighbours tell the words apart, and
    a verdict: the papers' own reason for leaving out 男士/女士.
    """
    read = None if limit is None else limit * 1_000_000
    pairs = chosen_pairs(name, typed)
    with Meter("MB") as meter:
        found = check_pairs(paths, pairs, column=column, limit_bytes=read, seed=seed, progress=meter)
    answer(check_json(found), for_people(found), as_json=as_json)
