"""Studies: what is refused, links, people from consent to code, time-outs, pay, withdrawal."""

from dataclasses import replace

import pytest

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.log.verify import verify
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.pilot.progress import pilot_progress
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.projects.projects import annotators, change_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.study import people
from evenhand.annotations.study.people import (
    Outside,
    Watched,
    agree,
    answer_test,
    desk_of,
    desks,
    finish,
    finish_withdrawals,
    outcomes_by_id,
    pay,
    sweep,
    withdraw,
)
from evenhand.annotations.study.studies import (
    Settings,
    Study,
    change_consent,
    consent,
    create_study,
    path_for,
    questions_of_try,
    set_closed,
    signed,
    study_named,
    study_of_link,
    study_of_uid,
)
from evenhand.core.errors import NotAllowed, NotFound, Refused
from tests.support.projects import broken_rules, decide, filled_project
from tests.support.studies import CONTACT, come, new_study, person

DAY = 24 * 3600


def judge(store: Store, study: Study, secret: str, number: int, choice: str = "accept") -> None:
    """Let the participant label this many items."""
    project, who = desk_of(store, study, person(store, study, secret))
    for item in claim(store, project, who, want=number):
        answers = store_operations(store, project, who, [decide(item, choice, desk=who.name)])
        assert answers[0].stored


@pytest.mark.parametrize(
    "fields",
    [
        {"items": 0}, {"places": 0}, {"minutes": 1}, {"pause": 0}, {"keep_days": -1}, {"reward": -1.0},
        {"floor": float("nan")}, {"contact": " "}, {"code_finished": ""}, {"code_withdrew": "x" * 61},
        {"questions": 2, "pass_mark": 3}, {"questions": 1}, {"service": "post"}, {"items": True}, {"currency": "a\nb"},
    ],
)  # fmt: skip
def test_invalid_study_settings_are_refused(fresh_store: Store, fields: dict[str, object]) -> None:
    project, _ = filled_project(fresh_store, 4)
    with pytest.raises(Refused):
        create_study(fresh_store, project, "study", replace(Settings(contact=CONTACT), **fields))  # type: ignore[arg-type]
    assert fresh_store.db.execute("SELECT count(*) FROM study").fetchone() == (0,)


