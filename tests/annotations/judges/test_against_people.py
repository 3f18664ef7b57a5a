"""A judge against people, rates from both, and drift: by hand on a small project."""

from typing import Any

import numpy as np
import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.against_people import NO_FLAGS, NOBODY, against_people, agreement_difference, drift
from evenhand.annotations.judges.estimates import estimates
from evenhand.annotations.judges.judges import Judge, Spec, add_judge, choose_margin, judge, store_labels
from evenhand.annotations.judges.run import Request, run_judge
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.quantities.catalogue import QUANTITIES
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.annotations.types import Project
from evenhand.core.human_vs_rule.compare import comparison
from evenhand.core.judges.prompts import JudgeLabel
from evenhand.core.statistics.prediction_powered import Labels, paired_difference, prediction_powered
from tests.support.judged_generations import Said, Written, all_written, judged_project, say, say_all

TEXTS = all_written(1, models=("owl-1b", "wren-3b"))  # 80 texts: 2 models x 4 sets x 2 settings x 5 topics
LABELLED = TEXTS[::2]
MISSED = {text.text for text in TEXTS[::5]}  # for which the judge has another label


@pytest.fixture
def project(fresh_store: Store) -> Project:
    made = judged_project(fresh_store, TEXTS)
    say_all(fresh_store, made, LABELLED)
    return made


def said_by_judge(one: Written) -> Said:
    return Said("plural_they", not one.said.extraneous) if one.text in MISSED else one.said


def judged(store: Store, project: Project, name: str = "mine", *, flags: bool = True, **more: Any) -> Judge:
    result = add_judge(store, project, name, Spec("file", 1, name, name))
    by_text = {text.text: said_by_judge(text) for text in TEXTS}
    labels = [
        JudgeLabel(item.id, by_text[item.text].choice, by_text[item.text].extraneous if flags else None, **more)
        for item in items(store, project)
    ]
    store_labels(store, result, labels)
    return judge(store, project, name)


def test_agreement_confusion_and_disagreements_equal_hand_computation(fresh_store: Store, project: Project) -> None:
    result = against_people(fresh_store, project, judged(fresh_store, project))
    wrong_bo = {text.text for text in LABELLED[::9]}  # what the last annotator errs on (judged_generations.say_all)

    def choices(one: Written) -> list[str]:
        return [one.said.choice, "no_pronoun" if one.text in wrong_bo else one.said.choice]

    same = [np.mean([said_by_judge(text).choice == choice for choice in choices(text)]) for text in LABELLED]
    assert (result.items, result.finished) == (40, 40)
    assert result.agreement.value == pytest.approx(np.mean(same))
    alike = [len(set(choices(text))) == 1 for text in LABELLED]
    assert result.among_people.value == pytest.approx(np.mean(alike))
    assert [disagreement.text for disagreement in result.disagreements] == [
        text.text for text in LABELLED if any(said_by_judge(text).choice != choice for choice in choices(text))
    ]
    pairs = [(choice, said_by_judge(text).choice) for text in LABELLED for choice in choices(text)]
    assert {(a, b): n for a, row in result.confusion.items() for b, n in row.items() if n} == {
        pair: pairs.count(pair) for pair in set(pairs)
    }
    by_model = {group.key: group for group in result.groups("model")}
    assert sum(group.items for group in by_model.values()) == 40 and set(by_model) == {"owl-1b", "wren-3b"}
    assert [group.key for group in result.groups("choice")] == ["correct", "misgendering", "no_pronoun"]
    assert {group.key for group in result.groups("language")} == {"en"}
    observed = sum(a == b for a, b in pairs) / len(pairs)
    margins = [[sum(pair[side] == code for pair in pairs) / len(pairs) for code in result.choices] for side in (0, 1)]
    chance = float(np.dot(*margins))
    assert result.kappa.value == pytest.approx((observed - chance) / (1 - chance))


