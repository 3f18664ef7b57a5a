"""The page Try, as a visitor uses it; models are a scorer whose answers are known, or the model `known` itself."""

import json
import math
import os
import signal
import subprocess
import sys
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from evenhand.core.errors import ModelUnavailable, WorkerDied
from evenhand.core.language import translate
from evenhand.core.worker import client
from evenhand.pages.sentence_bias.presenter import qr_code
from tests.conftest import ROOT, FakeScorer
from tests.support.pages import assert_title, html_of, open_address, open_page, without_errors

pytestmark = pytest.mark.early
TEXT = "他是一名护士，每天照顾病人。"


@pytest.fixture(autouse=True)
def _nothing_remembered():
    st.cache_data.clear()


@pytest.fixture
def fake(monkeypatch):
    """Replace every model by a scorer: the male word gets 0.6, the female word 0.3."""
    scorer = FakeScorer()
    monkeypatch.setattr("evenhand.pages.sentence_bias.inputs.scorer", lambda model, joint: scorer)
    return scorer


def test_the_numbers_of_a_sentence_are_shown(fake):
    page = open_page("sentence_bias", text=TEXT, model="known")
    assert not page.exception
    assert page.title[0].value == "Try a sentence"
    shown = html_of(page)
    assert 'is 2.0 times as likely as <span class="female">她</span>' in shown
    assert "neither word: 10%" in shown
    for value in ("60%", "30%", "90%", "+0.301", "+0.693", "+0.000"):
        assert f'<b class="number">{value}</b>' in shown
    assert any(code.value == fake.signature for code in page.code)
    assert "for trying out the app, not for findings" in "".join(caption.value for caption in page.caption)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("Tenzin said [MASK] was tired.", "they xe", ("they", "xe")),
        ("Tenzin said xe was tired.", "", ("he", "she")),
    ],
)
def test_words_without_a_side_are_shown_literally(fake, lang, text, options, words):
    page = open_page("sentence_bias", lang, text=text, model="known", options=options)
    assert not page.exception
    shown = html_of(page)
    first, second = (f'<span class="strong">{word}</span>' for word in words)
    assert first in shown and second in shown
    shown += " ".join(text.value for text in (*page.caption, *page.markdown))
    shown += " ".join(text.proto.help for text in page.markdown)
    assert 'class="male"' not in shown and 'class="female"' not in shown
    for word in ("male word", "男性词", "女性词"):
        assert word not in shown


def test_the_address_is_read_and_updated(fake):
    page = open_page("sentence_bias", text="[MASK]来了。", model=["known", "random-zh"], options="甲 乙")
    assert page.text_input(key="text").value == "[MASK]来了。"
    assert page.multiselect(key="model").value == ["known", "random-zh"]
    page.text_input(key="text").set_value("她来了。").run()
    page.text_input(key="options").set_value("").run()
    assert page.query_params["text"] == "她来了。"
    assert page.query_params["model"] == ["known", "random-zh"]
    assert "options" not in page.query_params
    assert 'class="female">她</span></span>来了。' in html_of(page)


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ({"text": "今天下雨。"}, ", the sentence contains no keyword of the 19 pairs. Use one"),
        ({"text": "他和她来了。"}, "The sentence contains 2 keywords: 他、她. Keep one, or write"),
        ({"text": "[MASK]来了。"}, "Give the two words"),
        ({"text": "[MASK]来了。", "options": "他"}, "two different words"),
        ({"view": "words", "template": "他来了。"}, "one place for the words"),
    ],
)
def test_a_refusal_is_one_sentence(fake, address, part):
    page = open_page("sentence_bias", model="known", **address)
    assert not page.exception
    assert len(page.error) == 1
    assert part in page.error[0].value.replace("\\", "")
    assert not fake.probes


def test_hostile_text_is_shown_as_text(fake):
    text = "他<script>alert(1)</script> $x$ :red[y] <b>护士</b>。"
    page = open_page("sentence_bias", text=text, model="<img src=x>")
    assert not page.exception
    shown = html_of(page)
    assert "<script>alert" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;" in shown


def test_an_unavailable_model_does_not_stop_others(fake, monkeypatch):
    def some(model, joint):
        if model == "missing":
            raise ModelUnavailable("There is no model named {name}.", name=model)
        return fake

    monkeypatch.setattr("evenhand.pages.sentence_bias.inputs.scorer", some)
    page = open_page("sentence_bias", text=TEXT, model=["missing", "known"])
    assert [error.value.replace("\\", "") for error in page.error] == ["There is no model named missing."]
    assert "is 2.0 times" in html_of(page)


