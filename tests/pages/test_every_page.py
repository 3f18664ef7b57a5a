"""Every page through the frame: right title in both languages, no exception, with nothing and with the demo project."""

import shutil
from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.sentences import ensure_demo
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.pilot.pilots import start_pilot
from evenhand.annotations.queue.leases import claim
from evenhand.core.language import Language
from tests.support.english_left import english_left
from tests.support.pages import (
    LANGUAGES,
    MAIN,
    TITLES,
    addresses,
    assert_title,
    html_of,
    in_language,
    open_page,
    without_errors,
    words_of,
)
from tests.support.projects import decide, filled_project

pytestmark = pytest.mark.early


@pytest.fixture(scope="session")
def demo_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the demo project, made once."""
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    ensure_demo(path)
    return path


@pytest.fixture
def demo(demo_database: Path, tmp_path: Path) -> None:
    """Copy the demo project to the database of this test."""
    for file in demo_database.parent.glob("demo.db*"):
        shutil.copy(file, tmp_path / file.name.replace("demo.db", "evenhand.db"))


def test_every_page_is_tested() -> None:
    assert set(TITLES) == set(addresses()) == {file.parent.name for file in MAIN.parent.rglob("page.py")}


@pytest.mark.parametrize("page", TITLES)
def test_every_page_opens_with_an_empty_database(page: str) -> None:
    app = without_errors(open_page(page))
    assert_title(without_errors(in_language(app, "zh")), page, "zh")


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("page", TITLES)
def test_every_page_opens_with_the_demo_project(page: str) -> None:
    app = without_errors(open_page(page))
    chinese = without_errors(in_language(app, "zh"))
    assert_title(chinese, page, "zh")
    assert not english_left(words_of(chinese))


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_open_one_after_another_from_the_navigation(language: Language) -> None:
    """A visitor's session continues from one page to the next, by its file, as `st.switch_page` and links name it."""
    app = open_page("home", language)
    for page in ("about", "published", "home"):
        assert_title(without_errors(app.switch_page(f"{page}/page.py").run()), page, language)


def test_the_title_check_can_fail() -> None:
    with pytest.raises(AssertionError):
        assert_title(open_page("about"), "home")


def test_the_language_switch_changes_the_page_and_the_address() -> None:
    app = open_page("home", "en")
    app.segmented_control(key="language").set_value("zh").run()
    assert app.title[0].value == "语言模型如何对待性别"
    assert app.query_params["lang"] == "zh"


def test_an_unknown_language_is_ignored() -> None:
    app = open_page("home", lang="xx")
    assert_title(app, "home")


def test_the_language_stays_when_the_page_changes() -> None:
    app = open_page("home", "zh")
    del app.query_params["lang"]
    assert app.switch_page("about/page.py").run().title[0].value == "关于"


def test_a_damaged_database_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "evenhand.db").write_bytes(b"this is no database" * 100)
    app = open_page("home")
    assert not app.exception
    assert "is not an Evenhand database" in app.error[0].value


@pytest.mark.usefixtures("demo")
def test_home_counts_the_demo_project() -> None:
    from evenhand.annotations.database.store import Store
    from evenhand.annotations.projects.steps import pipeline

    with Store.open() as store:
        result = pipeline(store)
    assert result.candidates > result.reviewed > result.unanimous > 0
    assert result.unanimous >= result.kept > 0
    home = open_page("home")
    assert all(f">{number}</b>" in html_of(home) for number in (result.candidates, result.reviewed, result.kept))
    links = [link.proto.label.replace("\\", "") for link in home.get("page_link")]
    assert "**示例 · Demo** · next: Review (waiting: 44)" in links


def test_home_counts_the_items_left_in_an_open_pilot(fresh_store: Store) -> None:
    project, (ada, *_others) = filled_project(fresh_store, 20)
    start_pilot(fresh_store, project, 4)
    store_operations(fresh_store, project, ada, [decide(claim(fresh_store, project, ada, want=1)[0])])
    links = [link.proto.label for link in open_page("home").get("page_link")]
    assert [label.replace("\\", "") for label in links if "left" in label] == [
        f"{name}: {left} left of pilot 1" for name, left in (("Ada", 3), ("Bo", 4), ("Chen", 4))
    ]
