"""Every route of the server behind the gate: who gets an answer, from which site, and by which path."""

from collections.abc import Iterator

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from docs.permission_tables import OTHER_ROUTES, server_routes
from evenhand.annotations.accounts.accounts import add_account, grant
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import routes as desk
from evenhand.annotations.desk.session import issue
from evenhand.annotations.permissions import ALLOWED, OWN, Role
from evenhand.annotations.projects.annotators import annotator, sign_in_of
from evenhand.annotations.study.studies import signed
from evenhand.annotations.types import Project
from evenhand.web import account_pages, sign_in_limits, status, study_pages
from evenhand.web.gate import COOKIE
from tests.support.gated import gated
from tests.support.released_project import ready_project
from tests.support.studies import new_study

ROLES: tuple[Role, ...] = ("owner", "lead", "adjudicator", "annotator", "reader")
HOSTILE = "<img src=x onerror=alert(1)>'\"><script>alert(1)</script>"


@pytest.fixture
def client(fresh_store: Store) -> Iterator[TestClient]:
    every = [route for kind in (desk, *KINDS_OF_ROUTES) for route in kind.routes()]
    with gated([*every, Route("/", lambda _: PlainTextResponse("app"))]) as found:
        yield found


@pytest.fixture
def two(fresh_store: Store) -> tuple[Project, Project]:
    return ready_project(fresh_store, 2, name="here"), ready_project(fresh_store, 2, name="elsewhere")


def cookie_of(store: Store, name: str, role: Role, project: Project | None, desk: str | None = None) -> dict[str, str]:
    who = add_account(store, name)
    grant(store, who, role, project, annotator=desk)
    return {"cookie": f"{COOKIE}={sign_in(store, who)}"}


def token(store: Store, project: Project, name: str = "Ada") -> dict[str, str]:
    who = annotator(store, project, name)
    version = sign_in_of(store, who.uid).version
    made = issue(store.secret, database=store.uid, project=project.uid, annotator=who.uid, version=version)
    return {"authorization": f"Bearer {made}"}


def test_each_route_is_in_the_table() -> None:
    paths = {path for path in OTHER_ROUTES if not any(part.isupper() for part in path.split("/")) and path[1] != "_"}
    assert paths == server_routes()


# The status of each route without and with a sign-in. A user without a desk gets no entries of a log.
ANSWERS: dict[tuple[str, str], tuple[int, int]] = {
    ("GET", "/sign-in"): (200, 303),
    ("POST", "/sign-in"): (403, 403),  # without a name
    ("GET", "/sign-out"): (401, 200),
    ("POST", "/sign-out"): (401, 303),
    ("GET", "/account/link"): (200, 200),
    ("POST", "/account/link"): (403, 403),  # without a link
    ("GET", "/account/style.css"): (200, 200),
    ("GET", "/account/link.js"): (200, 200),
    ("GET", "/sign-in/oidc"): (403, 403),  # without a provider
    ("GET", "/sign-in/oidc/back"): (403, 403),
    ("POST", "/account/oidc"): (403, 403),
    ("GET", "/own-log"): (401, 200),
    ("GET", "/own-log/entries"): (401, 200),
    ("GET", "/own-log/check.js"): (401, 200),
    ("GET", "/healthz"): (200, 200),
    ("GET", "/metrics"): (200, 200),
    ("GET", "/study/files/{name}"): (200, 200),
    ("GET", "/study/{link}"): (200, 200),
    ("GET", "/study/{link}/about"): (200, 200),
    ("GET", "/study/{link}/desk.json"): (409, 409),  # without the cookie of the study: no desk, no token
    ("GET", "/study/{link}/withdraw"): (303, 303),
    ("POST", "/study/{link}/consent"): (200, 200),  # of no version, so it is shown again, and no participant is stored
    ("POST", "/study/{link}/test"): (303, 303),
    ("POST", "/study/{link}/begin"): (303, 303),
    ("POST", "/study/{link}/finish"): (303, 303),
    ("POST", "/study/{link}/withdraw"): (303, 303),
    ("GET", "/study/{rest:path}"): (404, 404),
}
KINDS_OF_ROUTES = (account_pages, status, study_pages)


