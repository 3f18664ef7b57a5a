"""`mine`: raw text to candidate sentences, with a report. `pairs check`: are the two words of a pair used alike?"""

from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, json_option, option, settings_from, wants_json
from evenhand.core.mining.pairs_check import PairsCheck, WordReport, check_pairs
from evenhand.core.mining.report import Report
from evenhand.core.mining.request import Request, run
from evenhand.core.mining.settings import CODES
from evenhand.core.mining.types import MODES
from evenhand.core.resources import keyword_pairs
from evenhand.core.runs.kinds import Place
from evenhand.core.types import JsonObject, KeywordPair

SHOWN = 20  # problems printed for people


@click.command("mine")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@option("--out", required=True, type=click.Path(dir_okay=False), help="The candidates to write (JSON lines).")
@option("--report", "report_path", type=click.Path(dir_okay=False), help="The report to write (JSON).")
@option("--table", type=click.Path(dir_okay=False), help="The funnel per pair and side to write (CSV).")
@option("--pairs", "pairs_of", metavar="table1|released|FILE", help="Keyword pairs; FILE: a TSV.  [default: table1]")
@option("--names", type=click.Choice(MODES), help="Short for --set names=MODE.")
@option(
    "--set",
    "given",
    multiple=True,
    metavar="[PAIR:]FILTER=MODE",
    help=f"What a filter does, such as names=flag or 他/她:names=reject. Filters: {', '.join(CODES)}; "
    "modes: off, reject, flag. May be given several times.",
)
@option("--quotes", type=click.Choice(["delete", "complete"]), help="What to do with unpaired quotation marks.")
@option("--convert", type=click.Choice(["t2s"]), help="t2s: traditional characters to simplified ones.")
@option("--column", help="The text column of tables and JSON lines.  [default: the longest]")
@option("--length", metavar="SHORTEST-LONGEST", help="Characters of a sentence.  [default: 9-119]")
@option("--seed", type=int, help="Which rejected sentences are shown as examples.")
@option(
    "--settings",
    "settings_path",
    type=click.Path(),
    help="Settings from a JSON file, or from the report of an earlier run; options override them.",
)
@option("--workers", type=click.IntRange(1), help="Processes; default: one per 8 MB, at most all processors.")
@option("--ray", "address", help='A Ray cluster: "auto", HOST:PORT, ray://HOST:PORT, or "local" to start one.')
@option("--limit", type=click.FloatRange(0, min_open=True), help="Read only this many megabytes.")
@json_option
@needs("start_jobs")
def mine(paths: tuple[str, ...], **options: Any) -> None:
    """Find candidate sentences in files, folders and globs.

    PATH: .txt, .md, .html, .jsonl, .csv or .tsv in UTF-8, GB18030 or Big5, also in .gz and .zip. The same text and
    settings give the same candidates in the same order, with any number of processes. The file --out appears when the
    run is over; a killed run starts again from the beginning.
    """
    request = settings_from(Request, options | {"paths": paths})
    with Meter("MB") as meter:
        report = run(request, Place(Path(), meter))
    for problem in [] if wants_json() else report.read.problems[:SHOWN]:
        click.echo(problem.text, err=True)
    answer(_summary(report, request), for_people(report))


def _summary(report: Report, request: Request) -> JsonObject:
    """Return the report without its examples, which are in the report file."""
    result = report.to_json()
    for row in result["funnel"]:
        del row["filters"]
    names = ("candidates", "total", "funnel", "read", "signature", "seconds", "notices", "version")
    places = {"out": request.out, "report": request.report_path, "table": request.table}
    return {name: result[name] for name in names} | places


