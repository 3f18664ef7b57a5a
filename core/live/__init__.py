"""One sentence at a time: what a model would write at the slot, which words push, what other words would do."""

from core.live.prior import Prior, prior
from core.live.pushes import Push, Unit, pushes
from core.live.reading import OTHER_FORMS, Reading, read
from core.live.slot import Slot, find_slot
from core.live.words import PLACE, WordReading, compare_words

__all__ = [
    "OTHER_FORMS",
    "PLACE",
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
