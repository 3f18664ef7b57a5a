"""The command line: `evenhand COMMAND`, `python -m evenhand COMMAND`, or `python cli.py COMMAND` in a checkout."""

import io
import sys
from importlib import import_module

import click

from evenhand.core.errors import NOT_INSTALLED, EvenhandError
from evenhand.core.resources import ROOT
from evenhand.core.version import VERSION

# The name of each command -> its module below commands/ and its function; imported when the command is called.
COMMANDS = {
    "app": "maintenance.command:app",
    "project": "projects:project",
    "demo": "projects:demo",
    "guideline": "guideline:guideline",
    "pilot": "pilot:pilot",
    "import": "files:import_file",
    "export": "files:export_file",
    "undo": "files:undo",
    "conflicts": "files:list_conflicts",
    "plan": "plan:plan",
    "sampling": "sampling:sampling",
    "accounts": "accounts:accounts",
    "study": "study:study",
    "people": "people:people",
    "progress": "progress:progress",
    "agreement": "agreement:agreement",
    "annotator-models": "agreement:models",
    "preferences": "agreement:model_preferences",
    "groupings": "agreement:groupings",
    "group-differences": "agreement:differences",
    "quality": "quality:quality",
    "release": "release:release",
    "demo-page": "sentence_bias:demo_page",
    "hub": "release:hub",
    "harness": "harness:harness",
    "describe": "describe:describe",
    "score": "scoring:score",
    "score-sentence": "sentence_bias:score_sentence",
    "generate": "generation:generate",
    "sample": "generation:sample",
    "compare-texts": "generation:compare_texts",
    "mine": "mining:mine",
    "pairs": "mining:pairs",
    "forecast": "plan:forecast",
    "concord": "concordance:concord",
    "swap": "swap:swap",
    "models": "sentence_bias:models",
    "tune": "tune:tune",
    "tune-grid": "tune:tune_grid",
    "before-after": "before_after:before_after",
    "before-after-runs": "before_after:before_after_runs",
    "before-after-people": "before_after:before_after_people",
    "weat": "other_measures:weat",
    "crows": "other_measures:crows",
    "stereoset": "other_measures:stereoset",
    "other-measures": "other_measures:other_measures",
    "classifier-gaps": "other_measures:classifier_gaps",
    "bias": "model_bias:bias",
    "ruler": "ruler:ruler",
    "association": "association:association",
    "audit": "audit:audit",
    "check-paper": "published:check_paper",
    "published": "published:published",
    "report": "model_bias:report",
    "misgendering": "misgendering:misgendering",
    "rule": "human_vs_rule:rule",
    "human-vs-rule": "human_vs_rule:human_vs_rule",
    "judge": "judges:judge",
    "estimate": "judges:estimate",
    "alt-test": "judges:alt_test",
    "nli": "nli:nli",
    "job": "jobs:job",
    "log": "log:log",
    "backup": "maintenance.command:backup",
    "restore": "maintenance.command:restore",
    "doctor": "maintenance.command:doctor",
}


def summary(name: str) -> str:
    """Return the first sentence of a command's docstring, read from its file: importing all commands takes seconds."""
    module, function = COMMANDS[name].split(":")
    place = ROOT.joinpath("commands", *module.split("."))
    file = place.with_suffix(".py")
    source = (file if file.exists() else place / "__init__.py").read_text(encoding="utf-8")
    begin = source.index('"""', source.index(f"\ndef {function}(")) + 3
    docstring = source[begin : source.index('"""', begin)]
    return click.Command(name, help=docstring).get_short_help_str(limit=200)


class Commands(click.Group):
    """A group that imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every command, in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(import_module(f"evenhand.commands.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of `--help`: click's own method imports every command to ask for its summary."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(name)) for name in COMMANDS])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="evenhand")
@click.option("--as", "account", metavar="NAME", help="Act as an account, with its roles; its password is asked for.")
def cli(account: str | None) -> None:
    """Evenhand: curate gender-neutral sentences, judge what models write, see how a model leans."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # half a character of a file is printed as JSON escapes it
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Run the command line; a known error is one sentence on stderr and exit code 2."""
    try:
        cli()
    except EvenhandError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    except ModuleNotFoundError as error:  # a model library is loaded when it is asked for, not before
        click.echo(NOT_INSTALLED.format(package=error.name), err=True)
        sys.exit(2)
    except OSError as error:  # a file that was to be written or read: a full disk, a folder that takes nothing
        click.echo(f"{error.filename or 'A file'} cannot be read or written: {error.strerror or error}.", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
