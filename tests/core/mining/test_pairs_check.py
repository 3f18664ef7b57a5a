"""Are the words of a pair used alike? On small texts whose answer is known."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.core.errors import BadFile
from evenhand.core.mining.keyword_lists import typed_pairs
from evenhand.core.mining.pairs_check import (
    CHANCE,
    NOTHING,
    SURNAME,
    Occurrence,
    _area,
    check_pairs,
    neighbours,
    told_apart,
)
from evenhand.core.resources import keyword_pairs
from evenhand.core.types import KeywordPair

SURNAMES = "王李张刘陈杨赵黄周吴"


def corpus(folder: Path, lines: list[str]) -> Path:
    file = folder / "corpus.txt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def lopsided(folder: Path) -> Path:
    """Write 女士 after a surname, 男士 never: the papers' example."""
    women = [f"{SURNAMES[n % 10]}女士在门口等车。" for n in range(80)]
    men = [f"这位男士在门口等第{n}班车。" for n in range(80)]
    return corpus(folder, [line for two in zip(women, men, strict=True) for line in two])


def even(folder: Path) -> Path:
    chance = random.Random(3)
    return corpus(folder, [f"后来{chance.choice('他她')}{chance.choice('走来坐笑哭睡')}了很久。" for _ in range(600)])


def test_the_papers_example_is_asymmetric(tmp_path: Path) -> None:
    report = check_pairs([lopsided(tmp_path)], typed_pairs(["男士/女士"])).pairs[0]
    assert report.verdict == "asymmetric"
    assert (report.male.count, report.female.count) == (80, 80)
    assert (report.male.surnames, report.female.surnames) == (0, 80)
    first = report.female.left[0]
    assert (first.text, first.count, first.swapped_count) == (f"{SURNAME}女士", 80, 0)
    assert report.female.unswapped.value == 1.0
    assert report.asymmetry.low is not None and report.asymmetry.low > 0.95


def test_words_of_equal_use_are_symmetric(tmp_path: Path) -> None:
    report = check_pairs([even(tmp_path)], keyword_pairs()[:1]).pairs[0]
    assert report.verdict == "symmetric"
    assert report.asymmetry.low is not None and report.asymmetry.high is not None
    assert report.asymmetry.low < 0.5 < report.asymmetry.high
    assert report.male.count + report.female.count == 600
    assert report.share.value == report.male.count / 600
    assert report.male.unswapped.value == report.female.unswapped.value == 0.0


@pytest.mark.parametrize(("lines", "verdict"), [(["女士来了。"] * 5, "absent"), (["男士和女士来了。"] * 19, "rare")])
def test_rare_words_have_no_verdict(tmp_path: Path, lines: list[str], verdict: str) -> None:
    report = check_pairs([corpus(tmp_path, lines)], typed_pairs(["男士/女士"])).pairs[0]
    assert report.verdict == verdict
    assert report.asymmetry.value is None and report.asymmetry.reason is not None


def test_a_compound_absent_by_chance_is_not_counted(tmp_path: Path) -> None:
    """With equal frequencies seven occurrences on one side are too many for chance (0.5**7 < 1%), six are not."""
    assert 0.5**7 < CHANCE < 0.5**6
    for number, share in ((6, 0.0), (7, 7 / 60)):
        men = ["男士来了。"] * 60
        women = ["女士来了。"] * (60 - number) + ["女士唱歌。"] * number
        report = check_pairs([corpus(tmp_path, men + women)], typed_pairs(["男士/女士"])).pairs[0]
        assert report.female.unswapped.value == pytest.approx(share)


def test_the_area_is_the_share_of_ordered_pairs() -> None:
    """By hand: 他 after 甲 always, 她 after 甲 half the time, else after 乙; ties count one half: 0.75."""
    male = [Occurrence("甲", NOTHING, n) for n in range(40)]
    female = [Occurrence("甲" if n % 2 else "乙", NOTHING, n) for n in range(40)]
    result = told_apart(male, female)
    assert result.value == pytest.approx(0.75, abs=0.01)
    turned = told_apart(female, male)
    assert turned.value == pytest.approx(result.value, abs=0.01)


