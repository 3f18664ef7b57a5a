"""Commands as a person types them, in this process: what main() makes of them, without a second start of Python."""

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

from cli import main


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit code and all that it wrote."""

    code: int
    stdout: str
    stderr: str


def typed(*arguments: str | Path, **environment: str) -> Ended:
    """Run `python cli.py ARGUMENTS` with these variables, in this process."""
    out, err = StringIO(), StringIO()
    with (
        mock.patch.object(sys, "argv", ["cli.py", *map(str, arguments)]),
        mock.patch.dict("os.environ", environment),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = end.code
    assert isinstance(code, int), code
    return Ended(code, out.getvalue(), err.getvalue())


def answered(*arguments: str | Path, **environment: str) -> dict[str, Any]:
    """Run a command, which must succeed, and return its JSON."""
    ended = typed(*arguments, "--json", **environment)
    assert ended.code == 0, ended.stderr
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer
