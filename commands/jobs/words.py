"""The command that does the same as a job: the names of its parameters are those of the settings of the job."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import click

from evenhand.annotations.jobs.kinds import KINDS, kind_named
from evenhand.commands.main import cli
from evenhand.commands.shared import settings_from
from evenhand.core.errors import BadFile
from evenhand.core.typed_json import to_json


def words_of(name: str, settings: Mapping[str, Any]) -> list[str]:
    """Return the words behind `python cli.py` that do the same as a job: those that differ from the defaults.

    *name*: of the kind, which is that of the command. *settings*: as JSON.
    """
    command, options, arguments = _command(name), list[str](), list[str]()
    defaults = to_json(command.make_context(name, [], resilient_parsing=True).params)
    for param in command.params:
        value = settings.get(param.name or "")
        if value is None or value == defaults[param.name]:
            continue
        if isinstance(param, click.Argument):
            arguments += map(str, value if isinstance(value, list) else [value])
        elif isinstance(param, click.Option) and not param.hidden:
            options += _option_words(param, value)
    return [*name.split(), *options, *(["--", *arguments] if arguments else [])]


def _command(name: str) -> click.Command:
    command: click.Command = cli
    for word in name.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None, name
        command = found
    return command


def _option_words(option: click.Option, value: Any) -> Iterator[str]:
    if option.is_flag:
        yield from option.opts[:1] if value else option.secondary_opts[:1]
        return
    for part in value if option.multiple else [value]:
        yield option.opts[0]
        yield from map(str, part if option.nargs != 1 else [part])


def read_words(words: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return the kind and the settings, as JSON, of a job that was stored as the words of a command.

    What cannot be read has its default; "" where the command is none of the kinds, or lacks a setting.
    """
    command, names, rest = cast(click.Command, cli), list[str](), list(words)
    while isinstance(command, click.Group) and rest:
        found = command.get_command(click.Context(command), rest[0])
        if found is None:
            return "", {}
        command, names, rest = found, [*names, rest[0]], rest[1:]
    name = " ".join(names)
    if name not in KINDS:
        return "", {}
    options = command.make_context(name, rest, resilient_parsing=True).params
    try:
        return name, to_json(settings_from(kind_named(name).settings, options))
    except BadFile:
        return "", {}
