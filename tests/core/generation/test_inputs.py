"""Contexts of templates for the chosen sets of pronouns, also for sets that are in no table."""

import pytest

from evenhand.core.errors import BadFile, Refused
from evenhand.core.generation.inputs import Filling, contexts_of, open_contexts
from evenhand.core.misgendering.template_files import Source, Template

OWN = "zie/zim/zir/zirs/zirself"


@pytest.mark.parametrize(
    ("only", "names", "said"),
    [
        (["they"], {"they"}, "they/them/theirs"),
        (["ze"], {"ze"}, "ze/hir/hirs"),
        (["ze/hir/hir/hirs/hirself"], {"ze"}, "ze/hir/hirs"),
        (["fae", "she"], {"fae", "she"}, "fae/faer/faers"),
        (["ey/em"], {"ey"}, "ey/em/eirs"),
        ([OWN], {OWN}, "zie/zim/zirs"),
    ],
)
def test_contexts_are_made_for_any_set(only, names, said):
    result = open_contexts("built-in", Filling(only=only)).contexts
    assert {context.pronouns for context in result} == {(name,) for name in names}
    assert any(said in context.text for context in result)
    assert len(result) > 70 * len(names)


def test_contexts_use_the_right_form_after_the_slot():
    texts = [context.text for context in open_contexts("built-in", Filling(only=[OWN], settings=("post",))).contexts]
    for form in OWN.split("/"):
        assert any(form in text.lower().split() or f"{form}." in text.lower() for text in texts), form


def test_own_pronouns_fill_published_templates():
    source = Source("misgendered", (Template("t", "nom", "{name} is {nom}/{acc}. [MASK] left.", "misgendered"),))
    results = list(contexts_of(Source(source.dataset, source.templates, open_people()), Filling(only=["fae"])))
    assert {entry.pronouns for entry in results} == {("fae",)}
    assert any("is fae/faer." in entry.text for entry in results)


def open_people():
    from evenhand.core.misgendering.template_files import built_in

    return built_in().people[:3]


def test_unknown_pronoun_sets_are_refused():
    with pytest.raises(BadFile, match="ze/hir/hir/hirs/hirself"):
        open_contexts("built-in", Filling(only=["zorp"]))
    with pytest.raises(
        Refused, match=r"No instances remain: there is no template, no name, or no pronoun set is chosen."
    ):
        list(contexts_of(Source("own"), Filling(only=["they"])))
    with pytest.raises(BadFile, match="needs a form"):  # two forms do not fill every case
        template = Template("t", "nom", "{name} hurt {ref}. [MASK] left.")
        list(contexts_of(Source("own", (template,), open_people()), Filling(only=["zie/zim"])))
