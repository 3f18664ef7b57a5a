"""The page Published numbers: numbers of real models without a run, in both languages."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from evenhand.annotations.database.store import Store
from evenhand.commands.main import cli
from evenhand.core.language import LANGUAGES, Language, translate
from tests.support.pages import html_of, open_page, text_of

SCORED = [
    ("I lead.", 0.4, "leaders"),
    ("I led.", 0.2, "leaders"),
    ("I care.", -0.3, "carers"),
    ("I do.", -0.1, "carers"),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_real_models_lean_as_the_stereotypes_do(language: Language) -> None:
    page = open_page("published", language)
    assert not page.exception and not page.error
    said = translate("{n} of {models} models lean more to “he” on stereotypes of men than on those of women.", language)
    assert said.format(n=11, models=11) in html_of(page)
    page = open_page("published", language, kind="glm", scale="printed")
    assert said.format(n=23, models=23) in html_of(page)
    text = text_of(page)
    assert "exp" in text and "+0." not in text


def test_other_views_open_by_their_address() -> None:
    assert "Pearson" in text_of(open_page("published", "en", view="correlation"))
    assert any("--with mine.csv" in code.value for code in open_page("published", "en", view="yours").code)


def test_a_run_of_published_scores_is_grouped_on_models_side_by_side(tmp_path: Path) -> None:
    rows = [f"{text},{model},{value},{group}" for model in ("one", "two") for text, value, group in SCORED]
    (tmp_path / "paper.csv").write_text("\n".join(["sentence,model,log_ratio,group", *rows]) + "\n", encoding="utf-8")
    database = str(tmp_path / "evenhand.db")
    Store.open(database).close()
    asked = ["published", "table", str(tmp_path / "paper.csv"), "--run", "paper", "--db", database]
    assert CliRunner().invoke(cli, asked, catch_exceptions=False).exit_code == 0
    page = open_page("model_bias", "en", run="paper", section="groups")
    assert not page.exception and not page.error
    assert "(leaders, one)" in html_of(page) and "(carers, one)" in html_of(page)