def test_only_finished_items_are_compared(fresh_store: Store) -> None:
    made = judged_project(fresh_store, TEXTS)
    say(fresh_store, made, "Ada", [(text.text, text.said) for text in LABELLED])  # Bo has labelled nothing
    result = against_people(fresh_store, made, judged(fresh_store, made))
    assert (result.items, result.agreement.value, result.agreement.estimate.reason) == (0, None, NOBODY)
    assert result.disagreements == [] and result.kappa.reason == NOBODY


def test_a_judge_without_flags_has_no_agreement_on_them(fresh_store: Store, project: Project) -> None:
    result = against_people(fresh_store, project, judged(fresh_store, project, flags=False))
    assert (result.flags.value, result.flags.estimate.reason) == (None, NO_FLAGS)


def test_the_alternative_annotator_test_needs_its_margin(fresh_store: Store, project: Project) -> None:
    mine = judged(fresh_store, project)
    assert against_people(fresh_store, project, mine).verdict is None
    verdict = against_people(fresh_store, project, choose_margin(fresh_store, project, mine, 0.2)).verdict
    assert verdict is not None and verdict.eps == 0.2
    ada, bo = verdict.annotators
    assert (ada.annotator, ada.items, bo.items) == ("Ada", 40, 40)
    errs = {text.text for text in LABELLED[::9]}
    with_bo = [
        said_by_judge(text).choice == ("no_pronoun" if text.text in errs else text.said.choice)
        or (text.text in errs and text.said.choice != "no_pronoun")
        for text in LABELLED
    ]
    assert ada.judge_share == pytest.approx(np.mean(with_bo))


def test_two_judges_are_compared_on_common_texts(fresh_store: Store, project: Project) -> None:
    mine = against_people(fresh_store, project, judged(fresh_store, project))
    other = add_judge(fresh_store, project, "all correct", Spec("file", 1, "c", "c"))
    store_labels(fresh_store, other, [JudgeLabel(item.id, "correct") for item in items(fresh_store, project)])
    second = against_people(fresh_store, project, judge(fresh_store, project, "all correct"))
    apart = agreement_difference(mine, second)
    assert (
        apart.value == pytest.approx((mine.agreement.value or 0) - (second.agreement.value or 0)) and apart.rows == 40
    )


def test_rates_equal_those_of_the_functions(fresh_store: Store, project: Project) -> None:
    result = estimates(fresh_store, project, judged(fresh_store, project))
    (cell,) = result.cells("misgendering")
    assert (cell.people, cell.further, cell.without_judge) == (40, 40, 0)

    def labels(texts: list[Written]) -> Labels:
        bo_errs = {text.text for text in LABELLED[::9]}
        known = [text for text in texts if text in LABELLED]
        rest = [text for text in texts if text not in LABELLED]

        def people(one: Written) -> float:
            wrong = one.said.choice == "misgendering"
            return (wrong + (wrong and one.text not in bo_errs)) / 2

        def cluster(one: Written) -> str:
            return f"misgendered|{one.extra['template']}"

        def judges(one: Written) -> float:
            return float(said_by_judge(one).choice == "misgendering")

        return Labels([people(item) for item in known], [judges(item) for item in known],
                      [judges(item) for item in rest], [cluster(item) for item in known],
                      [cluster(item) for item in rest], of_items=True)  # fmt: skip

    expected = prediction_powered(labels(TEXTS))
    assert cell.rates.both.value == pytest.approx(expected.both.value)
    assert cell.rates.both.low == pytest.approx(expected.both.low) and cell.rates.worth == pytest.approx(expected.worth)
    by_model = {cell.key[0]: cell for cell in result.cells("misgendering", ("model",))}
    assert {name: cell.people + cell.further for name, cell in by_model.items()} == {"owl-1b": 40, "wren-3b": 40}
    (apart,) = result.differences("misgendering")
    of = [labels([text for text in TEXTS if text.extra["model"] == name]) for name in ("owl-1b", "wren-3b")]
    assert apart.rates.both.value == pytest.approx(paired_difference(*of).both.value)
    assert (apart.one, apart.other) == ("owl-1b", "wren-3b")
    (flags,) = result.cells("extraneous")
    assert flags.rates.people.value is not None and flags.further == 40


