"""The hub on the pages Projects and Release: a data set is fetched and imported; a release starts a job."""

import json
from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.hub.push import Settings
from evenhand.annotations.items.batch import items
from evenhand.annotations.jobs import jobs
from evenhand.annotations.projects.projects import create_project, project
from evenhand.annotations.release.make import make_release
from tests.support.hub_server import TOKEN, hub_server
from tests.support.pages import open_page, without_errors
from tests.support.projects import database
from tests.support.released_project import ready_project, work

ROWS = [{"text": "他把雨伞借给了同事。"}, {"text": "那位女孩在操场上跑步。"}]


def test_a_data_set_is_fetched_and_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with Store.open(database(tmp_path)) as store:
        create_project(store, "new", annotators=("Ada",))
    with hub_server() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        hub.put("team/set", {"train.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode()})
        app = without_errors(open_page("projects", project="new"))
        app.text_input(key="hub_repo").input("team/none")
        fetch = next(button for button in app.button if button.label == "Download files")
        app = fetch.click().run()
        assert "There is no data set team/none" in app.error[0].value.replace("\\", "")
        app.text_input(key="hub_repo").input("team/set")
        app = without_errors(next(button for button in app.button if button.label == "Download files").click().run())
    app = without_errors(app.button(key="import").click().run())
    with Store.open(database(tmp_path)) as store:
        assert [item.text for item in items(store, project(store, "new"))] == [row["text"] for row in ROWS]
    assert not [button for button in app.button if button.label == "Import"]  # the place is empty again


def test_a_release_is_pushed_to_the_hub_by_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(database(tmp_path)) as store:
        made = ready_project(store, 3)
        work(store, made)
        release = make_release(store, made, "1.0")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "none"))
    app = without_errors(open_page("release"))
    assert any("Set HF\\_TOKEN" in info.value or "Set HF_TOKEN" in info.value for info in app.info)
    started: list[Settings] = []
    monkeypatch.setattr(jobs, "start", lambda _store, _kind, settings, *_a, **_k: started.append(settings))
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    app = open_page("release")
    app.text_input(key=f"hub-repo-{release.uid}").input("no name")
    app = app.button(key=f"hub-push-{release.uid}").click().run()
    assert "OWNER/NAME" in app.error[0].value and not started
    app.text_input(key=f"hub-repo-{release.uid}").input("team/set")
    app.selectbox(key=f"hub-gated-{release.uid}").set_value("manual")
    app.button(key=f"hub-push-{release.uid}").click().run()
    assert started == [Settings(made.name, "1.0", "team/set", gated="manual", uid=made.uid)]
