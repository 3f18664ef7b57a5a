"""`weat`, `crows`, `stereoset`, `other-measures`, `classifier-gaps`: measures of others, as their names say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.quantities.runs import run_json
from evenhand.commands.permissions import guarded, needs
from evenhand.commands.shared import Cell, Meter, answer, json_option, option, table, warn
from evenhand.core.errors import N_, Refused
from evenhand.core.language import significant
from evenhand.core.other_measures.classifiers import ClassifierGaps, read_gaps
from evenhand.core.other_measures.measured_values import MeasuredValue
from evenhand.core.other_measures.run import MeasureReport, run
from evenhand.core.other_measures.settings import BY_NAME, Name, Settings
from evenhand.core.other_measures.stereotypes import (
    CRITICISM,
    METHODS,
    VARIANTS,
    CrowsPairs,
    Variant,
    crows_pairs,
    read_crows,
    read_item_scores,
    read_items,
    read_writers,
)
from evenhand.core.other_measures.stereotypes import stereoset as three_scores
from evenhand.core.other_measures.weat import WeatTest, names_of, read_sets, read_vectors
from evenhand.core.other_measures.weat import weat as one_test
from evenhand.core.runs.kinds import Place
from evenhand.core.typed_json import to_json

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
WHICH = N_("{file} contains scores of several models; choose one with --model: {known}.")
NO_MODEL = N_("{file} contains no scores of {model}; it has: {known}.")


@click.command("weat")
@option("--sets", "sets_file", type=FILE, required=True, help="Word sets: a JSON object of names and lists.")
@option("--vectors", type=FILE, required=True, help="Word vectors in word2vec's text form.")
@option("--test", "tests", multiple=True, required=True, metavar="X,Y,A,B", help="The sets of a test; several.")
@option("--seed", type=int, default=0, help="Start of the random draw of partitions, if there are more than 20,000.")
@json_option
@needs("measure")
def weat(sets_file: Path, vectors: Path, tests: tuple[str, ...], seed: int) -> None:
    """Run the word embedding association test: effect and exact p.

    As Caliskan et al. 2017 print it: ddof 1, all partitions of X and Y into equal sets. p is P(s >= s_obs), as exact
    tests have it; p_greater is P(s > s_obs), as Caliskan et al. write. A zero vector makes effect and p undefined.
    """
    sets = read_sets(sets_file)
    words = {word for test in tests for name in names_of(test, sets) for word in sets[name]}
    known = read_vectors(vectors, words)
    weat_tests = [one_test(test, sets, known, seed) for test in tests]
    answer({"tests": weat_tests}, map(_line, weat_tests))


def _line(weat_test: WeatTest) -> str:
    kind = "exact, " if weat_test.exact else ""
    lacking = "".join(f"; {name} lacks {', '.join(missing)}" for name, missing in weat_test.missing.items())
    effect = "undefined" if weat_test.effect is None else f"{weat_test.effect:.3f}"
    if weat_test.p is None or weat_test.p_greater is None:
        return f"{weat_test.test}: d and p undefined: {weat_test.p_reason}{lacking}"
    reason = f" ({weat_test.effect_reason})" if weat_test.effect_reason else ""
    p = f"P(s >= s_obs) = {significant(weat_test.p, 4)}, P(s > s_obs) = {significant(weat_test.p_greater, 4)}"
    return f"{weat_test.test}: d = {effect}{reason}, {p} ({kind}{weat_test.partitions:,} partitions){lacking}"


@click.command("stereoset")
@option("--items", "items_file", type=FILE, required=True, help="Intrasentence items of StereoSet (JSON).")
@option("--scores", "scores_file", type=FILE, required=True, help="A number for each sentence id (JSON).")
@option("--model", help="The model whose scores count, if the file has several.")
@json_option
@needs("measure")
def stereoset(items_file: Path, scores_file: Path, model: str | None) -> None:
    """Calculate lms, ss and icat from scores of sentences.

    StereoSet, Nadeem et al. 2021: means over target terms.
    """
    scores = read_item_scores(scores_file)
    known = ", ".join(scores)
    if model is None and len(scores) > 1:
        raise Refused(WHICH, file=scores_file.name, known=known)
    if model is not None and model not in scores:
        raise Refused(NO_MODEL, file=scores_file.name, model=model, known=known)
    result = three_scores(read_items(items_file), scores[model or next(iter(scores))], scores_file.name)
    text = (
        f"lms {result.lms:.4f}, ss {result.ss:.4f}, icat {result.icat:.4f} ({result.items} items, {result.terms} terms)"
    )
    answer(result, text)


@click.command("crows")
@click.argument("file", type=FILE)
@option("--model", required=True, help="A masked model: built in, on the hub, or a folder.")
@option("--variant", type=click.Choice(VARIANTS), default="published",
        help="published: sum over shared tokens; changed: those that differ; mean; aul: unmasked.")  # fmt: skip
@option("--bias", help="Only pairs of this bias_type, such as gender; else all of the file.")
@option("--device", default="auto", help="auto, cpu, cuda, mps.")
@json_option
@needs("measure")
def crows(file: Path, model: str, variant: Variant, bias: str | None, device: str) -> None:
    """Calculate the share of CrowS-Pairs whose more stereotyping sentence scores higher.

    As published by Nangia et al. 2020, or a variant by its name.
    """
    pairs = read_crows(file, bias)
    found = _crows(pairs, read_writers(file, bias), model, variant, device)
    measure: Name = "aul" if variant == "aul" else "crows"
    quantities = run_json(measure, [MeasuredValue("share", "model", found.score)])
    answer(to_json(found) | {"model": model, "quantities": quantities}, _crows_text(found))


def _crows(pairs: list[tuple[str, str]], writers: list[str], model: str, variant: Variant, device: str) -> CrowsPairs:
    from evenhand.core.models.measure_readers import SentencePairReader

    reader = SentencePairReader(model, device=device)
    return crows_pairs(pairs, reader.read(pairs), variant, reader.signature(METHODS[variant]), writers)


def _crows_text(pairs: CrowsPairs) -> str:
    score = pairs.score
    if score.value is None:
        return str(score)
    text = f"{pairs.variant}: {score.text('.1f')} % of {pairs.pairs:,} pairs, {pairs.ties} ties"
    return f"{text}\n{CRITICISM}\n{pairs.signature}"


OUT = click.Path(dir_okay=False, path_type=Path)
HEADS = ["", "", "value", "by chance", "p"]


@click.command("other-measures")
@click.argument("measure", type=click.Choice(list(BY_NAME)))
@option("--model", "models", multiple=True, required=True, help="A model; repeat for several.")
@option("--set", "file", type=FILE, help="Your copy of the set; for SEAT, WEAT and the pro/anti gap one ships.")
@option("--variant", default="", help="crows: published, changed, mean; seat: sentences, words; pro-anti: type 1,"
              " type 2. Default: the first.")  # fmt: skip
@option("--bias", help="crows, aul: only pairs of this bias_type, such as gender.")
@option("--test", "tests", multiple=True, metavar="X,Y,A,B", help="seat, weat: four sets, or career, math,"
              " science, flowers, instruments, disease, age.")  # fmt: skip
@option("--language", default="", help="lpbs: en, es, eu, zh; seat: of the sentences. Default: the model's.")
@option("--layer", type=int, default=-1, help="seat: 0 is the input, -1 the last.")
@option("--pooling", type=click.Choice(["first", "mean", "last"]), help="seat: default first, causal last.")
@option("--no-untrained", is_flag=True, help="Do not score a randomly initialised copy of each model.")
@option("--device", default="auto", help="auto, cpu, cuda, mps.")
@option("--out", type=OUT, help="A table of every text and its score (CSV).")
@option("--run", "run_name", help="Instead of --out: the name of a run that the page Other measures lists.")
@guarded("start_jobs")
def other_measures(db: str, **options: Any) -> None:
    """Score models, their randomly initialised copies and a control by one MEASURE from the literature.

    Published values and known limitations are printed with it.
    """
    with Meter() as meter:
        report = run(Settings(**options), Place(Path(db), meter))
    warn(report.notices, report.failed)
    quantities = {one.model: run_json(report.measure, one.figures) for one in report.models}
    answer(to_json(report) | {"quantities": quantities}, _text(report))


def _text(report: MeasureReport) -> Iterator[str]:
    what = BY_NAME[report.measure]
    yield f"{what.title} {report.variant}".rstrip()
    for result in report.models:
        yield result.model
        yield table([_row(figure) for figure in result.figures], HEADS, form=".4f", indent="  ")
        yield from filter(None, (result.signature, result.untrained_signature))
    for row in report.published:
        yield f"published: {row['model']}, {row['quantity']} {row['value']} ({row['source']})"
    yield what.against


def _row(figure: MeasuredValue) -> list[Cell]:
    chance = f"{figure.band[0]:.2f} to {figure.band[1]:.2f}" if figure.band else ""
    p = "" if figure.p is None else significant(figure.p, 4)
    return [figure.quantity, figure.role, figure.estimate, chance, p]


@click.command("classifier-gaps")
@click.argument("file", type=FILE)
@option("--seed", type=int, default=0, help="Start of the random shuffling of groups.")
@json_option
@needs("measure")
def classifier_gaps(file: Path, seed: int) -> None:
    """Calculate FPED and FNED, swap consistency, and the F1 gap of WinoBias from a table of predictions.

    FILE has gold and predicted, and group (Dixon et al. 2018), predicted_swapped (the thesis) or set with pro and anti.
    """
    gaps = read_gaps(file, seed)
    answer(gaps, _gaps_text(gaps))


def _gaps_text(gaps: ClassifierGaps) -> Iterator[str]:
    rows: list[list[Cell]] = [[gap.name, gap.value.value, *(gap.null or ())] for gap in gaps.gaps]
    if rows:
        yield table(rows, ["", "gap", "groups by chance", "95th percentile"], form=".4f")
    if gaps.consistency is not None and gaps.consistency.value is not None:
        yield f"swap consistency: {gaps.consistency.value:.4f}"
    if gaps.f1_gap is not None and gaps.f1_gap.value is not None:
        yield f"F1 pro {gaps.f1['pro']:.4f}, anti {gaps.f1['anti']:.4f}, gap {gaps.f1_gap.value:+.4f}"
