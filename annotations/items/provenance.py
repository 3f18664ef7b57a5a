"""Where items come from: the source articles of labelled sentences, and the mining runs of a project's items.

Articles are the units of intervals, where an article holds several sentences. Of a mining run is stored what was read
and what each filter left: the last line of a candidates file holds the facts of its run under `run` (see
`core.mining.report`). An import stores them as an event `mined`, so that papers can describe the way from the text to
the set.
"""

import json
from collections.abc import Sequence
from typing import Any, TypeGuard

from evenhand.annotations.database.events import Event, events, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Notice
from evenhand.core.files.display_paths import origin
from evenhand.core.statistics.units import FEWEST_FILES, few_files, units_of_sources

# By batch: the index of the items of a project is in the order of hashes, so each row would be looked up elsewhere.
_OF_PROJECT = """
FROM item JOIN published_batch AS batch ON batch.id = item.batch
WHERE batch.project = ? AND item.labels > 0 AND item.extra LIKE '%"source"%'
"""
LABELLED = f"SELECT item.id, item.extra {_OF_PROJECT}"
DISTINCT = f"""
SELECT DISTINCT coalesce(
  nullif(json_extract(extra, '$.source.name'), ''), nullif(json_extract(extra, '$.source.file'), ''),
  json_extract(extra, '$.source'))
{_OF_PROJECT} LIMIT {FEWEST_FILES}
"""
ONLY_FILES = N_(
    "The files of these sentences ({files}) name no articles, so intervals are over sentences. They are too narrow"
    " where sentences of one article resemble each other."
)


def only_files(store: Store, project: Project) -> Notice | None:
    """Return a notice if the labelled sentences come from a few files that do not name articles; else None."""
    if project.kind == "generations":
        return None
    files = few_files(str(source) for (source,) in store.db.execute(DISTINCT, (project.id,)) if source)
    return Notice(ONLY_FILES, {"files": files}) if files else None


def named_sources(store: Store, project: Project) -> dict[int, str]:
    """Return row id -> source article ("" if only a file is named) of the labelled items that name a source."""
    return {item: origin(json.loads(extra)) for item, extra in store.db.execute(LABELLED, (project.id,))}


_MINED = "json_type(extra, '$.source') = 'object'"


def items_of_files(store: Store, project: Project) -> list[tuple[str, int, int, int]]:
    """Return the files that published items name, largest first: items, mined ones, and mined ones with a flag."""
    query = (
        f"SELECT file, count(*), count(*) FILTER (WHERE {_MINED}), count(*) FILTER (WHERE {_MINED}"
        " AND json_array_length(extra, '$.flags') > 0)"
        " FROM published_item WHERE project = ? GROUP BY file ORDER BY count(*) DESC, file"
    )
    return store.db.execute(query, (project.id,)).fetchall()


def articles(store: Store, project: Project) -> dict[int, str]:
    """Return row id of a labelled sentence -> its source article, of those that name one.

    Empty if no article holds several labelled sentences, as in agreement and the funnel, and for generations.
    """
    if project.kind == "generations":
        return {}
    named = {item: article for item, article in named_sources(store, project).items() if article}
    return named if units_of_sources(list(named.values())) == "source" else {}


RUN = "run"  # the key of a mined line
MINED, UNDONE = "mined", "import_undone"
READ = ("files", "bytes", "characters", "sentences", "damaged")
COUNTED = ("with_keyword", "exactly_one", "candidates", "flagged_candidates")
BY_FILTER = ("rejected", "flagged")
LONGEST = 600  # characters of a signature
MOST = 2_000  # pairs of one run
LARGEST = 1 << 53
Facts = dict[str, Any]


def run_facts(value: object) -> Facts | None:
    """Return the facts of a run in *value* without other keys; None if it is something else."""
    if not isinstance(value, dict) or not isinstance(value.get("read"), dict):
        return None
    signature, cells = value.get("signature"), value.get("cells")
    if not isinstance(signature, str) or not signature.startswith("mine|") or len(signature) > LONGEST:
        return None
    if not isinstance(cells, dict) or len(cells) > MOST or not all(isinstance(cell, dict) for cell in cells.values()):
        return None
    read, total = _numbers(value["read"], READ), _numbers(value, COUNTED)
    sides = {
        pair: {side: _numbers(cell.get(side), COUNTED) for side in ("male", "female")} for pair, cell in cells.items()
    }
    if read is None or total is None or any(entry is None for side in sides.values() for entry in side.values()):
        return None
    by_filter = {key: _counts(value.get(key)) for key in BY_FILTER}
    facts = {"signature": signature, "read": read | {"whole": value["read"].get("whole") is not False}, "cells": sides}
    return facts | total | by_filter


def _numbers(values: object, keys: Sequence[str]) -> dict[str, int] | None:
    result = _counts({key: values.get(key) for key in keys}) if isinstance(values, dict) else {}
    return result if len(result) == len(keys) else None


def _counts(values: object) -> dict[str, int]:
    return (
        {str(key)[:40]: value for key, value in values.items() if _is_count(value)} if isinstance(values, dict) else {}
    )


def _is_count(number: object) -> TypeGuard[int]:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < LARGEST


def record_runs(store: Store, project: Project, batch: int, runs: Sequence[Facts], imported: int, known: int) -> None:
    """Record the runs of the items of a batch, inside the transaction that publishes it.

    `imported`, `known`: how many lines of the file became items, and how many the project had already.
    """
    for facts in runs:
        record(store, project, MINED, at=store.uid, batch=batch, imported=imported, known=known, run=facts)


def mined_runs(store: Store, project: Project) -> list[Facts]:
    """Return the facts of the runs of a project's present items, oldest first, each run once, with `imported`.

    A run whose import was undone is left out.
    """
    found = events(store, project)
    # Row ids of batches are only valid in one database; a package may hold events of another.
    undone = {_place(event) for event in found if event.action == UNDONE}
    runs: dict[str, Facts] = {}
    for event in found:
        if event.action != MINED or _place(event) in undone:
            continue
        facts = run_facts(event.data.get("run"))
        if facts is not None:
            key, number = json.dumps(facts, sort_keys=True), event.data.get("imported")
            runs.setdefault(key, facts | {"imported": 0})["imported"] += number if _is_count(number) else 0
    return list(runs.values())


def _place(event: Event) -> str:
    # The event of a package may hold anything, a list too.
    return json.dumps([event.data.get("at"), event.data.get("batch")])
