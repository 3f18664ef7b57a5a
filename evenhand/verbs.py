"""The six verbs of a notebook; see the package `evenhand`.

An undefined number is NaN, with its reason in the column `reason` or `status`. What concerns a whole frame (signatures,
reports) is in `frame.attrs`.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pandas as pd

from evenhand.core.errors import N_, BadFile, Refused

if TYPE_CHECKING:
    from evenhand.annotations.database.store import Store
    from evenhand.annotations.files.other_tools.import_tasks import RowImport
    from evenhand.annotations.types import Project

__all__ = ["agreement", "describe", "mine", "release", "rule", "score"]
Texts: TypeAlias = pd.DataFrame | pd.Series | Sequence[str]


def score(
    sentences: Texts,
    models: str | Sequence[str],
    *,
    column: str = "sentence",
    method: Literal["auto", "masked", "pair-sum", "pll"] = "auto",
    joint: Literal["independent", "sequential", "geometric_mean"] = "independent",
) -> pd.DataFrame:
    """Measure which of two words each model prefers in each sentence, and how strongly.

    *sentences*: texts with one keyword each, or a frame with them in *column*; its column `start` (of `mine`, of a
    release) chooses a keyword in sentences with several. *models*: built-in names, names on the Hugging Face Hub,
    folders. Returns a row per model and sentence with the columns of `python cli.py score`: `bias_log10` and `bias_ln`
    are log P(male word) - log P(female word), `p_male` and `p_female` probabilities (0 to 1), `pair_mass` their sum;
    `status` is "ok" or the reason for an undefined number. Raises ModelUnavailable for a model that cannot be loaded.
    """
    from evenhand.core.models import open_scorer
    from evenhand.core.scoring.rows import COLUMNS, score_items

    rows = _rows(sentences, column)
    names = [models] if isinstance(models, str) else list(models)
    found: list[tuple[Any, ...]] = []
    for name in names:
        scorer = open_scorer(name, method=method, joint=joint)
        found += [scored_row.values() for scored_row in score_items(_score_items(rows, column), scorer, model=name)]
    frame = pd.DataFrame(found, columns=list(COLUMNS))
    frame.attrs["signatures"] = sorted(set(frame["signature"]))
    return frame


def mine(
    texts: Texts | str | Path,
    *,
    column: str = "text",
    modes: Mapping[str, Literal["off", "reject", "flag"]] | None = None,
    workers: int = 1,
) -> pd.DataFrame:
    """Find candidates: sentences with exactly one keyword of the 19 pairs that pass every filter.

    *texts*: a folder or file (text, CSV, JSON lines, ...), or the texts, in a frame under *column*. *modes*: the effect
    of a filter by its code (`python cli.py mine --help`). Returns a row per candidate: `sentence`, `keyword`,
    `counterpart`, `pair`, `side`, `start`, `end` (half-open code points), `flags`, `source`; `attrs["report"]` has the
    number of sentences read and the number that each filter left out. Raises BadFile if nothing can be read.
    """
    from evenhand.core.mining.run import mine as run
    from evenhand.core.mining.settings import Settings

    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
        if isinstance(texts, str | Path):
            path, settings = Path(texts), Settings(modes=modes or {})
        else:
            path = _written(Path(folder) / "texts.jsonl", _rows(texts, column))
            settings = Settings(modes=modes or {}, column=column)
        report = run([path], settings, on_candidate=found.append, workers=workers)
    columns = ["sentence", "keyword", "counterpart", "pair", "side", "start", "end", "flags", "source"]
    frame = pd.DataFrame(found, columns=None if found else columns)
    frame.attrs["report"] = report.to_json()
    return frame


def agreement(labels: pd.DataFrame, *, categories: Sequence[str] = (), resamples: int = 2_000) -> pd.DataFrame:
    """Measure how far annotators give the same label.

    *labels*: a row per item and annotator, columns `item`, `annotator`, `choice`; with a column `cluster` (article,
    context) the intervals are over clusters. *categories*: all choices of the scheme, which Gwet's AC1 counts, also
    unused ones. Returns a row per measure: `value` (kappa and alpha at most 1, shares 0 to 1), `low` and
    `high` (95 %), `n` items, `reason` of an undefined number. Raises Refused for missing columns or for two labels of
    one annotator on an item.
    """
    from evenhand.core.statistics import Resampling
    from evenhand.core.statistics.many_raters import (
        Tally,
        fleiss_kappa,
        gwet_ac1,
        krippendorff_alpha,
        pairwise_agreement,
        unanimity,
    )

    _need(labels, ("item", "annotator", "choice"))
    if labels.duplicated(["item", "annotator"]).any():
        raise Refused(N_("An annotator has two labels on one item: keep the one that counts."))
    counts = pd.crosstab(labels["item"], labels["choice"])
    counts = counts.reindex(columns=list(dict.fromkeys([*counts.columns, *categories])), fill_value=0)
    clusters = None
    if "cluster" in labels:
        of_item = labels.groupby("item")["cluster"].first().reindex(counts.index)
        clusters = of_item.astype("category").cat.codes.to_numpy().astype("int64")
    tally = Tally.of(counts.to_numpy(), clusters)
    resampling = Resampling(resamples)
    measures = {
        "full agreement": unanimity(tally, resampling),
        "pairwise agreement": pairwise_agreement(tally, resampling),
        "Fleiss' kappa": fleiss_kappa(tally, resampling),
        "Krippendorff's alpha": krippendorff_alpha(tally, resampling),
        "Gwet's AC1": gwet_ac1(tally, resampling),
    }
    rows = [
        {"measure": name, **measure.numbers("n"), "method": measure.method,
         "reason": str(measure.reason or measure.note or "") if measure.value is None or measure.low is None else ""}
        for name, measure in measures.items()
    ]  # fmt: skip
    frame = pd.DataFrame(rows).set_index("measure")
    return frame.astype({"value": float, "low": float, "high": float})


def rule(generations: pd.DataFrame, *, dataset: str = "own") -> pd.DataFrame:
    """Apply the first-pronoun rule: does the first pronoun of a text belong to the person's set?

    *generations*: columns `text` or `completion`, `pronouns` (names of sets or their forms: "they", "xe/xem"), and
    perhaps `dataset`, whose forms count; *dataset* replaces a missing column. Returns the same rows with `rule_correct`
    (1, 0, NaN if the person's pronouns are unknown or the text has none), `rule_pronoun`, `rule_start`, `rule_end`
    (half-open code points). Raises BadFile for pronouns that are not a set, Refused for missing columns.
    """
    from evenhand.core.human_vs_rule.apply_rule import with_verdicts

    text = "text" if "text" in generations else "completion"
    _need(generations, (text, "pronouns"))
    given = generations.assign(text=generations[text], dataset=generations.get("dataset", dataset))
    verdicts = with_verdicts(given)
    return generations.assign(**{name: verdicts[name] for name in verdicts if name.startswith("rule_")})


def release(
    sentences: Texts,
    labels: pd.DataFrame,
    out: str | Path,
    *,
    name: str,
    licence: str,
    source: str,
    version: str = "1.0",
    language: str = "zh",
    column: str = "sentence",
) -> pd.DataFrame:
    """Write a release from sentences and labels: accepted sentences in every layout, data sheet, method section, hash.

    *labels*: a row per sentence and annotator: `item` (the position of the sentence from 0, or the value of its column
    `item`), `annotator`, `choice` ("accept" or "reject", or a word that the import knows), optionally `reason`, `note`.
    *licence*, *source*: which every release needs. *out*: a new folder or .zip. Returns the imported sentences with
    `status` ("accepted" ones are released) and `gold`; `attrs["release"]` has version and hash, `attrs["labels"]` the
    number of imported labels, `attrs["quantities"]` every number of its documents by id (docs/quantities.md). A
    sentence without exactly one keyword is left out (`attrs["left_out"]`). Raises Refused if no sentence is accepted,
    NotAllowed if *out* exists, BadFile for a label that cannot be imported.
    """
    from evenhand.annotations.database.store import Store
    from evenhand.annotations.files.other_tools.import_tasks import import_rows
    from evenhand.annotations.projects.projects import change_project, create_project
    from evenhand.annotations.release.make import refuse_out

    rows = _rows(sentences, column)
    _need(labels, ("item", "annotator", "choice"))
    with tempfile.TemporaryDirectory(prefix="evenhand-") as folder, Store.open(Path(folder) / "e.db") as store:
        made = create_project(store, name, language=language, per_item=labels["annotator"].nunique())
        made = change_project(store, made, licence=licence, source_statement=source)
        refuse_out(made, Path(out), None, locked=False)
        texts = [(row.get("item", number), row[column]) for number, row in enumerate(rows)]
        brought = import_rows(store, made, texts, labels.to_dict("records"))
        return _released(store, made, brought, Path(out), version)


def describe(texts: Texts, *, column: str = "sentence") -> pd.DataFrame:
    """Describe a set in numbers: lengths, most common characters, repeats, balance of pairs.

    Returns a row per number: `measure` (a path such as `length.median`), `value`, and the `reason` of an undefined one.
    Raises BadFile for a set without text.
    """
    from evenhand.core.describe.as_json import figures
    from evenhand.core.describe.description import described_sentences

    found = [row[column] for row in _rows(texts, column)]
    sentences = [text if isinstance(text, str) else "" if pd.isna(text) else str(text) for text in found]
    rows = figures(described_sentences(sentences))
    return pd.DataFrame(rows, columns=["measure", "value", "reason"]).set_index("measure")


def _rows(texts: Texts, column: str) -> list[dict[str, Any]]:
    """Return the rows of a frame, or texts as rows with *column*."""
    if isinstance(texts, pd.DataFrame):
        _need(texts, (column,))
        return [{str(key): value for key, value in row.items()} for row in texts.to_dict("records")]
    return [{column: text} for text in texts]


def _need(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    missing = [column for column in columns if column not in frame]
    if missing:
        message = N_("The table has no column {missing}; it has {found}.")
        raise Refused(message, missing=", ".join(missing), found=", ".join(map(str, frame.columns)))


def _written(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write the rows as JSON lines."""
    plain = ({k: v if isinstance(v, str | int) else str(v) for k, v in row.items()} for row in rows)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in plain), encoding="utf-8")
    return path


