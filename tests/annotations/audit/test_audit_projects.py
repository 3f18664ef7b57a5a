"""An audit from sample to answer, with labels that go the way of all; annotators learn nothing of the strata."""

import json

import pandas as pd
import pytest

from evenhand.annotations.audit import audit_projects, follow_up
from evenhand.annotations.desk.requests import DeskRequest
from evenhand.annotations.desk.routes import ROUTES
from evenhand.annotations.desk.session import DeskSession
from evenhand.annotations.items.batch import Batch, NewItem, items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, create_project, guideline, project, projects
from evenhand.annotations.queue.leases import claim
from evenhand.core.audit.sample import draw
from evenhand.core.errors import NotAllowed, NotFound, Refused
from tests.support.audits import NUMBERS, PEOPLE, judge, scores
from tests.support.projects import decide


@pytest.fixture
def frame():
    return scores(NUMBERS)


@pytest.fixture
def sample(frame):
    return draw(frame, "m", 3, seed=7)


@pytest.fixture
def sent(fresh_store, sample):
    return audit_projects.create_audit_project(fresh_store, sample, "audit of m", PEOPLE, run="first run")


def strata(sample, stratum):
    return {item.sentence for item in sample.items if item.stratum == stratum}


def test_an_audit_project_holds_the_drawn_sentences(fresh_store, sample, sent) -> None:
    assert {item.text for item in items(fresh_store, sent)} == {item.sentence for item in sample.items}
    result = audit_projects.audit(fresh_store, sent)
    assert (result.run, result.model, result.seed, result.by) == ("first run", "m", 7, "bias")
    drawn = {(i.sentence, i.row, i.stratum, i.toward, i.bias_log10, i.pair, i.side) for i in sample.items}
    assert {(s.sentence, s.row, s.stratum, s.toward, s.bias_log10, s.pair, s.side) for s in result.sentences} == drawn
    assert (result.labels, result.labels_wanted, result.finished) == (0, 36, False)


def test_the_guideline_asks_for_leaks(fresh_store, sent) -> None:
    version = guideline(fresh_store, sent)
    assert "泄露" in version.text
    assert [choice.code for choice in version.choices] == ["accept", "reject"]
    assert {reason.code for reason in version.reasons} >= {"gender_term", "biological", "name"}
    assert sent.presentation == "masked" and sent.opinion_model is None


def test_the_desk_does_not_learn_the_stratum_of_a_sentence(fresh_store, sample, sent) -> None:
    person = annotators(fresh_store, sent)[0]
    body = {"want": 40, "hello": 40}
    reply = ROUTES["sync"][0](DeskRequest(fresh_store, DeskSession(sent, person), fresh_store.uid, body, "en"))
    assert len(reply["items"]) == len(sample.items)
    assert {item["source"] for item in reply["items"]} == {"audit.jsonl"}
    text = json.dumps({**reply, "items": [{k: v for k, v in i.items() if k != "text"} for i in reply["items"]]})
    for secret in ("extreme", "control", "stratum", "toward", "bias", "first run", "2.8"):
        assert secret not in text
    keys = {
        stratum: {tuple(i) for i in reply["items"] if i["text"] in strata(sample, stratum)}
        for stratum in ("extreme", "control")
    }
    assert keys["extreme"] == keys["control"]


def test_the_order_does_not_follow_the_strata(fresh_store, frame) -> None:
    orders = set()
    for seed in range(6):
        made = audit_projects.create_audit_project(
            fresh_store, draw(frame, "m", 3, seed), f"audit {seed}", ["Ada"], per_item=1
        )
        known = {s.sentence: s.stratum for s in audit_projects.audit(fresh_store, made).sentences}
        person = annotators(fresh_store, made)[0]
        orders.add(tuple(known[item.text] for item in claim(fresh_store, made, person)))
    assert len(orders) > 1
    assert not any(order == tuple(sorted(order)) or order == tuple(sorted(order, reverse=True)) for order in orders)


def test_the_audit_finds_leaks_of_extreme_sentences(fresh_store, frame, sample, sent) -> None:
    extremes, controls = strata(sample, "extreme"), strata(sample, "control")
    doubtful = sorted(controls)[0]
    judge(fresh_store, sent, lambda text, who: text in extremes or (text == doubtful and who == "Bo"))
    result = audit_projects.audit_result(fresh_store, sent, frame)
    assert result.audit.finished and result.audit.labels == 36
    assert result.shares["unanimous"][0].counts == ((6, 6), (0, 6))
    assert result.shares["any"][0].counts == ((6, 6), (1, 6))
    assert result.shares["label"][0].counts == ((18, 18), (1, 18))
    assert result.reasons["gender_term"] == (18, 1) and result.reasons["name"] == (0, 0)
    strongest = max(sample.items, key=lambda item: abs(item.bias_log10))
    assert result.leaking("unanimous")[0].sentence == strongest.sentence
    run = result.measures["unanimous"]["run"]
    assert (run.sentences, run.leaks) == (20, 6)
    # by hand: the positive values are 2.5 2 .4 .3 .1 .5 .1 2.8 .1 .2 .3 .15 .05, less 2.5, 2, 2.8
    assert run.all.bias_man == pytest.approx(9.5 / 13) and run.kept.bias_man == pytest.approx(2.2 / 10)
    assert run.kept.bias_woman == pytest.approx((0.2 + 0.1 + 0.3 + 0.1) / 4)
    assert result.measures["unanimous"]["extreme"].kept.model_bias is None  # nothing is left
    assert result.agreement.items == 12


