"""The session that README shows, run as it stands there."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import cli

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def session() -> list[tuple[list[str], str]]:
    """The session of README: each command with what it shows below it."""
    block = next(b for b in re.findall(r"```console\n(.*?)```", README, re.S) if "$ cat " in b)
    parts = re.split(r"^\$ (.*)\n", block, flags=re.M)[1:]
    return [(shlex.split(command), shown) for command, shown in zip(parts[::2], parts[1::2], strict=True)]


def test_the_session_of_readme_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
