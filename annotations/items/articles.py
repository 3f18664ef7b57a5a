"""The source articles of labelled sentences: the units of intervals, where an article holds several of them."""

import json

from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Notice
from evenhand.core.files.paths import origin
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
    """That the labelled sentences come from a few files that name no articles; None where that is not so."""
    if project.kind == "generations":
        return None
    files = few_files(str(source) for (source,) in store.db.execute(DISTINCT, (project.id,)) if source)
    return Notice(ONLY_FILES, {"files": files}) if files else None


def named_sources(store: Store, project: Project) -> dict[int, str]:
    """Return row id -> source article ("" if only a file is named) of the labelled items that name a source."""
    return {item: origin(json.loads(extra)) for item, extra in store.db.execute(LABELLED, (project.id,))}


def articles(store: Store, project: Project) -> dict[int, str]:
    """Return row id of a labelled sentence -> its source article, of those that name one.

    Empty where no article holds several labelled sentences, as in agreement and the funnel, and for generations.
    """
    if project.kind == "generations":
        return {}
    named = {item: article for item, article in named_sources(store, project).items() if article}
    return named if units_of_sources(list(named.values())) == "source" else {}
