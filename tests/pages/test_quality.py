"""The page Quality and its command show the numbers of the functions; an open desk must confirm first."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, create_project
from evenhand.annotations.quality.known_answers import SIGNATURE, known_items, set_known
from evenhand.annotations.quality.retest_agreement import retest_report
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Project
from tests.support.generations import generations_project
from tests.support.pages import open_page
from tests.support.projects import decide, filled_project
from tests.support.second_labels import TABLE, judged_twice


def open_part(part: str = "oneself", project: Project | None = None, **state: str) -> AppTest:
    return open_page("quality", state=state, part=part, **({"project": project.name} if project else {}))


def cards(page: AppTest) -> list[str]:
    return [str(element.value) for element in page.get("html") if "<article" in str(element.value)]


def test_retest_agreement_is_shown(fresh_store: Store) -> None:
    project, _ = judged_twice(fresh_store, TABLE, people=("Ada", "<b>Bo"))
    page = open_part()
    shown = {metric.label: metric.value for metric in page.metric}
    assert shown == {"Same choice both times": "70%", "Kappa of retests": "0.40"}
    table = page.dataframe[0].value
    assert list(table["Annotator"]) == ["Ada", "<b>Bo", "Total"] and list(table["Judged twice"]) == [50, 50, 100]
    assert list(table["95% interval"])[:2] == ["56% – 81%"] * 2
    assert retest_report(fresh_store, project).signature in [code.value for code in page.code]
    assert len(cards(page)) == 5 and any("&lt;b&gt;Bo" in card for card in cards(page))
    assert not any("<b>" in card for card in cards(page))
    page.selectbox(key="oneself-who").set_value("Ada").run()
    assert not page.exception and any("15 items judged differently" in block.value for block in page.markdown)
    assert all("Ada, 2.0 days apart" in card for card in cards(page))


def test_a_project_without_retests_or_answers_explains_what_to_do(fresh_store: Store) -> None:
    create_project(fresh_store, "empty", annotators=("Ada",))
    assert "This project has no retests" in open_part().info[0].value
    page = open_part("known")
    assert "No item has a known answer yet" in page.info[0].value and not page.metric and not cards(page)


def test_drawn_items_are_answered_scored_and_withdrawn(fresh_store: Store) -> None:
    project, (ada, _) = filled_project(fresh_store, 9, people=("Ada", "<i>Bo"), per_item=2)
    page = open_part("known")
    page.text_input(key="adjudicator").set_value("Lead")
    page.number_input(key="draw-number").set_value(4)
    page.button(key="draw").click().run()
    assert not page.exception and len(cards(page)) == 4 and known_items(fresh_store, project) == []
    uids = page.session_state["drawn"][2]
    for uid in uids[:3]:
        page.button_group(key=f"answer-{uid}").set_value("reject")
    next(button for button in page.button if button.label == "Set as known answers").click().run()
    assert not page.exception and len(cards(page)) == 0
    known = known_items(fresh_store, project)
    assert {entry.item.uid for entry in known} == set(uids[:3])
    assert {(entry.choice, entry.author, entry.from_labels) for entry in known} == {("reject", "Lead", False)}
    items = {item.uid: item for item in claim(fresh_store, project, ada)}
    choices = dict(zip(uids[:3], ("reject", "accept", "accept"), strict=True))
    store_operations(fresh_store, project, ada, [decide(items[uid], c, note="<script>") for uid, c in choices.items()])
    page.run()
    row = page.dataframe[0].value.iloc[0]
    assert list(row[["Annotator", "Right", "Wrong", "Not labelled", "Known answers, accuracy"]]) == [
        "Ada",
        1,
        2,
        0,
        "33%",
    ]
    assert len(cards(page)) == 2 and all("&lt;script&gt;" in card for card in cards(page))
    assert SIGNATURE in [code.value for code in page.code]


def test_a_known_answer_is_set_for_an_item_by_its_text(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 4)
    text = fresh_store.db.execute("SELECT text FROM item").fetchone()[0]
    page = open_part("known")
    page.button_group(key="mark-how").set_value("one").run()
    page.text_input(key="known-id").set_value("nothing of the kind").run()
    assert "no such item" in page.warning[0].value
    page.text_input(key="known-id").set_value(text).run()
    (card,) = cards(page)
    uid = fresh_store.db.execute("SELECT uid FROM item WHERE text = ?", (text,)).fetchone()[0]
    assert uid in card and page.button(key="known-keep").disabled
    page.button_group(key=f"known-choice-{uid}").set_value("accept").run()
    page.text_area(key=f"known-why-{uid}").set_value("we talked it over")
    page.button(key="known-keep").click().run()
    assert not page.exception
    (known,) = known_items(fresh_store, project)
    assert (known.item.uid, known.choice, known.why) == (uid, "accept", "we talked it over")


def test_an_answer_taken_from_labels_is_marked_until_the_lead_changes_it(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 6, people=("Ada", "Bo", "Chen"), per_item=2)
    items = claim(fresh_store, project, people[0])
    for person in people[:2]:
        store_operations(fresh_store, project, person, [decide(item) for item in items])
    page = open_part("known")
    page.button_group(key="draw-among").set_value("agreed").run()
    page.button(key="draw").click().run()
    uids = page.session_state["drawn"][2]
    assert len(uids) == 6
    page.button_group(key=f"answer-{uids[0]}").set_value("reject")
    next(button for button in page.button if button.label == "Set as known answers").click().run()
    known = {entry.item.uid: (entry.choice, entry.from_labels) for entry in known_items(fresh_store, project)}
    assert known == dict.fromkeys(uids[1:], ("accept", True)) | {uids[0]: ("reject", False)}


def test_an_open_desk_must_confirm_before_seeing_answers(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 4)
    uid = fresh_store.db.execute("SELECT uid FROM item").fetchone()[0]
    set_known(fresh_store, project, uid, "accept", why="secret reason")
    page = open_part("known", desk_project=project.name, desk_annotator="Ada")
    assert "Your desk as Ada is open" in page.warning[0].value and not page.dataframe
    page.button(key="quality-show").click().run()
    assert not page.exception and len(page.dataframe[0].value) == 3


def test_a_generation_is_shown_with_its_referent_but_not_its_model(fresh_store: Store) -> None:
    project = generations_project(fresh_store, "made", 4)
    uid = fresh_store.db.execute("SELECT uid FROM item").fetchone()[0]
    set_known(fresh_store, project, uid, "misgendering")
    ada = annotators(fresh_store, project)[0]
    items = claim(fresh_store, project, ada)
    store_operations(fresh_store, project, ada, [decide(item, "correct", extraneous=False) for item in items])
    page = open_part("known", project)
    assert list(page.dataframe[0].value["Wrong"]) == [1, 0]
    (card,) = cards(page)
    assert "pronouns: " in card and "bees" in card and "Secret" not in card and "secret" not in card


def command(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["quality", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_prints_the_numbers_of_the_page(fresh_store: Store, tmp_path: Path) -> None:
    project, _ = judged_twice(fresh_store, TABLE)
    uids = [row[0] for row in fresh_store.db.execute("SELECT uid FROM item ORDER BY id")]
    path = tmp_path / "known.csv"
    path.write_text(f"item,choice\n{uids[0]},accept\n{uids[1]},reject\nnowhere,accept\n", encoding="utf-8")
    code, out, err = command(project.name, "--known", str(path), "--author", "Lead", "--json")
    data = json.loads(out)
    assert code == 0 and "line 4" in err and (data["marked"], data["not_used"]) == (2, 1)
    again = data["agreement_with_oneself"]
    assert again["together"]["same_choice"]["value"] == 0.7 and again["together"]["table"] == [[20, 5], [10, 15]]
    assert again["signature"] == retest_report(fresh_store, project).signature
    gold = data["hidden_gold"]
    assert gold["items"] == 2 and gold["signature"] == SIGNATURE
    (ada,) = gold["annotators"]
    assert ada["right"] + ada["wrong"] == 2 and len(gold["misses"]) == ada["wrong"]
    path.write_text("item,choice\nnowhere,accept\n", encoding="utf-8")
    code, out, err = command(project.name, "--known", str(path), "--json")
    assert code == 2 and "line 2" in err and json.loads(out)["marked"] == 0  # none of it could be used
    code, out, err = command(project.name)
    assert code == 0 and not err and "Retest agreement (100% retested after 24 hours)" in out
    assert " 0.700  [0.562, 0.809]" in out and SIGNATURE in out


def test_the_command_gives_a_reason_for_undefined_values(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 2)
    _, out, _ = command(project.name, "--json")
    together = json.loads(out)["agreement_with_oneself"]["together"]
    assert together["same_choice"]["value"] is None and "second time" in together["same_choice"]["value_reason"]
    assert together["days"] is None and together["days_reason"]
    assert all(annotator["share"]["value_reason"] for annotator in json.loads(out)["hidden_gold"]["annotators"])
    assert "—" in command(project.name)[1]


@pytest.mark.parametrize("arguments", [("nobody's project",), ()])
def test_wrong_arguments_of_the_command_are_an_error(fresh_store: Store, arguments: tuple[str, ...]) -> None:
    assert command(*arguments)[0] != 0
