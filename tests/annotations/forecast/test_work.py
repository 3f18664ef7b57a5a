"""The forecast of a project: which items it rests on, and the command and page that show it."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from cli import cli
from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.work import forecast
from evenhand.annotations.guideline.drafts import read_draft, write_version
from evenhand.annotations.items.batch import Batch
from evenhand.annotations.items.wanted_labels import is_shared, plan_effects
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.projects.projects import change_project, counts, create_project, project, set_quotas
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import EvenhandError
from evenhand.core.typed_json import to_json
from tests.support.pages import open_page
from tests.support.projects import decide, filled_project, new_items

START = 1_000_000.0


def label_all(store: Store, made: Project, people: list[Annotator], seconds: float = 6.0) -> None:
    """Let all annotators label the whole queue, 70 in 100 accepted, decided by text and name."""
    for person in people * 4:
        while items := claim(store, made, person, want=40, now=START):
            choices = [
                "accept" if is_shared(1, f"{item.text}{person.name}".encode(), 0.7) else "reject" for item in items
            ]
            made_now = [decide(item, choice, seconds=seconds) for item, choice in zip(items, choices, strict=True)]
            assert all(answer.stored for answer in store_operations(store, made, person, made_now, now=START))


def test_the_forecast_rests_on_the_pilot(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 60)
    start_pilot(fresh_store, made, 20)
    label_all(fresh_store, made, people)
    close_pilot(fresh_store, made)
    result = forecast(fresh_store, made)
    assert (result.sample, result.reviewed, result.items, result.made, result.people) == ("pilot", 20, 60, 60, 3)
    assert result.work.all.judgements.value == 180 and result.work.seconds.value == 6.0
    assert result.work.stop.judgements.value is not None and 60 < result.work.stop.judgements.value < 180
    assert forecast(fresh_store, made, candidates=6_000).work.all.judgements.value == 18_000
    text = json.dumps(to_json(result), allow_nan=False)
    assert json.loads(text)["needed_reason"] == "No quotas are set for pairs and sides."


def test_under_stop_only_the_shared_items_count(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 80, seed=6)
    made = change_project(fresh_store, made, plan="stop", share=0.3)
    label_all(fresh_store, made, people)
    query = "SELECT count(*), sum(status = 'accepted') FROM item WHERE shared = 1"
    shared, kept = fresh_store.db.execute(query).fetchone()
    result = forecast(fresh_store, made)
    assert result.sample == "all" and result.reviewed == shared and result.work.rate.value == kept / shared
    three = fresh_store.db.execute("SELECT count(*) FROM item WHERE labels = 3").fetchone()[0]
    assert three > shared  # the others with three labels were accepted by all: they must not count


def full(store: Store, where: str = "true") -> tuple[int, int]:
    """Return the numbers of items with three labels, and of accepted ones among them."""
    query = f"SELECT count(*), sum(gold = 'accept') FROM item WHERE labels = 3 AND {where}"
    row: tuple[int, int] = store.db.execute(query).fetchone()
    return row


def test_after_stop_only_items_it_did_not_select_count(fresh_store: Store) -> None:
    """Under `stop` half of the items; then all get all labels, from the first of them to the last."""
    made, people = filled_project(fresh_store, 200, seed=6)
    made = change_project(fresh_store, made, plan="stop", share=0.25)
    label_all(fresh_store, made, people)
    truth = full(fresh_store, "shared = 1")
    made = change_project(fresh_store, made, plan="all")
    with Batch.begin(fresh_store, made, "more") as batch:
        batch.add(new_items(60, first=5000))
        batch.publish()
    result = forecast(fresh_store, made)
    kept = counts(fresh_store, made).accepted
    assert result.narrowed and result.work.signature.endswith("|items:not-chosen-by-outcome")
    assert (result.reviewed, result.work.rate.value) == (truth[0], truth[1] / truth[0])
    naive = full(fresh_store)
    texts = [row[0] for row in fresh_store.db.execute("SELECT text FROM item")]
    right = sum(all(is_shared(1, f"{text}{person.name}".encode(), 0.7) for person in people) for text in texts)
    low, high = result.work.rate.low, result.work.rate.high
    assert low is not None and high is not None and low < right / 260 < high < naive[1] / naive[0] and kept
    for _ in range(3):  # items that are new under `all` count, too
        for person in people:
            some = [item for item in claim(fresh_store, made, person, want=200, now=START) if item.line >= 5000]
            choices = [
                "accept" if is_shared(1, f"{item.text}{person.name}".encode(), 0.7) else "reject" for item in some
            ]
            store_operations(
                fresh_store, made, person, [decide(*decision) for decision in zip(some, choices, strict=True)]
            )
    new = full(fresh_store, "line >= 5000")
    result = forecast(fresh_store, made)
    assert new[0] > 10 and result.reviewed == truth[0] + new[0]
    assert result.work.rate.value == (truth[1] + new[1]) / result.reviewed
    label_all(fresh_store, made, people)
    result = forecast(fresh_store, made)
    assert (result.reviewed, result.narrowed) == (260, False) and result.work.rate.value == right / 260


def test_a_larger_share_counts_when_it_is_done(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 160, seed=6)
    made = change_project(fresh_store, made, plan="stop", share=0.2)
    label_all(fresh_store, made, people)
    first = full(fresh_store, "shared = 1")
    made = change_project(fresh_store, made, share=0.6)
    result = forecast(fresh_store, made)
    assert (result.reviewed, result.work.rate.value, result.narrowed) == (first[0], first[1] / first[0], True)
    label_all(fresh_store, made, people)
    result = forecast(fresh_store, made)
    assert result.reviewed == full(fresh_store, "shared = 1")[0] > first[0] and not result.narrowed


def test_hidden_gold_does_not_count(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 20)
    for (uid,) in fresh_store.db.execute("SELECT uid FROM item LIMIT 5").fetchall():
        set_known(fresh_store, made, uid, "accept")
    label_all(fresh_store, made, people)
    assert forecast(fresh_store, made).reviewed == 15


def test_the_forecast_of_stop_equals_its_real_cost(fresh_store: Store) -> None:
    planned, people = filled_project(fresh_store, 240, seed=6)
    label_all(fresh_store, planned, people)
    expected = forecast(fresh_store, planned).work.stop.judgements
    other, people = filled_project(fresh_store, 240, seed=6)
    other = change_project(fresh_store, other, plan="stop")
    label_all(fresh_store, other, people)
    query = "SELECT count(*) FROM label WHERE project = ?"
    made = fresh_store.db.execute(query, (other.id,)).fetchone()[0]
    assert expected.low is not None and expected.high is not None
    assert expected.low <= made <= expected.high
    assert counts(fresh_store, planned).accepted == counts(fresh_store, other).accepted


def test_a_project_of_generations_has_no_forecast_of_stop(fresh_store: Store) -> None:
    made = create_project(fresh_store, "texts", kind="generations", per_item=2)
    result = forecast(fresh_store, made)
    assert result.work.stop.judgements.value is None and "cannot stop at the first reject" in str(
        result.work.stop.judgements.reason
    )


def test_predicted_effects_equal_those_of_the_change(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 40, seed=2)
    for item in claim(fresh_store, made, people[0], now=START):
        store_operations(
            fresh_store, made, people[0], [decide(item, "reject" if item.line % 3 else "accept")], now=START
        )
    result = plan_effects(fresh_store, made, plan="stop", per_item=3, share=0.2)
    before = counts(fresh_store, made).pending
    made = change_project(fresh_store, made, plan="stop", share=0.2)
    assert before - counts(fresh_store, made).pending == result.decided > 0 and result.reopened == 0
    back = plan_effects(fresh_store, made, plan="all", per_item=3, share=0.2)
    assert back.reopened == result.decided and sum(back) == sum(result) == 40


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, list(arguments))
    if isinstance(result.exception, EvenhandError):
        return 2, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_the_command_shows_and_sets_the_plan(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 40)
    name = made.name
    code, text = run("plan", name)
    assert (
        code == 0
        and "3 labels for every item" in text
        and "No item is fully labelled yet: run a pilot to estimate the work." in text
    )
    label_all(fresh_store, made, people)
    code, text = run("plan", name, "--set", "stop", "--share", "0.2", "--retest", "0.02", "--author", "Lin", "--json")
    shown = json.loads(text)
    assert (shown["plan"], shown["share"], shown["retest"]) == ("stop", 0.2, 0.02)
    assert shown["forecast"]["all"]["judgements"]["value"] == 120
    assert project(fresh_store, name).plan == "stop"
    assert events(fresh_store, made, action="plan")[-1].author == "Lin"
    code, text = run("plan", name)
    assert code == 0 and "stop at the first reject, up to 3 labels; 20% labelled by all; 2% retested after" in text
    assert run("plan", name, "--share", "2")[0] == 2
    assert run("plan", "nothing of that name")[0] == 2


def page(made: Project) -> AppTest:
    app = open_page("plan", project=made.name)
    assert not app.exception, [error.value for error in app.exception]
    return app


def shown_text(app: AppTest) -> str:
    captions = (caption.value.replace("\\", "") for caption in app.caption)
    return " ".join([*(element.proto.body for element in app.get("html")), *captions])


def test_the_page_saves_a_plan(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 40, seed=2)
    for item in claim(fresh_store, made, people[0], now=START):
        store_operations(
            fresh_store, made, people[0], [decide(item, "reject" if item.line % 3 else "accept")], now=START
        )
    waiting = len(claim(fresh_store, made, people[1], want=5))
    app = page(made)
    assert app.button(key="save_plan").disabled
    app.radio(key=f"plan-{made.uid}").set_value("stop").run()
    assert any("would be decided by their labels" in info.value for info in app.info)
    assert any(info.value.startswith(f"{waiting} sentences are on open desks") for info in app.info) and waiting == 5
    assert not app.warning
    app.number_input(key=f"share-{made.uid}").set_value(20.0).run()
    app.text_input(key="adjudicator").set_value("Lin").run()
    app.button(key="save_plan").click().run()
    assert not app.exception and not app.error
    changed = project(fresh_store, made.name)
    assert (changed.plan, changed.share) == ("stop", 0.2)
    assert counts(fresh_store, changed).rejected > 0
    assert any("Lin" in caption.value for caption in app.caption)
    assert app.button(key="save_plan").disabled
    now = read_draft(fresh_store, changed)
    now = replace(
        now, reasons=tuple(replace(reason, en=f"{reason.en}, anew") for reason in now.reasons), changes="Worded anew."
    )
    _version, sent = write_version(fresh_store, changed, now, which="named")
    text = " ".join(info.value for info in page(made).info)
    assert sent.labels and f"{sent.labels} labels are awaiting relabelling" in text


def test_the_page_refuses_stop_with_majority(fresh_store: Store) -> None:
    made, _ = filled_project(fresh_store, 8, gold="majority")
    app = page(made)
    app.radio(key=f"plan-{made.uid}").set_value("stop").run()
    app.button(key="save_plan").click().run()
    assert "majority" in app.error[0].value and project(fresh_store, made.name).plan == "all"


@pytest.mark.parametrize(("seconds", "unit"), [(6.0, "minutes"), (200.0, "hours")])
def test_the_page_shows_both_plans_and_the_quotas(fresh_store: Store, seconds: float, unit: str) -> None:
    made, people = filled_project(fresh_store, 60, words=("他", "她"))
    set_quotas(fresh_store, made, {("他/她", "male"): 5, ("他/她", "female"): 900})
    label_all(fresh_store, made, people, seconds)
    app = page(made)
    text = shown_text(app)
    assert "Stopping at the first reject saves" in text and "is met" in text and "✗ no" in text
    assert any("labels-forecast|" in code.value for code in app.code)
    assert f"{unit.capitalize()} expected" in text and f"{unit.capitalize()} per annotator" in text


@pytest.mark.parametrize("kind", ["sentences", "generations"])
def test_the_page_opens_for_an_empty_project(fresh_store: Store, kind: str) -> None:
    made = create_project(fresh_store, "empty", kind=kind, annotators=["Ada"])  # type: ignore[arg-type]
    assert "has no items yet" in page(made).info[0].value