def _score_items(rows: Iterable[Mapping[str, Any]], column: str) -> Iterator[Any]:
    """Yield the question to the model for each row, or the reason why the row has none."""
    from evenhand.core.scoring.rows import ScoreItem, item_of
    from evenhand.core.text.keywords import find

    for number, row in enumerate(rows, 1):
        text = row[column] if isinstance(row[column], str) else ""
        candidates = find(text)
        if len(candidates) > 1 and "start" in row:
            candidates = [candidate for candidate in candidates if candidate.start == row["start"]]
        if len(candidates) == 1:
            yield item_of(number, candidates[0])
        else:
            reason = "several_keywords" if candidates else "no_keyword"
            problem = (
                "Several keywords stand in the sentence." if candidates else "No word of a keyword pair stands in it."
            )
            yield ScoreItem(number, text, problem=problem, reason=reason)


def _released(store: "Store", project: "Project", brought: "RowImport", out: Path, version: str) -> pd.DataFrame:
    from evenhand.annotations.items.batch import items
    from evenhand.annotations.release.make import make_release, write_release

    if brought.labels.errors:
        first = brought.labels.errors[0]
        raise BadFile(first.message, **first.values)
    stored_release = make_release(store, project, version)
    write_release(store, project, stored_release, out)
    found = [
        {"item": item.uid, "sentence": item.text, "pair": item.pair, "side": item.side, "keyword": item.keyword,
         "counterpart": item.counterpart, "status": item.status, "gold": item.gold}
        for item in items(store, project)
    ]  # fmt: skip
    frame = pd.DataFrame(found)
    left = [{"line": bad.line, "reason": bad.reason} for bad in brought.left_out]
    frame.attrs = {"release": {"version": version, "hash": stored_release.hash, "out": str(out)},
                   "labels": brought.labels.imported, "left_out": left,
                   "quantities": stored_release.facts["quantities"]}  # fmt: skip
    return frame
