"""A word in its contexts, and the words that occur near it more often than elsewhere.

Why does a model lean one way on 护士? The corpus answers this question without asking the model again.
`counting` finds and counts, `sorting` orders lines, `odds` has the statistics, `passages` reads files, `answer_text`
words the results.
"""

from evenhand.core.concordance.counting import (
    LISTED,
    UNITS,
    Concordance,
    Line,
    Passage,
    Question,
    concordance,
    question,
)
from evenhand.core.concordance.sorting import Order, RepeatedLine, folded

__all__ = [
    "LISTED",
    "UNITS",
    "Concordance",
    "Line",
    "Order",
    "Passage",
    "Question",
    "RepeatedLine",
    "concordance",
    "folded",
    "question",
]