def test_a_dead_worker_is_reported_and_a_retry_works(fake, monkeypatch):
    def dead(model, joint):
        raise WorkerDied("The process that runs the models ended.")

    monkeypatch.setattr("evenhand.pages.sentence_bias.inputs.scorer", dead)
    page = open_page("sentence_bias", text=TEXT, model="known")
    assert "ended" in page.error[0].value
    monkeypatch.setattr("evenhand.pages.sentence_bias.inputs.scorer", lambda model, joint: fake)
    page.button(key="again-known").click().run()
    assert not page.error
    assert "is 2.0 times" in html_of(page)


def slides_of(page: AppTest) -> dict[str, Any]:
    """Return the data that the page sent to the presenter mode."""
    (component,) = page.get("bidi_component")
    data: dict[str, Any] = json.loads(
        component.proto.mixed.json if component.proto.HasField("mixed") else component.proto.json
    )
    return data


def test_the_presenter_mode_shows_the_sentence_and_the_examples_without_the_rail(fake):
    page = without_errors(open_address("sentence_bias", text=TEXT, model="known", present="1", guess="male"))
    assert not page.sidebar.children and not page.title
    data = slides_of(page)
    assert data["guess"] == "male" and data["language"] == "en"
    first, *others = data["slides"]
    assert first["address"] == {"text": TEXT, "model": "known"}
    assert [step["word"] for step in first["steps"]] == ["护士", "医生"]
    assert first["steps"][0]["verdict"]["en"] == "他 is 2.0 times as likely as 她."
    assert first["steps"][0]["value"] == pytest.approx(math.log10(2))
    assert first["steps"][0]["shares"] == pytest.approx([0.3, 0.6])
    assert first["steps"][0]["share_texts"] == ["30%", "60%", "10%"]
    assert "90%" in first["steps"][0]["mass"]["zh"]
    assert len(others) == 11 and TEXT not in [slide["address"]["text"] for slide in others]


def test_the_present_button_enters_the_presenter_mode(fake):
    page = open_page("sentence_bias", text=TEXT, model="known")
    page.button(key="present").click().run()
    assert page.query_params["present"] in ("1", ["1"])
    assert slides_of(page)["slides"][0]["address"]["text"] == TEXT


def test_a_sentence_that_cannot_be_presented_says_why_and_leads_back(fake):
    page = open_address("sentence_bias", text="今天下雨。", present="1")
    assert len(page.error) == 1 and not page.get("bidi_component")
    page.button[0].click().run()
    assert_title(page, "sentence_bias")


def test_a_link_has_a_qr_code_unless_it_is_too_long():
    assert qr_code("http://127.0.0.1/sentence-bias?text=a").startswith("data:image/svg+xml")
    assert qr_code("") == "" and qr_code("x" * 5000) == ""


def test_the_link_names_the_language(fake):
    page = open_page("sentence_bias", "zh", text=TEXT, model="known")
    assert any("lang=zh&text=" in code.value for code in page.code)


def test_the_verdict_is_above_the_controls_and_the_facts_are_folded(fake):
    page = open_page("sentence_bias", text=TEXT, model="known")
    shown = [element for element in page.main if element.type in ("html", "text_input")]
    first = next(n for n, element in enumerate(shown) if "try-verdict" in str(getattr(element.proto, "body", "")))
    assert first < next(n for n, element in enumerate(shown) if element.type == "text_input")
    (details,) = [part for part in page.expander if part.label == "Details"]
    assert not details.proto.expanded
    assert "Bias_c, natural log" in "".join(str(element.proto.body) for element in details.get("html"))


def test_the_gallery_opens_a_sentence(fake):
    page = open_page("sentence_bias", view="gallery", lang="zh")
    page.button(key="try-4").click().run()
    assert page.text_input(key="text").value.startswith("我的姥姥")
    assert '姥<span class="try-slot">' in html_of(page)


@pytest.mark.parametrize(
    ("lang", "text", "models"),
    [("en", "The nurse said he was tired.", ["demo-en"]), ("zh", TEXT, ["demo-zh", "random-zh"])],
)
def test_the_page_starts_with_an_example_in_the_visitors_language(fake, lang, text, models):
    page = open_page("sentence_bias", lang=lang)
    assert not page.exception and not page.error
    assert page.text_input(key="text").value == text
    assert page.multiselect(key="model").value == models
    page = page.segmented_control(key="view").set_value("gallery").run()
    shown = [button.key for button in page.button if (button.key or "").startswith("try-")]
    assert len(shown) == (13 if lang == "en" else 12)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_english_sentence_is_shown_with_forms_and_counterpart(fake, lang, monkeypatch):
    whole_words = fake.fillers
    monkeypatch.setattr(fake, "fillers", lambda probe, **asked: whole_words(probe, **asked)[:1])
    page = open_page("sentence_bias", text="The doctor washed her hands.", lang=lang)
    assert not page.exception and not page.error
    shown = html_of(page)
    assert 'class="male">his</span>' in shown and 'class="female">her</span>' in shown
    for form in ("their", "xyr", "hir", "eir"):
        assert f"<span>{form}</span>" in shown
    sentence = translate("With the other word: {sentence}", lang).format(sentence="The doctor washed his hands.")
    assert sentence in html_of(page)
    assert not page.warning


