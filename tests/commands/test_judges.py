"""`estimate` and `alt-test`: their answers, and their messages about bad lines."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.core.statistics.prediction_powered import Labels, prediction_powered


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """Write 1,000 items in 200 contexts: a judge right in 90%, and 60 items labelled by three people."""
    rng = np.random.default_rng(1)
    truth = rng.random(1000) < 0.3
    judge = np.where(rng.random(1000) < 0.9, truth, ~truth)
    lines = [
        f"i{i},{who},{int(truth[i] ^ (rng.random() < 0.1))},{i // 5}" for i in range(60) for who in ("Ada", "Bo", "Cy")
    ]
    people, machine = tmp_path / "people.csv", tmp_path / "judge.csv"
    people.write_text("item,annotator,label,context\n" + "\n".join(lines) + "\n")
    machine.write_text(
        "item,label,context\n" + "".join(f"i{i},{int(label)},{i // 5}\n" for i, label in enumerate(judge))
    )
    return people, machine


def answer(*arguments: object) -> dict[str, object]:
    done = CliRunner().invoke(cli, [*map(str, arguments), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_estimate_prints_the_numbers_of_the_function(tables: tuple[Path, Path], tmp_path: Path) -> None:
    people, judge = tables
    one = tmp_path / "one.csv"  # of three people the first: an item has one label here
    rows = [line.split(",") for line in people.read_text().splitlines()]
    one.write_text("item,label,context\n" + "".join(f"{i},{y},{c}\n" for i, who, y, c in rows if who == "Ada"))
    result = answer("estimate", "--people", one, "--judge", judge, "--clusters", "context")
    of_judge = [int(line.split(",")[1]) for line in judge.read_text().splitlines()[1:]]
    clusters = [str(i // 5) for i in range(1000)]
    labels = Labels(
        [int(y) for _, who, y, _ in rows if who == "Ada"], of_judge[:60], of_judge[60:], clusters[:60], clusters[60:]
    )
    expected = prediction_powered(labels)
    assert result["both"]["value"] == expected.both.value  # type: ignore[index]
    assert (result["both"]["low"], result["both"]["high"]) == (expected.both.low, expected.both.high)  # type: ignore[index]
    assert result["both"]["lambda"] == expected.weight and result["both"]["worth"] == expected.worth  # type: ignore[index]
    assert result["people"]["n"] == 60 and result["judge"]["n"] == 1000  # type: ignore[index]
    assert "units=context" in str(result["signature"])


def test_alt_test_has_every_annotator(tables: tuple[Path, Path]) -> None:
    people, judge = tables
    result = answer("alt-test", "--people", people, "--judge", judge, "--eps", 0.2)
    assert [annotator["annotator"] for annotator in result["annotators"]] == ["Ada", "Bo", "Cy"]  # type: ignore[attr-defined]
    assert result["winning_rate"] == sum(annotator["won"] for annotator in result["annotators"]) / 3  # type: ignore[attr-defined]
    assert 0.8 < result["advantage"] <= 1  # type: ignore[operator]


def test_the_printed_report_lists_bad_lines(tables: tuple[Path, Path]) -> None:
    people, judge = tables
    done = CliRunner().invoke(cli, ["estimate", "--people", str(people), "--judge", str(judge)])
    assert done.exit_code == 0
    assert "people.csv, line 3: item i0 appears twice; the first label counts." in done.stderr
    assert "both" in done.stdout and "human labels" in done.stdout and "rate: share of items\n" in done.stdout
    done = CliRunner().invoke(cli, ["alt-test", "--people", str(people), "--judge", str(judge), "--eps", "0.2"])
    assert "winning rate" in done.stdout
    done = CliRunner().invoke(cli, ["alt-test", "--people", str(people), "--judge", str(judge)])
    assert done.exit_code == 2 and "--eps" in done.stderr, "eps is chosen, never a default"


def test_numbers_in_printed_sentences_are_rounded(tables: tuple[Path, Path]) -> None:
    people, judge = tables
    for words in (["estimate"], ["alt-test", "--eps", "0.1"]):
        done = CliRunner().invoke(cli, [*words, "--people", str(people), "--judge", str(judge)])
        assert done.exit_code == 0 and not re.search(r"\d\.\d{7}", done.stdout), done.stdout
