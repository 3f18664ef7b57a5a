"""Generic 他, which refers to any person."""

import pytest

from tests.support.filters import finding_of

GENERIC = [
    "每个人都有他自己的习惯。",
    "任何人走进来，他都要先登记。",
    "如果有人按铃，就请他进来。",
    "一个人老了，他会想起从前。",
    "每位读者都可以写下他的意见。",
    "谁要是先到，就让他开门。",
    "无论哪个孩子，当他出世的时候，都是一张白纸。",
    "不管哪位同学来，都请他进来。",
    "不论什么样的学生，老师都喜欢他。",
    "TA 的手机里有她的照片。",
]
FINE = [
    "他每天都去公园。",
    "她说每个人都要准时到。",
    "那个人昨天来过，他留下一封信。",
    "父亲说每个人都有长处。",
    "她在 TATA 公司上班。",
    "他说每个人都该休息。",
    "不知道哪个路口能找到他。",
    "无论在哪个岗位上，他都很努力。",
]


@pytest.mark.parametrize("text", GENERIC)
def test_generic_pronouns_are_found(text: str) -> None:
    assert finding_of("generic", text) is not None


@pytest.mark.parametrize("text", FINE)
def test_specific_pronouns_are_kept(text: str) -> None:
    assert finding_of("generic", text) is None
