"""A project in which people judge the same items twice."""

import time
from collections.abc import Sequence

from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Project
from tests.support.projects import decide, filled_project

DAY = 86_400.0


NOON = time.time() - 30 * DAY


# Two raters, 50 grants, yes or no: 20 and 15 agreed, 5 and 10 not. Kappa is 0.40 (the worked example of the article
# "Cohen's kappa" in Wikipedia); Wilson's interval of 35/50 is 0.5625 to 0.8090 (statsmodels, method="wilson").
TABLE = (("accept", "accept", 20), ("accept", "reject", 5), ("reject", "accept", 10), ("reject", "reject", 15))


def judged_twice(
    store: Store, table: Sequence[tuple[str, str, int]], *, people: Sequence[str] = ("Ada",), days: float = 2.0
) -> tuple[Project, list[Annotator]]:
    """Make a project in which all annotators have made exactly these pairs of choices, *days* apart."""
    wanted = [pair for *pair, times in table for _ in range(times)]
    project, who = filled_project(store, len(wanted), people=people, per_item=len(people))
    project = change_project(store, project, retest=1.0, retest_hours=24)
    for annotator in who:
        items = claim(store, project, annotator, want=60, now=NOON)
        plan = {item.text: pair for item, pair in zip(items, wanted, strict=True)}
        store_operations(store, project, annotator, [decide(item, plan[item.text][0]) for item in items], now=NOON)
        again = claim(store, project, annotator, want=60, now=NOON + days * DAY)
        second = [decide(item, plan[item.text][1]) for item in again]
        store_operations(store, project, annotator, second, now=NOON + days * DAY)
    return project, who