def test_items_without_a_label_of_the_judge_are_counted(fresh_store: Store, project: Project) -> None:
    half = add_judge(fresh_store, project, "half", Spec("file", 1, "h", "h"))
    some = list(items(fresh_store, project))[:20]
    store_labels(fresh_store, half, [JudgeLabel(item.id, "correct") for item in some])
    (cell,) = estimates(fresh_store, project, judge(fresh_store, project, "half")).cells("misgendering")
    assert (cell.people, cell.further, cell.without_judge) == (10, 10, 30)
    (flags,) = estimates(fresh_store, project, half).cells("extraneous")  # it has no label for them
    assert (flags.people, flags.rates.both.value) == (0, None) and flags.rates.both.reason is not None
    assert flags.rates.people.value is not None and flags.without_judge == 40  # people alone need no judge


def test_drift_compares_rounds_of_a_judge(fresh_store: Store, project: Project) -> None:
    mine = judged(fresh_store, project, answered="m-1")
    assert drift(fresh_store, mine).rounds == () and not drift(fresh_store, mine).has_changed_model
    texts = [item.id for item in items(fresh_store, project)][:10]
    choices = dict(fresh_store.db.execute("SELECT item, choice FROM judge_label").fetchall())
    again = [JudgeLabel(item, "correct", answered="m-2", round=1) for item in texts]
    store_labels(fresh_store, mine, again)
    result = drift(fresh_store, mine)
    assert [(answer.round, answer.model, answer.labels) for answer in result.answered] == [
        (0, "m-1", 80),
        (1, "m-2", 10),
    ]
    (later,) = result.rounds
    kept = sum(choices[item] == "correct" for item in texts)
    assert later.same.value == kept / 10 and sum(later.changed.values()) == 10 - kept and result.has_changed_model


def test_a_rate_equals_the_share_of_human_vs_rule(fresh_store: Store) -> None:
    """Contexts of one to five texts, so that the mean of context means would differ."""
    uneven = [text for n, text in enumerate(TEXTS) if n % 5 >= n // 20]
    made = judged_project(fresh_store, uneven)
    say_all(fresh_store, made, uneven)
    by_rule = run_judge(fresh_store, made, Request(rule=True)).judge
    (cell,) = estimates(fresh_store, made, by_rule).cells("misgendering")
    rows = generations(fresh_store, made)
    compared = comparison(rows, labels_of_generations(fresh_store, made))
    assert cell.rates.people.value == pytest.approx(compared.overall["misgendering"].value)
    assert cell.rates.judge.value == pytest.approx(compared.overall["rule_misgendering"].value)
    assert compared.both.people.value == pytest.approx(cell.rates.people.value)
    per_context = rows.assign(said=[entry.said.choice == "misgendering" for entry in uneven]).groupby("cluster")["said"]
    assert len(set(per_context.size())) > 1 and per_context.mean().mean() != pytest.approx(cell.rates.people.value)


def test_the_rate_by_people_is_that_of_the_page_on_the_rule(fresh_store: Store, project: Project) -> None:
    """Without a sample, value and interval by people do not depend on which items the judge labelled."""
    half = add_judge(fresh_store, project, "half", Spec("file", 1, "h", "h"))
    store_labels(fresh_store, half, [JudgeLabel(item.id, "correct") for item in list(items(fresh_store, project))[:20]])
    (cell,) = estimates(fresh_store, project, half).cells("misgendering")
    quantity = QUANTITIES["generations.misgendering_rate.people"]
    assert cell.rates.people == quantity.compute(Snapshot(fresh_store, project))
    assert cell.rates.people.value is not None and cell.rates.people.low is not None
