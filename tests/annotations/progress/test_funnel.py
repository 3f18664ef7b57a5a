"""The share accepted by all: over source articles that contain several items."""

import pytest

from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.pilot.pilots import pilots, start_pilot
from evenhand.annotations.pilot.progress import pilot_progress
from evenhand.annotations.progress.cells import counted_cells, funnel, total
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.core.statistics import modified_wilson
from evenhand.core.statistics.estimate import CLUSTERED, Note
from tests.support.agreed_labels import label, make, texts


@pytest.mark.parametrize("per_article", [2, 0])
def test_the_interval_is_over_articles_with_several_items(fresh_store: Store, per_article: int) -> None:
    """All items of an article are alike: 20 items carry no more information than their 10 articles."""
    project = make(fresh_store, 20, ("Ada",), per_article=per_article, per_item=1)
    label(
        fresh_store,
        project,
        "Ada",
        {t: "reject" if n // 2 % 2 else "accept" for n, t in enumerate(texts(fresh_store, project))},
    )
    rows = funnel(fresh_store, project)
    result = total(fresh_store, project, rows)
    rate, alone = result["rate"], modified_wilson(result["unanimous"], result["reviewed"], nothing=Note("none"))
    assert (rate.value, rate.units) == (alone.value, 20) and rate.value == 0.5
    assert sum(row["rate"].units for row in rows) == 20
    if per_article:
        assert (rate.method, rate.clusters) == (CLUSTERED, 10)
        assert rate.low < alone.low and rate.high > alone.high
    else:
        assert rate == alone


def test_the_share_has_one_interval_everywhere(fresh_store: Store) -> None:
    """19 of 20, with one different item: the share has the same interval wherever it is shown."""
    project = make(fresh_store, 20, ("Ada", "Bo"), per_item=2)
    start_pilot(fresh_store, project, 20)
    label(fresh_store, project, "Ada", dict.fromkeys(texts(fresh_store, project), "accept"))
    choices = {text: "reject" if n == 7 else "accept" for n, text in enumerate(texts(fresh_store, project))}
    label(fresh_store, project, "Bo", choices)
    report = agreement(fresh_store, project)
    cells, _ahead = counted_cells(fresh_store, project)
    shares = [
        report.overall.unanimity,
        report.overall.pairwise,
        pilot_progress(fresh_store, project, pilots(fresh_store, project)[0]).unanimous,
        total(fresh_store, project, funnel(fresh_store, project))["rate"],
        cells[0].forecast.rate,
        dashboard(fresh_store, project).people[1].accepted,
    ]
    # Wilson's lower end by statsmodels; the upper one is that of a Poisson count of 1, 1 - 0.0513/20.
    for share in shares:
        assert (share.value, share.units) == (0.95, 20)
        assert (share.low, share.high) == (pytest.approx(0.76387, abs=1e-5), pytest.approx(0.99744, abs=1e-5))
    assert "modified-wilson" in dashboard(fresh_store, project).signature
