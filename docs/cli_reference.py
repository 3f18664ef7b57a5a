"""docs/cli.md, made from what every command says to `--help`: `python -m docs.cli_reference [--check]`.

--check writes nothing and ends with 1 where the file is not what it should be.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import click

from cli import cli
from docs.generated import write_or_check

FILE = Path(__file__).with_name("cli.md")
HEAD = """# The command line

Generated from `--help` by `make docs`; do not edit by hand. Every command takes `--help`. With `--json` a command
prints one JSON object on stdout and its messages on stderr; an undefined value is `null`, with the reason next to it.
The exit code is 0, also if some lines were reported, and 2 if nothing could be done.
"""
WIDTH = 100


def commands(group: click.Group, context: click.Context, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command below *group*, groups before their members."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, click.Context(command, info_name=name, parent=context), (*path, name))


def help_of(words: tuple[str, ...]) -> str:
    """Return what `python cli.py WORDS --help` prints, at a fixed width and without this machine's environment."""
    # With its own settings: a command keeps the help option that it was first asked for in this process.
    settings = {**cli.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    context = click.Context(cli, info_name="python cli.py", **settings)
    command: click.Command = cli
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None, words
        command = found
        context = click.Context(command, info_name=word, parent=context, terminal_width=WIDTH, max_content_width=WIDTH)
    return command.get_help(context)


def reference() -> str:
    """Return the whole of docs/cli.md."""
    context = click.Context(cli, info_name="cli.py")
    parts = [HEAD, f"```\n{help_of(())}\n```\n"]
    for words in commands(cli, context):
        parts.append(f"{'#' * (len(words) + 1)} {' '.join(words)}\n\n```\n{help_of(words)}\n```\n")
    return "\n".join(parts)


def main() -> None:
    """Write docs/cli.md, or check it."""
    for name in [name for name in os.environ if name.startswith("EVENHAND_")]:
        del os.environ[name]
    write_or_check(FILE, reference(), "--help says")


if __name__ == "__main__":
    main()