def for_people(report: Report) -> str:
    """Return the funnel in words."""
    read, total = report.read, report.total()
    rejected = ", ".join(f"{code} {total.rejected[code]:,}" for code in CODES if total.rejected[code])
    flagged = ", ".join(f"{code} {total.flagged[code]:,}" for code in CODES if total.flagged[code])
    rate = f", {read.bytes / 1e6 / report.seconds:,.1f} MB a second" if report.seconds else ""
    lines = [
        f"{read.files:,} files, {read.bytes / 1e6:,.1f} MB, {read.characters:,} characters, "
        f"{read.sentences:,} sentences in {report.seconds:.1f} s{rate}",
        f"with a keyword, counted once per word: {total.with_keyword:,}",
        f"exactly one keyword: {total.exactly_one:,}",
        f"rejected: {rejected or 'none'}",
        f"candidates: {total.candidates:,}" + (f" (flagged: {flagged})" if flagged else ""),
    ]
    if not read.whole:
        lines.append("Only the beginning was read, as --limit says.")
    if read.skipped:
        endings = ", ".join(f"{ending} {count:,}" for ending, count in read.skipped.most_common(5))
        lines.append(f"files left alone: {endings}")
    return "\n".join([*lines, *report.notices, report.settings.signature])


@click.group("pairs")
def pairs() -> None:
    """Check keyword pairs: whether the two words of a pair are used alike."""


def chosen_pairs(name: str, typed: tuple[str, ...]) -> tuple[KeywordPair, ...]:
    """Return the pairs of a preset or file and those typed as 男士/女士; only typed ones if no list is named."""
    from evenhand.core.mining.keyword_lists import read_pairs, typed_pairs

    if typed and not name:
        return typed_pairs(typed)
    listed = keyword_pairs("released") if name == "released" else keyword_pairs("table1")
    if name not in ("", "table1", "released"):
        listed = read_pairs(Path(name))
    return (*listed, *typed_pairs(typed)) if typed else listed


def _compounds(word: WordReport) -> str:
    """Return the six most common compounds, each with the count of its swapped counterpart: 王女士 50:0."""
    named = sorted({*word.left, *word.right}, key=lambda one: (-one.count, one.text))[:6]
    return ", ".join(f"{compound.text} {compound.count}:{compound.swapped_count}" for compound in named)


def check_text(pairs_check: PairsCheck) -> str:
    """Return the check in words."""
    lines = [f"Files: {pairs_check.read.files:,}; characters: {pairs_check.read.characters:,}"]
    for pair in pairs_check.pairs:
        lines += [
            f"{pair.pair.name}: {pair.verdict}. {pair.why}",
            f"  occurrences {pair.male.count:,} and {pair.female.count:,}"
            f" (inside other words {pair.male.inside:,} and {pair.female.inside:,})",
        ]
        if pair.verdict == "absent":
            continue
        lines.append(f"  told apart by neighbours (0.5 = not at all): {pair.asymmetry.text()}")
        for word in (pair.male, pair.female):
            lines.append(f"  {word.word}: never swapped {word.unswapped.text()}; {_compounds(word)}")
    return "\n".join([*lines, pairs_check.signature])


@pairs.command("check")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@option("--pairs", "name", default="", metavar="table1|released|FILE", help="Keyword pairs; FILE: a TSV.")
@option("--pair", "typed", multiple=True, metavar="MALE/FEMALE", help="A pair to check, such as 男士/女士.")
@option("--column", help="The text column of tables.  [default: the longest]")
@option("--limit", type=click.IntRange(1), metavar="MEGABYTES", help="Stop after this much text.")
@option("--seed", type=click.IntRange(0), default=0, help="Start of the random sample.")
@json_option
@needs("start_jobs")
def check(paths: tuple[Path, ...], name: str, typed: tuple[str, ...], limit: int | None, **options: Any) -> None:
    """Check whether the two words of each pair are used alike in the text of PATH....

    Prints how often each word occurs, its most common neighbours with the
    count of the swapped compound (王女士 50:0), how well neighbours
    distinguish the words, and a verdict: the reason for which the papers
    leave out 男士/女士.
    """
    read = None if limit is None else limit * 1_000_000
    pairs = chosen_pairs(name, typed)
    with Meter("MB") as meter:
        pairs_check = check_pairs(paths, pairs, limit_bytes=read, progress=meter, **options)
    sources = {name: getattr(pairs_check.read, name) for name in ("files", "bytes", "characters", "problems")}
    answer({"pairs": pairs_check.pairs, "read": sources, "signature": pairs_check.signature}, check_text(pairs_check))
