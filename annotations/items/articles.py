"""The source articles of labelled sentences: the units of intervals, where an article holds several of them."""

import json

from annotations.database.store import Store
from annotations.types import Project
from core.files.paths import origin
from core.statistics.units import units_of_sources

LABELLED = """
SELECT item.id, item.extra FROM published_item AS item
WHERE item.project = ? AND item.labels > 0 AND item.extra LIKE '%"source"%'
"""


def articles(store: Store, project: Project) -> dict[int, str]:
    """Row id of a labelled sentence -> its source article, of those that name one.

    Empty where no article holds several labelled sentences, as in agreement and the funnel, and for generations.
    """
    if project.kind == "generations":
        return {}
    found = {item: origin(json.loads(extra)) for item, extra in store.db.execute(LABELLED, (project.id,))}
    named = {item: article for item, article in found.items() if article}
    return named if units_of_sources(list(named.values())) == "source" else {}
