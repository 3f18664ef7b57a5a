"""`mine`: raw text to candidate sentences, with a report that says why the others went."""

import errno
import json
import math
import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, json_option
from evenhand.core.errors import N_, BadFile
from evenhand.core.files.whole_file import CANNOT_WRITE, whole_file
from evenhand.core.mining.report import Report
from evenhand.core.mining.run import candidates_file
from evenhand.core.mining.run import mine as mine_texts
from evenhand.core.mining.settings import CODES, Settings
from evenhand.core.mining.types import MODES
from evenhand.core.resources import keyword_pairs
from evenhand.core.types import KeywordPair

SHOWN = 20  # problems printed for people
UNREADABLE = N_("{file} cannot be read: {why}.")
NO_MODE = N_("--set takes FILTER=MODE or PAIR:FILTER=MODE, such as names=flag or 他/她:names=reject, not {text}.")
NO_LIMIT = N_("--limit takes a number of megabytes.")
SAME_PLACE = N_("{file} is given twice as an output file; each output needs its own file.")
OWN_TEXT = N_("{file} is an input text; writing there would destroy it. Name another file.")
NO_SETTINGS = N_("{file} contains no mining settings; the report of an earlier run has them under `settings`.")


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
    settings = _settings(options)
    own = {name: Path(options[name]) for name in ("out", "report_path", "table") if options[name]}
    _refuse_places(list(own.values()), paths)
    # Output files are opened first, so that a run of hours does not end with a missing folder.
    with ExitStack() as opened:
        writers = {name: opened.enter_context(whole_file(path)) for name, path in own.items() if name != "out"}
        write = opened.enter_context(candidates_file(own["out"]))
        with Meter("MB") as meter:
            report = mine_texts(
                paths,
                settings,
                on_candidate=write,
                progress=meter,
                workers=options["workers"],
                ray=options["address"],
                limit_bytes=_limit(options["limit"]),
                without=own.values(),
            )
        write.end(report.facts())
        if "report_path" in writers:
            writers["report_path"](json.dumps(report.to_json(), ensure_ascii=False, indent=1))
        if "table" in writers:
            writers["table"](report.to_csv())
    for problem in [] if as_json else report.read.problems[:SHOWN]:
        click.echo(problem.text, err=True)
    answer(_summary(report, options), for_people(report), as_json=as_json)


def _refuse_places(own: list[Path], paths: Iterable[str]) -> None:
    """Raises BadFile if two output files are the same, one is an input, or its folder is missing."""
    read = {Path(path).expanduser().resolve() for path in paths}
    places = [path.resolve() for path in own]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise BadFile(SAME_PLACE, file=str(own[number]))
        if place in read:
            raise BadFile(OWN_TEXT, file=str(own[number]))
        if not place.parent.is_dir():
            raise BadFile(CANNOT_WRITE, file=str(own[number]), why=os.strerror(errno.ENOENT))


def _limit(megabytes: float | None) -> int | None:
    if megabytes is None:
        return None
    if not math.isfinite(megabytes):
        raise BadFile(NO_LIMIT)
    return max(1, int(megabytes * 1e6))


def _settings(options: dict[str, Any]) -> Settings:
    values = _from_file(Path(options["settings_path"])) if options["settings_path"] else {}
    if options["pairs_of"] or "pairs" not in values:
        values["pairs"] = [asdict(pair) for pair in _pairs(options["pairs_of"] or "table1")]
    values |= {name: options[name] for name in ("quotes", "convert", "column", "seed") if options[name] is not None}
    if options["length"]:
        values["shortest"], values["longest"] = _length(options["length"])
    modes: dict[str, Any] = {}
    pair_modes: list[dict[str, str]] = []
    for one in (*options["given"], *([f"names={options['names']}"] if options["names"] else [])):
        left, equals, mode = one.rpartition("=")
        if not (equals and left):
            raise BadFile(NO_MODE, text=one)
        pair, _, code = left.rpartition(":")
        if pair:
            pair_modes.append({"pair": pair, "filter": code, "mode": mode})
        else:
            modes[code] = mode
    try:
        modes = values.get("modes", {}) | modes
        return Settings.from_json(values | {"modes": modes, "pair_modes": values.get("pair_modes", []) + pair_modes})
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise BadFile(NO_SETTINGS, file=options["settings_path"]) from error


def _from_file(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(UNREADABLE, file=str(path), why=error.strerror or str(error)) from error
    except (ValueError, RecursionError):
        values = None
    if isinstance(values, dict) and "funnel" in values:  # the report of an earlier run
        values = values.get("settings")
    if not isinstance(values, dict):
        raise BadFile(NO_SETTINGS, file=str(path))
    return values


def _length(text: str) -> tuple[int, int]:
    shortest, _, longest = text.partition("-")
    if not shortest.isdecimal() or not longest.isdecimal():
        raise BadFile(N_("--length takes two numbers such as 9-119, not {text}."), text=text)
    return int(shortest), int(longest)


def _pairs(wanted: str) -> tuple[KeywordPair, ...]:
    if wanted == "table1" or wanted == "released":
        return keyword_pairs(wanted)
    from evenhand.core.mining.keyword_lists import read_pairs

    return read_pairs(Path(wanted))


def _summary(report: Report, options: dict[str, Any]) -> dict[str, Any]:
    """The report without its examples: those are in the report file."""
    found = report.to_json()
    for row in found["funnel"]:
        del row["filters"]
    names = ("candidates", "total", "funnel", "read", "signature", "seconds", "notices", "version")
    places = {"out": options["out"], "report": options["report_path"], "table": options["table"]}
    return {name: found[name] for name in names} | places


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
