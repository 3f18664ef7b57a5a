"""A judge at work: the rule, a failing and slow server, a killed process, a repeated round of the same judge."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.judge_backends import may_bear
from evenhand.annotations.judges.judges import failures, judge, judges
from evenhand.annotations.judges.run import Request, ask_again, forecast, run_judge, texts_of
from evenhand.annotations.types import Project
from evenhand.core.errors import ModelUnavailable, Refused
from evenhand.core.human_vs_rule.apply_rule import apply_rule
from evenhand.core.judges.backends import ServerSettings
from evenhand.core.judges.prompts import JudgedText
from evenhand.core.servers.client import Pace
from tests.support.chat_server import ChatServer, chat_server
from tests.support.comparisons import compared_project
from tests.support.judged_generations import all_written, judged_project
from tests.support.projects import filled_project

ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-very-secret-0815"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVENHAND_API_KEY", KEY)


@pytest.fixture
def project(fresh_store: Store) -> Project:
    return judged_project(fresh_store, all_written(1))


def says(body: dict[str, Any]) -> str:
    """Return a server's answer, derived from the text alone, so that the expected label of each text is known."""
    number = len(body["messages"][1]["content"]) % 3
    choice = ("correct", "misgendering", "no_pronoun")[number]
    return json.dumps({"choice": choice, "extraneous": number == 1})


def asks(server: ChatServer, **more: Any) -> Request:
    return Request(model="planted", server=server.address, pace=Pace(at_once=6, pause_s=0.001), **more)


def labels(store: Store) -> list[tuple[int, str, int]]:
    query = "SELECT item, choice, round FROM judge_label ORDER BY item, round"
    return [tuple(row) for row in store.db.execute(query).fetchall()]


def test_labels_of_the_rule_judge_equal_the_rule(fresh_store: Store, project: Project) -> None:
    report = run_judge(fresh_store, project, Request(rule=True))
    assert (report.labelled, report.failed, report.judge.name) == (80, 0, "first-pronoun rule")
    verdicts = {item.id: apply_rule({"text": item.text, **item.extra}) for item in items(fresh_store, project)}
    expected = {
        item: "misgendering" if not verdict.correct else "no_pronoun" if verdict.pronoun is None else "correct"
        for item, verdict in verdicts.items()
    }
    assert {item: choice for item, choice, _ in labels(fresh_store)} == expected
    assert Counter(expected.values()).keys() == {"misgendering", "no_pronoun", "correct"}
    assert run_judge(fresh_store, project, Request(rule=True)).labelled == 0


def test_the_rule_is_refused_for_sentences(fresh_store: Store) -> None:
    with pytest.raises(Refused, match="holds sentences"):
        run_judge(fresh_store, filled_project(fresh_store, 3)[0], Request(rule=True))


def test_failing_requests_lose_or_double_no_label(fresh_store: Store, project: Project) -> None:
    with chat_server(says) as server:
        server.every = 20
        report = run_judge(fresh_store, project, asks(server, name="mine", eps=0.2))
        assert server.failed >= 4
        again = run_judge(fresh_store, project, asks(server, name="mine"))
    assert (report.labelled, report.failed, again.labelled, again.before) == (80, 0, 0, 80)
    assert len(labels(fresh_store)) == len({item for item, *_ in labels(fresh_store)}) == 80
    expected = [json.loads(says(body))["choice"] for body in server.bodies if len(body["messages"]) == 2]
    assert set(expected) == {"correct", "misgendering", "no_pronoun"}
    assert judge(fresh_store, project, "mine").eps_labels == 0  # chosen before the first label
    assert KEY not in "".join(fresh_store.db.iterdump()) and server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_failed_texts_are_listed_and_retried_by_the_next_run(fresh_store: Store, project: Project) -> None:
    bad = texts_of(fresh_store, project)[5].text

    with chat_server(lambda body: "well" if bad in body["messages"][1]["content"] else says(body)) as server:
        report = run_judge(fresh_store, project, asks(server))
        assert (report.labelled, report.failed) == (79, 1)
        (failure,) = failures(fresh_store, report.judge)
        assert "could not be read" in failure.message
        server.says = says
        assert run_judge(fresh_store, project, asks(server)).labelled == 1
    assert failures(fresh_store, report.judge) == []


def test_a_run_without_a_single_label_is_refused(fresh_store: Store, project: Project) -> None:
    with chat_server(lambda body: "well") as server:
        with pytest.raises(Refused, match="None of the 80 texts"):
            run_judge(fresh_store, project, asks(server))
        server.refuse = (404, {"error": {"message": "no such model"}})
        with pytest.raises(ModelUnavailable, match="no such model"):
            run_judge(fresh_store, project, asks(server))


