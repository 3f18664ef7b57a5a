"""Reports of tuning: the record of the model, its card for the hub, and the runs that the pages list.

Every figure of the card is from the record. A run is a folder next to the database, with the record and the curve.
"""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.files.csv_out import data_line
from evenhand.core.files.timestamps import timestamp
from evenhand.core.models.tuning.settings import HeldOut, Tuning
from evenhand.core.runs.loop import versions
from evenhand.core.runs.records import TABLE, Run, run_file, runs_folder, runs_in, write_record
from evenhand.core.typed_json import from_json, to_json

RECORD = "tuning.json"
STOPPED_EARLY = N_(
    "Stopped early at step {steps} of {of}: no improvement on held-out text in {checks} consecutive"
    " evaluations. The result is the model of step {best}."
)


@dataclass(frozen=True, slots=True)
class Base:
    """The model that was changed. `weights`: their SHA-256; `licence`: None where its card states none."""

    name: str = ""
    weights: str = ""
    licence: str | None = None


@dataclass(frozen=True, slots=True)
class SwapFacts:
    """The swap of the texts: the pairs, pairs left out, and the numbers of texts with such words or refused."""

    mode: str = "none"
    language: str | None = None
    pairs: tuple[str, ...] = ()
    swapped: int = 0
    left: int = 0
    refused: int = 0
    substituted: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextFacts:
    """The texts. `trained`, `untouched`: on either side; `sha256`: of all in their order; `lines`: after the swap."""

    name: str = ""
    texts: int = 0
    trained: int = 0
    untouched: int = 0
    sha256: str = ""
    share: float = 0.0
    swap: SwapFacts = SwapFacts()
    lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneReport:
    """The report of a tuning run. `folder`: the folder of the model; `method_text`: the change in English.

    `held_out`: the quality of predictions of held-out text "before" and "after".
    """

    name: str = ""
    base: Base = Base()
    source: TextFacts = TextFacts()
    method: str = ""
    method_text: str = ""
    held_out: dict[str, HeldOut] = field(default_factory=dict)
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=lambda: versions())
    created: str = field(default_factory=timestamp)
    folder: Path = Path()

    @property
    def record(self) -> dict[str, object]:
        """The report as JSON without the folder, which may be moved."""
        return {key: value for key, value in to_json(self).items() if key != "folder"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingReport(TuneReport):
    """A model that was trained. `best_step`: whose weights are the result, None: the last. `resumed_at`: the step at
    which the run continued. `curve`: a point a look at held-out text. `memory`: in bytes, as forecast and as used."""

    tuning: Tuning = field(default_factory=Tuning)
    steps: int = 0
    best_step: int | None = None
    stopped_early: bool = False
    resumed_at: int = 0
    curve: tuple[Mapping[str, Any], ...] = ()
    memory: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionReport(TuneReport):
    """A model of which `directions` were taken out, found in `pairs` of sentences and counterfactuals. `probe`: how
    well a linear classifier told the side "before" and "after"."""

    directions: int = 0
    pairs: int = 0
    probe: dict[str, Mapping[str, Any]] = field(default_factory=dict)


def read_report(record: object) -> TuneReport | None:
    """Return the report in a record; None if it has none."""
    method = record.get("method") if isinstance(record, dict) else None
    kind = {None: TuneReport, "training": TrainingReport}.get(method, ProjectionReport)
    try:
        return from_json(kind, record)
    except EvenhandError:
        return None


def tuned_model(folder: Path | str) -> TuneReport | None:
    """Return the report of a folder with a tuned model; None for another folder, or the name of a model."""
    place = Path(folder)
    try:
        report = read_report(json.loads((place / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None
    return replace(report, folder=place) if report else None


def stopped_early(report: TuneReport | None) -> Notice | None:
    """Return that a run ended before its last step, and why; None where it did not."""
    if not isinstance(report, TrainingReport) or not report.stopped_early:
        return None
    best = report.steps if report.best_step is None else report.best_step
    values = {"steps": report.steps, "of": report.tuning.steps, "checks": report.tuning.patience, "best": best}
    return Notice(STOPPED_EARLY, {name: f"{number:,}" for name, number in values.items()})


LICENCE = re.compile(r"^license:\s*(\S+)\s*$", re.MULTILINE)


def licence_of(folder: Path) -> str | None:
    """Return the licence that the card of a model's folder states; None without one."""
    card = folder / "README.md"
    head = card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""
    if not head.startswith("---\n"):
        return None
    match = LICENCE.search(head.partition("\n---\n")[0])
    return match[1] if match else None


def card(report: TuneReport) -> str:
    """Return the card for the hub, with its header, in English."""
    base, texts, swap = report.base, report.source, report.source.swap
    head = {"license": base.licence or "other", "base_model": base.name, "tags": ["evenhand", "gender-bias"]}
    lines = ["---", *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()), "---", ""]
    what = f"{base.name} ({base.weights[:8]}), changed by Evenhand: {report.method_text}."
    lines += [f"# {report.name}", "", what, ""]
    licence = (
        f"Licence of the base: {base.licence}." if base.licence else "The base states no licence; ask its authors."
    )
    lines += [licence, "", "## Data", ""]
    lines += [f"{texts.trained:,} texts of {texts.name} (SHA-256 of all texts {texts.sha256[:16]}), "
              f"{texts.untouched:,} others held out.", ""]  # fmt: skip
    if swap.mode != "none":
        lines += [f"Swapped ({swap.mode}): {swap.swapped:,} texts with such a word, {swap.refused:,} refused.",
                  f"Pairs: {', '.join(swap.pairs)}.", ""]  # fmt: skip
    lines += ["## How", "", f"`{report.tuning.signature}`", ""] if isinstance(report, TrainingReport) else []
    before, after = report.held_out["before"], report.held_out["after"]
    lines += ["## Held-out text", "", "| | before | after |", "|---|---|---|",
              f"| loss (-ln p of a token) | {before.loss:.4f} | {after.loss:.4f} |",
              f"| top-1 accuracy | {before.accuracy:.2%} | {after.accuracy:.2%} |",
              f"| tokens | {before.tokens:,} | {after.tokens:,} |", ""]  # fmt: skip
    lines += ["A change that lowers a measure of bias may also have made the model worse: compare both, with a placebo",
              "and several seeds (docs/before_after.md of Evenhand).", ""]  # fmt: skip
    return "\n".join(lines)


WORK, CURVE = ".work", "curve.jsonl"
CURVE_COLUMNS = ("step", "loss", "held_out_loss", "held_out_accuracy")


def tuned_folder(folder: Path, name: str) -> Path:
    """Return the folder for the model of a new run of that name. Raises Refused for a name that is invalid or taken."""
    table = run_file(folder, name)
    return table.with_name(table.name.removesuffix(TABLE))


def work_folder(folder: Path) -> Path:
    """Return the hidden folder of a run next to *folder*, for checkpoints and the curve until the model is complete."""
    return folder.with_name(f".{folder.name}{WORK}")


def write_run(report: TuneReport) -> None:
    """Write the curve and the record of a run next to the folder of its model."""
    table = report.folder.with_name(report.folder.name + TABLE)
    with whole_file(table) as write:
        write(data_line(CURVE_COLUMNS))
        for point in report.curve if isinstance(report, TrainingReport) else ():
            write(data_line([point.get(column) for column in CURVE_COLUMNS]))
    models = [{"model": report.folder.name, "signature": report.method_text}]
    write_record(table, report.record | {"models": models})


def tuned_runs(database: Path | str) -> list[Run]:
    """Return the finished runs of a database, the newest first, without runs whose model is gone."""
    return [run for run in runs_in(runs_folder(database, "tunes")) if (model_of(run) / RECORD).is_file()]


def model_of(run: Run) -> Path:
    """Return the folder of a run's model."""
    return run.table.with_name(run.name)


def delete_run(run: Run) -> None:
    """Delete a run with its model and what a stopped one has left."""
    run.delete()
    for folder in (model_of(run), work_folder(model_of(run))):
        shutil.rmtree(folder, ignore_errors=True)
