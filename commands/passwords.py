"""Passwords of archives: from the environment, or typed without being seen; never on the command line."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from annotations.files.open_upload import tables_in
from core.files.archives import Member, NeedsPassword

VARIABLE = "EVENHAND_PASSWORD"


def given() -> str | None:
    """The password in the environment, None where there is none."""
    return os.environ.get(VARIABLE) or None


def asked_for(*, new: bool) -> str | None:
    """The password in the environment, else one that is typed, where somebody is there to type; a new one twice."""
    if known := given():
        return known
    if not sys.stdin.isatty():
        return None
    typed: str = click.prompt("Password of the archive", hide_input=True, confirmation_prompt=new, err=True)
    return typed


@contextmanager
def opened(file: str) -> Iterator[list[Member]]:
    """The tables of a file or archive; asks for the password where the archive is locked and nobody has given one."""
    password = given()
    if password is None:
        try:
            with tables_in(file) as members:
                yield members
                return
        except NeedsPassword as error:
            password = asked_for(new=False)
            if password is None:
                raise NeedsPassword(error.message, file=Path(file).name) from error
    with tables_in(file, password=password) as members:
        yield members
