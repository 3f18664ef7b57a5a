"""The static page: hostile text stays text, nothing is fetched, both languages are there, numbers are a reading's."""

import base64
import hashlib
import math
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evenhand.core.demo_page.page import (
    MODELS,
    TEMPLATES,
    TEXTS,
    Answer,
    Chosen,
    answers_of,
    chosen_sentences,
    page_html,
)
from evenhand.core.errors import BadFile, ModelUnavailable
from evenhand.core.models import open_scorer
from evenhand.core.sentence_bias.model_answer import read

HOSTILE = '<script>alert("x")</script>{{ 7 * 7 }}</details><img src=x onerror=alert(1)>'


class Tags(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_numbers_equal_those_of_a_reading() -> None:
    sentence = Chosen("zh", "他是一名护士，每天照顾病人。")
    scorer = open_scorer("demo-zh")
    reading = read(sentence.text, scorer)
    (answer,) = answers_of(sentence, {"demo-zh": scorer})
    text = page_html([(sentence, [answer])], made=datetime(2026, 1, 2, tzinfo=UTC))
    value = reading.bias_log10
    assert value is not None and f'<span class="value">{value:+.2f}</span>'.replace("-", "−") in text
    assert f"left:{50 + 50 * value / 3:.2f}%" in text and reading.signature in text and "2026-01-02" in text
    assert reading.p_male is not None and f"{reading.p_male:.1%}" in text
    assert len(re.findall(r"<li class=", text)) == len(answer.pushes) > 3
    assert "语言模型更偏向哪个词" in text and "Which word does a language model prefer" in text


def test_texts_of_the_template_are_those_that_are_translated() -> None:
    template = "".join(file.read_text(encoding="utf-8") for file in TEMPLATES.iterdir())
    assert set(re.findall(r'say\("([^"]+)"', template)) == set(TEXTS)


def test_hostile_text_is_escaped_and_nothing_is_fetched() -> None:
    sentence = Chosen("zh", f"{HOSTILE}[MASK]坐着。", ("他", "她"))
    failed = Answer(HOSTILE, None, (), ModelUnavailable("{name} is gone.", name=HOSTILE))
    text = page_html([(sentence, [*answers_of(sentence, {HOSTILE: open_scorer("demo-zh")}), failed])])
    tags = Tags(text)
    assert [attributes for tag, attributes in tags.found if tag == "script"] == [{}]
    assert not {"img", "link", "iframe", "object", "base", "form"} & {tag for tag, _ in tags.found}
    assert not [
        attributes
        for _tag, attributes in tags.found
        if any(name.startswith("on") or name in ("src", "href") for name in attributes)
    ]
    assert "url(" not in text and "@import" not in text and "{{ 7 * 7 }}" in text
    (policy,) = [
        attributes["content"] for tag, attributes in tags.found if tag == "meta" and "http-equiv" in attributes
    ]
    code = text.split("<script>")[1].split("</script>")[0]
    named = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{named}'"


@pytest.mark.parametrize(
    ("value", "place", "shown"), [(9.0, "100.00", "+9.00"), (-math.inf, "0.00", "∞"), (0.0, "50.00", "+0.00")]
)
def test_the_scale_has_ends_with_the_male_word_on_the_right(value: float, place: str, shown: str) -> None:
    reading = read("他是一名护士。", open_scorer("demo-zh"))
    object.__setattr__(reading, "logp_female", -1.0)
    object.__setattr__(reading, "logp_male", -1.0 + value * math.log(10))
    text = page_html([(Chosen("zh", "他是一名护士。"), [Answer("m", reading)])])
    assert f"left:{place}%" in text and f'<span class="value">{shown}</span>' in text


def test_built_in_sentences_are_in_languages_with_models() -> None:
    result = chosen_sentences()
    assert {sentence.language for sentence in result} == set(MODELS)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"language": "zh", "text": "", "options": ""}, "Row 1: a sentence needs a text"),
        ({"language": "zh", "text": "[MASK]。", "options": "他"}, "two options or none"),
        ({"language": "zh", "text": "今天很好。", "options": ""}, "Row 1: "),
    ],
)
def test_an_invalid_row_is_reported_with_its_number(row: dict[str, str], why: str) -> None:
    with pytest.raises(BadFile) as error:
        chosen_sentences([row])
    assert why in str(error.value)


def test_zero_or_too_many_sentences_are_refused() -> None:
    for rows in ([], [{"language": "zh", "text": "他走了。", "options": ""}] * 201):
        with pytest.raises(BadFile, match="1 to 200"):
            chosen_sentences(rows)


def test_an_unavailable_model_is_reported_on_the_page(tmp_path: Path) -> None:
    class Gone:
        signature = cache_key = "gone"

        def score(self, probes: object) -> list[object]:
            raise ModelUnavailable("gone")

    sentence = chosen_sentences()[0]
    result = answers_of(sentence, {"gone": Gone(), "demo-zh": open_scorer("demo-zh")})  # type: ignore[dict-item]
    assert [answer.reading is None for answer in result] == [True, False]
    assert "gone" in page_html([(sentence, result)])
