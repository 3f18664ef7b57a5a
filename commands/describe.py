"""`describe PROJECT`: statistics of the set, of a project or of a file."""

from collections.abc import Iterator
from pathlib import Path

import click

from evenhand.annotations.describe.file_description import describe_file
from evenhand.annotations.describe.project_description import Items, describe_items
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.annotations.quantities.texts import latex_tables, text_estimates
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import DASH, answer, number, opened_project, option, say_unsettled, table
from evenhand.core.describe.as_json import as_json as whole
from evenhand.core.describe.description import Description
from evenhand.core.describe.keywords import KeywordCount, PairBalance, largest_imbalance
from evenhand.core.describe.vocabulary import vocabulary
from evenhand.core.errors import N_, Refused
from evenhand.core.language import significant


@click.command("describe")
@click.argument("project", required=False)
@option("--file", "path", type=click.Path(dir_okay=False), help="A file instead of a project.")
@option(
    "--before",
    type=click.Path(dir_okay=False),
    help="With --file: the candidates from which its sentences were chosen.",
)
@option("--column", help="With --file: the column of the sentences, if its name does not show it.")
@option("--model", help="The model whose vocabulary is compared: a name, a folder, a file of words.")
@option(
    "--items",
    type=click.Choice(["all", "accepted"]),
    help="Which items of the project; default: the accepted ones, or all if none is accepted.",
)
@option("--latex", type=click.Path(dir_okay=False), help="Write two small LaTeX tables to this file too.")
@guarded("see_all_labels", "project")
def describe(
    project: str | None, path: str | None, before: str | None, column: str | None, model: str | None,
    items: Items | None, latex: str | None, db: str,
) -> None:  # fmt: skip
    """Print data set statistics of PROJECT, or with --file of a file of sentences.

    Sentences, characters, lengths, the ten most common characters, coverage of a model's vocabulary, texts that
    occur twice, sentences per keyword before and after selection, the 1:1 balance of every pair, sources and dates.
    Every row of a file counts, also one whose keyword cannot be determined.
    """
    if (project is None) == (path is None):
        raise Refused(N_("Name either a project or a file (--file), not both."))
    if path is None and (before or column):
        raise Refused(N_("--before and --column require --file."))
    if path is not None and items:
        raise Refused(N_("--items requires a project; for a file, every row counts."))
    words = None if model is None else vocabulary(model)
    if path is not None:
        description = describe_file(path, before=before, column=column, words=words)
    else:
        with opened_project(db, project or "") as (store, shown):
            say_unsettled(store, shown)
            description = describe_items(store, shown, items=items, words=words)
    if latex is not None:
        Path(latex).write_text(latex_tables(description), encoding="utf-8")
    answer(whole(description) | {"quantities": quantities_json(text_estimates(description))}, _text(description))


def _text(description: Description) -> Iterator[str]:
    size = description.lengths
    yield from (
        f"{description.name}: {description.sentences:,} texts ({description.items})",
        f"{description.characters.total:,} characters, {description.characters.distinct:,} different",
        f"length {_length(size.least)} to {_length(size.most)}, "
        f"median {_length(size.median)}, mean {_length(size.mean)}",
        "commonest " + " ".join(f"{one}{count}" for one, count in description.characters.commonest()),
        "endings " + " ".join(f"{one}{count}" for one, count in list(description.endings.items())[:10]),
        f"again: {description.exact.surplus} as they are, {description.near.surplus} without punctuation, "
        f"{description.twins.surplus} with the keyword masked",
        _vocabulary(description),
    )
    if description.keywords:
        yield table(
            map(_keyword_row, description.keywords),
            ["keyword", "side", "before", "after", "share accepted"],
            form=".1%",
        )
    if description.balances:
        yield table(map(_balance_row, description.balances), ["pair", "", "share male", "p (Holm)"], form=".1%")
    worst = largest_imbalance(description.balances)
    if worst is not None:
        yield f"largest imbalance: {worst.pair}, {worst.missing} sentences missing to 1:1"
    yield from _origins(description)
    yield description.signature


def _length(value: float | None) -> str:
    return number(value, ".2f").rstrip("0").rstrip(".")


def _vocabulary(description: Description) -> str:
    cover = description.coverage
    if cover is None:
        return f"vocabulary {DASH} no model was named (--model)"
    return (
        f"vocabulary of {cover.vocabulary.name}, {cover.vocabulary.size:,} words: {cover.distinct:,} different"
        f" characters are {cover.published:.2%} of it; it holds {cover.known:,} of them"
        f" ({number(cover.known_share, '.2%')}); {number(cover.unknown_share, '.3%')} of the text is unknown to it"
    )


def _keyword_row(row: KeywordCount) -> list[object]:
    return [row.word, row.side, row.before, row.after, None if row.before is None else row.share]


def _balance_row(row: PairBalance) -> list[object]:
    p = f"{DASH} {row.untested or ''}".rstrip() if row.p_holm is None else significant(row.p_holm)
    return [row.pair, f"{row.male:,} : {row.female:,}", row.share, p]


def _origins(description: Description) -> list[str]:
    origins = description.origins
    named = [f"{source} {texts:,}" for source, texts in list(origins.named.items())[:5]]
    dates = DASH if origins.earliest is None else f"{origins.earliest} to {origins.latest}"
    return [
        f"{len(origins.named)} sources ({', '.join(named) or DASH}), {origins.unnamed:,} texts without one",
        f"dates {dates}, {origins.undated:,} texts without one",
    ]
