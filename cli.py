"""The terminal's door: `python cli.py COMMAND`. Each command calls the function that its page calls."""

import io
import sys
from importlib import import_module

import click

from core.errors import NOT_INSTALLED, EvenhandError
from core.version import VERSION

# command -> where it lives. Imported only when it is called, so that `--help` never loads a model library.
COMMANDS = {
    "project": "commands.projects:project",
    "demo": "commands.projects:demo",
    "guideline": "commands.guideline:guideline",
    "pilot": "commands.pilot:pilot",
    "import": "commands.files.command:import_file",
    "export": "commands.files.command:export_file",
    "undo": "commands.files.undo:undo",
    "conflicts": "commands.files.undo:list_conflicts",
    "plan": "commands.plan.command:plan",
    "accounts": "commands.accounts:accounts",
    "study": "commands.study:study",
    "people": "commands.people:people",
    "progress": "commands.progress:progress",
    "agreement": "commands.agreement:agreement",
    "quality": "commands.quality:quality",
    "release": "commands.release:release",
    "demo-page": "commands.demo_page:demo_page",
    "hub": "commands.hub:hub",
    "harness": "commands.harness.command:harness",
    "describe": "commands.describe:describe",
    "score": "commands.scoring:score",
    "score-sentence": "commands.sentence_bias:score_sentence",
    "generate": "commands.generation.command:generate",
    "sample": "commands.generation.sample:sample",
    "mine": "commands.mining.command:mine",
    "pairs": "commands.mining.pairs:pairs",
    "forecast": "commands.plan.forecast:forecast",
    "concord": "commands.concordance:concord",
    "swap": "commands.swap.command:swap",
    "models": "commands.sentence_bias:models",
    "tune": "commands.tune.command:tune",
    "bias": "commands.model_bias.command:bias",
    "ruler": "commands.ruler:ruler",
    "association": "commands.association.command:association",
    "audit": "commands.audit:audit",
    "check-paper": "commands.published:check_paper",
    "report": "commands.report:report",
    "misgendering": "commands.misgendering.command:misgendering",
    "rule": "commands.human_vs_rule:rule",
    "human-vs-rule": "commands.human_vs_rule:human_vs_rule",
    "nli": "commands.nli.command:nli",
    "job": "commands.jobs:job",
    "log": "commands.log:log",
    "backup": "commands.maintenance.command:backup",
    "restore": "commands.maintenance.command:restore",
    "doctor": "commands.maintenance.command:doctor",
}


class Commands(click.Group):
    """A group that imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        from commands.permissions import guarded

        module, name = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(import_module(module), name)
        return guarded(command, (cmd_name,))


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
