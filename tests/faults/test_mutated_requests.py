"""Requests damaged at random, to each route: each answer is below 500, and no request signs anyone in or out."""

import json
import random

import pytest

from evenhand.annotations.accounts.accounts import add_account, grant
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import routes as desk
from evenhand.annotations.desk.session import issue
from evenhand.annotations.projects.annotators import annotator, sign_in_of
from evenhand.annotations.study.studies import signed
from evenhand.web import account_pages, sign_in_limits, status, study_pages
from evenhand.web.gate import COOKIE
from tests.support.gated import gated
from tests.support.projects import broken_rules, filled_project
from tests.support.studies import new_study

ODD = ["", "\0", "\ud800", "\u202e他", "A" * 5_000, "../../etc/passwd", "%s{0}", "a\r\nb", "<script>", "=1", "1e999"]
VALUES = [*ODD, None, True, -1, 2**70, 1e308, [], {}, [[]], [{"a": {}}]]
KEYS = ["item", "operations", "want", "have", "op_id", "choice", "reasons", "spans", "desk", "revision", "base", "name",
        "password", "link", "version", "items", "token", "x"]  # fmt: skip


def body(draw: random.Random) -> bytes:
    """Return JSON or a form with odd values, broken JSON, or any bytes."""
    fields = {draw.choice(KEYS): draw.choice(VALUES) for _ in range(draw.randrange(5))}
    if draw.random() < 0.3:
        fields["operations"] = [{draw.choice(KEYS): draw.choice(VALUES) for _ in range(8)}]
    match draw.randrange(4):
        case 0:
            return b"&".join(f"{key}={value}".encode("utf-8", "surrogatepass") for key, value in fields.items())
        case 1:
            return json.dumps(fields).encode()[: draw.randrange(80)]
        case 2:
            return draw.randbytes(draw.randrange(200))
        case _:
            return json.dumps(fields).encode()


@pytest.mark.parametrize("number", [5, pytest.param(1_000, marks=pytest.mark.long)])
def test_each_route_answers_damaged_requests(fresh_store: Store, number: int) -> None:
    project, (ada, *_others) = filled_project(fresh_store, 8)
    who = add_account(fresh_store, "Ada")
    grant(fresh_store, who, "annotator", project, annotator="Ada")
    version = sign_in_of(fresh_store, annotator(fresh_store, project, "Ada").uid).version
    token = issue(fresh_store.secret, database=fresh_store.uid, project=project.uid, annotator=ada.uid, version=version)
    cookie = f"{COOKIE}={sign_in(fresh_store, who)}"
    link = signed(fresh_store, new_study(fresh_store, project))
    every = [route for kind in (account_pages, status, study_pages) for route in kind.routes()]
    paths = [entry.path for entry in every if entry.path != "/sign-out"] + [
        f"{desk.PATH}/{name}" for name in desk.ROUTES
    ]
    kinds = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain")
    with gated([*desk.routes(), *every]) as client:
        for path in paths:
            for case in range(number):
                draw = random.Random(f"{path}{case}")
                sign_in_limits._window.storage.reset()
                filled = path.replace("{link}", link if draw.random() < 0.7 else "x.y").replace("{name}", "study.css")
                filled = filled.replace("{rest:path}", "a")
                given = {"content-type": draw.choice(kinds), "accept-language": draw.choice(["zh", "=1", "*;q=x"])}
                given |= {"cookie": cookie} if draw.random() < 0.8 else {"cookie": f'{COOKIE}=x; a="b'}
                given |= {"authorization": f"Bearer {token}"} if draw.random() < 0.8 else {"authorization": "Bearer ."}
                client.cookies.clear()
                method = draw.choice(["POST", "POST", "GET"])
                answer = client.request(method, filled, content=body(draw), headers=given)
                assert answer.status_code < 500, (path, case, answer.text[:200])
        assert client.get("/sign-in", headers={"cookie": cookie}).status_code == 303  # still signed in
    assert broken_rules(fresh_store) == []
