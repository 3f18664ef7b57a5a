"""Many cases decided with one act, and taken back: each has its own rows, and one that is refused holds up no other."""

import pytest

from evenhand.annotations.adjudication.decisions import case_counts, cases, decide_case, each_decision_row, settlements
from evenhand.annotations.adjudication.many_decisions import decide_cases, labels_in_view, reopen_cases
from evenhand.annotations.database.store import Store
from tests.support.judged_sentences import judged, state
from tests.support.pages import html_of, open_page, text_of, without_errors

REASON = {"choice": "reject", "reasons": ("name",), "adjudicator": "Vera"}


def test_each_case_gets_its_own_decision_and_a_second_call_stores_nothing(fresh_store: Store) -> None:
    project, items = judged(fresh_store, ["aar", "rra", "aaa"])
    seen = labels_in_view(fresh_store, project, cases(fresh_store, project))
    assert list(seen) == [items[0].uid, items[1].uid] and {len(labels) for labels in seen.values()} == {3}
    done = decide_cases(fresh_store, project, seen, act="one", **REASON)
    assert not done.refused and [item for item, _op in done.stored] == list(seen)
    assert decide_cases(fresh_store, project, seen, act="one", **REASON) == done
    rows = list(each_decision_row(fresh_store, project))
    assert [(row["item"], row["choice"], row["adjudicator"], sorted(row["seen"])) for row in rows] == [
        (uid, "reject", "Vera", sorted(labels)) for uid, labels in seen.items()
    ]
    assert case_counts(fresh_store, project) == {"open": 0, "settled": 2}


def test_undo_appends_and_leaves_what_was_changed_since(fresh_store: Store) -> None:
    project, items = judged(fresh_store, ["aar", "rra"])
    before = state(fresh_store, items[1])
    seen = labels_in_view(fresh_store, project, cases(fresh_store, project))
    done = decide_cases(fresh_store, project, seen, act="one", **REASON)
    first = items[0].uid
    decide_case(fresh_store, project, first, seen=seen[first], base=dict(done.stored)[first], why="again", **REASON)
    taken_back = reopen_cases(fresh_store, project, done.stored, adjudicator="Vera")
    assert [item for item, _op in taken_back.stored] == [items[1].uid]
    assert [item for item, _error in taken_back.refused] == [first]
    assert [act.action for act in settlements(fresh_store, project, items[1].uid)] == ["decide", "reopen"]
    assert state(fresh_store, items[1]) == before


def test_a_case_whose_labels_have_changed_is_left_out(fresh_store: Store) -> None:
    project, items = judged(fresh_store, ["aar", "rra"])
    seen = labels_in_view(fresh_store, project, cases(fresh_store, project))
    seen[items[0].uid] = seen[items[0].uid][:2]
    done = decide_cases(fresh_store, project, seen, act="one", **REASON)
    assert [item for item, _op in done.stored] == [items[1].uid]
    assert "have changed" in str(done.refused[0][1]) and done.refused[0][0] == items[0].uid


@pytest.mark.parametrize("choice", ["reject", "as it is"])
def test_the_page_decides_many_and_undoes_it(fresh_store: Store, choice: str) -> None:
    project, _items = judged(fresh_store, ["aar", "rra", "ara"])
    app = without_errors(open_page("adjudication", project=project.name))
    app.toggle(key="many").set_value(True).run()
    app.text_input(key="adjudicator").set_value("Vera").run()
    app.selectbox(key="many-choice").set_value(choice).run()
    app.button(key="decide-many").click().run()
    if choice == "reject":
        assert "needs a reason or a note" in app.error[0].value
        app.text_area(key="many-why").set_value("All name a man.").run()
        app.button(key="decide-many").click().run()
    assert not app.error and "3 cases are settled" in text_of(app)
    assert case_counts(fresh_store, project) == {"open": 0, "settled": 3}
    without_errors(app.button(key="undo-many").click().run())
    assert case_counts(fresh_store, project) == {"open": 3, "settled": 0}
    assert [row["action"] for row in each_decision_row(fresh_store, project)][3:] == ["reopen"] * 3


def test_cases_are_gone_through_by_keyboard_and_narrowed_by_pair(fresh_store: Store) -> None:
    project, _items = judged(fresh_store, ["aar", "rra", "ara"])
    app = without_errors(open_page("adjudication", project=project.name))
    assert {key: app.button(key=f"case-{key}").proto.shortcut for key in "NP"} == {"N": "n", "P": "p"}
    assert app.button(key="case-P").disabled
    app.button(key="case-N").click().run()
    assert app.session_state["case"] == 2 and not app.button(key="case-P").disabled
    pairs = app.selectbox(key="case-pair").options
    by_pair = [cases(fresh_store, project, pair=pair) for pair in pairs]
    assert sorted(uid for uids in by_pair for uid in uids) == sorted(cases(fresh_store, project))
    without_errors(app.selectbox(key="case-pair").set_value(pairs[0]).run())
    assert by_pair[0][0] in html_of(app)


def test_an_open_desk_gets_no_list_of_many(fresh_store: Store) -> None:
    project, _items = judged(fresh_store, ["aar", "rra"])
    at_desk = {"desk_project": project.name, "desk_annotator": "Ada"}
    app = without_errors(open_page("adjudication", project=project.name, state=at_desk))
    assert not [toggle for toggle in app.toggle if toggle.key == "many"]
