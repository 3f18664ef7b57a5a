"""Words about the body, and whose body it is."""

import pytest

from tests.support.filters import finding_of, meant

BODY = [
    ("她怀孕之后换了一份工作。", "怀孕"),
    ("女职工在哺乳期可以提前下班。", "哺乳"),
    ("他去医院检查了前列腺。", "前列腺"),
    ("女子昨夜在家中分娩。", "分娩"),
    ("她因为痛经请了半天假。", "痛经"),
    ("他三天没有刮胡子。", "刮胡"),
    ("男方可以休陪产假。", "陪产"),
    ("她在那里孕育着一个小生命和全家的希望，孩子下月出生。".replace("孕育着一个小生命", "孕育孩子"), "孕育"),
]
FINE = [
    "产妇生下一名男婴。",
    "这名早产的女婴已经出院。",
    "男医生告诉队员怀孕的消息。",
    "女医生做完了一台前列腺手术。",
    "这片土地孕育了他的诗。",
    "几个月经她手的账目没有错过。",
    "他把垃圾顺便带下楼。",
    "投产前他检查了每一台机器。",
    "哺乳动物的进化是她的研究方向。",
    "他在财产后面签了名字。",
]


@pytest.mark.parametrize(("text", "word"), BODY)
def test_a_word_of_the_body_is_found(text: str, word: str) -> None:
    assert meant(text, finding_of("biological", text)) == word


@pytest.mark.parametrize("text", FINE)
def test_unrelated_body_words_are_kept(text: str) -> None:
    assert finding_of("biological", text) is None


def test_a_keyword_for_the_child_is_kept() -> None:
    """The child comes after the word of birth; a keyword before it is the person who gives birth."""
    assert finding_of("biological", "她的姐妹生下一个女儿。".replace("她的姐妹", "邻居")) is None
    assert finding_of("biological", "女儿昨天生下一个孩子。") is not None


def test_a_pronoun_next_to_a_body_word_is_found() -> None:
    """With the slot empty, 他 next to 怀孕 could be the pregnant person."""
    assert finding_of("biological", "队员怀孕的事他并不知道。") is not None
    assert finding_of("biological", "队员怀孕的事男教练并不知道。") is None
