"""A surname with 某 stands for a name."""

import pytest

from tests.support.filters import finding_of, meant

FOUND = [
    ("王某称他当时没有看见。", "王某"),
    ("陆某丁与他的朋友都在场。", "陆某"),
    ("李某某与他的邻居吵了一架。", "李某某"),
    ("警方找到了欧阳某，他没有受伤。", "阳某"),
    ("那人叫金某，他住在附近。", "金某"),
]
FINE = [
    "某某公司的女员工来报名。",
    "他在某个周末离开了。",
    "出于某种原因，她没有来。",
    "长江路某住宅楼的女业主报了警。",
    "她是某校的教师。",
    "他对某些事从来不说。",
]


@pytest.mark.parametrize(("text", "words"), FOUND)
def test_surnames_with_mou_are_found(text: str, words: str) -> None:
    finding = finding_of("anonymous", text)
    assert finding is not None and meant(text, finding) == words


@pytest.mark.parametrize("text", FINE)
def test_other_uses_of_mou_are_kept(text: str) -> None:
    assert finding_of("anonymous", text) is None
