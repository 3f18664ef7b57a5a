"""A word in its contexts, and which words stand near it oftener than elsewhere.

The only answer to "why does a model lean that way on 护士" that is not the model again: what the corpus itself says.
`counting` finds and counts, `odds` has the statistics, `passages` reads files, `answer_text` says what came of it.
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

__all__ = ["LISTED", "UNITS", "Concordance", "Line", "Passage", "Question", "concordance", "question"]