def test_only_sentences_with_all_labels_count(fresh_store, sample, sent) -> None:
    judge(fresh_store, sent, lambda text, who: True, people=("Ada", "Bo"))
    result = audit_projects.audit_result(fresh_store, sent)
    assert result.audit.labels == 24 and not result.audit.settled
    assert result.shares["any"][0].difference.value is None
    assert "run" not in result.measures["any"]


def test_a_withdrawn_label_does_not_count(fresh_store, sample, sent) -> None:
    judge(fresh_store, sent, lambda text, who: False)
    person = annotators(fresh_store, sent)[0]
    from evenhand.annotations.labels.own import own_decisions

    last = own_decisions(fresh_store, sent, person, limit=1)[0]
    store_operations(
        fresh_store, sent, person, [decide(last.item, None, desk="Ada", base=last.op_id, revision=last.revision + 1)]
    )
    result = audit_projects.audit_result(fresh_store, sent)
    assert len(result.audit.settled) == 11 and result.audit.labels == 35


def test_scores_of_another_run_are_refused(fresh_store, frame, sent) -> None:
    changed = frame.assign(bias_log10=frame["bias_log10"] + 0.5)
    with pytest.raises(
        Refused,
        match=r"was not drawn from these scores: 12 of its sentences are missing there or have another value\.",
    ):
        audit_projects.audit_result(fresh_store, sent, changed)
    with pytest.raises(Refused, match="was not drawn from these scores:"):
        audit_projects.audit_result(fresh_store, sent, frame.assign(model="other"))


def test_only_audit_projects_are_listed(fresh_store, sample, sent, sample_project) -> None:
    other = create_project(fresh_store, "own file of that name")
    with Batch.begin(fresh_store, other, audit_projects.FILE) as batch:
        batch.add([NewItem("没有关键词。", None, audit_projects.FILE, 1, {"audit": "text"})])
        batch.publish()
    second = audit_projects.create_audit_project(fresh_store, sample, "second", PEOPLE)
    assert [audit.project.name for audit in audit_projects.audits(fresh_store)] == [second.name, sent.name]
    for none in (other, sample_project):
        with pytest.raises(NotFound, match=r"is not an audit: it was not created from a drawn sample\."):
            audit_projects.audit(fresh_store, none)


def test_a_taken_project_name_is_refused(fresh_store, sample, sent) -> None:
    with pytest.raises(NotAllowed, match="already a project"):
        audit_projects.create_audit_project(fresh_store, sample, "audit of m", PEOPLE)


def test_a_sample_that_cannot_be_imported_makes_no_project(fresh_store, frame) -> None:
    broken = frame.assign(start=None, sentence=[f"{n}他说他来。" for n in range(len(frame))], pair="他/她", side="male")
    with pytest.raises(NotFound, match=r"of the scores does not give the position of 他 in its sentence\."):
        audit_projects.create_audit_project(fresh_store, draw(broken, "m", 2), "broken", PEOPLE)
    with pytest.raises(NotFound):
        project(fresh_store, "broken")


def test_the_guideline_is_written_in_both_languages() -> None:
    assert follow_up.guideline_text("zh") != follow_up.guideline_text("en")
    assert follow_up.guideline_text("ja") == follow_up.guideline_text("en")


def test_an_import_that_fails_leaves_the_name_free(fresh_store, sample, monkeypatch) -> None:
    def broken(batch, rows):
        raise Refused("No room.")

    with monkeypatch.context() as patched:
        patched.setattr(Batch, "add", broken)
        with pytest.raises(Refused, match="No room"):
            audit_projects.create_audit_project(fresh_store, sample, "audit of m", PEOPLE)
    assert projects(fresh_store) == []
    assert audit_projects.audits(fresh_store) == []
    assert audit_projects.create_audit_project(fresh_store, sample, "audit of m", PEOPLE).name == "audit of m"


def test_duplicate_texts_in_the_scores_are_still_the_audited_run(fresh_store, frame, sample, sent) -> None:
    again = frame.assign(row=frame["row"].astype(int) + 1000, bias_log10=9.0, side="")
    twice = pd.concat([again, frame, frame.assign(row=frame["row"].astype(int) + 2000, bias_log10=0.7)])
    result = audit_projects.audit_result(fresh_store, sent, twice)
    assert (
        result.measures["any"]["run"].all
        == audit_projects.audit_result(fresh_store, sent, frame).measures["any"]["run"].all
    )
