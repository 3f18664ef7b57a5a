"""Generations of a model before and after a change, mixed in one blind project.

Nothing that an annotator is shown, or that is stored with an item, tells which model wrote it. The rows of both files
are sorted by their content and then shuffled, so order and tokens depend only on the texts: with the two files
exchanged the project's file is the same, byte for byte. The table of a run, next to the database, lists which token
belongs to which side, for users who may see it.
"""

import csv
import json
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.generation_sample import Row, read_generations
from evenhand.annotations.files.import_items import import_file
from evenhand.annotations.guideline.versions import refuse_own_scheme
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.projects.projects import create_project, project_by_uid
from evenhand.annotations.types import Project
from evenhand.core.before_after.report import MeasuredModel, RunsReport
from evenhand.core.before_after.two_runs import SIDES, judged
from evenhand.core.errors import N_, Notice, Refused
from evenhand.core.files.csv_out import data_line
from evenhand.core.runs.loop import made_now, open_table
from evenhand.core.runs.records import OWNER, Run, write_record
from evenhand.core.statistics import Note
from evenhand.core.typed_json import from_json, to_json
from evenhand.core.types import Signature

SHOWN = ("context", "completion", "name", "pronouns", "dataset", "setting", "template")  # what a row keeps
FILE = "generations.jsonl"  # of every mixed project
KIND = "people"
TOKEN, SIDE = "token", "side"  # columns of the key

NOTHING_SHARED = N_(
    "The two files have no context in common; both models must continue the same contexts. Generate them with the same"
    " set, people per template, seed and space at the end of a context."
)
OTHER_SETTINGS = N_("The two files were not written with the same settings ({before}; {after}).")
NO_KEY = N_("The run {name} contains no key to mixed generations.")


@dataclass(frozen=True, slots=True)
class Mixed:
    """`rows`: what the project gets, in its order; `key`: token to side; `left`: rows of either file that found no
    counterpart in the other."""

    rows: tuple[Row, ...]
    key: dict[str, str]
    contexts: int
    left: int


def mix(before: Sequence[Row], after: Sequence[Row], *, per_context: int = 5, seed: int = 0) -> Mixed:
    """Return equally many generations from both sides for each context, in random order.

    Each side gives at most *per_context* for a context. Raises Refused if no context is in both.
    """
    pots: dict[str, dict[str, list[str]]] = defaultdict(lambda: {side: [] for side in SIDES})
    for side, rows in zip(SIDES, (before, after), strict=True):
        for row in rows:
            shown = {name: row[name] for name in SHOWN if row.get(name) not in (None, "", [])}
            values = {name: value for name, value in shown.items() if name != "completion"}
            pots[_written(values)][side].append(_written(shown))
    chosen: list[tuple[str, str]] = []
    contexts = 0
    for context, pot in sorted(pots.items()):
        number = min(per_context, *(len(texts) for texts in pot.values()))
        contexts += number > 0
        for side, texts in pot.items():
            # A generator for each side would tell the sides apart by their order; one for the context does not.
            chosen += [(text, side) for text in random.Random(f"{seed}/{context}").sample(sorted(texts), number)]  # noqa: S311
    if not chosen:
        raise Refused(NOTHING_SHARED)
    chosen.sort(key=lambda one: one[0])
    random.Random(f"{seed}/{_written([text for text, _ in chosen])}").shuffle(chosen)  # noqa: S311
    rows, key = list[Row](), dict[str, str]()
    for number, (text, side) in enumerate(chosen, 1):
        token = str(number)
        rows.append(json.loads(text) | {"index": token})
        key[token] = side
    return Mixed(tuple(rows), key, contexts, len(before) + len(after) - len(rows))


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def mixed_project(
    store: Store, name: str, files: tuple[Path, Path], out: Path, *, annotators: Iterable[str] = (), per_item: int = 3,
    per_context: int = 5, seed: int = 0, language: str = "en",
) -> tuple[Project, Mixed]:  # fmt: skip
    """Make a project with the generations of both *files* (before, after), mixed; write the key to *out* with a record.

    Raises Refused, BadFile, and NotAllowed if the name is taken.
    """
    rows = [read_generations(file) for file in files]
    mixed = mix(*rows, per_context=per_context, seed=seed)
    models = [_model_of(some, file) for some, file in zip(rows, files, strict=True)]
    project = create_project(
        store, name, kind="generations", annotators=annotators, per_item=per_item, seed=seed, language=language
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / FILE
        file.write_text(file_text(mixed.rows), encoding="utf-8")
        import_file(store, project, file, format="generations", name=FILE)
    with open_table(out, (TOKEN, SIDE), data_line) as write:
        for token, side in mixed.key.items():
            write([token, side])
    facts = {
        "kind": KIND, "project": {"uid": project.uid, "name": project.name}, "models": models, "seed": seed,
        "sentences": len(mixed.rows), "contexts": mixed.contexts, "left": mixed.left,
        "notices": to_json(_doubts(models)),
        OWNER: {"project": project.uid}, **made_now(),
    }  # fmt: skip
    write_record(out, facts)
    return project, mixed


def file_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the file from which the project is made, one line per row."""
    return "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)


def _model_of(rows: Sequence[Row], file: Path) -> dict[str, str]:
    """Return the model and signature that most rows of a file name, and the name of the file."""
    values = {key: Counter(str(row.get(key) or "") for row in rows).most_common(1) for key in ("model", "signature")}
    result = {key: most[0][0] if most else "" for key, most in values.items()}
    return {"model": result["model"] or file.stem, "signature": result["signature"], "table": file.name}


def _doubts(models: Sequence[dict[str, str]]) -> list[Notice]:
    """Return a list of one notice if the two files were generated with different settings; else an empty list.

    The settings are read from their signatures (`sampling|model|weights|settings|...`).
    """
    parts = [Signature.parse(model["signature"]) for model in models]
    settings = [f"{part.joint}|{part.precision}|v{part.version}" if part else "" for part in parts]
    if not all(settings) or settings[0] == settings[1]:
        return []
    return [Notice(OTHER_SETTINGS, dict(zip(SIDES, settings, strict=True)))]


def key_of(run: Run) -> dict[str, str]:
    """Return the side of each token, from the table of a run. Raises Refused for another table."""
    if run.record.get("kind") != KIND:
        raise Refused(NO_KEY, name=run.name)
    with run.table.open(encoding="utf-8", newline="") as file:
        return {row[TOKEN]: row[SIDE] for row in csv.DictReader(file)}


def judgements(store: Store, run: Run, *, margin: float | None = 0.05) -> RunsReport:
    """Return what people have said so far of the mixed generations of *run*, with the models named again.

    Only generations that wait for no further blind label count. Raises NotFound if the project is gone, Refused.
    """
    key = key_of(run)
    project = project_by_uid(store, str(run.facts("project").get("uid")))
    refuse_own_scheme(store, project)
    every = generations(store, project)
    labels = labels_of_generations(store, project)
    labels = labels[labels["finished"].astype(bool)] if len(labels) else labels
    labels = labels.assign(side=labels["index"].map(key), context=labels["cluster"])
    report = judged(labels[labels["side"].notna()], int((~every["finished"].astype(bool)).sum()), margin=margin)
    before, after = (from_json(MeasuredModel, model) for model in run.record["models"])
    notes = [Note(notice.message, notice.values) for notice in run.notices]
    return replace(
        report, before=before, after=after, afters=[after], models=(before, after), notes=(*notes, *report.notes),
        source={"name": project.name, "sha256": ""}, versions=run.facts("versions"),
    )  # fmt: skip