def test_area_and_variance_equal_hand_computation() -> None:
    """1 2 3 against 0 2: 4.5 of 6 pairs in order. DeLong: placements 1/2 3/4 1 and 1 1/2, variances 1/16 and 1/8."""
    area, variance = _area(np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0]))
    assert area == pytest.approx(0.75)
    assert variance == pytest.approx(1 / 16 / 3 + 1 / 8 / 2)


def test_neighbours_are_words_of_the_clause(tmp_path: Path) -> None:
    lines = ["昨天，女司机来了。", "他弹吉他，其他人听。", "我们中国女排赢了。"]
    result = neighbours([corpus(tmp_path, lines)], keyword_pairs())
    women = result.uses["男/女", "female"]
    assert women.count == 2 and women.right["司机"] == 1 and women.right["排"] == 1
    assert women.left[NOTHING] == 1 and women.left["中国"] == 1
    he = result.uses["他/她", "male"]
    assert (he.count, he.inside) == (1, 2)


def test_neighbours_of_spaced_words_are_counted(tmp_path: Path) -> None:
    pairs = (KeywordPair("he", "she", (0, 2), (0, 3), "en"),)
    lines = ["Then He sat down, and she sang.", "The theme was heard."] * 3
    result = neighbours([corpus(tmp_path, lines)], pairs)
    assert result.uses["he/she", "male"].left == {"then": 3}
    assert result.uses["he/she", "female"].right == {"sang": 3}
    report = check_pairs([corpus(tmp_path, lines)], pairs).pairs[0]
    assert report.female.left[0].text == "and she"


def test_the_command_prints_the_verdict_of_a_pair(tmp_path: Path) -> None:
    file = lopsided(tmp_path)
    result = CliRunner().invoke(cli, ["pairs", "check", str(file), "--pair", "男士/女士", "--json"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.output)
    pair = data["pairs"][0]
    assert pair["pair"] == "男士/女士" and pair["verdict"] == "asymmetric" and pair["why"]
    assert pair["female"]["before"][0]["swapped"] == f"{SURNAME}男士"
    assert data["read"]["files"] == 1 and data["signature"].startswith("pairs-check|")
    again = CliRunner().invoke(cli, ["pairs", "check", str(file), "--pair", "男士/女士"])
    assert "男士/女士: asymmetric." in again.output and "80:0" in again.output


def test_the_command_reads_a_file_of_pairs(tmp_path: Path) -> None:
    listed = tmp_path / "mine.tsv"
    listed.write_text("male\tfemale\n他\t她\n", encoding="utf-8")
    result = CliRunner().invoke(cli, ["pairs", "check", str(even(tmp_path)), "--pairs", str(listed), "--json"])
    assert [pair["pair"] for pair in json.loads(result.output)["pairs"]] == ["他/她"]


def test_a_pair_does_not_depend_on_the_others(tmp_path: Path) -> None:
    file = even(tmp_path)
    alone = check_pairs([file], keyword_pairs()[:1]).pairs[0]
    among = check_pairs([file], keyword_pairs()).pairs[0]
    assert alone == among


def test_alternating_lines_give_no_asymmetry(tmp_path: Path) -> None:
    """他 in every odd line and 她 in every even one, used alike."""
    file = corpus(tmp_path, [f"后来{'他她'[n % 2]}{'走来坐笑哭睡'[n // 2 % 6]}了很久。" for n in range(600)])
    assert check_pairs([file], keyword_pairs()[:1]).pairs[0].asymmetry.value == pytest.approx(0.5, abs=0.06)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile):
        check_pairs([tmp_path / "none.txt"], keyword_pairs())
