"""`tune MODEL TEXTS`: a model trained further on texts, swapped or not, or with a direction taken out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.files.project_texts import PROJECT
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import project as find_project
from evenhand.commands.permissions import enter_project, needs
from evenhand.commands.shared import Meter, answer, db_option, existing_store, json_option
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.models.tuning.settings import BERT_DROPOUT, Tuning
from evenhand.core.runs.records import runs_folder
from evenhand.core.swap.word_tables import LANGUAGES, WordTable, read_word_pairs, word_table
from evenhand.core.tune.run import TuneReport, stopped_early
from evenhand.core.tune.run import tune as train_model
from evenhand.core.tune.runs import tuned_folder, write_run
from evenhand.core.tune.texts import SWAPS, TrainingTexts, file_texts, training_texts

METHODS = ("training", "sentence-debias", "inlp")
NO_TARGET = N_("Say where to write the model: --out FOLDER or --run NAME.")
NO_LANGUAGE = N_("Swapping and removing a direction need the language of the texts: --language zh or en.")
ONLY_TRAINING = N_("A direction is removed within minutes, in this process: omit --ray, or use --method training.")
NO_TEXTS = N_("There is no file or folder {file}.")


@click.command("tune")
@click.argument("model")
@click.argument("texts")
@click.option("--out", type=click.Path(path_type=Path), help="The folder to write the changed model to.")
@click.option("--run", "run_name", help="Instead of --out: the name of a model that the page Tune lists.")
@click.option("--method", type=click.Choice(METHODS), default="training", show_default=True,
              help="Train further, or take out the direction of SentenceDebias or INLP.")  # fmt: skip
@click.option("--swap", type=click.Choice(SWAPS), default="none", show_default=True,
              help="What is trained on: the texts, their counterfactuals, both (cda), one of both (cds).")  # fmt: skip
@click.option("--language", type=click.Choice(LANGUAGES), help="The language of the texts, to swap them.")
@click.option("--pairs", type=click.Choice(["released", "wide"]), default="released", show_default=True,
              help="Which Chinese pairs are swapped.")  # fmt: skip
@click.option("--words", "own", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Pairs of your own.")
@click.option("--names", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Names to swap.")
@click.option("--leave-out", multiple=True, metavar="他/她",
              help="A pair that is not swapped, to test on afterwards; may be given several times.")  # fmt: skip
@click.option("--steps", type=int, default=1000, show_default=True, help="Training steps.")
@click.option("--batch", type=int, default=32, show_default=True, help="Texts per step.")
@click.option("--length", type=int, default=128, show_default=True, help="Maximum number of tokens per text.")
@click.option("--rate", type=float, default=5e-5, show_default=True, help="Learning rate at the start; it falls to 0.")
@click.option("--warmup", type=int, default=0, show_default=True, help="Steps until the rate is reached.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order of texts, masks, swaps.")
@click.option("--lora", type=int, default=0, show_default=True, help="Rank of adapters in place of all weights.")
@click.option("--adapters", is_flag=True, help="Keep the adapters beside the merged weights.")
@click.option("--dropout", nargs=2, type=float, metavar="HIDDEN ATTENTION",
              help=f"Dropout in training; published for BERT: {BERT_DROPOUT[0]:g} {BERT_DROPOUT[1]:g}.")  # fmt: skip
@click.option("--every", type=int, default=100, show_default=True, help="Steps between checks on held-out text.")
@click.option(
    "--patience",
    type=int,
    default=3,
    show_default=True,
    help="Checks without progress after which training stops; 0: never.",
)
@click.option("--held-out", "share", type=click.FloatRange(0.001, 0.5), default=0.05, show_default=True,
              help="Share of the texts that are never trained on.")  # fmt: skip
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda, mps.")
@click.option("--ray", "address", help="Train in a worker of the Ray cluster at this address; local: start one here.")
@click.option("--threads", type=click.IntRange(1), help="With --ray: threads of the worker; default: all.")
@click.option("--force", is_flag=True, help="Start even if memory seems too small.")
@click.option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@db_option
@json_option
@needs("start_jobs")
def tune(model: str, texts: str, as_json: bool, **options: Any) -> None:
    """Change MODEL with TEXTS and write it as a folder that loads like any model, with a model card.

    MODEL: built in, on the hub, or a folder. TEXTS: a text file (one text per line), anything that `mine` reads, or
    project:NAME. A run that was killed continues when the same command is repeated, with the same result. With --ray
    the folder of the model must be on a disk that the cluster sees.
    """
    folder = _target(options)
    words = _words(options)
    source, name = _texts(texts, options)
    swap, seed = options["swap"], options["seed"]
    found = training_texts(source, name, swap=swap, words=words, share=options["share"], seed=seed)
    if options["leave_out"]:
        found.facts["swap"]["left_out"] = list(options["leave_out"])
    if options["method"] == "training":
        report = _trained(model, found, folder, options)
    else:
        report = _projected(model, found, words, folder, options)
    if options["run_name"]:
        write_run(report)
    answer(report.as_json(), for_people(report), as_json=as_json)


def _trained(model: str, texts: TrainingTexts, folder: Path, options: dict[str, Any]) -> TuneReport:
    keys = ("steps", "batch", "length", "rate", "warmup", "seed", "lora", "dropout", "every", "patience")
    tuning = Tuning(**{key: options[key] for key in keys})
    how = {key: options[key] for key in ("device", "adapters", "force")}
    with Meter("steps") as meter:
        if options["address"] is None:
            return train_model(model, texts, tuning, folder, watch=meter, **how)
        from evenhand.core.tune.cluster import tune_on_cluster

        where = {key: options[key] for key in ("address", "threads")}
        return tune_on_cluster(model, texts, tuning, folder, watch=meter, **where, **how)


def _projected(
    model: str, texts: TrainingTexts, words: WordTable | None, folder: Path, options: dict[str, Any]
) -> TuneReport:
    from evenhand.core.tune.projections import project

    if words is None:
        raise Refused(NO_LANGUAGE)
    if options["address"] is not None:
        raise Refused(ONLY_TRAINING)
    return project(model, texts, words, folder, options["method"], length=options["length"], device=options["device"])


def _target(options: dict[str, Any]) -> Path:
    if (options["out"] is None) == (options["run_name"] is None):
        raise Refused(NO_TARGET)
    if options["run_name"]:
        return tuned_folder(runs_folder(options["db"], "tunes"), options["run_name"])
    return Path(options["out"])


def _words(options: dict[str, Any]) -> WordTable | None:
    language = options["language"]
    if language is None:
        if options["swap"] != "none":
            raise Refused(NO_LANGUAGE)
        return None
    own, names = (read_word_pairs(path, language) if path else () for path in (options["own"], options["names"]))
    return word_table(language, words=options["pairs"], own=own, names=names).without(options["leave_out"])


def _texts(texts: str, options: dict[str, Any]) -> tuple[Iterator[str], str]:
    if texts.startswith(PROJECT):
        with existing_store(options["db"]) as store:
            enter_project(store, texts.removeprefix(PROJECT), options["uid"])
            found = find_project(store, texts.removeprefix(PROJECT))
            return iter([item.text for item in items(store, found, accepted_only=True)]), texts
    if not Path(texts).exists():
        raise BadFile(NO_TEXTS, file=texts)
    return file_texts(Path(texts)), Path(texts).name


def for_people(report: TuneReport) -> str:
    """The run in words."""
    record = report.record
    before, after = record["held_out"]["before"], record["held_out"]["after"]
    lines = [
        f"{record['base']['name']}: {record['method_text']}",
        f"held-out loss {before['loss']:.4f} -> {after['loss']:.4f}, top-1 accuracy {before['accuracy']:.2%} -> "
        f"{after['accuracy']:.2%} ({after['tokens']:,} tokens of {after['texts']:,} texts)",
    ]
    if "steps" in record:
        went_on = f", resumed at step {record['resumed_at']}" if record["resumed_at"] else ""
        lines.append(f"{record['steps']:,} steps in {record['seconds']:.0f} s{went_on}")
        lines += [early.text] if (early := stopped_early(record)) else []
    else:
        probe = record["probe"]
        lines.append(f"probe accuracy {probe['before']['accuracy']:.1%} -> {probe['after']['accuracy']:.1%}")
    return "\n".join([*lines, f"Written: {report.folder}"])
