"""Shares of pilots, known answers and annotators: over source articles that contain several labelled sentences."""

import pytest

from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.items.provenance import only_files
from evenhand.annotations.pilot.pilots import pilots, start_pilot
from evenhand.annotations.pilot.progress import pilot_progress
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.quality.known_answers import scores, set_known
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.readiness import to_explain
from evenhand.core.statistics import Estimate, modified_wilson
from evenhand.core.statistics.estimate import CLUSTERED, MODIFIED_WILSON, Note
from tests.support.agreed_labels import label, make, texts


@pytest.mark.parametrize("per_article", [2, 0])
def test_intervals_are_clustered_by_articles_with_several_sentences(fresh_store: Store, per_article: int) -> None:
    """All sentences of an article are alike: 20 of them carry no more information than their 10 articles."""
    project = make(fresh_store, 20, ("Ada", "Bo"), per_article=per_article, per_item=2)
    start_pilot(fresh_store, project, 20)
    for item in items(fresh_store, project):
        set_known(fresh_store, project, item.uid, "accept")
    alike = [n // 2 % 2 == 0 for n in range(20)]
    for name in ("Ada", "Bo"):
        choices = zip(texts(fresh_store, project), alike, strict=True)
        label(fresh_store, project, name, {t: "accept" if name == "Ada" or same else "reject" for t, same in choices})
    figures = pilot_progress(fresh_store, project, pilots(fresh_store, project)[0])
    ada, bo = dashboard(fresh_store, project).people
    shares = [figures.unanimous, figures.people[1].accepted, scores(fresh_store, project)[1].share,
              bo.accepted, bo.differs.any, ada.differs.most]  # fmt: skip
    for item in shares:
        _is_over(item, 10 if per_article else 0)
    facts = gather(fresh_store, project)
    of_pilot, of_answers = facts["pilots"][0]["unanimous"], facts["hidden_gold"]["share"]
    method = CLUSTERED if per_article else MODIFIED_WILSON
    assert (of_pilot["method"], of_answers["method"]) == (method, method)
    assert (of_pilot["n"], of_answers["n"]) == (20, 40)
    assert ("unit:source" in figures.signature) == bool(per_article)
    assert ("articles:clustered" in dashboard(fresh_store, project).signature) == bool(per_article)


def _is_over(one: Estimate, articles: int) -> None:
    alone = modified_wilson(10, 20, nothing=Note("none"))
    assert (one.value, one.units, one.clusters) == (0.5, 20, articles)
    if articles:
        assert one.low is not None and alone.low is not None and one.low < alone.low and one.method == CLUSTERED
    else:
        assert one == alone


def test_plain_files_do_not_count_as_articles(fresh_store: Store) -> None:
    results = []
    for files in (1, 2):
        project = make(fresh_store, 20, ("Ada", "Bo"), files=files, per_item=2)
        reject = {"Ada": range(8), "Bo": range(2, 10)}
        for person, rejected in reject.items():
            choices = {t: "reject" if n in rejected else "accept" for n, t in enumerate(texts(fresh_store, project))}
            label(fresh_store, project, person, choices)
        report = agreement(fresh_store, project)
        results.append((report.overall.alpha.low, report.overall.unanimity))
        notice = only_files(fresh_store, project)
        assert notice is not None and notice.values == {"files": files}
        assert not [
            requirement for requirement in to_explain(fresh_store, project) if requirement.code == "no_interval"
        ]
    assert results[0] == results[1] and results[0][0] is not None


def test_too_few_named_articles_give_an_interval_over_sentences(fresh_store: Store) -> None:
    """Two articles: no interval for alpha, which a reason would not change."""
    project = make(fresh_store, 20, ("Ada", "Bo"), per_item=2, per_article=10)
    for person in ("Ada", "Bo"):
        choices = {t: "reject" if n % 3 == 0 else "accept" for n, t in enumerate(texts(fresh_store, project))}
        label(fresh_store, project, person, choices)
    assert agreement(fresh_store, project).overall.alpha.low is None
    assert only_files(fresh_store, project) is None and to_explain(fresh_store, project) == []
