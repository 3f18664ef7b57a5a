"""Every route of the server behind the gate: who gets an answer, from which site, and by which path."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from annotations.accounts.accounts import add_account, grant
from annotations.accounts.sign_ins import sign_in
from annotations.database.pool import stores
from annotations.database.store import Store
from annotations.desk import routes as desk
from annotations.desk.session import account_version
from annotations.desk.tokens import issue
from annotations.permissions import ALLOWED, OWN, Role
from annotations.projects.annotators import annotator
from annotations.server import forms, own_log, status
from annotations.server.gate import COOKIE, Gate
from annotations.types import Project
from docs.permission_tables import OTHER_ROUTES, server_routes
from tests.support.released_project import ready_project

ROLES: tuple[Role, ...] = ("owner", "lead", "adjudicator", "annotator", "reader")
HOSTILE = "<img src=x onerror=alert(1)>'\"><script>alert(1)</script>"


@pytest.fixture
def client(fresh_store: Store, tmp_path: Path) -> Iterator[TestClient]:
    page = tmp_path / "index.html"
    page.write_text("<html></html>", encoding="utf-8")
    app = Starlette(
        routes=[
            *desk.routes(),
            *forms.routes(),
            *own_log.routes(),
            *status.routes(),
            Route("/", lambda _: PlainTextResponse("app")),
        ],
        middleware=[Middleware(Gate, page=page)],
    )
    with TestClient(app, base_url="http://localhost", client=("127.0.0.1", 5000), follow_redirects=False) as found:
        yield found
    stores.close()


@pytest.fixture
def two(fresh_store: Store) -> tuple[Project, Project]:
    return ready_project(fresh_store, 2, name="here"), ready_project(fresh_store, 2, name="elsewhere")


def cookie_of(store: Store, name: str, role: Role, project: Project | None, desk: str | None = None) -> dict[str, str]:
    who = add_account(store, name)
    grant(store, who, role, project, annotator=desk)
    return {"cookie": f"{COOKIE}={sign_in(store, who)}"}


def token(store: Store, project: Project, name: str = "Ada") -> dict[str, str]:
    who = annotator(store, project, name)
    version = account_version(store, who.uid)
    made = issue(store.secret, database=store.uid, project=project.uid, annotator=who.uid, version=version)
    return {"authorization": f"Bearer {made}"}


def test_each_route_has_its_row() -> None:
    paths = {path for path in OTHER_ROUTES if not any(part.isupper() for part in path.split("/")) and path[1] != "_"}
    assert paths == server_routes()


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("route", desk.ROUTES)
def test_a_desk_is_for_its_annotator(
    fresh_store: Store, client: TestClient, two: tuple[Project, Project], role: Role, route: str
) -> None:
    here, elsewhere = two
    action = desk.ROUTES[route][1]
    assert action in OWN  # all of them concern one annotator
    labels = role in ("owner", "lead", "annotator")
    mine = cookie_of(fresh_store, "Lena", role, here, "Ada" if labels else None)
    path = f"{desk.PATH}/{route}"

    def status_of(*headers: dict[str, str]) -> int:
        return client.post(
            path, json={}, headers={key: one for each in headers for key, one in each.items()}
        ).status_code

    own = status_of(mine, token(fresh_store, here))
    assert (own != 401) == (action in ALLOWED[role])
    assert own in (200, 400, 401, 404)  # a body without an item
    assert status_of(mine, token(fresh_store, here, "Bo")) == 401
    assert status_of(mine, token(fresh_store, elsewhere)) == 401
    assert status_of(mine, {"authorization": "Bearer made.up"}) == 401
    assert status_of(token(fresh_store, here)) == 401  # a token alone opens nothing


@pytest.mark.parametrize(
    "route", [*(f"{desk.PATH}/{name}" for name in desk.ROUTES), "/sign-in", "/sign-out", "/account/link"]
)
def test_no_other_site_posts(fresh_store: Store, client: TestClient, two: tuple[Project, Project], route: str) -> None:
    mine = cookie_of(fresh_store, "Ada", "annotator", two[0]) | token(fresh_store, two[0])
    for foreign in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        assert client.post(route, data={"name": "Ada", "password": "x"}, headers=mine | foreign).status_code == 403
    assert client.get("/", headers=mine).status_code == 200  # nobody was signed out


@pytest.mark.parametrize(
    "path",
    [
        "/account/../../app.py", "/account/%2e%2e/%2e%2e/app.py", "/account/style.css/../forms.py",
        "/account/..%2fforms.py", "/account/link.js%00", "//etc/passwd", "/static/../app.py", "/media/../app.py",
        "/account//style.css", "/ACCOUNT/style.css", "/sign-in/../account/nothing", "/api/desk/../../app.py",
    ],
)  # fmt: skip
def test_no_path_leads_to_another_file(
    fresh_store: Store, client: TestClient, two: tuple[Project, Project], path: str
) -> None:
    mine = cookie_of(fresh_store, "Lena", "lead", two[0])
    for headers in ({}, mine):
        found = client.get(path, headers=headers)
        assert found.status_code in (303, 401, 404), path
        assert "import " not in found.text and "root:" not in found.text


def test_what_is_typed_into_a_form_comes_back_as_text(
    fresh_store: Store, client: TestClient, two: tuple[Project, Project]
) -> None:
    from annotations.accounts.links import invite_link

    fresh_store.db.execute("UPDATE project SET name = ? WHERE id = ?", (HOSTILE, two[0].id))
    hostile = add_account(fresh_store, HOSTILE[:80])
    grant(fresh_store, hostile, "lead", two[1])
    cookie = {"cookie": f"{COOKIE}={sign_in(fresh_store, hostile)}"}
    from annotations.projects.projects import project_by_uid

    secret = invite_link(fresh_store, "annotator", project_by_uid(fresh_store, two[0].uid), name=HOSTILE[:60])
    pages = [
        client.post("/sign-in", data={"name": HOSTILE, "password": "wrong"}),
        client.post("/sign-in?lang=zh", data={"name": HOSTILE, "password": "wrong"}),
        client.get(f"/sign-in?lang={HOSTILE}"),
        client.post("/account/link", data={"link": secret}, headers=cookie),
        client.post("/account/link", data={"link": HOSTILE}),
        client.post("/account/link", data={"link": secret, "name": HOSTILE, "password": "a", "again": "b"}),
        client.get("/account/link", headers={"accept-language": HOSTILE}),
    ]
    for page in pages:
        assert "<img" not in page.text and "<script>" not in page.text
        assert "text/html" in page.headers["content-type"] and "nosniff" in page.headers["x-content-type-options"]
    assert "&lt;img" in pages[0].text and "&lt;img" in pages[3].text  # it is there, as text
