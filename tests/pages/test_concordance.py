"""The page Concordance through the frame: numbers, lines, sources, invalid queries."""

import pytest

from tests.support.pages import open_page, text_of


@pytest.fixture
def texts_folder(tmp_path, monkeypatch):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(12):
        text = "她<b>在</b>医院当护士。" * 2 + "护士问他来不来。" + "他在家。她在家。天黑了。" * 20
        (folder / f"{number:02}.txt").write_text(text, encoding="utf-8")
    monkeypatch.setenv("EVENHAND_CORPUS", str(folder))
    return folder


def test_ratios_and_lines_are_shown(texts_folder):
    app = open_page("concordance", word="护士", near="他 她")
    text = text_of(app)
    assert "Sentences with 护士 contain 她 2.0 times as often as sentences without it" in text
    assert '<mark class="female">她</mark>' in text
    assert "<b>在</b>" not in text and "&lt;b&gt;在&lt;/b&gt;" in text
    assert "Characters read" in text and "texts: 12" in text
    assert "window:sentence|unit:document|v1" in text


def test_repeated_lines_are_folded_and_sorted_by_context(texts_folder):
    app = open_page("concordance", word="护士", near="他 她")
    app.segmented_control(key="which_lines").set_value("all").run()
    lines = text_of(app).partition('data-testid="lines"')[2]
    # 24 + 12 occurrences in three different sentences
    assert lines.count("<details>") == 2 and "× 24" in lines and "× 12" in lines
    assert lines.index("医院当") < lines.index("来不来")
    app.selectbox(key="line_order").set_value("left").run()
    lines = text_of(app).partition('data-testid="lines"')[2]
    assert lines.index("来不来") < lines.index("医院当")


def test_the_address_sets_the_query(texts_folder):
    app = open_page("concordance", word="家", near="他、她")
    assert app.text_input(key="word").value == "家"
    assert "家 contain 她" in text_of(app)
    app.text_input(key="word").set_value("护士").run()
    assert app.query_params["word"] == "护士" or app.query_params["word"] == ["护士"]


def test_the_page_is_translated_into_chinese(texts_folder):
    assert "含 护士 的句子出现 她 的频率" in text_of(open_page("concordance", "zh", word="护士"))


@pytest.mark.parametrize(
    ("word", "near", "says"),
    [
        ("护士", "护士", "cannot be its own collocate"),
        ("", "他", "Type the word"),
        ("护士", " ", "Give 1 to 20 collocates"),
    ],
    ids=["itself", "no-word", "no-neighbour"],
)
def test_an_invalid_query_is_one_sentence(texts_folder, word, near, says):
    app = open_page("concordance")
    app.text_input(key="word").set_value(word)
    app.text_input(key="near").set_value(near)
    app.run()
    assert not app.exception and says in app.error[0].value


def test_an_absent_word_is_reported(texts_folder):
    assert "does not occur" in text_of(open_page("concordance", word="水手"))


def test_a_project_is_read_with_a_warning(sample_project):
    app = open_page("concordance", word="喜欢", near="姥姥 姥爷")
    app.segmented_control(key="concordance-source").set_value("project").run()
    assert not app.exception
    assert "balanced on purpose" in text_of(app)
    assert "喜欢" in text_of(app)
