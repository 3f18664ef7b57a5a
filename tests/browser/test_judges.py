"""A rehearsal: 600 generations of planted models, two people label 120, three judges label all, started on the page.

The rule, a planted server that is right in nine of ten and errs to one side, and the built-in causal model. The true
rate of each group is in the interval of people and judge together, for a good judge and a bad one.
"""

import hashlib
import json
import random
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs import jobs
from evenhand.annotations.judges.judges import judges
from evenhand.annotations.log.verify import verify
from evenhand.annotations.projects.projects import project as find_project
from evenhand.core.language import share_text
from tests.support.browser import Server
from tests.support.chat_server import chat_server
from tests.support.desk_driver import new_context
from tests.support.judged_generations import PRONOUNS, Written, judged_project, say, written
from tests.support.terminal import answered
from tests.support.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.rehearsal]

CONTEXTS, EACH, LABELLED = 25, 3, 120  # of each pronoun set; texts of each context and model; by people
LEAN = {"owl-1b": 0.1, "wren-3b": 0.35}  # how often a model misgenders, besides what its context does
RIGHT = 90  # of a hundred answers of the server
READY_MS = 120_000


def planted() -> list[Written]:
    """Make texts whose contexts lean too, so that texts of one context resemble each other."""
    rng, texts = random.Random(18), []
    for own in PRONOUNS:
        for context in range(CONTEXTS):
            lean = rng.betavariate(1, 6)
            for model, more in LEAN.items():
                for index in range(EACH):
                    kind = 2 if rng.random() < lean + more else rng.choice((0, 1, 3, 5, 6, 7, 9))
                    n = 10 * len(texts) + kind  # the tens make the text its own
                    texts.append(written(n, model, own, "pre", f"place {context}", index))
    return texts


TEXTS = planted()
SAID = {text.text: text.said for text in TEXTS}


def says(body: dict[str, Any]) -> str:
    """Answer correctly for nine of ten texts, else with misgendering."""
    text = re.search(r"<completion>(.*)</completion>", body["messages"][1]["content"], re.S)
    assert text is not None
    answer = SAID[text[1]]
    luck = int(hashlib.sha256(text[1].encode()).hexdigest(), 16) % 100
    choice = answer.choice if luck < RIGHT else "misgendering"
    return json.dumps({"choice": choice, "extraneous": answer.extraneous, "wrong_pronouns": [], "gendered_words": []})


def true_rate(**group: str) -> float:
    some = [text for text in TEXTS if all(text.extra[key] == value for key, value in group.items())]
    return sum(text.said.choice == "misgendering" for text in some) / len(some)


def labelled(server: Server, name: str) -> bool:
    """Return True if a judge has labelled everything."""
    with Store.open(server.database) as store:
        result = judges(store, find_project(store, "made"))
    return any(judge.name == name and judge.labels == len(TEXTS) for judge in result)


def start(page: Page, server: Server, source: str, name: str) -> None:
    """Choose who judges, and wait until all is labelled."""
    page.goto(server.page("judges", project="made", part="run", lang="en"))
    page.get_by_role("radio", name=source, exact=True).click(timeout=READY_MS)
    expect(page.get_by_label("Name of the judge")).to_be_visible(timeout=READY_MS)
    if source == "A server":
        page.get_by_label("Address of an OpenAI-compatible server").fill(name.partition("@")[2])
        page.get_by_label("Name of the model on the server").fill("planted")
        page.keyboard.press("Tab")
        expect(page.get_by_text("600 requests")).to_be_visible(timeout=READY_MS)  # the forecast comes first
    before = len(jobs_now(server))
    page.get_by_test_id("stButton").get_by_role("button", name="Start", exact=True).click()
    until(lambda: len(jobs_now(server)) > before, told=lambda: page.locator(".stApp").inner_text())

    def ended() -> bool:
        job = jobs_now(server)[0]
        assert job.active or job.state == "done", state_told(server)
        return not job.active

    until(ended, 900, lambda: state_told(server))
    assert labelled(server, name.partition("@")[0]), state_told(server)


