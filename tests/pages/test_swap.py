"""The page Counterfactual texts: both texts, reasons, an own text, hostile text."""

from tests.support.pages import open_page, text_of


def test_both_texts_and_unreplaced_words_are_shown() -> None:
    text = text_of(open_page("swap", texts="zh"))
    assert '<mark class="female">她</mark>的<mark class="female">母亲</mark>是医生' in text
    assert '<mark class="left-alone">其他</mark>' in text and "其他: part of another word" in text


def test_an_own_text_is_swapped_on_the_chinese_page() -> None:
    app = open_page("swap", "zh", texts="en")
    app.text_area(key="swap-text-en").set_value("<b>Her</b> mum\nno word").run()
    text = text_of(app)
    assert "不予替换；替换两次后为“&lt;b&gt;Her&lt;/b&gt; mom”" in text
    assert "已替换：0；没有可替换的词：1；不予替换：1。" in text and "<b>Her" not in text
