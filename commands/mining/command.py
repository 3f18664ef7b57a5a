"""`mine`: raw text to candidate sentences, with a report that says why the others went."""

from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, json_option, settings_from
from evenhand.core.mining.report import Report
from evenhand.core.mining.request import Request, run
from evenhand.core.mining.settings import CODES
from evenhand.core.mining.types import MODES
from evenhand.core.runs.kinds import Place
from evenhand.core.typed_json import to_json

SHOWN = 20  # problems printed for people


@click.command("mine")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="The candidates to write (JSON lines).")
@click.option("--report", "report_path", type=click.Path(dir_okay=False), help="The report to write (JSON).")
@click.option("--table", type=click.Path(dir_okay=False), help="The funnel per pair and side to write (CSV).")
@click.option(
    "--pairs", "pairs_of", metavar="table1|released|FILE", help="Keyword pairs; FILE: a TSV.  [default: table1]"
)
@click.option("--names", type=click.Choice(MODES), help="Short for --set names=MODE.")
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="[PAIR:]FILTER=MODE",
    help=f"What a filter does, such as names=flag or 他/她:names=reject. Filters: {', '.join(CODES)}; "
    "modes: off, reject, flag. May be given several times.",
)
@click.option("--quotes", type=click.Choice(["delete", "complete"]), help="A quotation mark that lost its partner.")
@click.option("--convert", type=click.Choice(["t2s"]), help="t2s: traditional characters to simplified ones.")
@click.option("--column", help="The text column of tables and JSON lines.  [default: the longest]")
@click.option("--length", metavar="SHORTEST-LONGEST", help="Characters of a sentence.  [default: 9-119]")
@click.option("--seed", type=int, help="Which rejected sentences are shown as examples.")
@click.option(
    "--settings",
    "settings_path",
    type=click.Path(),
    help="Settings from a JSON file, or from the report of an earlier run; options are stronger.",
)
@click.option("--workers", type=click.IntRange(1), help="Processes; default: one per 8 MB, at most all processors.")
@click.option("--ray", "address", help='A Ray cluster: "auto", HOST:PORT, ray://HOST:PORT, or "local" to start one.')
@click.option("--limit", type=click.FloatRange(0, min_open=True), help="Read only this many megabytes.")
@json_option
@needs("start_jobs")
def mine(paths: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Find candidate sentences in files, folders and globs.

    PATH: .txt, .md, .html, .jsonl, .csv or .tsv in UTF-8, GB18030 or Big5, also in .gz and .zip. The same text and
    settings give the same candidates in the same order, however many processes work. Nothing is at --out before the run
    is over; a killed run starts again from the beginning.
    """
    request = settings_from(Request, options | {"paths": paths})
    with Meter("MB") as meter:
        report = run(request, Place(Path(), meter))
    for problem in [] if as_json else report.read.problems[:SHOWN]:
        click.echo(problem.text, err=True)
    answer(_summary(report, request), for_people(report), as_json=as_json)


def _summary(report: Report, request: Request) -> dict[str, Any]:
    """The report without its examples: those are in the report file."""
    found = report.to_json()
    for row in found["funnel"]:
        del row["filters"]
    names = ("candidates", "total", "funnel", "read", "signature", "seconds", "notices", "version")
    places = {"out": request.out, "report": request.report_path, "table": request.table}
    return to_json({name: found[name] for name in names} | places)  # type: ignore[no-any-return]


def for_people(report: Report) -> str:
    """The funnel in words."""
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
