"""`swap FILE`: texts with every word of a keyword pair swapped; CDA and CDS for training."""

from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, json_option, option
from evenhand.core.swap.files import MODES, Counts, swap_file
from evenhand.core.swap.word_tables import LANGUAGES, Words, read_word_pairs, word_table


@click.command("swap")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@option("--language", type=click.Choice(LANGUAGES), required=True, help="The language of the texts.")
@option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Where to write the texts.")
@option(
    "--pairs",
    type=click.Choice(["released", "wide"]),
    default="released",
    help="Chinese: the 19 pairs of the released file, or more (他们, 祖父, 新郎 ...). English has one list.",
)
@option("--words", "own", type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Pairs of your own, before the others: a TSV with the columns male and female.")  # fmt: skip
@option("--names", type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Names to swap: a TSV with the columns male and female. Without it names stay.")  # fmt: skip
@option("--mode", type=click.Choice(MODES), default="swap",
        help="swap: each text becomes its counterfactual; cda: both; cds: one of the two, at "
                  "random.")  # fmt: skip
@option("--seed", type=int, default=0, help="Of the random choice of cds.")
@option("--diff", type=click.Path(dir_okay=False, path_type=Path),
        help="JSON lines: the swapped words of each text, and the unchanged ones with the reason.")  # fmt: skip
@option("--ray", help='A Ray cluster: "auto", HOST:PORT, ray://HOST:PORT, or "local" to start one.')
@option("--workers", type=click.IntRange(1), default=2, help="Workers, with --ray.")
@json_option
@needs("start_jobs")
def swap(
    file: Path, language: str, out: Path, pairs: Words, own: Path | None, names: Path | None,
    **options: Any,
) -> None:  # fmt: skip
    """Swap every word of a keyword pair in FILE, one text per line: he and she, 父亲 and 母亲.

    A text in which swapping twice does not give the same text again is refused: it stays as it is, and is counted.
    """
    given = [read_word_pairs(path, language) if path else () for path in (own, names)]
    words = word_table(language, words=pairs, own=given[0], names=given[1])
    with Meter("MB") as meter:
        counts = swap_file(file, out, words, progress=meter, **options)
    answer(counts.as_json(), for_people(counts))


def for_people(counts: Counts) -> str:
    """Return the counts in words."""
    lines = [
        f"{counts.texts:,} texts: {counts.swapped:,} swapped, {counts.left:,} without such a word, "
        f"{counts.refused:,} refused (twice is not the same); {counts.written:,} lines written",
    ]
    if counts.mode == "cds":
        lines.append(f"replaced by their counterfactual: {counts.substituted:,}")
    if counts.words:
        lines.append("words: " + ", ".join(f"{word} {number:,}" for word, number in counts.words.most_common(12)))
    if counts.reasons:
        lines.append("left alone: " + ", ".join(f"{why} {number:,}" for why, number in counts.reasons.most_common()))
    return "\n".join(lines)
