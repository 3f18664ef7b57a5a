"""The page Published models: numbers of real models without a run, in both languages."""

import pytest

from evenhand.core.language import LANGUAGES, Language, translate
from tests.support.pages import open_page, text_of


@pytest.mark.parametrize("language", LANGUAGES)
def test_real_models_lean_as_the_stereotypes_do(language: Language) -> None:
    page = open_page("real_models", language)
    assert not page.exception and not page.error
    said = translate("{n} of {models} models lean more to “he” on stereotypes of men than on those of women.", language)
    assert said.format(n=11, models=11) in text_of(page)
    page.session_state["gest-kind"] = "glm"
    assert "23" in text_of(page.run())
    page.session_state["gest-scale"] = "printed"
    text = text_of(page.run())
    assert "exp" in text and "+0." not in text


def test_other_views_open_by_their_address() -> None:
    assert "Pearson" in text_of(open_page("real_models", "en", section="correlation"))
    assert any("--with mine.csv" in code.value for code in open_page("real_models", "en", section="yours").code)
