"""The page Release: what is missing, licence and source, the job that makes one, and what a release shows."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.audit.follow_up import FollowUp
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import make_generations_demo
from evenhand.annotations.items.batch import items
from evenhand.annotations.jobs import jobs
from evenhand.annotations.pilot.pilots import start_pilot
from evenhand.annotations.projects.projects import annotators, change_project, counts, create_project, project
from evenhand.annotations.release.make import Settings, make_release
from evenhand.core.errors import Notice
from evenhand.core.language import Language
from evenhand.pages.release.releases import next_version, why_left_out
from tests.support.pages import open_page, text_of, without_errors
from tests.support.projects import database
from tests.support.released_project import label, ready_project, work
from tests.support.tampering import changed_outside


def words(app: AppTest) -> str:
    return "\n".join(str(block.value) for block in (*app.markdown, *app.caption, *app.code)).replace("\\", "")


def press(app: AppTest, name: str) -> AppTest:
    return next(button for button in app.button if button.label == name).click().run()


def test_missing_requirements_are_listed_and_disable_the_button(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        create_project(store, "bare", annotators=("Ada",))
    app = without_errors(open_page("release"))
    text = words(app)
    for sentence in (
        "State the licence under which the data set is released.",
        "where the texts come from",
        "has no items",
        "No releases yet. A release stays here permanently, with all its files.",
    ):
        assert sentence in text, sentence
    assert app.button(key="create-release").disabled


def test_an_open_pilot_is_listed_with_a_link(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        start_pilot(store, ready_project(store, 8), 4)
    app = without_errors(open_page("release"))
    assert "Pilot 1 is open" in words(app)
    assert app.button(key="create-release").disabled


@pytest.mark.parametrize(
    ("language", "sentence"), [("en", "does not follow from the labels"), ("zh", "与标注和仲裁结果不符")]
)
def test_gold_that_does_not_follow_from_labels_disables_the_button(
    tmp_path: Path, language: Language, sentence: str
) -> None:
    with Store.open(database(tmp_path)) as store:
        work(store, ready_project(store, 12))
        changed_outside(store, "UPDATE item SET gold = 'accept', status = 'accepted' WHERE status = 'rejected'")
    app = without_errors(open_page("release", language))
    assert sentence in words(app) and "project recount" in words(app)
    assert app.button(key="create-release").disabled


def test_licence_and_source_are_stored(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made = create_project(store, "bare", annotators=("Ada",))
    app = without_errors(open_page("release"))
    app.text_input(key=f"licence-{made.id}").set_value(" CC0 ")
    app.text_area(key=f"source-{made.id}").set_value("Own sentences.")
    app = press(app, "Save")
    with Store.open(database(tmp_path)) as store:
        stored = project(store, "bare")
    assert (stored.licence, stored.source_statement) == ("CC0", "Own sentences.")
    assert "The licence is stated." in words(app)


def test_the_button_starts_a_job_with_the_typed_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(database(tmp_path)) as store:
        made = ready_project(store, 8)
        work(store, made)
        kept = counts(store, made).accepted
    started: list[tuple[Settings, Notice]] = []
    monkeypatch.setattr(jobs, "start", lambda _store, kind, settings, title, **_: started.append((settings, title)))
    app = without_errors(open_page("release"))
    assert app.text_input(key=f"version-{made.id}-0").value == "1.0"
    app.text_input(key="release_author").set_value("Vera")
    app.text_area(key=f"notes-{made.id}-0").set_value("--json is a word")
    said = text_of(app).replace("\\", "")
    assert f"Release 1.0 of set will contain {kept} accepted items. A release cannot be changed" in said
    app = app.button(key="create-release").click().run()
    assert "Explain why the data set is released anyway" in app.error[0].value and not started
    app.text_area(key=f"reason-{made.id}-0").set_value("A workshop needs it.")
    app = app.button(key="create-release").click().run()
    assert not app.exception and not app.error
    settings = Settings(
        "set", "1.0", notes="--json is a word", reason="A workshop needs it.", author="Vera", uid=made.uid
    )
    assert started == [(settings, Notice("Release {version} of {project}", {"version": "1.0", "project": "set"}))]
    app.text_input(key=f"version-{made.id}-0").set_value("../x")
    app = app.button(key="create-release").click().run()
    assert "is not a valid version" in app.error[0].value and len(started) == 1


def test_releases_are_listed_with_their_changes(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made = ready_project(store, 8)
        work(store, made)
        first = make_release(store, made, "1.0", author="Vera")
        turned = next(items(store, made, accepted_only=True))
        label(store, made, annotators(store, made)[0], turned.uid, "reject", reasons=("name",))
        second = make_release(store, made, "1.1")
    app = without_errors(open_page("release"))
    text = words(app)
    assert first.hash in text and second.hash in text and first.hash != second.hash
    assert "Since 1.0: 0 items added, 1 removed." in text
    assert "Labels of all annotators: 0 new, 1 changed, 0 no longer valid." in text
    assert (
        "Labels published one by one: 0 new, 1 changed, 0 removed." in text
        and "unchanged, 1 changed, 0 dropped, 0 new." in text
    )
    assert text.index(second.hash) < text.index(first.hash)
    assert app.text_input(key=f"version-{made.id}-2").value == "1.2"
    intervals = [caption.value for caption in app.caption if "95% interval" in caption.value.replace("\\", "")]
    assert len(intervals) == 2, "the interval of alpha is in view, for each release"
    assert {metric.label: metric.value for metric in app.metric[:2]} == {"Accepted": f"{second.items}", "Reviewed": "8"}


def test_uncounted_labels_of_a_follow_up_sample_have_a_reason(fresh_store: Store) -> None:
    one = FollowUp(ready_project(fresh_store, 1), 0, 6, 4, 3, 1, left_out=9, elsewhere=6, strata={})
    text = why_left_out(one)
    assert (
        "do not count: 9 (6 not made at a desk of this database" in text
        and "not made at a desk of this database, but imported or of unknown origin; 3 by members of the project"
        in text
    )


def test_texts_of_generations_need_a_password(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made = make_generations_demo(store)
        made = change_project(store, made, licence="MIT", source_statement="Made for tests.")
        release = make_release(store, made, "1.0")
    app = without_errors(open_page("release"))
    assert [element for element in app.get("download_button") if element.proto.id.endswith(f"zip-{release.uid}")] == []
    app = app.text_input(key=f"password-{release.uid}").set_value("correct horse").run()
    assert [element for element in app.get("download_button") if element.proto.id.endswith(f"zip-{release.uid}")]
    files = next(table.value for table in app.dataframe)
    locked = {name for name in files["file"] if name.endswith("🔒")}
    assert "kept.jsonl 🔒" in locked and "labels.csv" in set(files["file"])
    offered = app.selectbox(key=f"file-{release.uid}").options
    assert not any(option.startswith("kept.jsonl") for option in offered)


@pytest.mark.parametrize(
    ("last", "suggested"), [(None, "1.0"), ("1.0", "1.1"), ("2.9", "2.10"), ("beta", ""), ("1.0.1", "")]
)
def test_the_next_version_is_suggested(last: str | None, suggested: str) -> None:
    assert next_version(last) == suggested
