"""One sentence at a time: what a model would write at the slot, which words push, what other words would do."""

from evenhand.core.sentence_bias.compare_words import PLACE, Push, Unit, WordReading, compare_words, pushes
from evenhand.core.sentence_bias.keyword_packs import OTHER_FORMS
from evenhand.core.sentence_bias.reading import Form, Prior, Reading, prior, read
from evenhand.core.sentence_bias.slot import Slot, find_slot

__all__ = [
    "OTHER_FORMS",
    "PLACE",
    "Form",
    "Prior",
    "Push",
    "Reading",
    "Slot",
    "Unit",
    "WordReading",
    "compare_words",
    "find_slot",
    "prior",
    "pushes",
    "read",
]