def test_a_model_of_another_language_is_warned_of_and_can_be_replaced(fake):
    page = open_page("sentence_bias", text="The nurse said he was tired.", model="demo-zh", lang="en")
    assert any("was not trained on English" in warning.value for warning in page.warning)
    page.button(key="model-fitting").click().run()
    assert page.multiselect(key="model").value == ["demo-en"]
    assert not any("was not trained on" in warning.value for warning in page.warning)
    page = open_page("sentence_bias", text="Ella está cansada.", model="demo-zh", lang="zh")
    assert any("没有用西班牙语训练过" in warning.value for warning in page.warning)
    assert "está <span" in html_of(page)  # cansado / cansada is a place of its own


def test_own_words_are_read_and_a_mistake_names_its_line(fake, monkeypatch):
    table = "male\tfemale\tlanguage\nanaia\tarreba\teu\n"
    monkeypatch.setattr("evenhand.pages.sentence_bias.inputs.read_upload", lambda *a, **k: ("mine.tsv", table.encode()))
    page = open_page("sentence_bias", text="Nire arreba etorri da.", model="known", lang="en")
    assert not page.error
    assert 'class="female">arreba</span>' in html_of(page)
    assert "Basque" in page.selectbox(key="written").options
    wrong = table.replace("arreba", "")
    monkeypatch.setattr("evenhand.pages.sentence_bias.inputs.read_upload", lambda *a, **k: ("mine.tsv", wrong.encode()))
    page = open_page("sentence_bias", text="The nurse said he left.", model="known", lang="zh")
    assert any("mine.tsv" in error.value.replace("\\", "") and "2" in error.value for error in page.error)


def test_words_are_compared_in_a_template(fake):
    page = open_page("sentence_bias", view="words", model="known", template="他是一名__。", words="护士、医生，她")
    assert not page.exception
    assert not page.error
    assert [probe.text for probe in fake.probes[:2]] == ["他是一名护士。", "他是一名医生。"]
    assert any("Highest: 护士" in caption.value.replace("\\", "") for caption in page.caption)
    assert "The sentence contains 2 keywords: 他、她. Keep one, or write" in html_of(page)


def test_the_page_is_translated_into_chinese(fake):
    page = open_page("sentence_bias", text=TEXT, model="known", lang="zh")
    assert page.title[0].value == translate("Try a sentence", "zh") == "试一个句子"
    assert "的概率是" in html_of(page)


@pytest.mark.rehearsal
def test_the_real_worker_survives_being_killed(monkeypatch):
    with client.Inference() as worker:
        monkeypatch.setattr(client, "shared", lambda: worker)
        page = open_page(
            "sentence_bias", text="妈妈在看书。", model="/no/such/folder"
        )  # refused by the worker, before it loads torch
        assert "/no/such/folder" in page.error[0].value.replace("\\", "")
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        page = open_page("sentence_bias", text="他来了。", model="known")
        if page.error:  # the death may be noticed by this question, or already before it
            page.button(key="again-known").click().run()
        assert not page.error
        assert '<b class="number">+0.301</b>' in html_of(page)
        page.text_input(key="text").set_value("妈妈在看书。").run()
        assert not page.error
        # The card of the model: p(爸) p(爸) = 0.02 x 0.02, p(妈) p(妈) = 0.01 x 0.01.
        assert f'<b class="number">{math.log10(4):+.3f}</b>' in html_of(page)


def test_the_page_does_not_import_torch():
    heavy = "'torch' in sys.modules or 'transformers' in sys.modules"
    code = f"import pages.sentence_bias.one_sentence, pages.sentence_bias.one_sentence, sys; sys.exit({heavy})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "agrees"),
    [("Tenzin said xe was tired.", True), ("The engineer lost their keys.", False)],
)
def test_verb_agreement_is_mentioned_for_subject_forms_only(text, agrees):
    page = open_page("sentence_bias", "en", text=text, model="demo-en")
    shown = " ".join(text.proto.help.replace("\\", "") for text in page.markdown)
    assert "share of the total probability of all forms" in shown
    assert ("they was" in shown) is agrees