def test_a_link_is_signed(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 4)
    study = new_study(fresh_store, project)
    assert study_of_link(fresh_store, signed(fresh_store, study)).name == "study"
    for wrong in (study.uid, f"{study.uid}.", f"{study.uid}.x", f"x{signed(fresh_store, study)}", "ä.ö", ""):
        with pytest.raises(NotFound):
            study_of_link(fresh_store, wrong)
    with pytest.raises(Refused, match="already"):
        new_study(fresh_store, project)
    prolific = new_study(fresh_store, project, "two", service="prolific")
    assert path_for(fresh_store, prolific).endswith(
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    workers = new_study(fresh_store, project, "three", service="mturk")
    assert path_for(fresh_store, workers).endswith("?workerId=${workerId}&hitId=${hitId}&assignmentId=${assignmentId}")


def test_a_changed_consent_is_a_new_version(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 4)
    study = new_study(fresh_store, project)
    secret, _who = come(fresh_store, study)
    first = consent(fresh_store, study)
    assert change_consent(fresh_store, study, {"en": first.en, "zh": first.zh}).version == 1
    assert change_consent(fresh_store, study, {"en": "Now", "zh": "新"}).version == 2
    assert person(fresh_store, study, secret).consent == 1
    row = fresh_store.db.execute("SELECT consent_hash, consented FROM study_person").fetchone()
    assert row[0] == first.hash("en")
    assert row[1].endswith("Z")
    with pytest.raises(Refused):
        change_consent(fresh_store, study, {"en": "", "zh": "x"})


def test_a_consent_form_contains_every_fact(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 4)
    study = new_study(fresh_store, project, reward=3.5)
    first = consent(fresh_store, study)
    assert CONTACT in first.en and CONTACT in first.zh and "3.50 EUR" in first.en
    with pytest.raises(Refused, match="still has unfilled placeholders") as refused:
        change_consent(fresh_store, study, {"en": "Ask {contact}. {age}", "zh": "新"})
    assert refused.value.values["places"] == "{age}, {contact}"
    with pytest.raises(Refused, match="must be a whole number from"):
        create_study(fresh_store, project, "young", Settings(contact=CONTACT), minimum_age=0)


def test_the_screening_test_has_two_tries(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 8)
    study = new_study(fresh_store, project, questions=2, pass_mark=2)
    newest = consent(fresh_store, study)
    passes, fails = (agree(fresh_store, study, newest, "zh", None) for _ in range(2))

    def answer(secret: str, choice: str) -> str:
        who = person(fresh_store, study, secret)
        given = {str(question.id): choice for question in questions_of_try(fresh_store, study, who.uid, who.tries)}
        answer_test(fresh_store, study, who, given)
        answer_test(fresh_store, study, who, given)  # the same form again
        return person(fresh_store, study, secret).state

    who = person(fresh_store, study, passes)
    first, second = (questions_of_try(fresh_store, study, who.uid, tries) for tries in (0, 1))
    assert not {entry.id for entry in first} & {entry.id for entry in second}
    assert [answer(passes, "reject"), answer(passes, "accept")] == ["test", "ready"]
    assert [answer(fails, "reject"), answer(fails, "reject")] == ["test", "screened_out"]
    out = person(fresh_store, study, fails)
    assert (out.tries, out.outcome, out.annotator) == (2, "screened_out", None)


def test_participants_do_not_label_texts_of_their_screening_test(fresh_store: Store) -> None:
    project, (ada, *_others) = filled_project(fresh_store, 8)
    study = new_study(fresh_store, project, questions=2, pass_mark=2, items=8)
    secret = agree(fresh_store, study, consent(fresh_store, study), "en", None)
    uids = set()
    for choice in ("reject", "accept"):
        who = person(fresh_store, study, secret)
        tried = questions_of_try(fresh_store, study, who.uid, who.tries)
        uids |= {question.text for question in tried}
        answer_test(fresh_store, study, who, {str(question.id): choice for question in tried})
    people.begin(fresh_store, study, person(fresh_store, study, secret))
    place, who_labels = desk_of(fresh_store, study, person(fresh_store, study, secret))
    handed = {item.text for item in claim(fresh_store, place, who_labels, want=20)}
    everything = {item.text for item in items(fresh_store, project)}
    assert len(uids) == 4
    assert handed == everything - uids
    assert {item.text for item in claim(fresh_store, project, ada, want=20)} == everything  # others get them
    assert broken_rules(fresh_store) == []


def test_ids_of_a_service_are_stored_separately_and_erased(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 4)
    study = new_study(fresh_store, project, service="prolific", keep_days=2, places=2)
    newest, ada = consent(fresh_store, study), Outside("pid-ada", "task", "session-1")
    secret = agree(fresh_store, study, newest, "en", ada, now=1000.0)
    again = agree(fresh_store, study, newest, "en", ada, now=1001.0)
    assert again != secret
    assert person(fresh_store, study, again).came == 1000.0  # the same person in another browser
    assert people.participant(fresh_store, study, [secret]) is None
    for forged in (Outside("pid-ada", "task", "session-2"), Outside("pid-ada", "task", "")):
        with pytest.raises(NotAllowed):
            agree(fresh_store, study, newest, "en", forged, now=1002.0)
    agree(fresh_store, study, newest, "en", Outside("pid-bo", "task", "s"), now=1003.0)
    with pytest.raises(Refused, match=r"This study is full\. Thank you for your interest\."):
        agree(fresh_store, study, newest, "en", Outside("pid-cy", "task", "s"), now=1004.0)
    assert outcomes_by_id(fresh_store, study) == [("pid-ada", "ready"), ("pid-bo", "ready")]
    withdraw(fresh_store, study, person(fresh_store, study, again), now=2000.0)
    sweep(fresh_store, study, now=2000.0 + 2 * DAY - 5)
    assert "pid-ada" in dict(outcomes_by_id(fresh_store, study))
    sweep(fresh_store, study, now=2000.0 + 2 * DAY + 5)
    assert "pid-ada" not in dict(outcomes_by_id(fresh_store, study))


def test_a_closed_study_refuses_new_participants(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 4)
    study = new_study(fresh_store, project)
    secret, _who = come(fresh_store, study)
    closed = set_closed(fresh_store, study, True)
    with pytest.raises(Refused, match=r"This study is full\. Thank you for your interest\."):
        come(fresh_store, closed)
    judge(fresh_store, closed, secret, 3)
    finish(fresh_store, closed, person(fresh_store, closed, secret))
    assert person(fresh_store, closed, secret).outcome == "finished"
    come(fresh_store, set_closed(fresh_store, closed, False))


def test_an_absent_participant_returns_items_and_place(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 6, per_item=1)
    study = new_study(fresh_store, project, places=1, minutes=30)
    secret, who = come(fresh_store, study, now=10_000.0)
    place = desk_of(fresh_store, study, who)
    assert len(claim(fresh_store, *place, want=6, now=10_000.0)) == 6
    with pytest.raises(Refused):
        come(fresh_store, study, now=10_000.0 + 29 * 60)
    _other, another = come(fresh_store, study, now=10_000.0 + 31 * 60)
    away = person(fresh_store, study, secret)
    assert (away.state, away.outcome) == ("timed_out", None)
    assert desks(fresh_store, [secret]) == {}
    assert len(claim(fresh_store, *desk_of(fresh_store, study, another), want=6)) == 6
    assert broken_rules(fresh_store) == []


def test_a_jump_of_the_clock_ends_no_participation(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 6, per_item=1)
    study = new_study(fresh_store, project, places=1, minutes=30)
    secret, _who = come(fresh_store, study, now=10_000.0)
    day, ahead, steady = 24 * 3600.0, 0.0, 0.0
    watched = Watched(lambda: 10_000.0 + steady + ahead, lambda: steady)

    def ended_by(minute: float) -> int:
        nonlocal steady
        steady = minute * 60
        return sweep(fresh_store, study, now=10_000.0 + steady + ahead, seen=watched.seconds())

    assert [ended_by(minute) for minute in (0, 10, 20)] == [0, 0, 0]
    ahead = day
    assert [ended_by(minute) for minute in (21, 29, 31, 50)] == [0, 0, 0, 0]  # a day and 50 minutes by the clock
    with pytest.raises(Refused):
        come(fresh_store, study, now=10_000.0 + steady + ahead, seen=watched.seconds())
    ahead = 0.0
    assert [ended_by(minute) for minute in (52, 60, 81)] == [0, 0, 0]  # and back
    assert person(fresh_store, study, secret).state == "working"
    assert ended_by(83) == 1  # half an hour without a jump
    assert person(fresh_store, study, secret).state == "timed_out"


@pytest.mark.parametrize(
    ("seconds", "offsets", "known"),
    [
        ((60, 120), (0, 0), 120.0),
        ((60, 120), (0.5, 1.0), 120.0),  # a clock that is put right bit by bit
        ((60, 120), (3600, 3600), 60.0),
        ((60, 120, 180), (0, -3600, -3600), 60.0),
        ((60, 120, 180), (0, 86_400, 0), 0.0),
    ],
)
def test_a_jump_of_the_clock_is_noticed(seconds: list[float], offsets: list[float], known: float) -> None:
    steady = ahead = 0.0
    watched = Watched(lambda: 1e9 + steady + ahead, lambda: steady)
    for steady, ahead in zip(seconds, offsets, strict=True):  # noqa: B007  (the clocks read them)
        result = watched.seconds()
    assert result == known


def test_implied_hourly_pay_counts_from_the_consent(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 40)
    study = new_study(fresh_store, project, items=10, reward=2.0, floor=9.0)
    nobody = pay(study, [])
    assert (nobody.hourly, nobody.hourly_at_work, nobody.below) == (None, None, False)
    slow, _who = come(fresh_store, study)
    judge(fresh_store, study, slow, 5)
    at_work = replace(person(fresh_store, study, slow), came=0.0, seen=600.0)
    going = pay(study, [at_work])
    assert (going.minutes_at_work, going.hourly_at_work, going.below) == (20.0, 6.0, True)
    quick = [replace(at_work, state="finished", completed=600.0), replace(at_work, state="finished", completed=900.0)]
    done = pay(study, quick)
    assert (done.people, done.minutes, done.hourly, done.below) == (2, 12.5, pytest.approx(9.6), False)


def test_withdrawal_takes_the_labels_out_of_gold_and_deletes_none(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 3, per_item=1, people=("Ada",))
    change_project(fresh_store, project, opinion_model="known")
    study = new_study(fresh_store, project)
    secret, who = come(fresh_store, study)
    judge(fresh_store, study, secret, 3)
    place = desk_of(fresh_store, study, who)
    first = next(iter(items(fresh_store, project)))
    reveal(fresh_store, *place, first.uid)  # its blind label stays current
    finish(fresh_store, study, person(fresh_store, study, secret))
    assert [item.gold for item in items(fresh_store, project)] == ["accept"] * 3
    assert withdraw(fresh_store, study, person(fresh_store, study, secret)) == 3
    assert withdraw(fresh_store, study, person(fresh_store, study, secret)) == 0
    gone = person(fresh_store, study, secret)
    assert (gone.state, gone.outcome, gone.labelled) == ("withdrew", "finished", 0)  # who had finished is paid
    assert [item.gold for item in items(fresh_store, project)] == [None] * 3
    assert fresh_store.db.execute("SELECT count(*), count(choice) FROM label").fetchone() == (6, 3)
    assert fresh_store.db.execute("SELECT count(*) FROM blind_label").fetchone() == (0,)
    (event,) = events(fresh_store, project, action="labels_withdrawn")
    assert event.data == {"study": "study", "labels": 3}
    (ada,) = annotators(fresh_store, project)
    assert len(claim(fresh_store, project, ada, want=5)) == 3  # the texts wait for others again
    assert broken_rules(fresh_store) == []
    assert verify(fresh_store).kinds["label"] == 6


def test_an_interrupted_withdrawal_is_continued(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project, _ = filled_project(fresh_store, 5, per_item=1)
    study = new_study(fresh_store, project, items=5)
    secret, _who = come(fresh_store, study)
    judge(fresh_store, study, secret, 5)
    with fresh_store.write():
        people.end(fresh_store, study, person(fresh_store, study, secret), "withdrew", 1.0)
    monkeypatch.setattr("evenhand.annotations.study.people.CHUNK", 2)
    finish_withdrawals(fresh_store)
    assert fresh_store.db.execute("SELECT count(*) FROM blind_label").fetchone() == (0,)
    finish_withdrawals(fresh_store)
    assert fresh_store.db.execute("SELECT count(*) FROM label").fetchone() == (10,)
    assert broken_rules(fresh_store) == []


def test_finishing_needs_all_items_labelled(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 2)
    study = new_study(fresh_store, project, items=3)
    secret, _who = come(fresh_store, study)
    judge(fresh_store, study, secret, 1)
    with pytest.raises(Refused):
        finish(fresh_store, study, person(fresh_store, study, secret))
    judge(fresh_store, study, secret, 3)
    finish(fresh_store, study, person(fresh_store, study, secret))  # nothing is left, though three were requested
    assert person(fresh_store, study, secret).state == "finished"
    assert not annotators(fresh_store, project)[3:]


def test_studies_are_found_by_name(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 2)
    study = new_study(fresh_store, project, "Réunion")
    assert study_named(fresh_store, " Réunion ") == study_of_uid(fresh_store, study.uid) == study
    with pytest.raises(NotFound):
        study_named(fresh_store, "none")


def test_participants_are_left_out_of_progress_and_pilots(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 12, per_item=1, people=("A", "B"))
    study = new_study(fresh_store, project)
    secret, _who = come(fresh_store, study)
    judge(fresh_store, study, secret, 3)
    result = dashboard(fresh_store, project)
    pseudonym = person(fresh_store, study, secret).pseudonym
    assert [(person_.annotator.name, person_.participant, person_.labels) for person_ in result.people] == [
        ("A", False, 0), ("B", False, 0), (pseudonym, True, 3),
    ]  # fmt: skip
    assert (result.pace, result.each) == (None, None)  # the pace of a participant does not affect the annotators'
    with pytest.raises(Refused, match="The study study is in progress"):
        start_pilot(fresh_store, project, 4)
    set_closed(fresh_store, study, True)
    with pytest.raises(Refused, match="The study study is in progress"):
        start_pilot(fresh_store, project, 4)  # a participant is still at work
    finish(fresh_store, study, person(fresh_store, study, secret))
    pilot = start_pilot(fresh_store, project, 4)
    assert pilot.people == 2
    assert {person_.annotator.name for person_ in pilot_progress(fresh_store, project, pilot).people} == {"A", "B"}
    assert fresh_store.db.execute("SELECT DISTINCT wanted FROM item WHERE pilot IS NOT NULL").fetchall() == [(2,)]


def test_an_open_pilot_pauses_the_study(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 12, per_item=1, people=("A", "B"))
    pilot = start_pilot(fresh_store, project, 4)
    study = new_study(fresh_store, project)
    with pytest.raises(Refused, match="paused"):
        come(fresh_store, study)
    close_pilot(fresh_store, project)
    assert pilot.people == 2 and come(fresh_store, study)[1].state == "working"
