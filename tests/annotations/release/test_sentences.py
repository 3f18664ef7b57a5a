"""Sentences of a release against what happened: plans, returned labels, adjudication, published labels, the reason."""

import re
from dataclasses import replace

import pytest

from evenhand.annotations.adjudication.decisions import case, cases, decide_case
from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.fully_labelled import ended_at_reject
from evenhand.annotations.guideline.drafts import read_draft, write_version
from evenhand.annotations.items.batch import items
from evenhand.annotations.progress.cells import funnel, total
from evenhand.annotations.projects.consent import answer_consent
from evenhand.annotations.projects.projects import annotators, change_project, project_by_uid
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.stored_releases import Release, release_file
from evenhand.annotations.types import Project
from evenhand.core.language import LANGUAGES
from tests.support.released_project import label, ready_project


def labelled(store: Store, number: int = 12) -> Project:
    """Store three labels on every item; Bo rejects every third one, which Ada and Chen accept."""
    project = ready_project(store, number)
    for place, item in enumerate(items(store, project)):
        for who in annotators(store, project):
            choice = "reject" if who.name == "Bo" and place % 3 == 0 else "accept"
            label(store, project, who, item.uid, choice, reasons=("name",) if choice == "reject" else ())
    return project


def send_accepts_back(store: Store, project: Project) -> int:
    draft = read_draft(store, project)
    changed = replace(draft, text=draft.text + "\n.", changes="One more criterion.")
    return write_version(store, project, changed, which="all")[1].labels


def paper(store: Store, made: Release, name: str) -> str:
    return release_file(store, made, name).decode().replace("\\", "")


def test_returned_labels_are_not_described_as_stopped_by_a_reject(fresh_store: Store) -> None:
    """A lone reject is left of three labels: its plan stopped nothing."""
    project = change_project(fresh_store, labelled(fresh_store), plan="stop", share=0.2)
    assert send_accepts_back(fresh_store, project) == 32
    project = change_project(fresh_store, project_by_uid(fresh_store, project.uid), plan="all")
    lone = fresh_store.db.execute("SELECT count(*) FROM item WHERE labels = 1 AND status = 'pending'").fetchone()[0]
    assert lone == 4 and ended_at_reject(fresh_store, project) == 0


def test_an_item_ended_by_a_reject_counts_after_its_accept_was_returned(fresh_store: Store) -> None:
    project = change_project(fresh_store, ready_project(fresh_store, 3), plan="stop", share=0.0)
    ada, bo, _chen = annotators(fresh_store, project)
    for item in items(fresh_store, project):
        label(fresh_store, project, ada, item.uid, "accept")
        label(fresh_store, project, bo, item.uid, "reject", reasons=("name",))
    assert send_accepts_back(fresh_store, project) == 3
    project = change_project(fresh_store, project_by_uid(fresh_store, project.uid), plan="all")
    assert ended_at_reject(fresh_store, project) == 3


def test_under_stop_a_share_waits_until_begun_items_are_decided(fresh_store: Store) -> None:
    """A rejected item is reviewed at once, an accepted one after its last label only."""
    project = change_project(fresh_store, ready_project(fresh_store, 4), plan="stop", share=0.0)
    people = annotators(fresh_store, project)
    first, second, *_others = items(fresh_store, project)
    label(fresh_store, project, people[0], first.uid, "reject", reasons=("name",))
    label(fresh_store, project, people[0], second.uid, "accept")
    rate = total(fresh_store, project, funnel(fresh_store, project))["rate"]
    assert rate.value is None and rate.reason.values == {"begun": 1}
    for who in people[1:]:
        label(fresh_store, project, who, second.uid, "accept")
    assert total(fresh_store, project, funnel(fresh_store, project))["rate"].value == 0.5


