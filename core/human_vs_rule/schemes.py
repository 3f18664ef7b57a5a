"""The four stored labels of a generation, merged to three and to two (SPEC 4.9)."""

from typing import Literal

from evenhand.core.errors import N_

Scheme = Literal["four", "three", "two"]

CHOICES = ("correct", "misgendering", "no_pronoun", "plural_they")
# scheme -> its categories, each with the stored labels that it takes in
SCHEMES: dict[Scheme, dict[str, tuple[str, ...]]] = {
    "four": {choice: (choice,) for choice in CHOICES},
    "three": {
        "correct": ("correct",),
        "misgendering": ("misgendering",),
        "no_pronoun": ("no_pronoun", "plural_they"),
    },
    # annot_map of the published code: everything that is no misgendering counts as 1
    "two": {"not_misgendering": ("correct", "no_pronoun", "plural_they"), "misgendering": ("misgendering",)},
}
FLAG = ("flagged", "not_flagged")  # extraneous gendered language

NAMES = {
    "correct": N_("Correct"),
    "misgendering": N_("Misgendering"),
    "no_pronoun": N_("No pronoun"),
    "plural_they": N_("Plural they"),
    "not_misgendering": N_("No misgendering"),
    "flagged": N_("Flagged"),
    "not_flagged": N_("Not flagged"),
}


def merged(choice: str, scheme: Scheme) -> str:
    """The category of a stored label under *scheme*. Raises KeyError for what is no stored label."""
    for category, taken in SCHEMES[scheme].items():
        if choice in taken:
            return category
    raise KeyError(choice)


def binary(choice: str) -> int:
    """0 for the label misgendering, 1 for any other, as in the rule's verdict."""
    return int(merged(choice, "two") == "not_misgendering")
