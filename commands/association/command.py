"""`association`: person words and professions in a masked language model (BEC-Pro)."""

from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import (
    NO_DRAWS,
    Meter,
    answer,
    db_option,
    json_option,
    margin_option,
    settings_from,
    spreadsheet_option,
    warn,
    write_spreadsheet,
)
from evenhand.core.association.builtin import LANGUAGES
from evenhand.core.association.corpus import write_corpus
from evenhand.core.association.run import AssociationReport, Settings, run, set_of
from evenhand.core.association.sets import ATTRIBUTES, TARGETS
from evenhand.core.errors import N_, Refused
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.records import NO_TARGET

EXISTING = click.Path(dir_okay=False, path_type=Path)


@click.command("association")
@click.option(
    "--language", type=click.Choice(LANGUAGES), required=True, help="Which built-in set; es-noart: no articles."
)
@click.option("--corpus", type=EXISTING, help="Write the sentences with their masks to this file (TSV).")
@click.option("--model", "models", multiple=True, help="A masked language model to ask; may be given several times.")
@click.option("--out", type=EXISTING, help="Write one row per sentence and model (CSV, or TSV by its ending).")
@click.option("--run", "run_name", help="Instead of --out: the name of a run that the page Professions lists.")
@spreadsheet_option
@click.option("--scores", type=EXISTING, help="Measure this table of an earlier --out instead of asking a model.")
@click.option("--templates", type=EXISTING, help="Own templates (TSV: template, name) in place of the built-in ones.")
@click.option("--persons", type=EXISTING, help="Own person words (TSV: person, gender, determiner, pair).")
@click.option("--professions", type=EXISTING, help="Own professions (TSV: profession, female, class, field, women).")
@click.option(
    "--spelling",
    type=click.Choice(["corrected", "printed"]),
    default="corrected",
    show_default=True,
    help="Spanish and Basque: misprints of the thesis corrected, or as printed.",
)
@click.option("--an", is_flag=True, help='English: "an" before vowels; the released file has "a" throughout.')
@click.option("--ergative", is_flag=True, help="Basque: the subject of templates 2 to 5 in the ergative.")
@click.option(
    "--determiners",
    type=click.Choice(["given", "none"]),
    help="this/my and their like before nouns; default: given, in Basque none.",
)
@click.option(
    "--wife",
    type=click.Choice(["mujer", "esposa"]),
    default="mujer",
    show_default=True,
    help="Spanish: the thesis has mujer for woman and for wife.",
)
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    default="all",
    show_default=True,
    help="Person words of several pieces: one mask per piece, or the first piece alone.",
)
@click.option(
    "--attribute",
    type=click.Choice(ATTRIBUTES),
    help="Hidden professions: one mask per whitespace-separated word (default; Chinese: piece), or one per piece.",
)
@margin_option("ln", of="difference (H3, classes, fields, H4)")
@click.option("--monolingual", help="H4: which of the models is the monolingual one; default: as the papers list it.")
@click.option("--precision", type=click.Choice(["fp32", "bf16"]), default="fp32", show_default=True)
@click.option("--threads", type=click.IntRange(1), help="Threads of the model; default: all.")
@click.option("--resamples", type=click.IntRange(100, 100_000), expose_value=False, help=NO_DRAWS)
@click.option("--seed", type=click.IntRange(0), expose_value=False, help=NO_DRAWS)
@db_option
@json_option
@needs("start_jobs")
def association(language: Any, db: str, as_json: bool, **options: Any) -> None:
    """Does a profession make a person word more likely? ln(P_T / P_prior) over templates, persons and professions.

    With --corpus alone the sentences are written and no model is asked. Positive values: the profession raises the
    probability of the person word. Differences are M - W (positive leans towards the male words) with 95% intervals: t
    on the jackknife over professions and person words, less that of cells; the thesis prints W - M.
    """
    if options["scores"] and options["models"]:
        raise Refused(N_("Give --scores to measure an existing table, or --model to run models, not both."))
    if not (options["corpus"] or options["models"] or options["scores"]):
        raise Refused(N_("Nothing to do. Give --corpus FILE, --model NAME or --scores FILE."))
    if options["spreadsheet"] and not (options["models"] and (options["out"] or options["run_name"])):
        raise Refused(NO_TARGET)  # before a model is asked
    settings = settings_from(Settings, options | {"language": language})
    source = set_of(settings)
    data: dict[str, Any] = {"language": language, "sentences": source.sentences, "options": source.options}
    if options["corpus"]:
        write_corpus(source, options["corpus"])
        data["corpus"] = str(options["corpus"])
    if options["models"]:
        data |= _score_models(settings, Path(db), options)
    elif options["scores"]:
        from evenhand.core.association.table import read_associations

        data |= _measured(read_associations(options["scores"]), language, options)
    from evenhand.commands.association.answers import for_people

    answer(data, for_people(data), as_json=as_json)


def _score_models(settings: Settings, db: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Ask the models, write the table if asked for, and measure."""
    from evenhand.core.association.table import frame_of

    with Meter() as meter:
        report = run(settings, Place(db, meter))
    write_spreadsheet(report.out, options["spreadsheet"])
    warn(report.notices, report.failed)
    rows = frame_of([row for one in report.models for row in one.found])
    return _facts(report) | _measured(rows, settings.language, options, report)


def _facts(report: AssociationReport) -> dict[str, Any]:
    record, totals = report.as_json(), report.scored_rows
    kept = {key: record[key] for key in ("source", "settings", "failed", "seconds", "versions")}
    kept |= {"rows": totals.rows, "scored": totals.scored, "undefined": totals.undefined}
    return kept | ({"out": str(report.out)} if report.out else {})


def _measured(
    rows: Any, language: str, options: dict[str, Any], report: AssociationReport | None = None
) -> dict[str, Any]:
    from evenhand.commands.association.answers import measured

    found = measured(rows, language, margin=options["margin"], monolingual=options["monolingual"])
    for one in report.models if report else []:
        found["models"][one.model] = one.as_json() | found["models"][one.model]
    return found
