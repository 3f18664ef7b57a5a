"""`association`: person words and professions in a masked language model (BEC-Pro)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.annotations.quantities.runs import run_json
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import (
    DASH,
    NO_DRAWS,
    Meter,
    answer,
    margin_option,
    option,
    settings_from,
    spreadsheet_option,
    table,
    warn,
    write_spreadsheet,
)
from evenhand.core.association.corpus import write_corpus
from evenhand.core.association.run import AssociationReport, Settings, run, set_of
from evenhand.core.association.sets import ATTRIBUTES, LANGUAGES, TARGETS
from evenhand.core.errors import N_, Refused
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.records import NO_TARGET
from evenhand.core.statistics.equivalence import ANSWERS
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject

if TYPE_CHECKING:  # pandas only when the command measures
    from evenhand.core.association.measures import Difference
    from evenhand.core.association.report import ModelMeasures

FOOT = (
    "ln(P_T / P_prior); positive: the profession makes the person word likelier. M - W: positive leans male; the thesis"
    " prints W - M. Means of models with different tokenizers do not compare."
)
EXISTING = click.Path(dir_okay=False, path_type=Path)


@click.command("association")
@option("--language", type=click.Choice(LANGUAGES), required=True, help="Which built-in set; es-noart: no articles.")
@option("--corpus", type=EXISTING, help="Write the sentences with their masks to this file (TSV).")
@option("--model", "models", multiple=True, help="A masked language model to ask; may be given several times.")
@option("--out", type=EXISTING, help="Write one row per sentence and model (CSV, or TSV by its ending).")
@option("--run", "run_name", help="Instead of --out: the name of a run that the page Professions lists.")
@spreadsheet_option
@option("--scores", type=EXISTING, help="Measure this table of an earlier --out instead of asking a model.")
@option("--templates", type=EXISTING, help="Own templates (TSV: template, name) in place of the built-in ones.")
@option("--persons", type=EXISTING, help="Own person words (TSV: person, gender, determiner, pair).")
@option("--professions", type=EXISTING, help="Own professions (TSV: profession, female, class, field, women).")
@option(
    "--spelling",
    type=click.Choice(["corrected", "printed"]),
    default="corrected",
    help="Spanish and Basque: misprints of the thesis corrected, or as printed.",
)
@option("--an", is_flag=True, help='English: "an" before vowels; the released file has "a" throughout.')
@option("--ergative", is_flag=True, help="Basque: the subject of templates 2 to 5 in the ergative.")
@option(
    "--determiners",
    type=click.Choice(["given", "none"]),
    help="this/my and their like before nouns; default: given, in Basque none.",
)
@option(
    "--wife",
    type=click.Choice(["mujer", "esposa"]),
    default="mujer",
    help="Spanish: the thesis has mujer for woman and for wife.",
)
@option(
    "--target",
    type=click.Choice(TARGETS),
    default="all",
    help="Person words of several pieces: one mask per piece, or the first piece alone.",
)
@option(
    "--attribute",
    type=click.Choice(ATTRIBUTES),
    help="Hidden professions: one mask per whitespace-separated word (default; Chinese: piece), or one per piece.",
)
@margin_option("ln", of="difference (H3, classes, fields, H4)")
@option("--monolingual", help="H4: which of the models is the monolingual one; default: as the papers list it.")
@option("--precision", type=click.Choice(["fp32", "bf16"]), default="fp32")
@option("--threads", type=click.IntRange(1), help="Threads of the model; default: all.")
@option("--resamples", type=click.IntRange(100, 100_000), expose_value=False, help=NO_DRAWS)
@option("--seed", type=click.IntRange(0), expose_value=False, help=NO_DRAWS)
@guarded("start_jobs")
def association(language: Any, db: str, **options: Any) -> None:
    """Measure how far a profession makes a person word more likely: ln(P_T / P_prior).

    The table is over templates, persons and professions. With --corpus alone the sentences are written and no model is
    asked. Positive values: the profession raises the probability of the person word. Differences are M - W (positive
    leans towards the male words) with 95% jackknife t intervals over professions and person words, less that of
    cells; the thesis prints W - M.
    """
    if options["scores"] and options["models"]:
        raise Refused(N_("Give --scores to measure an existing table, or --model to run models, not both."))
    if not (options["corpus"] or options["models"] or options["scores"]):
        raise Refused(N_("Nothing to do. Give --corpus FILE, --model NAME or --scores FILE."))
    if options["spreadsheet"] and not (options["models"] and (options["out"] or options["run_name"])):
        raise Refused(NO_TARGET)  # before a model is asked
    settings = settings_from(Settings, options | {"language": language})
    source = set_of(settings)
    data: JsonObject = {"language": language, "sentences": source.sentences, "options": source.options}
    text = [f"{language}: {source.sentences:,} sentences"]
    if options["corpus"]:
        write_corpus(source, options["corpus"])
        data["corpus"] = str(options["corpus"])
        text.append(f"Written: {options['corpus']}")
    report = _ask(settings, Path(db), options["spreadsheet"]) if options["models"] else None
    if report is not None or options["scores"]:
        from evenhand.core.association.report import printed_json

        measures = _measures(report, options)
        data |= _facts(report) | {"models": _models_json(report, measures), "printed": printed_json(language)}
        data["quantities"] = {name: run_json("association", measure) for name, measure in measures.items()}
        text += [*_models_text(report, measures), FOOT]
    if report is not None and report.out:
        text.append(f"Written: {report.out}")
    answer(data, text)


def _ask(settings: Settings, db: Path, copy: Path | None) -> AssociationReport:
    """Ask the models, and write the table if asked for."""
    with Meter() as meter:
        report = run(settings, Place(db, meter))
    write_spreadsheet(report.out, copy)
    warn(report.notices, report.failed)
    return report


def _measures(report: AssociationReport | None, options: dict[str, Any]) -> "dict[str, ModelMeasures]":
    """Return the measures of the models that were asked, or of a table."""
    from evenhand.core.association.measures import frame_of, read_associations
    from evenhand.core.association.report import measured

    if report is None:
        frame = read_associations(options["scores"])
    else:
        frame = frame_of([row for model in report.models for row in model.found])
    return measured(frame, options["margin"], options["monolingual"])


def _facts(report: AssociationReport | None) -> JsonObject:
    if report is None:
        return {}
    record, totals = to_json(report), report.scored_rows
    facts = {key: record[key] for key in ("source", "settings", "failed", "seconds", "versions")}
    facts |= {"rows": totals.rows, "scored": totals.scored, "undefined": totals.undefined}
    return facts | ({"out": str(report.out)} if report.out else {})


def _models_json(report: AssociationReport | None, measures: "dict[str, ModelMeasures]") -> JsonObject:
    runs = {model.model: to_json(model) for model in report.models} if report else {}
    return {name: runs.get(name, {}) | to_json(measure) for name, measure in measures.items()}


def _models_text(report: AssociationReport | None, measures: "dict[str, ModelMeasures]") -> Iterator[str]:
    runs = {model.model: model for model in report.models} if report else {}
    for name, model_measures in measures.items():
        yield f"\n{name}\n  {model_measures.signature}"
        if run := runs.get(name):
            tally = run.tally
            yield (
                f"  {tally.probes:,} probes in {tally.passes:,} passes ({tally.passes_saved:,} saved, of these"
                f" {tally.priors_saved:,} by equal priors), {run.seconds:.1f} s"
            )
        yield from (f"  {count:,} without a score: {reason}" for reason, count in model_measures.undefined.items())
        yield from _measures_text(model_measures)
    yield ""


def _measures_text(model_measures: "ModelMeasures") -> Iterator[str]:
    from evenhand.core.association.report import OUTCOMES, QUESTIONS

    described = ((group.kind or DASH, group.gender, group.mean.value, group.numbers) for group in model_measures.groups)
    groups = [(kind, gender, it.n, mean, it.std, it.min, it.q50, it.max) for kind, gender, mean, it in described]
    yield table(groups, ["class", "persons", "n", "mean", "std", "min", "50%", "max"], form="z.3f", indent="  ")
    differences = [_difference_row(model_measures, difference) for difference in model_measures.differences]
    differences += [
        _difference_row(model_measures, difference, " without equal pairs")
        for difference in model_measures.differences_without_equal_pairs
    ]
    heads = ["M - W", "", "", "against the margin", "minimum detectable difference (80% power)"]
    yield table(differences, heads, form="z.3f", indent="  ")
    for verdict in model_measures.hypotheses:
        outcome = OUTCOMES[verdict.outcome] + (", intervals agree" if verdict.clear else "")
        remark = f" ({verdict.remark})" if verdict.remark else ""
        yield f"  {verdict.name} ({QUESTIONS[verdict.name]}), {verdict.reading}: {outcome}{remark}"
    share = model_measures.women_share["spearman"]
    if share.value is not None:
        yield f"  Share of women with M - W over {share.units} professions: Spearman {share.text('z.3f')}"


def _difference_row(model_measures: "ModelMeasures", difference: "Difference", which: str = "") -> tuple[object, ...]:
    tested = model_measures.against_margin(difference)
    answer = f"{tested.margin:g}: {ANSWERS[tested.answer]}" if tested.margin else ""
    smallest = "" if tested.smallest is None else f"{tested.smallest:.3f}"
    units = f"{difference.professions} professions x {difference.words} {difference.unit}s"
    return f"{difference.name or DASH} professions{which}", difference.estimate, units, answer, smallest