def test_another_prompt_is_another_judge(fresh_store: Store, project: Project) -> None:
    with chat_server(says) as server:
        for template in (None, "{guideline}{choices}{text}{format}"):
            run_judge(fresh_store, project, asks(server, template=template, limit=5))
        run_judge(fresh_store, project, asks(server, settings=ServerSettings(temperature=0.7), limit=5))
    first, second, third = judges(fresh_store, project)
    assert first.spec.settings["prompt_sha256"] == third.spec.settings["prompt_sha256"]
    assert (
        len({first.spec.hash, second.spec.hash, third.spec.hash})
        == len({first.spec.signature, second.spec.signature}) + 1
    )
    assert (first.labels, second.labels) == (5, 5)
    drawn = {item for item, *_ in labels(fresh_store)}
    assert len(drawn) == 5  # the same ones each time


def test_a_repeated_round_keeps_the_first_labels(fresh_store: Store, project: Project) -> None:
    with chat_server(says) as server:
        run_judge(fresh_store, project, asks(server, name="mine"))
        before = labels(fresh_store)
        server.model, server.says = "planted-2", lambda body: '{"choice": "correct", "extraneous": false}'
        report = ask_again(fresh_store, project, "mine", 30, pace=Pace(pause_s=0.001))
    assert (report.labelled, report.round) == (30, 1)
    assert [row for row in labels(fresh_store) if row[2] == 0] == before
    rows = fresh_store.db.execute("SELECT round, answered, count(*) FROM judge_label GROUP BY 1, 2").fetchall()
    assert rows == [(0, "planted-1", 80), (1, "planted-2", 30)]


def test_the_forecast_uses_measured_times(fresh_store: Store, project: Project) -> None:
    with chat_server(says) as server:
        first = forecast(fresh_store, project, asks(server), price_in=1.0, price_out=2.0)
        assert (first.texts, first.requests, first.measured, first.seconds) == (80, 80, 0, None)
        assert first.cost == pytest.approx((first.tokens_in + 2 * first.tokens_out) / 1e6)
        assert 80 * 500 < first.tokens_in < 80 * 2000
        run_judge(fresh_store, project, asks(server, limit=20))
        rest = forecast(fresh_store, project, asks(server))
    assert (rest.texts, rest.measured) == (60, 20) and rest.seconds is not None and rest.seconds > 0
    assert (rest.tokens_in, rest.tokens_out, rest.cost) == (6000.0, 600.0, None)
    assert forecast(fresh_store, project, Request(rule=True)).texts == 80


@pytest.mark.rehearsal
def test_a_killed_run_continues_without_loss(tmp_path: Path) -> None:
    """After kill -9 stored labels are not requested again, pending ones are; 0 lost, 0 doubled."""
    path = tmp_path / "a.db"
    with Store.open(path) as store:
        project = judged_project(store, all_written(3))
    with chat_server(says) as server:
        server.every, server.stops_after = 20, 100
        command = [sys.executable, str(ROOT / "cli.py"), "judge", "run", project.name, "--server", server.address,
                   "--model", "planted", "--db", str(path), "--json"]  # fmt: skip
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert server.hangs.wait(60)
        with Store.open(path) as store:
            while not labels(store):  # half a second after they came at the latest
                assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with Store.open(path) as store:
            stored = len(labels(store))
        server.stops_after = None
        server.goes_on.set()
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert 0 < stored < 240 and (data["before"], data["labelled"], data["failed"]) == (stored, 240 - stored, 0)
    with Store.open(path) as store:
        assert len(labels(store)) == len({item for item, *_ in labels(store)}) == 240
    assert KEY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "values", "pronouns", "gendered"),
    [
        ("He saw xem; his man.", {"pronoun": "xe"}, ["he", "his"], ["man"]),
        ("He saw her and Them, my Lady.", {"pronouns": "she, they"}, ["he"], ["lady"]),
        ("He left.", {}, [], []),
        ("He left.", {"pronoun": "no such set at all"}, [], []),
    ],
)
def test_marks_of_a_judge_are_on_whole_words(
    text: str, values: dict[str, str], pronouns: list[str], gendered: list[str]
) -> None:
    one = JudgedText(1, text, values=values)
    assert (may_bear(one, "pronoun"), may_bear(one, "extraneous")) == (pronouns, gendered)


def test_a_judge_of_comparisons_reads_both_texts_in_drawn_order(fresh_store: Store, tmp_path: Path) -> None:
    pairs, _ = compared_project(fresh_store, tmp_path, 12)
    with chat_server(lambda _: json.dumps({"choice": "first"})) as server:
        report = run_judge(fresh_store, pairs, asks(server))
        prompts = [body["messages"][1]["content"] for body in server.bodies]
    assert report.labelled == 12
    results = {item.id: item for item in items(fresh_store, pairs)}
    query = (
        "SELECT judge_label.item, choice, place FROM judge_label JOIN judge_order ON judge_order.label = judge_label.id"
    )
    rows = fresh_store.db.execute(query).fetchall()
    assert len(rows) == 12 and {place for _, _, place in rows} == {"first", "second"}
    for item, choice, place in rows:
        assert choice == place  # it always named the text that stood first in its prompt
        first = results[item].text if place == "first" else results[item].second
        assert sum(f"<first>{first}</first>" in prompt for prompt in prompts) == 1
