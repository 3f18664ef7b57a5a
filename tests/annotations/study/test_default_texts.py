"""The initial consent form of a study: the statements that an ethics board expects, and the facts of its lead."""

import re

import pytest

from evenhand.annotations.study.default_texts import CONSENT, Facts, fill_in, places
from evenhand.core.language import LANGUAGES, Language

OWN_LINK = Facts("lead@example.org", 40, 0.0, "EUR", None)
PROLIFIC = Facts("lead@example.org", 1, 6.0, "GBP", 30, age=16, kept_years=10)
# Voluntary, at any time, without reasons, without loss, upsetting content, what is stored, age, contact.
EXPECTED: dict[Language, tuple[str, ...]] = {
    "en": (
        "Participation is voluntary.", "at any time, without giving a reason", "without any disadvantage",
        "Some may be upsetting", "under a random name", "Results are published in aggregate",
        "contact: lead@example.org",
    ),
    "zh": ("完全自愿", "随时", "无须说明理由", "不利影响", "令人不适", "随机化名", "汇总形式",
           "请联系：lead@example.org"),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("facts", [OWN_LINK, PROLIFIC])
def test_the_form_has_the_statements_of_an_ethics_board(language: Language, facts: Facts) -> None:
    text = re.sub(r"\s+", " ", fill_in(CONSENT[language], language, facts))
    assert [words for words in EXPECTED[language] if words not in text] == []
    assert "free" not in text
    assert str(facts.age) in text
    assert places(text) == []


def test_the_facts_of_the_lead_are_in_the_form() -> None:
    own, prolific = (fill_in(CONSENT["en"], "en", facts) for facts in (OWN_LINK, PROLIFIC))
    assert "You judge 40 texts," in own and "You judge 1 text," in prolific
    assert "Payment" not in own and "You receive 6.00 GBP when you have finished" in prolific
    assert "Your name and your IP address are not stored." in own and "erased 30 days after" in prolific
    assert "as long as the data set exists" in own and "for 10 years after the end of the study" in prolific
    assert "报酬" not in fill_in(CONSENT["zh"], "zh", OWN_LINK) and "16 周岁" in fill_in(CONSENT["zh"], "zh", PROLIFIC)


def test_unknown_placeholders_of_a_text_are_kept() -> None:
    assert fill_in("# {x}\n{age} {age} {}", "en", OWN_LINK) == "# {x}\n18 18 {}"
    assert places("{x} {kept} {age} {kept}") == ["{age}", "{kept}"]
