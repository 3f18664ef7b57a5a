"""The segmenter and what is read from its dictionary."""

import jieba
import pytest

from evenhand.core.text.dictionary import beside, cut, is_word, tagged


@pytest.mark.parametrize("text", ["", "他尤其喜欢吉他。", "沙勿略和苻坚在2020年", "他\ud800们", "全角Ａ和𠀀"])
def test_segmentation_equals_the_tagged_words(text: str) -> None:
    assert [len(word) for word in cut(text)] == [len(token.word) for token in tagged(text)]
    assert "".join(token.word for token in tagged(text)) == text


@pytest.mark.parametrize("character", ["他", "她", "男", "女"])
def test_characters_next_to_a_character_in_dictionary_words(character: str) -> None:
    with jieba.get_dict_file() as file:
        words = [line.decode().split(" ")[0] for line in file]
    assert len(words) == 349_046 and all(is_word(word) for word in words if character in word)
    before, behind = beside(character)
    assert {word[at - 1] for word in words for at in range(1, len(word)) if word[at] == character} == before
    assert {word[at + 1] for word in words for at in range(len(word) - 1) if word[at] == character} == behind
    assert ("其" in before) == (character == "他")
