"""Settings of every kind of job agree with the parameters of its command; words made from settings say the same."""

import shlex
from dataclasses import MISSING, fields

import click
import pytest

from evenhand.annotations.jobs.kinds import KINDS, kind_named
from evenhand.commands.jobs.words import words_of
from evenhand.commands.main import cli
from evenhand.commands.shared import settings_from
from evenhand.core.association.run import Settings
from evenhand.core.typed_json import to_json


def params_of(words):
    """The parameters that the command association is given with these words."""
    command = cli.get_command(click.Context(cli), "association")
    return command.make_context("association", words).params


@pytest.mark.parametrize("name", KINDS)
def test_settings_are_the_parameters_of_the_command(name):
    kind = kind_named(name)
    assert kind.name == name
    command = cli
    for word in name.split():
        command = command.get_command(click.Context(command), word)
    params = {param.name: param for param in command.params}
    defaults = command.make_context(name, [], resilient_parsing=True).params
    assert {field.name for field in fields(kind.settings)} <= set(params)
    for field in fields(kind.settings):
        if field.default is not MISSING:
            assert to_json(field.default) == to_json(defaults[field.name]), field.name


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings("zh", ("a", "b")), "association --language zh --model a --model b"),
        (
            Settings("en", ("--x",), run_name="a b", an=True, threads=2),
            "association --language en --model --x --run 'a b' --an --threads 2",
        ),
    ],
)
def test_words_say_what_differs_from_the_defaults(settings, words):
    found = words_of("association", to_json(settings))
    assert shlex.join(found) == words
    assert settings_from(Settings, params_of(found[1:])) == settings
