"""README is short, and the session of docs/start.md prints what it shows."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from cli import cli
from docs.screenshots import AT_WORK, MOVING

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
START = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")


def session() -> list[tuple[list[str], str]]:
    """Return the session of start.md: each command with what it shows below it."""
    block = next(b for b in re.findall(r"```console\n(.*?)```", START, re.S) if "$ cat " in b)
    parts = re.split(r"^\$ (.*)\n", block, flags=re.M)[1:]
    return [(shlex.split(command), shown) for command, shown in zip(parts[::2], parts[1::2], strict=True)]


def test_the_documented_session_prints_the_shown_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`...` stands for anything, as in a doctest."""
    monkeypatch.chdir(tmp_path)
    checker = doctest.OutputChecker()
    steps = session()
    assert len(steps) >= 6
    for words, shown in steps:
        if words[0] == "cat":
            Path(words[1]).write_text(shown, encoding="utf-8")
            continue
        done = CliRunner().invoke(cli, words[2:], catch_exceptions=False)
        printed = done.stderr + done.stdout
        assert checker.check_output(shown, printed, doctest.ELLIPSIS), (words, printed)


def test_readme_is_read_in_a_minute() -> None:
    """Three users, two commands, a picture of each user at work, one table."""
    about = README.split("\n## ")[0]
    assert about.count("\n- **") == 3 and len(README.split()) < 660
    assert README.count("```console") == 1 and README.count("|---|") == 1
    assert len(re.findall(r"^!\[", README, re.M)) == 3 and "docs/images/try.png" in README
    for view, picture in MOVING.items():
        assert picture.name in README and picture.stat().st_size < 600_000
        with Image.open(picture) as moving:
            assert moving.n_frames == sum(shown > 0 for _key, shown in AT_WORK[view]) and moving.info["loop"] == 0
