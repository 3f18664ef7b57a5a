"""People as the third way: what counts as wrong, who has finished, which instance of a run a text belongs to."""

import math

import pandas as pd
import pytest

from evenhand.annotations.adjudication.decisions import case, cases, decide_case
from evenhand.annotations.database.store import Store
from evenhand.annotations.human_vs_rule.people_by_instance import people, with_run
from evenhand.annotations.projects.projects import change_project
from evenhand.core.runs.records import runs_folder
from tests.support.judged_generations import Said, all_written, judged_project, say, say_all
from tests.support.pages import html_of, open_page, without_errors


def test_one_label_suffices_to_count_a_finished_text_as_wrong(fresh_store: Store) -> None:
    texts = all_written(1)
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts[:30])
    result = people(fresh_store, project)
    assert len(result) == 30
    expected = [0.0 if text.said.choice == "misgendering" else 1.0 for text in texts[:30]]
    assert result["people"].tolist() == expected
    assert {"no_pronoun", "plural_they"} <= {text.said.choice for text in texts[:30]}  # both are right
    # "Well, he laughed, and she kept ...": people see the later pronoun, the rule does not.
    assert (result["rule"] > result["people"]).any()


def test_a_tie_is_left_out(fresh_store: Store) -> None:
    texts = all_written(1)[:4]
    project = judged_project(fresh_store, texts)
    say(fresh_store, project, "Ada", [(text.text, Said("correct")) for text in texts])
    say(fresh_store, project, "Bo", [(texts[0].text, Said("misgendering", marks=((texts[0].text[:4], "pronoun"),)))])
    say(fresh_store, project, "Bo", [(text.text, Said("correct")) for text in texts[1:]])
    result = people(fresh_store, project)
    assert math.isnan(result["people"].iloc[0]) and result["people"].iloc[1:].tolist() == [1, 1, 1]


def test_a_settled_text_reopened_for_labels_is_left_out(fresh_store: Store) -> None:
    texts = all_written(1)[:2]
    project = judged_project(fresh_store, texts, ("Ada", "Bo", "Cy"), per_item=2)
    say(fresh_store, project, "Ada", [(text.text, Said("correct")) for text in texts])
    say(fresh_store, project, "Bo", [(text.text, Said("no_pronoun")) for text in texts])
    uid = cases(fresh_store, project)[0]
    seen = case(fresh_store, project, uid).seen
    decide_case(fresh_store, project, uid, adjudicator="Dee", choice="correct", seen=seen, why="Read again.")
    assert len(people(fresh_store, project)) == 2
    change_project(fresh_store, project, per_item=3)  # Cy has them before her now
    assert people(fresh_store, project).empty


def test_a_project_without_labels_has_no_verdicts(fresh_store: Store) -> None:
    assert people(fresh_store, judged_project(fresh_store, all_written(1)[:4])).empty


def test_texts_are_matched_to_instances_of_the_run(fresh_store: Store) -> None:
    texts = all_written(1)[:20]
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts)
    result = people(fresh_store, project)
    row = result.iloc[0]
    keys = ["model", "dataset", "template", "name", "pronoun"]
    run = pd.DataFrame([{key: row[key] for key in keys} | {"prob": 0.0}])
    matched = with_run(result, run)
    assert len(matched) == len(result)
    same = (result[keys] == row[keys]).all(axis=1)
    assert matched.loc[same, "prob"].eq(0).all() and matched.loc[~same, "prob"].isna().all()
    assert with_run(result, run.drop(columns="template"))["prob"].isna().all()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_shows_people_next_to_the_rule(fresh_store: Store, language: str) -> None:
    texts = all_written(1)
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts)
    folder = runs_folder(fresh_store.path, "misgendering")
    folder.mkdir()
    (folder / "one.csv").write_text("instance,template,prob,gen1\n1,t1,1,0\n2,t2,0,0\n", encoding="utf-8")
    (folder / "one.json").write_text("{}", encoding="utf-8")
    tables = html_of(without_errors(open_page("misgendering", language, figure="people")))
    assert {"en": "people and the first-pronoun rule", "zh": "人工与首个代词规则"}[language] in tables
    assert texts[0].text not in tables
