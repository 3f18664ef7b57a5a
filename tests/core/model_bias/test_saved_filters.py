"""core.model_bias.extremes: the case study, filters stored next to the runs, refused filters."""

from pathlib import Path

import pandas as pd
import pytest

from evenhand.core.errors import BadFile, Refused
from evenhand.core.model_bias.extremes import (
    BUILT_IN,
    CASE_STUDY,
    FILE,
    SavedFilter,
    remove_filter,
    save_filter,
    saved_filters,
)

ROWS = pd.DataFrame(
    [
        ("男/女", "男", "院子里有个男童在跑。", 5, 6),
        ("男/女", "女", "女童在唱歌。", 0, 1),
        ("男/女", "女", "女教师收养了一个孤儿。", 0, 1),
        ("男孩/女孩", "男孩", "男孩童年很快乐。", 0, 2),
        ("他/她", "他", "他看见一个男童。", 0, 1),
    ],
    columns=["pair", "keyword", "sentence", "start", "end"],
)


def test_the_case_study_filters_by_the_next_character() -> None:
    assert CASE_STUDY.keep(ROWS).index.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("chosen", "kept"),
    [
        (SavedFilter(""), [0, 1, 2, 3, 4]),
        (SavedFilter("", pair="他/她"), [4]),
        (SavedFilter("", word="女"), [1, 2]),
        (SavedFilter("", contains="男童"), [0, 4]),
        (SavedFilter("", pair="男/女", contains="唱"), [1]),
        (SavedFilter("", contains=".*"), []),
    ],
)
def test_each_part_of_a_filter_narrows(chosen: SavedFilter, kept: list[int]) -> None:
    assert chosen.keep(ROWS).index.tolist() == kept


def test_saved_filters_are_listed_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "not-made-yet"
    assert saved_filters(folder) == [*BUILT_IN]
    save_filter(folder, SavedFilter("b", pair="他/她"))
    save_filter(folder, SavedFilter(" a ", contains="=1+1"))
    save_filter(folder, SavedFilter("b", word="她"))
    assert saved_filters(folder) == [*BUILT_IN, SavedFilter("a", contains="=1+1"), SavedFilter("b", word="她")]
    remove_filter(folder, "a")
    remove_filter(folder, CASE_STUDY.name)
    assert [filter_.name for filter_ in saved_filters(folder)] == [CASE_STUDY.name, "b"]


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        (SavedFilter("", pair="他/她"), "Give the filter a name of at most"),
        (SavedFilter("x" * 61, pair="他/她"), "Give the filter a name of at most"),
        (SavedFilter("a\nb", pair="他/她"), "Give the filter a name of at most"),
        (SavedFilter("all"), "keeps every sentence"),
        (SavedFilter("男童/女童", pair="他/她"), "built-in"),
    ],
)
def test_invalid_filters_are_refused(tmp_path: Path, wrong: SavedFilter, part: str) -> None:
    with pytest.raises(Refused, match=part):
        save_filter(tmp_path, wrong)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("content", ["{", "[1]", '[{"nonsense": 1}]', "null"])
def test_a_broken_filter_file_is_reported_and_kept(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(BadFile, match=r"cannot be read\. Move the file away to start without saved filters\."):
        saved_filters(tmp_path)
    with pytest.raises(BadFile):
        save_filter(tmp_path, SavedFilter("a", pair="他/她"))
    assert (tmp_path / FILE).read_text() == content
