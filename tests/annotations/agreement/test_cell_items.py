"""The items behind a cell of the table of two annotators: exactly those that the cell counts and that may be read."""

from itertools import combinations

import pytest

from evenhand.annotations.agreement.cell_items import TableCell, items_of_cell
from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.browse.search import Filters, search_ids
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.sentences import make_demo
from evenhand.annotations.projects.annotators import annotator
from evenhand.core.statistics import Resampling
from tests.support.judged_generations import all_written, judged_project, say_all
from tests.support.judged_sentences import judged
from tests.support.pages import captions_of, html_of, open_page, without_errors

FAST = Resampling(200)


def test_every_cell_of_every_table_has_its_items(fresh_store: Store) -> None:
    project = make_demo(fresh_store)
    report = agreement(fresh_store, project, resampling=FAST)
    listed = 0
    for a, b in combinations(report.annotators, 2):
        two = report.two(a, b)
        assert two is not None
        for i, first in enumerate(report.choices):
            for j, second in enumerate(report.choices):
                found = items_of_cell(fresh_store, project, TableCell(a, b, first.code, second.code))
                turned = items_of_cell(fresh_store, project, TableCell(b, a, second.code, first.code))
                assert found.total == two.table[i][j] >= len(found.items) and turned == found
                listed += len(found.items)
    assert listed > 20


@pytest.mark.parametrize("way", ["four", "three", "two", "flag"])
def test_cells_of_merged_labels_have_their_items(fresh_store: Store, way: str) -> None:
    texts = all_written(1)[:30]
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts)
    report = agreement(fresh_store, project, resampling=FAST, way=way)
    two = report.two("Ada", "Bo")
    assert two is not None
    for i, first in enumerate(report.choices):
        for j, second in enumerate(report.choices):
            cell = TableCell("Ada", "Bo", first.code, second.code)
            assert items_of_cell(fresh_store, project, cell, way=way).total == two.table[i][j]


def test_items_that_await_labels_are_counted_but_not_listed(fresh_store: Store) -> None:
    project, items = judged(fresh_store, ["aaa", "ar", "arr", "raa"])
    cell = TableCell("Ada", "Bo", "accept", "reject")
    found = items_of_cell(fresh_store, project, cell)
    assert (found.items, found.total) == ((items[2].id,), 2), "the second item awaits its third label"
    assert search_ids(fresh_store, project, Filters(among=found.items)) == [items[2].id]
    bo = annotator(fresh_store, project, "Bo")
    assert items_of_cell(fresh_store, project, cell, reader=bo).items == found.items
    assert items_of_cell(fresh_store, project, TableCell("Ada", "nobody", "accept", "reject")).total == 0


def test_the_page_lists_the_items_of_the_cell_in_the_address_and_so_does_browse(fresh_store: Store) -> None:
    project, items = judged(fresh_store, ["aaa", "ar", "arr", "raa"])
    where = {"a": "Ada", "b": "Bo", "cell": "accept/reject"}
    for view in ("annotators", "disagreements"):
        app = without_errors(open_page("agreement", project=project.name, view=view, **where))
        assert html_of(app).count("<article") == 1 and items[2].uid in html_of(app)
        assert "1 of 2 items of this cell; the others still await labels" in captions_of(app)
        assert {"chip-a", "chip-cell"} <= {button.key for button in app.button}
    app = without_errors(open_page("browse", project=project.name, **where))
    assert html_of(app).count("<article") == 1 and items[2].uid in html_of(app)
    app.button(key="chip-cell").click().run()
    assert html_of(app).count("<article") == 4


def test_a_cell_is_chosen_from_a_list_and_its_chip_removes_it(fresh_store: Store) -> None:
    project, items = judged(fresh_store, ["aaa", "arr", "raa", "raa"])
    app = without_errors(open_page("agreement", project=project.name))
    cells = app.selectbox(key="select-cell")
    assert [option[-3:] for option in cells.options] == ["(1)", "(1)", "(2)"] and "<article" not in html_of(app)
    app = without_errors(cells.set_value("reject/accept").run())
    assert html_of(app).count("<article") == 2 and items[1].uid not in html_of(app)
    app.button(key="chip-a").click().run()
    assert "<article" not in html_of(app) and "cell" not in app.query_params


def test_a_keyword_pair_is_a_selection_too(fresh_store: Store) -> None:
    project, _items = judged(fresh_store, ["aaa", "arr", "raa", "raa"])
    app = without_errors(open_page("agreement", project=project.name, view="items"))
    (pair, *_others) = app.selectbox(key="select-pair").options
    app = without_errors(app.selectbox(key="select-pair").set_value(pair).run())
    assert "chip-pair" in {button.key for button in app.button} and html_of(app).count("<article") >= 1
