"""The terminal's door: `python cli.py COMMAND`. Each command calls the function that its page calls."""

import io
import sys
from importlib import import_module

import click

from evenhand.core.errors import NOT_INSTALLED, EvenhandError
from evenhand.core.version import VERSION

# command -> where it lives, and what it does: a command is imported when it is called, and `--help` imports none.
COMMANDS = {
    "project": ("evenhand.commands.projects:project", "Projects: a guideline with its sentences and annotators."),
    "demo": (
        "evenhand.commands.projects:demo",
        "Make the demo projects: sentences and generations of our own, labelled by three made-up annotators.",
    ),
    "guideline": (
        "evenhand.commands.guideline:guideline",
        "Show, compare and write versions of the guideline; send labels of older versions for relabelling.",
    ),
    "pilot": (
        "evenhand.commands.pilot:pilot",
        "Let everybody label a few items first, with free tags, before the criteria are fixed.",
    ),
    "import": (
        "evenhand.commands.files.command:import_file",
        "Import the lines of FILE (.csv, .tsv, .jsonl, .xlsx, .txt, or a .zip of them) into PROJECT.",
    ),
    "export": ("evenhand.commands.files.command:export_file", "Write the items or labels of PROJECT to OUT."),
    "undo": (
        "evenhand.commands.files.undo:undo",
        "Undo an import of PROJECT; without IMPORT, list the imports and their names.",
    ),
    "conflicts": (
        "evenhand.commands.files.undo:list_conflicts",
        "List the conflicts of PROJECT: two files, or a file and a desk, differ on an item.",
    ),
    "plan": (
        "evenhand.commands.plan.command:plan",
        "Show or set the plan of labels of PROJECT, with a forecast of labels, hours and candidates under both plans.",
    ),
    "sampling": (
        "evenhand.commands.sampling.command:sampling",
        "Which items people label next: samples with a stored probability, by which estimates weigh.",
    ),
    "accounts": ("evenhand.commands.accounts:accounts", "Who may sign in on this server."),
    "study": (
        "evenhand.commands.study:study",
        "Participants who come by a link: consent, a short test, the desk on a page of its own, a completion code.",
    ),
    "people": (
        "evenhand.commands.people:people",
        "The annotators of PROJECT; without a command: list present and former ones.",
    ),
    "progress": (
        "evenhand.commands.progress:progress",
        "The work of annotators, missing items per pair and side, and whether the remaining candidates can meet the"
        " quotas.",
    ),
    "agreement": (
        "evenhand.commands.agreement.command:agreement",
        "How far the annotators of PROJECT agree, with 95% intervals over items.",
    ),
    "annotator-models": (
        "evenhand.commands.agreement.models:models",
        "Dawid-Skene and MACE beside the vote, on the items of PROJECT with five blind labels or more.",
    ),
    "preferences": (
        "evenhand.commands.agreement.preferences:model_preferences",
        "Which model is preferred, from the comparisons of two texts in PROJECT.",
    ),
    "groupings": (
        "evenhand.commands.agreement.groups:groupings",
        "By what the annotators of PROJECT are grouped, as dialect or first language; how many are in each group.",
    ),
    "group-differences": (
        "evenhand.commands.agreement.groups:differences",
        "Do two groups of GROUPING choose differently, with intervals over annotators and items, and on which items?",
    ),
    "quality": (
        "evenhand.commands.quality:quality",
        "How steadily the annotators of PROJECT judge, and how often they give known answers.",
    ),
    "release": (
        "evenhand.commands.release:release",
        "Freeze PROJECT as VERSION, or write an existing release to --out.",
    ),
    "demo-page": (
        "evenhand.commands.demo_page:demo_page",
        "Write one HTML file with what models say of chosen sentences.",
    ),
    "hub": (
        "evenhand.commands.hub:hub",
        "Put a release on the Hugging Face Hub, or import a data set from it into a project.",
    ),
    "harness": ("evenhand.commands.harness.command:harness", "Exchange with lm-evaluation-harness and Inspect."),
    "describe": (
        "evenhand.commands.describe:describe",
        "Data set statistics: of PROJECT, or with --file of a file of sentences.",
    ),
    "score": (
        "evenhand.commands.scoring:score",
        "Score the sentences of FILE, or of a project as project:NAME, and write a table.",
    ),
    "score-sentence": (
        "evenhand.commands.sentence_bias:score_sentence",
        "Ask MODEL which word of a pair it prefers in TEXT.",
    ),
    "generate": (
        "evenhand.commands.generation.command:generate",
        "Let a model continue CONTEXTS, and write the texts as JSON lines for `import` and `rule`.",
    ),
    "sample": (
        "evenhand.commands.generation.sample:sample",
        "Draw generations of FILE for people to judge: every context once before any twice.",
    ),
    "compare-texts": (
        "evenhand.commands.generation.comparisons:compare_texts",
        "Make a project of comparisons: two texts of one context by different models, from generations in FILES.",
    ),
    "mine": ("evenhand.commands.mining.command:mine", "Find candidate sentences in files, folders and globs."),
    "pairs": ("evenhand.commands.mining.pairs:pairs", "Keyword pairs: are the two words of a pair used alike?"),
    "forecast": (
        "evenhand.commands.plan.forecast:forecast",
        "Can the text of a run of `mine` (its REPORT) meet the quotas of each pair and side, and how much is missing?",
    ),
    "concord": (
        "evenhand.commands.concordance:concord",
        "Every WORD of the files or folders in its context, and whether 他 or 她 stands near it more often than"
        " elsewhere.",
    ),
    "swap": (
        "evenhand.commands.swap.command:swap",
        "Swap every word of a keyword pair in FILE, one text per line: he and she, 父亲 and 母亲.",
    ),
    "models": (
        "evenhand.commands.sentence_bias:models",
        "List the models by name: built-in ones, and those of the papers.",
    ),
    "tune": (
        "evenhand.commands.tune.command:tune",
        "Change MODEL with TEXTS and write it as a folder that loads like any model, with a model card.",
    ),
    "tune-grid": (
        "evenhand.commands.tune.grid:tune_grid",
        "Change every model in every way with every seed, measure each, and fill a table in.",
    ),
    "before-after": (
        "evenhand.commands.before_after.command:before_after",
        "What a change to a model moved on ITEMS, what it did not, and what was lost.",
    ),
    "before-after-runs": (
        "evenhand.commands.before_after.runs:before_after_runs",
        "What differs between finished runs of KIND over the same items: BEFORE, and AFTER a change.",
    ),
    "before-after-people": (
        "evenhand.commands.before_after.people:before_after_people",
        "What people say of generations before and after a change, without knowing which model wrote them.",
    ),
    "weat": (
        "evenhand.commands.other_measures.command:weat",
        "The word embedding association test: effect and exact p.",
    ),
    "crows": (
        "evenhand.commands.other_measures.command:crows",
        "CrowS-Pairs: the share of pairs whose more stereotyping sentence scores higher.",
    ),
    "stereoset": ("evenhand.commands.other_measures.command:stereoset", "lms, ss and icat from scores of sentences."),
    "other-measures": (
        "evenhand.commands.other_measures.models:other_measures",
        "Ask models one MEASURE from the literature, each with its untrained twin and a control without gender.",
    ),
    "classifier-gaps": (
        "evenhand.commands.other_measures.models:classifier_gaps",
        "FPED and FNED, swap consistency, and the F1 gap of WinoBias from a table of predictions.",
    ),
    "bias": (
        "evenhand.commands.model_bias.command:bias",
        "Bias_man, Bias_woman and Model_bias of every model in SCORES, with 95% intervals.",
    ),
    "ruler": (
        "evenhand.commands.ruler:ruler",
        "Check the ruler: models with a planted bias must be measured as planted.",
    ),
    "association": (
        "evenhand.commands.association.command:association",
        "Does a profession make a person word more likely? ln(P_T / P_prior) over templates, persons and professions.",
    ),
    "audit": (
        "evenhand.commands.audit:audit",
        "Audits of extremes: draw them with matched controls, have people judge them blind, and see which leak.",
    ),
    "check-paper": (
        "evenhand.commands.published:check_paper",
        "Recalculate the numbers of the papers behind the measures, and list inconsistent ones.",
    ),
    "report": (
        "evenhand.commands.report:report",
        "Write figures, tables, extremes, method and signatures of SCORES into one self-contained HTML file.",
    ),
    "misgendering": (
        "evenhand.commands.misgendering.command:misgendering",
        "Does a model use a person's pronouns? By probability and by generation.",
    ),
    "rule": (
        "evenhand.commands.human_vs_rule:rule",
        "Judge each completion in FILE (JSON lines) by its first pronoun.",
    ),
    "human-vs-rule": (
        "evenhand.commands.human_vs_rule:human_vs_rule",
        "People's labels of the generations of PROJECT against the first-pronoun rule.",
    ),
    "judge": (
        "evenhand.commands.judges.judge:judge",
        "Judges that label beside people: the pronoun rule, a model, a server, a file.",
    ),
    "estimate": (
        "evenhand.commands.judges.command:estimate",
        "A rate from few labels of people and many of a judge, with 95% intervals.",
    ),
    "alt-test": (
        "evenhand.commands.judges.command:alt_test",
        "Can a judge replace an annotator? The alternative annotator test.",
    ),
    "nli": (
        "evenhand.commands.nli.command:nli",
        "Does a classifier of sentence pairs infer gender from an occupation?",
    ),
    "job": ("evenhand.commands.jobs:job", "Work in the background: list, follow, cancel, resume and dismiss jobs."),
    "log": ("evenhand.commands.log:log", "The log: a chain of hashes in which every change is found."),
    "backup": (
        "evenhand.commands.maintenance.command:backup",
        "Copy the whole database to OUT, also while people are labelling.",
    ),
    "restore": ("evenhand.commands.maintenance.command:restore", "Replace the database by the backup FILE."),
    "doctor": (
        "evenhand.commands.maintenance.command:doctor",
        "Check whether everything that the app needs is present; exit code 1 if something has to be done.",
    ),
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
        from evenhand.commands.permissions import guarded

        module, name = COMMANDS[cmd_name][0].split(":")
        command: click.Command = getattr(import_module(module), name)
        return guarded(command, (cmd_name,))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of `--help`: click's own imports every command to ask what it does."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, does) for name, (_, does) in COMMANDS.items()])


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