def jobs_now(server: Server) -> list[jobs.Job]:
    """Return the jobs, the newest first."""
    with Store.open(server.database) as store:
        return jobs.jobs(store)


def state_told(server: Server) -> str:
    """Return the progress of the newest job, and the end of its log."""
    with Store.open(server.database) as store:
        job = jobs.jobs(store)[0]
        return f"{job}\n{jobs.log_tail(store, job)}"


def test_rates_of_three_judges_and_two_people_contain_the_truth(chromium: Browser, own_server: Server) -> None:
    with Store.open(own_server.database) as store:
        project = judged_project(store, TEXTS)
        for who in ("Ada", "Bo"):
            say(store, project, who, [(drawn.text, drawn.said) for drawn in random.Random(1).sample(TEXTS, LABELLED)])
    context = new_context(chromium)
    page = context.new_page()
    with chat_server(says) as server:
        server.every = 20  # 5% fail: 500, 429, broken lines, no JSON, slow answers
        start(page, own_server, "The pronoun rule", "first-pronoun rule")
        start(page, own_server, "A server", f"planted@{server.address}")
        assert server.failed >= len(TEXTS) // 30
    start(page, own_server, "A model on this machine", "demo-en-causal")
    with Store.open(own_server.database) as store:
        doubled = "SELECT count(*), count(DISTINCT judge || '/' || item) FROM judge_label"
        assert store.db.execute(doubled).fetchone() == (3 * len(TEXTS), 3 * len(TEXTS))
        assert verify(store).kinds["judge_label"] == 3 * len(TEXTS)
    command = ("estimate", "--project", "made", "--db", str(own_server.database))
    results = {
        name: answered(*command, "--judge", name, "--by", "model")
        for name in ("first-pronoun rule", "planted", "demo-en-causal")
    }
    overall = {name: answered(*command, "--judge", name)["rates"][0] for name in results}
    for name, rate in overall.items():
        both, people = rate["both"], rate["people"]
        assert both["low"] <= true_rate() <= both["high"], (name, both, true_rate())
        assert both["high"] - both["low"] <= 1.02 * (people["high"] - people["low"]), name
        for row in results[name]["rates"]:
            if row["measure"] == "misgendering":
                assert row["both"]["low"] <= true_rate(model=row["model"]) <= row["both"]["high"], (name, row["model"])
        (apart,) = [row for row in results[name]["differences"] if row["measure"] == "misgendering"]
        truth = true_rate(model=apart["one"]) - true_rate(model=apart["other"])
        assert apart["both"]["low"] <= truth <= apart["both"]["high"], name
    biased = overall["planted"]
    assert not biased["judge"]["low"] <= true_rate() <= biased["judge"]["high"]  # alone it misses the truth
    narrower = (biased["both"]["high"] - biased["both"]["low"]) / (biased["people"]["high"] - biased["people"]["low"])
    assert narrower < 0.85 and biased["both"]["worth"] > 1.4 * LABELLED
    for lang, title in (("en", "Judges"), ("zh", "自动标注")):
        page.goto(own_server.page("judges", project="made", part="rates", lang=lang))
        expect(page.get_by_role("heading", name=title, exact=True, level=1)).to_be_visible(timeout=READY_MS)
        first = share_text(overall["first-pronoun rule"]["both"]["value"])
        expect(page.locator(".st-key-judge-rates").get_by_text(first, exact=True)).to_be_visible(timeout=READY_MS)
        page.goto(own_server.page("judges", project="made", part="people", lang=lang))
        expect(page.locator(".st-key-judges-all")).to_contain_text("demo-en-causal", timeout=READY_MS)
        expect(page.locator(".st-key-judge-confusion")).to_be_visible(timeout=READY_MS)
    context.close()
