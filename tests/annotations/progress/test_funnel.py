"""The share that all accept: over source articles where these hold several items."""

import pytest

from annotations.database.store import Store
from annotations.progress.funnel import funnel, total
from core.statistics import wilson
from core.statistics.estimate import CLUSTERED, Note
from tests.support.agreed_labels import label, make, texts


@pytest.mark.parametrize("per_article", [2, 0])
def test_the_interval_of_the_share_is_over_articles_where_these_hold_several_items(
    fresh_store: Store, per_article: int
) -> None:
    """All items of an article alike: 20 items say no more than their 10 articles."""
    project = make(fresh_store, 20, ("Ada",), per_article=per_article, per_item=1)
    label(
        fresh_store,
        project,
        "Ada",
        {t: "reject" if n // 2 % 2 else "accept" for n, t in enumerate(texts(fresh_store, project))},
    )
    rows = funnel(fresh_store, project)
    found = total(fresh_store, project, rows)
    rate, alone = found["rate"], wilson(found["unanimous"], found["reviewed"], nothing=Note("none"))
    assert (rate.value, rate.units) == (alone.value, 20) and rate.value == 0.5
    assert sum(row["rate"].units for row in rows) == 20
    if per_article:
        assert (rate.method, rate.clusters) == (CLUSTERED, 10)
        assert rate.low < alone.low and rate.high > alone.high
    else:
        assert rate == alone
