"""A word in its contexts, and which words stand near it oftener than elsewhere.

The only answer to "why does a model lean that way on 护士" that is not the
model again: what the corpus itself says. `asking` holds the values, `words`
finds, `counting` counts, `odds` has the statistics, `texts` reads files.
"""

from evenhand.core.concordance.counting import LISTED, concordance
from evenhand.core.concordance.question import UNITS, Concordance, Line, Passage, Question, question

__all__ = ["LISTED", "UNITS", "Concordance", "Line", "Passage", "Question", "concordance", "question"]
