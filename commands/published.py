"""`check-paper`: recalculate the numbers of the papers; `published`: read published scores of models."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.commands.permissions import guarded, needs
from evenhand.commands.shared import answer, json_option, option, options
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.published.claims import PrintedClaim
from evenhand.core.published.other_papers import checks
from evenhand.core.statistics.estimate import note_text
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject

if TYPE_CHECKING:
    from evenhand.core.published.gest import Gest, Standing

WORDS = {True: "consistent", False: "INCONSISTENT", None: "undecided"}


def claim_data(claim: PrintedClaim) -> JsonObject:
    """Return a claim for JSON; `follows` is null, with the reason, if the document does not decide it."""
    remark = note_text(claim.remark) or None
    data: JsonObject = {
        "key": claim.key,
        "document": claim.document,
        "place": note_text(claim.place),
        "printed": claim.printed,
        "recomputed": note_text(claim.recomputed),
        "follows": claim.follows,
        "remark": remark,
        "calculation": [note_text(line) for line in claim.calculation],
    }
    if claim.follows is None:
        data["follows_reason"] = remark or "The document leaves it open."
    if remark is None:
        data["remark_reason"] = "There is nothing to add."
    return data


@click.command("check-paper")
@option("--all", "everything", is_flag=True, help="Also print the consistent claims.")
@json_option
@needs("measure")
def check_paper(everything: bool) -> None:
    """Recalculate the numbers of the papers behind the measures, and list inconsistent ones.

    Every reported number may be off by half a unit of its last digit. The exit code is always 0.
    """
    printed_claims = checks()
    totals = {name: sum(claim.follows is verdict for claim in printed_claims) for verdict, name in WORDS.items()}
    counts = {"follows": totals[WORDS[True]], "does_not_follow": totals[WORDS[False]], "undecided": totals[WORDS[None]]}
    lines = []
    for document in dict.fromkeys(claim.document for claim in printed_claims):
        claims = [claim for claim in printed_claims if claim.document == document]
        follow = sum(claim.follows is True for claim in claims)
        lines.append(f"{document}: {follow} of {len(claims)} consistent")
        for claim in claims:
            if everything or claim.follows is not True:
                lines += _lines(claim)
    lines.append(", ".join(f"{name.lower()} {count}" for name, count in totals.items()))
    answer({"claims": [claim_data(claim) for claim in printed_claims], "counts": counts}, lines)


def _lines(claim: PrintedClaim) -> list[str]:
    numbers = f"reported {claim.printed}, recalculated {note_text(claim.recomputed)}"
    head = f"  {WORDS[claim.follows]:<15} {note_text(claim.place)}: {numbers}"
    steps = [f"    {note_text(line)}" for line in claim.calculation] if claim.follows is not True else []
    return [head, *([f"    {note_text(claim.remark)}"] if claim.remark else []), *steps]


run_of_scores = options(
    option("--out", type=click.Path(dir_okay=False), help="The table as `score` writes it (CSV)."),
    option("--run", help="A name under which the pages list the scores."),
    option("--by-template", is_flag=True, help="A model per template; else the mean over the templates of a model."),
)


@click.group()
def published() -> None:
    """Read published scores as finished runs: real models without their weights."""


@published.command()
@click.argument("path", type=click.Path(path_type=Path))
@run_of_scores
@option(
    "--with", "scores", type=click.Path(path_type=Path),
    help="A score file of your models on these sentences: they are placed among the published ones.",
)  # fmt: skip
@option("--tables", type=click.Path(file_okay=False, path_type=Path), help="Write means and correlations here (TSV).")
@guarded("start_jobs")
def gest(
    path: Path, out: str | None, run: str | None, by_template: bool, scores: Path | None, tables: Path | None, db: str
) -> None:
    """Read a copy of GEST in PATH and compare its printed means with its scores.

    PATH holds gest.csv, the score files (MODEL_template-0.txt.gz) and printed_means.tsv. Values are log10 of the
    probability of "he" over that of "she"; the printed means are exp of their means.
    """
    from evenhand.core.model_bias import read_scores
    from evenhand.core.published.gest import read_gest
    from evenhand.core.runs.records import target_or_none

    copy = read_gest(path)
    mine = copy.placed(read_scores(scores)) if scores else []
    table, listed = target_or_none(db, "scores", out, run)
    if table is not None:
        from evenhand.core.published.score_tables import write_scores

        everything = replace(copy.scores, models=(*copy.scores.models, *mine))
        write_scores(everything, table, by_template=by_template, listed=listed, source={"name": "GEST"})
    if tables is not None:
        for name, rows in (("gest_means.tsv", copy.means()), ("gest_correlations.tsv", copy.correlations())):
            with whole_file(tables / name) as write:
                for row in rows:
                    write("\t".join(row) + "\n")
    answer(_gest_json(copy, standings := [copy.standing(model) for model in mine]), _gest_text(copy, standings))


def _gest_json(copy: "Gest", standings: list["Standing"]) -> JsonObject:
    different = [one for one in copy.printed if not one.equal]
    return {
        "printed": len(copy.printed),
        "equal": len(copy.printed) - len(different),
        "different": to_json(different),
        "models": [model.name for model in copy.scores.models],
        "sentences": len(copy.scores.sentences),
        "yours": [{"model": one.model, "mean_log10": one.mean.to_json(), "higher": one.higher} for one in standings],
    }


def _gest_text(copy: "Gest", standings: list["Standing"]) -> Iterator[str]:
    equal = sum(one.equal for one in copy.printed)
    yield f"{len(copy.scores.models)} models on {len(copy.scores.sentences):,} sentences"
    yield f"printed means: {equal:,} of {len(copy.printed):,} equal to those of the scores"
    for one in copy.printed:
        if not one.equal:
            again = "no scores" if one.recalculated is None else f"{one.recalculated:.4f}"
            yield f"  {one.model}, template {one.template}, stereotype {one.stereotype}: {one.printed}, {again}"
    for place in standings:
        mean = place.mean.text("+.3f", note=True)
        yield f"{place.model}: mean {mean} log10; {place.higher} of {place.published} published models are higher"


@published.command("table")
@click.argument("file", type=click.Path(path_type=Path))
@run_of_scores
@option("--base", type=click.Choice(["10", "e", "2"]), default="10", help="The base of the logarithm.")
@option("--pair", default="he/she", help="The words compared, male word first, for rows without a pair.")
@guarded("start_jobs")
def read_any(file: Path, out: str | None, run: str | None, by_template: bool, base: str, pair: str, db: str) -> None:
    """Read a table of published scores: FILE has a row per sentence, model and template.

    Columns: sentence, model, log_ratio, and if there are any template, group, pair. A positive log_ratio leans towards
    the male word.
    """
    from evenhand.core.published.score_tables import read_table, write_scores
    from evenhand.core.runs.records import run_target

    table, listed = run_target(db, "scores", out, run)
    scores = read_table(file, base=base, pair=pair, source=file.stem)
    number = write_scores(scores, table, by_template=by_template, listed=listed, source={"name": file.name})
    data = {"models": number, "sentences": len(scores.sentences), "out": str(table)}
    answer(data, f"{number} models on {len(scores.sentences):,} sentences written to {table}")
