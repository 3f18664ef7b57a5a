"""The page Published numbers: numbers of real models without a run, in both languages."""

import pytest

from evenhand.core.language import LANGUAGES, Language, translate
from tests.support.pages import html_of, open_page, text_of


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
