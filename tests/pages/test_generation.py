"""The page Generate, as a visitor uses it: contexts, who writes, start, into a project; jobs are only written down."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs import jobs
from evenhand.annotations.jobs.kinds import settings_of
from evenhand.annotations.projects.projects import project, projects
from evenhand.core.generation.inputs import Context, tasks
from evenhand.core.generation.resumable_file import GrowingFile
from evenhand.core.generation.run import Settings
from evenhand.core.runs.records import TEXTS, free_name, run_file, runs_folder, runs_in, write_record
from tests.support.pages import captions_of, html_of, open_page, without_errors

HOSTILE = "<b>Kim</b> [x](javascript:y) $z$ and"


pytestmark = pytest.mark.usefixtures("nothing_runs")


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EVENHAND_SERVER", "EVENHAND_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def finished(fresh_store: Store) -> Path:
    """Return a finished run: 12 contexts, two texts each, half of them wrong by the rule."""
    path = run_file(runs_folder(fresh_store.path, "generations"), "first", TEXTS)
    contexts = [
        Context(f"{HOSTILE} went to town {n}.", "Kim", ("she",) if n % 2 else ("he",), "own", "pre") for n in range(12)
    ]
    with GrowingFile(path, {}) as file:
        file.append(
            (
                task.number,
                task.row(f" Then {'he' if task.number % 3 else 'she'} slept.", "tiny", "sampling|tiny|v1", 1),
            )
            for task in tasks(contexts, 2)
        )
        file.finish()
    facts: dict[str, Any] = {
        "model": "demo-en-causal",
        "generations": 24,
        "contexts": 12,
        "rate": 1000.0,
        "seconds": 2.0,
    }
    write_record(path, facts | {"signature": "sampling|tiny|v1", "created": "2026-01-01T00:00:00.000Z"})
    return path


def test_without_runs_the_page_explains_what_to_do() -> None:
    page = without_errors(open_page("generation"))
    assert page.title[0].value == "Generate"
    assert "No finished runs yet. The texts of a finished run stay here and can be added to a project." in captions_of(
        page
    )
    shown = html_of(page)
    assert "316 contexts." in captions_of(page) and '<ol class="sentences">' in shown
    assert 'Ola uses he/him/his. The train was late, so<span class="caret"></span></span></li>' in shown


def test_sample_contexts_cover_every_pronoun_set() -> None:
    shown = html_of(without_errors(open_page("generation")))
    assert [name for name in ("he", "she", "they", "xe") if f" · {name}<" not in shown] == []


def test_an_own_pronoun_set_is_added_and_chosen() -> None:
    page = without_errors(open_page("generation"))
    for case, form in zip(("nom", "acc", "pos_dep", "pos_ind", "ref"), ("zie", "zim", "zir", "", ""), strict=True):
        page.text_input(key=f"generate-pronouns-{case}").set_value(form)
    add = next(button for button in page.button if button.label == "Add")
    add.click().run()
    assert "has 3 forms; five are needed" in page.error[0].value.replace("\\", "")
    page.text_input(key="generate-pronouns-pos_ind").set_value("zirs")
    page.text_input(key="generate-pronouns-ref").set_value("zirself")
    next(button for button in page.button if button.label == "Add").click().run()
    without_errors(page)
    assert page.button_group(key="generate-pronouns").value[-1] == "zie/zim/zir/zirs/zirself"
    page.button_group(key="generate-pronouns").set_value(["fae", "zie/zim/zir/zirs/zirself"]).run()
    assert "fae/faer/faers" in html_of(page) and "zie/zim/zirs" in html_of(page)


def test_a_run_of_the_built_in_set_is_started(fresh_store: Store) -> None:
    page = without_errors(open_page("generation"))
    page.button_group(key="generate-pronouns").set_value(["they", "xe"]).run()
    page.number_input(key="each").set_value(5).run()
    page.text_input(key="generate-name").set_value("my run").run()
    without_errors(page.button(key="generate-start").click().run())
    [job] = jobs.jobs(fresh_store)
    assert settings_of(job) == Settings(
        contexts="built-in", model="demo-en-causal", run_name="my run", each=5, settings=("pre", "post"),
        only=("they", "xe"), trim=True,
    )  # fmt: skip
    assert job.title == "Generate with demo-en-causal from built-in set"
    assert [heading.value for heading in page.header] == ["Not finished", "Finished runs"]
    page.text_input(key="generate-name").set_value("my run").run()
    page.button(key="generate-start").click().run()
    assert "A run named my run already exists" in page.error[0].value.replace("\\", "")


def test_only_the_installations_server_gets_the_key(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_API_KEY", "secret")
    monkeypatch.setenv("EVENHAND_SERVER", "https://models.example/v1")
    page = without_errors(open_page("generation"))
    page.segmented_control(key="where").set_value("server").run()
    page.text_input(key="server-model").set_value("big").run()
    assert "The API key of this installation is not sent to this address, only to the one in" not in captions_of(page)
    page.button(key="generate-start").click().run()
    page.text_input(key="server").set_value("http://elsewhere.example/v1").run()
    assert "The API key of this installation is not sent to this address, only to the one in" in captions_of(page)
    without_errors(page.button(key="generate-start").click().run())
    first, second = reversed(jobs.jobs(fresh_store))
    own, other = settings_of(first), settings_of(second)
    assert (own.no_key, own.server) == (False, "https://models.example/v1")
    assert (other.no_key, other.server) == (True, "http://elsewhere.example/v1")
    assert not [job for job in (first, second) if "secret" in str(job.settings)]


def test_a_wrong_server_address_is_reported_at_once(fresh_store: Store) -> None:
    page = without_errors(open_page("generation"))
    page.segmented_control(key="where").set_value("server").run()
    page.text_input(key="server").set_value("localhost:8000").run()
    page.text_input(key="server-model").set_value("big").run()
    page.button(key="generate-start").click().run()
    assert "is not a server address" in page.error[0].value and jobs.jobs(fresh_store) == []


def test_a_finished_run_shows_hostile_text_as_text(finished: Path) -> None:
    page = without_errors(open_page("generation"))
    assert "24 texts from 12 contexts" in captions_of(page) and "1,000 tokens per second" in captions_of(page)
    assert "&lt;b&gt;Kim&lt;/b&gt; [x](javascript:y) $z$" in html_of(page) and "<b>Kim" not in html_of(page)
    assert "At the speed of the last run, about" in captions_of(page)


def test_a_sample_is_imported_into_a_new_project(fresh_store: Store, finished: Path) -> None:
    page = without_errors(open_page("generation"))
    page.segmented_control(key="which-first").set_value("sample").run()
    page.number_input(key="number-first").set_value(4).run()
    without_errors(page)
    assert "8 texts from 8 contexts in 2 cells" in captions_of(page)
    assert "4 × 1" in html_of(page) and "2 × 2" in html_of(page)
    page.text_input(key="new-first").set_value("judged").run()
    page.text_area(key="people-first").set_value("Ada, Bo").run()
    page.number_input(key="dbl-first").set_value(3).run()
    without_errors(page.button(key="into-first").click().run())
    made = project(fresh_store, "judged")
    assert (made.kind, made.per_item, made.doubled) == ("generations", 2, 3)
    [job] = jobs.jobs(fresh_store)
    assert (job.kind, job.settings["layout"], job.settings["uid"]) == ("import", "generations", made.uid)
    lines = Path(job.settings["file"]).read_text(encoding="utf-8").splitlines()
    assert len({json.loads(line)["context"] for line in lines}) == len(lines) == 8


def test_all_texts_are_imported_into_an_existing_project(fresh_store: Store, finished: Path) -> None:
    page = without_errors(open_page("generation"))
    page.text_input(key="new-first").set_value("judged").run()
    page.button(key="into-first").click().run()
    page.selectbox(key="target-first").set_value("judged").run()
    without_errors(page.button(key="into-first").click().run())
    assert len(projects(fresh_store)) == 1 and len(jobs.jobs(fresh_store)) == 2
    assert len(Path(jobs.jobs(fresh_store)[0].settings["file"]).read_text().splitlines()) == 24


def test_texts_are_downloaded_with_a_password_only(finished: Path) -> None:
    page = without_errors(open_page("generation"))
    assert not page.get("download_button")
    page.text_input(key="password-first").set_value("short").run()
    assert "The password needs at least 8 characters" in page.error[0].value and not page.get("download_button")
    page.text_input(key="password-first").set_value("long enough").run()
    assert len(without_errors(page).get("download_button")) == 1


def test_a_run_is_deleted(fresh_store: Store, finished: Path) -> None:
    page = without_errors(open_page("generation"))
    without_errors(page.button(key="delete-first").click().run())
    assert runs_in(runs_folder(fresh_store.path, "generations")) == [] and not finished.exists()


def test_a_free_run_name_is_made_of_the_model_name() -> None:
    first = free_name("a/b: c?", set())
    assert first.startswith("a-b- c- 20") and free_name("a/b: c?", {first}) == f"{first} (2)"


def test_the_page_is_translated_into_chinese(finished: Path) -> None:
    page = without_errors(open_page("generation", "zh"))
    assert page.title[0].value == "生成" and "12 个上文，共 24 条文本" in captions_of(page)
