"""One question of misgendering: a text with a slot, the person, and the forms that compete.

See docs/misgendering.md#the-verdict.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.core.errors import N_, BadFile
from evenhand.core.text.pronouns import CASES, PronounSet, set_named, sets
from evenhand.core.types import MASK, MaskedSentence

Setting = Literal["pre", "post"]
SETTINGS: tuple[Setting, Setting] = ("pre", "post")

NO_FORM = N_("One of the competing pronoun sets has no form for this case.")
_SENTENCE_START = re.compile(r"(?:^|[.!?][\"'”’)]*\s+)$")
_PLACE = re.compile(r"\{(\w+)\}")


@contextmanager
def text_file(path: Path) -> Iterator[None]:
    """Raise BadFile if the file that is read does not exist or is not text in UTF-8."""
    try:
        yield
    except FileNotFoundError:
        raise BadFile(N_("There is no file {path}."), path=path) from None
    except (UnicodeDecodeError, OSError) as error:
        raise BadFile(N_("{file} is not UTF-8 text."), file=path.name) from error


@dataclass(frozen=True, slots=True)
class Template:
    """A text with one slot [MASK] for a pronoun of `case`, and places in braces.

    {name}; {pronouns} for how the person's pronouns are declared; {nom}, {acc}, {pos_dep}, {pos_ind}, {ref} for forms
    of the person's set. `line` is its line in the file.
    """

    id: str
    case: str
    text: str
    dataset: str = "own"
    line: int = 0


@dataclass(frozen=True, slots=True)
class Instance:
    """A filled template: `before` + slot + `after`, and the forms for the slot.

    `pronouns`: names of the sets the person uses, any of which is right. `options`: the sets that compete, in the order
    in which ties are settled (docs/misgendering.md#the-verdict: the first); `forms`: the form of each, with a capital
    where the slot asks for one; empty where a set has none for this case.
    """

    id: str
    dataset: str
    template: str
    name: str
    pronouns: tuple[str, ...]
    case: str
    before: str
    after: str
    options: tuple[str, ...]
    forms: tuple[str, ...]

    @property
    def form(self) -> str:
        """The right form: that of the first of the person's sets."""
        return self.forms[self.options.index(self.pronouns[0])]

    @property
    def probe(self) -> MaskedSentence:
        """The probe for a model."""
        start = len(self.before)
        return MaskedSentence(self.before + MASK + self.after, start, start + len(MASK), self.forms)

    def context(self, setting: Setting) -> str:
        """Return the context for a model (docs/misgendering.md#contexts-for-a-model).

        pre-[MASK]: the text before the slot, its last space kept. post-[MASK]: the whole text with the right form.
        """
        return self.before if setting == "pre" else self.before + self.form + self.after


def instance_of(
    template: Template, name: str, pronouns: Sequence[str], *, id: str, also: Sequence[str] = ()
) -> Instance:
    """Fill a template for one person. *also*: names of further sets that compete.

    Raises BadFile where the template asks for a form that the person's set lacks, or for one set's forms where the
    person has several.
    """
    own = [set_named(pronoun, template.dataset) for pronoun in pronouns]
    first, second = template.text.split(MASK)
    before, after = (_fill(part, template, name, own) for part in (first, second))
    options = tuple(dict.fromkeys((*sets(template.dataset), *also, *pronouns)))
    forms = tuple(set_named(option, template.dataset).form(template.case) for option in options)
    if takes_capital(before, template.dataset):
        forms = tuple(form[:1].upper() + form[1:] for form in forms)
    return Instance(
        id, template.dataset, template.id, name, tuple(pronouns), template.case, before, after, options, forms
    )


def takes_capital(before: str, dataset: str) -> bool:
    """Tell if the slot after *before* takes a capital letter (docs/misgendering.md#the-verdict, R).

    misgendered: iff the second character before the slot is a full stop, as published; ruff: never, as published;
    own: at the beginning of a sentence.
    """
    if dataset == "misgendered":
        return before[-2:-1] == "."
    return dataset == "own" and _SENTENCE_START.search(before) is not None


def declared(own: Sequence[PronounSet]) -> str:
    """Return the declaration of pronouns: she/they for several sets, he/him/his for one set (nominative, accusative,
    independent possessive).
    """
    if len(own) > 1:
        return "/".join(pronoun_set.nom for pronoun_set in own)
    return "/".join(form for form in (own[0].nom, own[0].acc, own[0].pos_ind or own[0].pos_dep) if form)


def places(text: str) -> frozenset[str]:
    """Return the names in braces of a text."""
    return frozenset(_PLACE.findall(text))


def _fill(text: str, template: Template, name: str, own: Sequence[PronounSet]) -> str:
    def value(found: re.Match[str]) -> str:
        place = found.group(1)
        if place == "name":
            return name
        return declared(own) if place == "pronouns" else _form(template, place, own)

    return _PLACE.sub(value, text)


def _form(template: Template, case: str, own: Sequence[PronounSet]) -> str:
    if case not in CASES:
        message = N_("The template {template} has a placeholder {place} with no value; available: {known}.")
        raise BadFile(message, template=template.id, place=f"{{{case}}}", known="{name}, {pronouns}, {nom} … {ref}")
    if len(own) > 1:
        message = N_(
            "The template {template} spells out the forms of one pronoun set, but {people} has several;"
            " use the placeholder {place} instead."
        )
        raise BadFile(
            message, template=template.id, people="/".join(pronoun_set.nom for pronoun_set in own), place="{pronouns}"
        )
    if not own[0].form(case):
        message = N_("The template {template} needs a form ({case}) that the set {set} does not have.")
        raise BadFile(message, template=template.id, case=case, set=own[0].name)
    return own[0].form(case)
