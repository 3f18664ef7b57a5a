"""`concord WORD PATH...`: a word in its contexts, and the words that occur near it more often than elsewhere."""

import csv
import shutil
import sys
from collections.abc import Iterator

import click

from evenhand.annotations.mining.candidates import passages_of
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import answer, opened_project, option
from evenhand.core.concordance import UNITS, Concordance, Line, Passage, Question, concordance, question
from evenhand.core.concordance.answer_text import COLUMNS, as_json, contrast_says, near_says, row, terminal_line
from evenhand.core.concordance.passages import passages
from evenhand.core.errors import N_, Refused
from evenhand.core.files.csv_out import neutralised


@click.command("concord")
@click.argument("word")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@option("--near", default="他,她", help="Words to look for near it, separated by commas.")
@option("--project", "name", help="Look into the sentences of this project instead of files.")
@option("--window", type=int, help="At most this many characters between the two; default: the whole sentence.")
@option(
    "--unit",
    type=click.Choice(["auto", *UNITS]),
    default="auto",
    help="What intervals count as independent; auto: documents where several hold the word, else paragraphs.",
)
@option("--column", help="The text column of tables, if its name does not show it.")
@option("--lines", "shown", type=click.IntRange(0), default=20, help="Lines to print.")
@option("--csv", "as_csv", is_flag=True, help="Print all lines as CSV instead.")
@guarded("start_jobs", "name")
def concord(
    word: str, paths: tuple[str, ...], near: str, name: str | None, window: int | None, unit: str, column: str | None,
    shown: int, as_csv: bool, db: str,
) -> None:  # fmt: skip
    """Show each WORD in files or folders in its context, and whether 他 or 她 is near it more often than elsewhere.

    Numbers compare sentences with WORD to all others: how many times as often
    each near word occurs there, and the log odds ratio (natural log; for 他,她
    above 0 leans towards 他), each with a 95% interval.
    """
    asked = question(word, near.replace("，", ",").split(","), window=window, unit=unit)
    if bool(paths) == bool(name):
        raise Refused(N_("Name files or folders to read, or a project with --project."))
    if name is None:
        found = _search(passages(paths, column=column), asked, shown, as_csv)
    else:
        with opened_project(db, name) as (store, project):
            found = _search(passages_of(store, project), asked, shown, as_csv)
    if not as_csv:
        answer(answer_json(found), for_people(found))


def _search(texts: Iterator[Passage], asked: Question, shown: int, as_csv: bool) -> Concordance:
    if not as_csv:
        return concordance(texts, asked, listed=shown)
    writer = csv.writer(sys.stdout, lineterminator="\r\n")
    writer.writerow(COLUMNS)

    def write(line: Line) -> None:
        writer.writerow([neutralised(str(cell)) for cell in row(line, asked)])

    return concordance(texts, asked, on_line=write, listed=0)


def answer_json(found: Concordance) -> dict[str, object]:
    """Return the numbers, and the lines that were kept, as one JSON object."""
    lines = [dict(zip(COLUMNS, row(line, found.question), strict=True)) for line in found.lines]
    return as_json(found) | {"lines": lines}


def for_people(found: Concordance) -> str:
    """Return the lines with the word in the middle, then the results of the counts."""
    width = max(60, min(160, shutil.get_terminal_size((100, 20)).columns))
    lines = [terminal_line(line, width) for line in found.lines]
    if found.occurrences > len(found.lines):
        lines.append(f"({len(found.lines)} of {found.occurrences:,} lines; --csv prints all)")
    lines += [str(near_says(found, number)) for number in range(len(found.near))]
    for near, contrast in zip(found.question.near, found.near, strict=True):
        lines.append(f"log odds ratio {near}: {contrast.log_odds.text('+.2f')}")
    if (against := contrast_says(found)) is not None:
        lines.append(str(against))
    read = f"{found.characters:,} characters, {found.sentences:,} sentences, {found.documents:,} documents read"
    return "\n".join([*lines, read, found.signature])