def every_route() -> set[tuple[str, str]]:
    """Return method and path of each route except those of the desk."""
    routes = [route for kind in KINDS_OF_ROUTES for route in kind.routes()]
    return {(method, route.path) for route in routes for method in route.methods or ["GET"] if method != "HEAD"}


def address(path: str, link: str) -> str:
    return path.replace("{link}", link).replace("{name}", "study.css").replace("{rest:path}", "nothing")


@pytest.mark.parametrize("role", ["guest", *ROLES])
def test_each_route_answers_as_in_the_table(
    fresh_store: Store, client: TestClient, two: tuple[Project, Project], role: Role
) -> None:
    assert set(ANSWERS) == every_route()
    link = signed(fresh_store, new_study(fresh_store, two[0]))
    grant(fresh_store, add_account(fresh_store, "Olga"), "owner", None)
    desk = "Ada" if "label" in ALLOWED[role] else None
    mine = {} if role == "guest" else cookie_of(fresh_store, "Lena", role, two[0], desk)
    for method, path in sorted(ANSWERS, key=lambda one: one[1] == "/sign-out"):  # that one ends the cookie
        sign_in_limits._window.storage.reset()
        client.cookies.clear()
        result = client.request(method, address(path, link), headers=mine)
        expected = ANSWERS[method, path][role != "guest"]
        if path == "/own-log/entries" and mine and desk is None:
            expected = 404
        assert result.status_code == expected, (method, path)
        assert not [name for name in result.cookies if "study" in name.lower()]
    assert fresh_store.db.execute("SELECT count(*) FROM study_person").fetchone()[0] == 0


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
            path, json={}, headers={key: value for header in headers for key, value in header.items()}
        ).status_code

    own = status_of(mine, token(fresh_store, here))
    assert (own != 401) == (action in ALLOWED[role])
    assert own in (200, 400, 401, 404)  # a body without an item
    assert status_of(mine, token(fresh_store, here, "Bo")) == 401
    assert status_of(mine, token(fresh_store, elsewhere)) == 401
    assert status_of(mine, {"authorization": "Bearer made.up"}) == 401
    assert status_of(token(fresh_store, here)) == 401  # a token alone opens nothing


@pytest.mark.parametrize(
    "route",
    [
        *(f"{desk.PATH}/{name}" for name in desk.ROUTES),
        *sorted(path for method, path in every_route() if method not in ("GET", "HEAD")),
    ],
)
def test_posts_from_other_sites_are_refused(
    fresh_store: Store, client: TestClient, two: tuple[Project, Project], route: str
) -> None:
    route = address(route, signed(fresh_store, new_study(fresh_store, two[0])))
    mine = cookie_of(fresh_store, "Ada", "annotator", two[0]) | token(fresh_store, two[0])
    for foreign in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        assert client.post(route, data={"name": "Ada", "password": "x"}, headers=mine | foreign).status_code == 403
    assert client.get("/", headers=mine).status_code == 200  # no user was signed out


@pytest.mark.parametrize(
    "path",
    [
        "/account/../../app.py", "/account/%2e%2e/%2e%2e/app.py", "/account/style.css/../forms.py",
        "/account/..%2fforms.py", "/account/link.js%00", "//etc/passwd", "/static/../app.py", "/media/../app.py",
        "/account//style.css", "/ACCOUNT/style.css", "/sign-in/../account/nothing", "/api/desk/../../app.py",
    ],
)  # fmt: skip
def test_path_traversal_reads_no_other_file(
    fresh_store: Store, client: TestClient, two: tuple[Project, Project], path: str
) -> None:
    mine = cookie_of(fresh_store, "Lena", "lead", two[0])
    for headers in ({}, mine):
        result = client.get(path, headers=headers)
        assert result.status_code in (303, 401, 404), path
        assert "import " not in result.text and "root:" not in result.text


def test_text_typed_into_a_form_is_escaped(
    fresh_store: Store, client: TestClient, two: tuple[Project, Project]
) -> None:
    from evenhand.annotations.accounts.links import invite_link

    fresh_store.db.execute("UPDATE project SET name = ? WHERE id = ?", (HOSTILE, two[0].id))
    hostile = add_account(fresh_store, HOSTILE[:80])
    grant(fresh_store, hostile, "lead", two[1])
    cookie = {"cookie": f"{COOKIE}={sign_in(fresh_store, hostile)}"}
    from evenhand.annotations.projects.projects import project_by_uid

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
