"""The prompts of a judge."""

import pytest

from evenhand.core.errors import Refused
from evenhand.core.guidelines import builtin, generations
from evenhand.core.judges.prompts import PLACES, SYSTEM, JudgedText, Prompt, default_template, tokens_of

BUILT = generations("en")
TEXT = JudgedText(1, "She {choices} left {context}.", "Kim uses they/them.")


def prompt(template: str | None = None, **more: object) -> Prompt:
    return Prompt(template or default_template("generations"), BUILT.text, BUILT.choices, SYSTEM, **more)  # type: ignore[arg-type]


def test_the_default_prompt_contains_guideline_choices_format_and_text() -> None:
    system, user = prompt(examples="Text: x -> correct").messages(TEXT)
    assert system == {"role": "system", "content": SYSTEM}
    assert BUILT.text in user["content"] and '"plural_they": Plural they' in user["content"]
    assert "Text: x -> correct" in user["content"] and '"wrong_pronouns"' in user["content"]


def test_braces_in_a_text_are_not_placeholders() -> None:
    assert prompt("{context}|{text}").for_text(TEXT) == "Kim uses they/them.|She {choices} left {context}."


@pytest.mark.parametrize("kind", ["generations", "sentences"])
@pytest.mark.parametrize("short", [False, True])
def test_every_placeholder_of_a_built_in_prompt_is_known(kind: str, short: bool) -> None:
    result = default_template(kind, short=short)
    made = Prompt(result, "G", BUILT.choices).for_text(JudgedText(1, "T", "C", "K", "P"))
    assert "{text}" in result and not any("{" + place + "}" in made for place in PLACES)


def test_letters_and_json_schema_list_the_choices() -> None:
    letters = prompt("{choices}\n{format}{text}", way="letter")
    assert letters.choices.splitlines()[1] == "B. Misgendering" and "letter" in letters.format
    assert prompt().schema()["properties"]["choice"]["enum"] == list(prompt().codes)
    plain = Prompt("{text}", "", builtin("journal", "en").choices, flag=False)
    assert set(plain.schema()["properties"]) == {"choice"} and plain.messages(TEXT)[0]["role"] == "user"


def test_a_prompt_without_its_text_is_refused() -> None:
    with pytest.raises(Refused, match=r"\{text\}"):
        prompt("Which choice?")
    with pytest.raises(Refused, match="at most 100,000"):
        prompt("{text}" + "x" * 100_000)


def test_tokens_are_estimated_by_script() -> None:
    assert (tokens_of(["abcdefgh"]), tokens_of(["他去了"]), tokens_of([])) == (2, 3, 0)
