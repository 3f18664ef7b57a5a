"""What a set of sentences looks like: characters, lengths, vocabulary, repeats, words, balance, sources (SPEC 1.5).

Pure: texts in, numbers out. annotations.describing brings the texts of a project or a file.
"""

from core.describing.answer import as_json
from core.describing.description import VERSION, Description, Text, described
from core.describing.keywords import KeywordCount, PairBalance, keyword_counts, pair_balances
from core.describing.vocabulary import Coverage, Vocabulary, coverage, vocabulary

__all__ = [
    "VERSION",
    "Coverage",
    "Description",
    "KeywordCount",
    "PairBalance",
    "Text",
    "Vocabulary",
    "as_json",
    "coverage",
    "described",
    "keyword_counts",
    "pair_balances",
    "vocabulary",
]
