"""README is read in half a minute, and the session that docs/start.md shows runs as it stands there."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from cli import cli
from docs.screenshots import AT_WORK

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
START = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")


def session() -> list[tuple[list[str], str]]:
    """The session of start.md: each command with what it shows below it."""
    block = next(b for b in re.findall(r"```console\n(.*?)```", START, re.S) if "$ cat " in b)
    parts = re.split(r"^\$ (.*)\n", block, flags=re.M)[1:]
    return [(shlex.split(command), shown) for command, shown in zip(parts[::2], parts[1::2], strict=True)]


def test_the_session_of_start_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_readme_is_read_in_half_a_minute() -> None:
    """Three sentences, a picture that moves, two commands, one table."""
    about = README.split("\n\n")[1]
    assert about.count(". ") + about.endswith(".") == 3 and len(README.split()) < 380
    assert README.count("```console") == 1 and README.count("|---|") == 1
    picture = ROOT / "docs" / "images" / "desk.webp"
    assert picture.name in README and picture.stat().st_size < 600_000
    with Image.open(picture) as moving:
        assert moving.n_frames == len(AT_WORK) and moving.info["loop"] == 0