def test_all_labels_and_published_labels_are_counted_separately(fresh_store: Store) -> None:
    project = labelled(fresh_store)
    ada, _bo, chen = annotators(fresh_store, project)
    answer_consent(fresh_store, project, chen, "release", given=False)
    make_release(fresh_store, project, "1.0")
    first, second, third, *_others = items(fresh_store, project)
    label(fresh_store, project, ada, first.uid, "reject", reasons=("name",))  # changed, published
    label(fresh_store, project, chen, second.uid, None)  # undone, not published
    label(fresh_store, project, chen, third.uid, None)
    label(fresh_store, project, chen, third.uid, "reject", reasons=("name",))  # changed, not published
    made = make_release(fresh_store, project, "1.1", reason="so")
    assert made.facts["changes"]["all_labels"] == {"added": 0, "changed": 2, "removed": 1}
    assert "Labels of all annotators: 0 new, 2 changed, 1 no longer valid." in paper(fresh_store, made, "method.en.md")
    assert "published one by one: 0 new, 1 changed, 0 removed" in paper(fresh_store, made, "method.en.md")
    assert "全部标注者的标注新增 0 个，改动 2 个，不再有效 1 个" in paper(fresh_store, made, "method.zh.md")
    label(fresh_store, project, chen, second.uid, "accept")
    assert "| New labels, of all annotators | 1 |" in paper(
        fresh_store, make_release(fresh_store, project, "1.2", reason="so"), "changes.en.md"
    )
    assert send_accepts_back(fresh_store, project) == 30
    for who in annotators(fresh_store, project):
        label(fresh_store, project, who, second.uid, "accept")
    last = make_release(fresh_store, project_by_uid(fresh_store, project.uid), "1.3", reason="so")
    assert last.facts["changes"]["all_labels"] == {"added": 0, "changed": 3, "removed": 27}


@pytest.mark.parametrize("rescue", [False, True])
def test_the_gold_rule_is_stated_for_unadjudicated_sentences(fresh_store: Store, rescue: bool) -> None:
    project = change_project(fresh_store, labelled(fresh_store), rescue=rescue)
    made = make_release(fresh_store, project, "1.0", reason="so")
    english, chinese = (paper(fresh_store, made, f"method.{language}.md") for language in ("en", "zh"))
    assert ("A sentence that is not adjudicated is accepted if" in english) == rescue
    assert ("未经仲裁者，所有标注均为保留才保留，有一人剔除即不保留。" in chinese) == rescue
    assert "只要有一个剔除" not in chinese


def test_decisions_on_returned_labels_are_counted_separately(fresh_store: Store) -> None:
    project = change_project(fresh_store, labelled(fresh_store), rescue=True)
    disputed = cases(fresh_store, project)[0]
    seen = case(fresh_store, project, disputed).seen
    decide_case(fresh_store, project, disputed, choice="accept", adjudicator="V", why="so", seen=seen, base=None)
    send_accepts_back(fresh_store, project)
    project = project_by_uid(fresh_store, project.uid)
    result = gather(fresh_store, project)["adjudication"]
    assert (result["split"], result["not_split"], result["lacking"]) == (0, {"decide": 1, "leave": 0}, 1)
    text = paper(fresh_store, make_release(fresh_store, project, "1.0", reason="so"), "method.en.md")
    assert "Of these, decided by an adjudicator: 0; labels confirmed: 0" in text
    assert "do not differ at this release: 1 (decided: 1; labels confirmed: 0)" in text


def test_a_data_sheet_starts_with_released_numbers_and_lists_open_cases(fresh_store: Store) -> None:
    made = make_release(fresh_store, labelled(fresh_store), "1.0", reason="We wait no longer.")
    for language, words in {
        "en": (
            "The data set has 8 accepted sentences",
            "the project had 12",
            "Cases not yet settled: 4.",
            "Before filtering",
        ),
        "zh": ("保留的句子 8 条", "项目中共有 12 条", "尚未仲裁的案例：4", "筛选前"),
    }.items():
        text = paper(fresh_store, made, f"datasheet.{language}.md")
        assert all(part in text for part in words) and "includes both chance" not in text
        numbers = re.findall(r"^\| .* \| (\d+) \|$", text.split("\n## ")[1], re.M)
        assert sum(map(int, numbers)) == 8
    assert "We wait no longer." in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_card_gives_the_number_of_items_behind_each_measure(fresh_store: Store, language: str) -> None:
    made = make_release(fresh_store, labelled(fresh_store), "1.0", reason="so")
    card = paper(fresh_store, made, "README.md")
    name = {
        "en": "Full agreement of all items with at least two blind labels",
        "zh": "全体一致（至少有两个盲标的全部条目）",
    }
    (row,) = (line for line in card.splitlines() if line.startswith(f"| {name[language]} |"))
    assert row.endswith("| 12 |")
