"""`weat`, `crows`, `stereoset`: measures from the literature, each as originally defined."""

from pathlib import Path

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, json_option
from evenhand.core.errors import N_, Refused
from evenhand.core.language import significant
from evenhand.core.other_measures.crows import (
    CRITICISM,
    METHODS,
    VARIANTS,
    CrowsPairs,
    Variant,
    crows_pairs,
    read_crows,
    read_writers,
)
from evenhand.core.other_measures.stereoset import read_item_scores, read_items
from evenhand.core.other_measures.stereoset import stereoset as three_scores
from evenhand.core.other_measures.weat import WeatTest, names_of, read_sets, read_vectors
from evenhand.core.other_measures.weat import weat as one_test
from evenhand.core.typed_json import to_json

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
WHICH = N_("{file} contains scores of several models; choose one with --model: {known}.")
NO_MODEL = N_("{file} contains no scores of {model}; it has: {known}.")


@click.command("weat")
@click.option("--sets", "sets_file", type=FILE, required=True, help="Word sets: a JSON object of names and lists.")
@click.option("--vectors", type=FILE, required=True, help="Word vectors in word2vec's text form.")
@click.option("--test", "tests", multiple=True, required=True, metavar="X,Y,A,B", help="The sets of a test; several.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the drawn partitions, beyond 20,000.")
@json_option
@needs("measure")
def weat(sets_file: Path, vectors: Path, tests: tuple[str, ...], seed: int, as_json: bool) -> None:
    """The word embedding association test: effect and exact p.

    As Caliskan et al. 2017 print it: ddof 1, all partitions of X and Y into equal sets. p is P(s >= s_obs), as exact
    tests have it; p_greater is P(s > s_obs), as Caliskan et al. write. A zero vector makes effect and p undefined.
    """
    sets = read_sets(sets_file)
    words = {word for test in tests for name in names_of(test, sets, sets_file.name) for word in sets[name]}
    known = read_vectors(vectors, words)
    found = [one_test(test, sets, known, sets_file.name, seed) for test in tests]
    answer({"tests": to_json(found)}, map(_line, found), as_json=as_json)


def _line(one: WeatTest) -> str:
    kind = "exact, " if one.exact else ""
    lacking = "".join(f"; {name} lacks {', '.join(missing)}" for name, missing in one.missing.items())
    effect = "undefined" if one.effect is None else f"{one.effect:.3f}"
    if one.p is None or one.p_greater is None:
        return f"{one.test}: d and p undefined: {one.p_reason}{lacking}"
    reason = f" ({one.effect_reason})" if one.effect_reason else ""
    p = f"P(s >= s_obs) = {significant(one.p, 4)}, P(s > s_obs) = {significant(one.p_greater, 4)}"
    return f"{one.test}: d = {effect}{reason}, {p} ({kind}{one.partitions:,} partitions){lacking}"


@click.command("stereoset")
@click.option("--items", "items_file", type=FILE, required=True, help="Intrasentence items of StereoSet (JSON).")
@click.option("--scores", "scores_file", type=FILE, required=True, help="A number for each sentence id (JSON).")
@click.option("--model", help="Whose scores, where the file has several models.")
@json_option
@needs("measure")
def stereoset(items_file: Path, scores_file: Path, model: str | None, as_json: bool) -> None:
    """lms, ss and icat from scores of sentences.

    StereoSet, Nadeem et al. 2021: means over target terms.
    """
    scores = read_item_scores(scores_file)
    known = ", ".join(scores)
    if model is None and len(scores) > 1:
        raise Refused(WHICH, file=scores_file.name, known=known)
    if model is not None and model not in scores:
        raise Refused(NO_MODEL, file=scores_file.name, model=model, known=known)
    found = three_scores(read_items(items_file), scores[model or next(iter(scores))], scores_file.name)
    text = f"lms {found.lms:.4f}, ss {found.ss:.4f}, icat {found.icat:.4f} ({found.items} items, {found.terms} terms)"
    answer(to_json(found), text, as_json=as_json)


@click.command("crows")
@click.argument("file", type=FILE)
@click.option("--model", required=True, help="A masked model: built in, on the hub, or a folder.")
@click.option("--variant", type=click.Choice(VARIANTS), default="published", show_default=True,
              help="published: sum over shared tokens; changed: those that differ; mean; aul: unmasked.")  # fmt: skip
@click.option("--bias", help="Only pairs of this bias_type, such as gender; else all of the file.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda, mps.")
@json_option
@needs("measure")
def crows(file: Path, model: str, variant: Variant, bias: str | None, device: str, as_json: bool) -> None:
    """CrowS-Pairs: the share of pairs whose more stereotyping sentence scores higher.

    As published by Nangia et al. 2020, or a variant by its name.
    """
    pairs = read_crows(file, bias)
    found = _crows(pairs, read_writers(file, bias), model, variant, device)
    answer(to_json(found) | {"model": model}, _crows_text(found), as_json=as_json)


def _crows(pairs: list[tuple[str, str]], writers: list[str], model: str, variant: Variant, device: str) -> CrowsPairs:
    from evenhand.core.models.other_measures import PairReader

    reader = PairReader(model, device=device)
    return crows_pairs(reader.read(pairs), variant, reader.signature(METHODS[variant]), writers)


def _crows_text(found: CrowsPairs) -> str:
    score = found.score
    if score.value is None:
        return str(score)
    text = f"{found.variant}: {score.text('.1f')} % of {found.pairs:,} pairs, {found.ties} ties"
    return f"{text}\n{CRITICISM}\n{found.signature}"
