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
    "当人饿了的时候，什么都挡不住他。",
    "不相信的人，就当他没有这个福气。",
    "如果客人不满意，他会再来吗？",
    "有些人，不是你挽留他就会留下。",
]
THINGS = [
    "他确实是一本值得收藏的词典。",
    "她是今年最畅销的小说之一。",
    "他是一款很轻的笔记本。",
    "这家酒店离车站很近，下次还住他。",
    "这家宾馆太旧了，希望他赶快装修。",
    "旁边的招待所都比他干净。",
    "我看他能评上五星。",
    "唯一的缺点是他的位置离车站太远。",
    "相比其他的书，他真的很厚。",
    "下次来出差，她还是首选。",
    "这台机器便宜，这是我们选他的主要原因。",
]
PEOPLE = [
    "他是一部电影的主角。",
    "她是这本书的作者。",
    "他是部队的医生。",
    "他是来买书，不是来聊天的。",
    "这家酒店的老板很客气，前台帮他订了车。",
    "酒店的门童跟他一样高。",
    "那个送信的人走了，他没有留下名字。",
    "当那个人走进来的时候，他正在看书。",
    "他在买手机。",
    "他的位置在第三排。",
    "如果明天下雨，那他就不来了。",
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


@pytest.mark.parametrize("text", THINGS)
def test_pronouns_that_stand_for_a_thing_are_found(text: str) -> None:
    assert finding_of("generic", text) is not None


@pytest.mark.parametrize("text", PEOPLE)
def test_people_beside_things_are_kept(text: str) -> None:
    assert finding_of("generic", text) is None
