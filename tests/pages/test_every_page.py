"""Every page through the frame: right title in both languages, no exception, with nothing and with the demo project."""

import shutil
from pathlib import Path

import pytest
from streamlit.config import set_option
from streamlit.testing.v1 import AppTest

from annotations.database.store import Store
from annotations.labels.append import append
from annotations.pilot.pilots import start_pilot
from annotations.queue.claim import claim
from core.language import Language, translate
from tests.support.projects import decide, filled_project

ROOT = Path(__file__).resolve().parents[2]
MAIN = str(ROOT / "pages" / "main.py")
PAGES = {
    "home/page.py": "Home",
    "mining/page.py": "Mine",
    "generation/page.py": "Generate",
    "projects/page.py": "Projects",
    "plan/page.py": "Plan of labels",
    "pilot/page.py": "Pilot and guideline",
    "review/page.py": "Review",
    "record/page.py": "My record",
    "progress/page.py": "Progress",
    "agreement/page.py": "Agreement",
    "quality/page.py": "Quality",
    "browse/page.py": "Browse",
    "adjudication/page.py": "Adjudicate",
    "describe/page.py": "Statistics of the set",
    "human_vs_rule/page.py": "Human against rule",
    "release/page.py": "Release",
    "concordance/page.py": "Concordance",
    "sentence_bias/page.py": "Try a sentence",
    "scoring/page.py": "Score a whole file",
    "model_bias/page.py": "Models side by side",
    "ruler/page.py": "Ruler",
    "published/page.py": "Check of published numbers",
    "nli/page.py": "Inference",
    "misgendering/page.py": "Misgendering",
    "association/page.py": "Professions",
    "jobs/page.py": "Jobs",
    "about/page.py": "About",
}


@pytest.fixture(scope="session")
def demo_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo project, made once."""
    from annotations.demo.sentences import ensure_demo

    path = tmp_path_factory.mktemp("demo") / "demo.db"
    ensure_demo(path)
    return path


@pytest.fixture
def demo(demo_database: Path, tmp_path: Path) -> None:
    """A copy of the demo project as the database of this test."""
    for file in demo_database.parent.glob("demo.db*"):
        shutil.copy(file, tmp_path / file.name.replace("demo.db", "evenhand.db"))


def opened(page: str, language: Language = "en") -> AppTest:
    """The page, run through the frame in one language; an exception says what it is."""
    set_option("client.showErrorDetails", "full")
    app = AppTest.from_file(MAIN, default_timeout=300)
    app.query_params["lang"] = language
    app.run()
    return app if page == "home/page.py" else app.switch_page(page).run()


def assert_whole(app: AppTest, title: str) -> None:
    assert not app.exception, [error.value for error in app.exception]
    assert [heading.value for heading in app.title] == [title]
    assert not app.error, [error.value for error in app.error]


def test_every_page_file_is_tested() -> None:
    files = {str(file.relative_to(ROOT / "pages")) for file in (ROOT / "pages").rglob("page.py")}
    assert files == set(PAGES)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("page", PAGES)
def test_page_with_an_empty_database(page: str, language: Language) -> None:
    assert_whole(opened(page, language), translate(PAGES[page], language))


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("page", PAGES)
def test_page_with_the_demo_project(page: str, language: Language) -> None:
    assert_whole(opened(page, language), translate(PAGES[page], language))


def test_the_title_check_can_fail() -> None:
    with pytest.raises(AssertionError):
        assert_whole(opened("about/page.py"), "Another title")


def test_the_language_switch_changes_the_page_and_the_address() -> None:
    app = opened("home/page.py", "en")
    app.segmented_control(key="language").set_value("zh").run()
    assert app.title[0].value == "首页"
    assert app.query_params["lang"] == "zh"


def test_an_unknown_language_is_ignored() -> None:
    app = AppTest.from_file(MAIN, default_timeout=300)
    app.query_params["lang"] = "xx"
    app.run()
    assert app.title[0].value == "Home"


def test_the_language_stays_when_the_page_changes() -> None:
    app = opened("home/page.py", "zh")
    del app.query_params["lang"]
    assert app.switch_page("about/page.py").run().title[0].value == "关于"


def test_a_file_that_is_no_database_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "evenhand.db").write_bytes(b"this is no database" * 100)
    app = opened("home/page.py")
    assert not app.exception
    assert "is not a database of Evenhand" in app.error[0].value


@pytest.mark.usefixtures("demo")
def test_home_counts_the_demo_project() -> None:
    from annotations.database.store import Store
    from annotations.projects.pipeline_counts import pipeline

    with Store.open() as store:
        found = pipeline(store)
    assert found.candidates > found.reviewed > found.unanimous > 0
    assert found.unanimous >= found.kept > 0
    decided = found.reviewed  # in the demo project three labels each are wanted, and they decide
    texts = [bar.proto.text for bar in opened("home/page.py").get("progress")]
    assert texts == [f"{decided} of {found.candidates} sentences decided", "94 of 120 texts have their label"]


def test_home_says_what_is_left_of_an_open_pilot(fresh_store: Store) -> None:
    project, (ada, *_others) = filled_project(fresh_store, 20)
    start_pilot(fresh_store, project, 4)
    append(fresh_store, project, ada, [decide(claim(fresh_store, project, ada, want=1)[0])])
    links = [link.proto.label for link in opened("home/page.py").get("page_link")]
    assert [label.replace("\\", "") for label in links if "left" in label] == [
        f"{name}: {left} left of pilot 1" for name, left in (("Ada", 3), ("Bo", 4), ("Chen", 4))
    ]
