"""The pages of a study, and the desk's routes for who came by its link."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from evenhand.annotations.accounts.accounts import add_account, grant
from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import routes
from evenhand.annotations.guideline.versions import add_guideline, guideline
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.consent import USES, consents
from evenhand.annotations.projects.projects import annotator, annotators
from evenhand.annotations.queue.leases import LEASE_S, claim
from evenhand.annotations.study.people import participants
from evenhand.annotations.study.studies import change_consent, set_closed
from evenhand.annotations.types import Project
from evenhand.core.resources import ROOT
from evenhand.web import sign_in_limits, study_pages
from evenhand.web.gate import Gate
from tests.support.desk_by_http import RouteDesk
from tests.support.projects import filled_project
from tests.support.studies import CONTACT, Visitor, new_study


@pytest.fixture
def app(fresh_store: Store) -> Iterator[Starlette]:
    """Serve the routes behind the gate of a server with an account, so that all access needs a sign-in or a link."""
    sign_in_limits._window.storage.reset()
    grant(fresh_store, add_account(fresh_store, "Olga"), "owner", None)
    page = ROOT / "web/templates/base.html"
    yield Starlette(routes=[*study_pages.routes(), *routes()], middleware=[Middleware(Gate, page=page)])
    stores.close()


def browser(app: Starlette) -> TestClient:
    return TestClient(app, base_url="http://localhost", client=("127.0.0.1", 1), follow_redirects=False)


def at_desk(visitor: Visitor, project: Project) -> RouteDesk:
    """Return the desk of a participant who has begun."""
    who = next(
        participant for participant in participants(visitor.store, visitor.study) if participant.state == "working"
    )
    data = visitor.client.get(f"{visitor.path}/desk.json").json()["data"]
    desk = RouteDesk(visitor.client, visitor.store, project, who.pseudonym or "", desk=f"desk-{who.uid[:6]}")
    assert data["annotator"]["uid"] == desk.who.uid
    desk.token = data["token"]
    return desk


def test_a_participant_gets_from_the_link_to_the_code(fresh_store: Store, app: Starlette) -> None:
    project, _ = filled_project(fresh_store, 8, per_item=1)
    study = new_study(fresh_store, project, questions=2, pass_mark=2, service="prolific", minutes=45)
    ids = {"PROLIFIC_PID": "p1", "STUDY_ID": "s1", "SESSION_ID": "x1"}
    ada = Visitor(browser(app), fresh_store, study, **ids)
    page = ada.open()
    assert "<h2>Consent to take part</h2>" in page
    assert "Participation is voluntary." in page
    assert "Return the task on the platform" in page
    assert "insults" in page
    assert CONTACT in page
    assert participants(fresh_store, study) == []  # a look stores nothing
    page = ada.send("/consent", page)
    assert "A short test" in page
    assert page.count('type="radio"') == 4
    assert fresh_store.db.execute("SELECT outside, task, session FROM study_identity").fetchall() == [
        ("p1", "s1", "x1")
    ]
    assert "You need at least 2 correct answers (2 attempts left)." in page
    for choice, then in (
        ("reject", "correct. Read the instructions again; this is your last attempt."),
        ("accept", "You have passed the test."),
    ):
        answers = dict.fromkeys(re.findall(r'name="(q\d+)"', page), choice)
        page = ada.send("/test", page, **answers)
        assert then in page
    assert "Each text is blurred" in page and "You can skip at most 3 times." in page
    page = ada.send("/begin", page)
    assert 'id="place"' in page
    desk = at_desk(ada, project)
    reply = desk.sync(want=40)
    assert len(reply["items"]) == 3  # as many as one person judges, and each is covered
    assert all(item["veil"] for item in reply["items"])
    assert reply["progress"]["total"] == 3
    early = ada.client.post(f"{ada.path}/finish")
    assert early.status_code == 409
    assert "You still have texts to judge." in early.text
    first, *rest = reply["items"]
    assert desk.sync(desk.op(first["id"], "accept"), have=[row["id"] for row in rest], want=38)["items"] == []
    assert len(desk.sync(want=40)["items"]) == 2  # a reload
    desk.sync(*(desk.op(row["id"], "accept") for row in rest))
    page = ada.send("/finish", ada.open())
    assert study.code("finished") in page
    assert f"https://app.prolific.com/submissions/complete?cc={study.code('finished')}" in page
    assert desk.post("sync").status_code == 401  # the desk is closed
    assert len(annotators(fresh_store, project)) == 3
    page = ada.send("/withdraw", ada.open("/withdraw"))
    assert "You have withdrawn" in page
    assert study.code("finished") in page
    assert fresh_store.db.execute("SELECT count(*) FROM blind_label").fetchone() == (0,)


def test_only_ticked_boxes_are_stored_as_consent(fresh_store: Store, app: Starlette) -> None:
    project, _ = filled_project(fresh_store, 8, per_item=1)
    study = new_study(fresh_store, project, uses=("release", "training"))
    ada = Visitor(browser(app), fresh_store, study)
    page = ada.open()
    assert re.findall(r'type="checkbox" name="([\w-]+)" value="yes"', page) == ["use-release", "use-training"]
    ada.send("/begin", ada.send("/consent", page, **{"use-release": "yes", "use-disaggregated": "yes"}))
    (who,) = participants(fresh_store, study)
    given = {
        use: {consent.annotator.name: consent.given for consent in consents(fresh_store, project, use)} for use in USES
    }
    assert {use: people.get(who.pseudonym or "") for use, people in given.items()} == {
        "release": True, "disaggregated": None, "training": False,
    }  # fmt: skip


def test_failing_the_test_twice_gives_a_code_and_no_desk(fresh_store: Store, app: Starlette) -> None:
    project, _ = filled_project(fresh_store, 4)
    study = new_study(fresh_store, project, questions=1, pass_mark=1)
    bo = Visitor(browser(app), fresh_store, study)
    page = bo.send("/consent", bo.open())
    for _try in range(2):
        page = bo.send("/test", page, **dict.fromkeys(re.findall(r'name="(q\d+)"', page), "reject"))
    assert study.code("screened_out") in page
    bo.send("/begin", page)
    assert bo.client.get(f"{bo.path}/desk.json").status_code == 409
    assert len(annotators(fresh_store, project)) == 3


def test_a_covered_text_of_the_test_is_opened_before_it_is_answered(fresh_store: Store, app: Starlette) -> None:
    project, _ = filled_project(fresh_store, 4)
    study = new_study(fresh_store, project, questions=2, pass_mark=1)
    ada = Visitor(browser(app), fresh_store, study)
    page = ada.send("/consent", ada.open())
    assert "You need at least 1 correct answer (2 attempts left)." in page
    covered = re.findall(r'<details class="covered">.*?</details>', page, re.DOTALL)
    assert len(covered) == 2 and [page.count('type="radio"') for page in covered] == [2, 2]
    first, _second = re.findall(r'<details.*?name="(q\d+)"', page, re.DOTALL)
    page = ada.send("/test", page, **{first: "accept"})
    assert "Open and answer every text first. This did not count as an attempt." in page
    assert page.count('<details class="covered" open>') == 1 and page.count(" checked") == 1
    (who,) = participants(fresh_store, study)
    assert (who.state, who.tries) == ("test", 0)
    plain = new_study(fresh_store, project, "plain", questions=1, pass_mark=1, cover=False)
    bo = Visitor(browser(app), fresh_store, plain)
    page = bo.open()
    assert "nothing is stored." in page and "Return the task" not in page  # not sent by a platform
    page = bo.send("/consent", page)
    assert 'class="covered"' not in page and page.count(" required>") == 2


def test_the_cookie_opens_one_desk_only(fresh_store: Store, app: Starlette) -> None:
    project, (ada, *_others) = filled_project(fresh_store, 8)
    study = new_study(fresh_store, project)
    one, two, nobody = (Visitor(browser(app), fresh_store, study) for _ in range(3))
    one.send("/begin", one.send("/consent", one.open()))
    desk = at_desk(one, project)
    two.send("/begin", two.send("/consent", two.open()))
    assert desk.sync(want=1)["items"]
    with TestClient(Starlette(routes=routes())) as bare:  # without a gate any local visitor is the owner
        for client in (two.client, nobody.client, bare):  # a genuine token, in another browser
            desk.client = client
            assert desk.post("sync").status_code == 401
    foreign = RouteDesk(one.client, fresh_store, project, ada.name)  # that of an annotator with an account
    assert foreign.post("sync").status_code == 401
    for path in ("/", "/review", "/media/x.csv", "/_stcore/upload_file/a/b", "/study", "/accounts"):
        assert one.client.get(path).status_code in (401, 404), path
    assert one.client.get("/review", headers={"accept": "text/html"}).headers["location"] == "/sign-in"


@pytest.fixture
def participant(fresh_store: Store, app: Starlette) -> RouteDesk:
    """Return the desk of a participant who is to label 3 of 12 texts."""
    project, _ = filled_project(fresh_store, 12, per_item=1)
    ada = Visitor(browser(app), fresh_store, new_study(fresh_store, project))
    ada.send("/begin", ada.send("/consent", ada.open()))
    return at_desk(ada, project)


def results(desk: RouteDesk, *operations: Any) -> list[str]:
    answers = desk.sync(*operations)["answers"]
    return [answer["result"] if answer["result"] == "acked" else answer["reason"] for answer in answers]


def test_a_participant_cannot_label_a_text_not_handed_out(fresh_store: Store, participant: RouteDesk) -> None:
    handed = [item["id"] for item in participant.sync(want=60)["items"]]
    others = [item.uid for item in items(fresh_store, participant.project) if item.uid not in handed]
    assert len(handed) == 3
    choices = ("accept", None, "skip")
    refused = [participant.op(item, choice) for item, choice in zip(others, choices, strict=False)]
    assert results(participant, *refused, participant.op(handed[0], "accept")) == [
        *["This text is not assigned to you."] * 3, "acked",
    ]  # fmt: skip
    assert fresh_store.db.execute("SELECT count(*) FROM label").fetchone() == (1,)


def test_a_participant_cannot_label_more_texts_than_requested(participant: RouteDesk) -> None:
    seen = [item["id"] for item in participant.sync(want=60)["items"]]
    skips = [participant.op(item, "skip") for item in seen]
    reply = participant.sync(*skips, want=60)
    assert reply["skips_left"] == 0
    seen += [item["id"] for item in reply["items"]]
    assert len(seen) == 6  # as many again in place of those that were skipped, and no more
    limit = "You can skip at most 3 times. Judge this text, or withdraw."
    assert results(participant, *(participant.op(item, "skip") for item in seen[3:])) == [limit] * 3
    assert participant.sync(want=60, have=seen[3:])["items"] == []
    labels = [participant.op(item, "accept", base=skip["op"]) for item, skip in zip(seen, skips, strict=False)]
    labels += [participant.op(item, "accept") for item in seen[3:]]
    enough = "You have judged all 3 texts assigned to you; further labels are not stored."
    assert results(participant, *labels) == [*["acked"] * 3, *[enough] * 3]
    assert results(participant, *labels[:3], skips[0]) == ["acked"] * 4  # sent once more
    undo = participant.op(seen[0], None, base=labels[0]["op"])
    change = participant.op(seen[1], "reject", reasons=["name"], base=labels[1]["op"])
    assert results(participant, undo, change, participant.op(seen[4], "accept")) == ["acked"] * 3
    assert participant.sync()["progress"]["labelled"] == 3


def test_a_late_label_of_a_participant_is_stored(fresh_store: Store, participant: RouteDesk) -> None:
    handed = [item["id"] for item in participant.sync(want=60)["items"]]
    ada = annotator(fresh_store, participant.project, "Ada")
    later = time.time() + LEASE_S + 60
    assert set(handed) <= {item.uid for item in claim(fresh_store, participant.project, ada, want=60, now=later)}
    assert results(participant, *(participant.op(item, "accept") for item in handed)) == ["acked"] * 3


def test_texts_of_the_screening_test_are_not_handed_out(fresh_store: Store, app: Starlette) -> None:
    project, _ = filled_project(fresh_store, 4, per_item=1)
    ada = Visitor(browser(app), fresh_store, new_study(fresh_store, project, questions=1, pass_mark=1))
    page = ada.send("/consent", ada.open())
    page = ada.send("/test", page, **dict.fromkeys(re.findall(r'name="(q\d+)"', page), "accept"))
    ada.send("/begin", page)
    desk = at_desk(ada, project)
    (uid,) = fresh_store.db.execute("SELECT uid FROM item JOIN assignment ON item = item.id").fetchone()
    assert results(desk, desk.op(uid, "accept")) == ["This text is not assigned to you."]


def test_ids_of_a_service_are_required_and_used_once(fresh_store: Store, app: Starlette) -> None:
    project, _ = filled_project(fresh_store, 4)
    study = new_study(fresh_store, project, service="mturk")
    worker = Visitor(browser(app), fresh_store, study)
    for parameters, sentence in (
        (
            {},
            "This address does not show where you came from.",
        ),
        (
            {"workerId": "w" * 101},
            "This address does not show where you came from.",
        ),
        ({"workerId": "w", "hitId": "h", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}, "This is a preview."),
    ):
        page = worker.open(**parameters)
        assert sentence in page
        assert "<form" not in page
        worker.client.post(f"{worker.path}/consent", data={**parameters, "version": "1"})
    assert participants(fresh_store, study) == []
    page = worker.open(workerId="w", hitId="h", assignmentId='"><b>')
    assert "<b>" not in page
    assert "workerId=w&amp;hitId=h" in page  # the other language, with the data of the service
    assert "Before the first text" in worker.send("/consent", page)
    stranger = Visitor(browser(app), fresh_store, study, workerId="w", hitId="h", assignmentId="another")
    answer = stranger.client.post(f"{stranger.path}/consent", data={**stranger.parameters, "version": "1"})
    assert answer.status_code == 403
    assert "This id has already been used to take part. Continue in the browser you started in." in answer.text


def test_a_consent_changed_meanwhile_is_shown_again(fresh_store: Store, app: Starlette) -> None:
    project, _ = filled_project(fresh_store, 4)
    study = new_study(fresh_store, project)
    who = Visitor(browser(app), fresh_store, study)
    page = who.open()
    change_consent(fresh_store, study, {"en": "# <script>\n\nOther words", "zh": "新的"})
    page = who.send("/consent", page)
    assert "Please read it again" in page
    assert "<h2>&lt;script&gt;</h2>" in page
    assert "Before the first text" in who.send("/consent", page)
    set_closed(fresh_store, study, True)
    late = browser(app).get(who.path)
    assert (late.status_code, "This study is full. Thank you for your interest." in late.text) == (
        403,
        True,
    )


def test_texts_of_the_lead_are_escaped_on_each_page(fresh_store: Store, app: Starlette) -> None:
    tag = "<img src=x onerror=alert(1)>"
    project, _ = filled_project(fresh_store, 4)
    texts = {
        "contact": tag,
        "warning_en": f"# {tag}\n\n{tag}",
        "code_finished": tag,
        "code_withdrew": tag,
        "currency": "€",
    }
    study = new_study(fresh_store, project, tag, **texts)
    change_consent(fresh_store, study, {"en": f"# {tag}\n\n- {tag}\n\n[a](javascript:alert(1))", "zh": tag})
    add_guideline(fresh_store, project, f"# {tag}\n\n{tag}", *built_options(fresh_store, project), changes=tag)
    who = Visitor(browser(app), fresh_store, study)
    pages = [who.open(), who.open("/about"), who.open(lang="zh"), who.send("/consent", who.open())]
    pages += [who.send("/begin", pages[-1]), who.open("/withdraw")]
    pages.append(who.send("/withdraw", pages[-1]))
    assert all("<img" not in page and 'href="javascript' not in page for page in pages)
    assert sum("&lt;img" in page for page in pages) > 3


def built_options(store: Store, project: Project) -> tuple[Any, Any]:
    version = guideline(store, project)
    return version.choices, version.reasons


def test_the_about_page_is_public_and_unknown_addresses_are_refused(fresh_store: Store, app: Starlette) -> None:
    project, _ = filled_project(fresh_store, 4)
    who = Visitor(browser(app), fresh_store, new_study(fresh_store, project, keep_days=7, service="prolific"))
    about = who.open("/about")
    assert "until 7 days after you finish; erased when the study is next opened or the server next starts" in about
    assert CONTACT in about
    chinese = who.open("/about", lang="zh")
    assert "保存的内容" in chinese
    assert '<html lang="zh-CN">' in chinese
    for path in ("/study/x", "/study/x.y/about", "/study/_stcore/health", "/study/files/x", f"{who.path}x"):
        assert who.client.get(path).status_code == 404
    for name, kind in (("study.css", "text/css"), ("study.js", "text/javascript"), ("desk.js", "text/javascript")):
        answer = who.client.get(f"/study/files/{name}")
        assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, kind)
    foreign = who.client.post(f"{who.path}/consent", headers={"origin": "http://evil.example"})
    assert foreign.status_code == 403
    for part in ("/withdraw", "/finish", "/begin", "/test"):  # of a visitor who has not agreed
        assert who.client.post(f"{who.path}{part}").status_code == 303


def test_many_visitors_of_one_address_are_slowed(
    fresh_store: Store, app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _ = filled_project(fresh_store, 4)
    study = new_study(fresh_store, project)
    monkeypatch.setattr(sign_in_limits, "TO_STUDIES", type(sign_in_limits.TO_STUDIES)(1, 15))
    first, second = (Visitor(browser(app), fresh_store, study) for _ in range(2))
    first.send("/consent", first.open())
    refused = second.client.post(f"{second.path}/consent", data={"version": "1"})
    assert refused.status_code == 429 and re.search(r"Try again in 1[45] minutes", refused.text)
    assert len(participants(fresh_store, study)) == 1
