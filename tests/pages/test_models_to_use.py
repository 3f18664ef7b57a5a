"""The models and servers that a page lets a user use, for each source of the name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.annotations.accounts.accounts import add_account, grant
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import Role
from evenhand.core.errors import Refused
from evenhand.core.generation.backends import Server
from evenhand.core.models.catalogue import BUILTIN, MODEL_FOLDER, is_open_to_leads
from evenhand.core.servers.addresses import is_internal, servers_allowed
from evenhand.pages.ui import visitor
from tests.support.pages import open_page, text_of
from tests.support.released_project import ready_project

HUB = "somebody/some-model"


Come = Callable[[Role | None], None]


@pytest.fixture
def come(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> Come:
    """Look at pages in a role in a project; None: without an account."""
    project, secrets = ready_project(fresh_store, 1), {}
    for role in ("lead", "reader"):
        who = add_account(fresh_store, role)
        grant(fresh_store, who, role, project)  # type: ignore[arg-type]
        secrets[role] = sign_in(fresh_store, who)

    def as_role(role: Role | None) -> None:
        monkeypatch.setattr(visitor, "cookie", lambda: secrets.get(role or "", ""))

    return as_role


@pytest.mark.parametrize("role", [None, "reader"])
@pytest.mark.parametrize("view", ["sentence", "gallery"])
def test_guests_and_readers_use_built_in_models_only(come: Come, role: Role | None, view: str) -> None:
    come(role)
    page = open_page("sentence_bias", model=["/etc", HUB, "bert-base-chinese"], view=view)
    assert "/etc cannot be used here" in text_of(page).replace("\\", "")
    assert f"{HUB} cannot be used here" in text_of(page).replace("\\", "")
    if view == "sentence":
        assert page.multiselect(key="model").value == []
        assert set(page.multiselect(key="model").options) <= set(BUILTIN)


def test_a_reader_cannot_name_a_vocabulary(come: Come) -> None:
    come("reader")
    page = open_page("describe", state={"vocabulary-demo-zh": "/etc"}, project="set", view="vocabulary")
    assert "No vocabulary is chosen" in text_of(page)


def test_a_lead_may_name_the_hub_and_one_folder(come: Come, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inside, outside = tmp_path / "models" / "mine", tmp_path / "other"
    inside.mkdir(parents=True)
    outside.mkdir()
    (tmp_path / "models" / "link").symlink_to(outside)
    monkeypatch.setenv(MODEL_FOLDER, str(tmp_path / "models"))
    for name, so in (
        ("demo-zh", True), (HUB, True), (str(inside), True), (str(outside), False), ("/etc", False), ("~", False),
        (str(tmp_path / "models" / "link"), False), (str(inside / ".." / ".." / "other"), False), ("docs", False),
        ("/there/is/none", False), ("./core", False),
    ):  # fmt: skip
        assert is_open_to_leads(name) == so, name
    monkeypatch.delenv(MODEL_FOLDER)
    assert not is_open_to_leads(str(inside))
    come("lead")
    page = open_page("scoring", state={"score-models": ["demo-zh", str(outside)]})
    assert "cannot be used here" in text_of(page)


def test_a_lead_may_use_servers_of_the_installation_only(come: Come, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EVENHAND_SERVER", "EVENHAND_SERVERS"):
        monkeypatch.delenv(name, raising=False)
    come("lead")
    state = {"where": "server", "server": "http://10.0.0.1/v1"}
    assert "No server is available to this page" in text_of(open_page("generation", state=state))
    monkeypatch.setenv("EVENHAND_SERVERS", "https://models.example/v1, https://more.example/v1")
    assert servers_allowed() == ["https://models.example/v1", "https://more.example/v1"]
    page = open_page("generation", state=state)
    assert page.selectbox(key="server").value == "https://models.example/v1"
    assert page.selectbox(key="server").options == servers_allowed()
    assert not [field for field in page.text_input if field.key == "server"]


@pytest.mark.parametrize(
    ("host", "so"),
    [
        ("169.254.169.254", True), ("169.254.1.1", True), ("0xa9fea9fe", True), ("2852039166", True),
        ("169.254.43518", True), ("fd00:ec2::254", True), ("fe80::1%eth0", True), ("::ffff:169.254.169.254", True),
        ("metadata.google.internal.", True), ("METADATA", True), ("100.100.100.200", True),
        ("localhost", False), ("127.0.0.1", False), ("10.0.0.8", False), ("models.example", False), ("::1", False),
    ],
)  # fmt: skip
def test_internal_servers_are_refused(host: str, so: bool) -> None:
    assert is_internal(host) == so
    if so:
        place = f"[{host}]" if ":" in host else host
        with pytest.raises(Refused):
            Server(f"http://{place}/v1", "m")
