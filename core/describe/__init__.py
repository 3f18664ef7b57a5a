"""Statistics of a set of sentences: characters, lengths, vocabulary, repeats, words, balance, sources (SPEC 1.5).

Pure: texts in, numbers out. annotations.describe.project_description brings the texts of a project or a file.
"""

from evenhand.core.describe.as_json import as_json, figures
from evenhand.core.describe.description import VERSION, Description, Text, described, described_sentences
from evenhand.core.describe.keywords import KeywordCount, PairBalance, keyword_counts, pair_balances
from evenhand.core.describe.vocabulary import Coverage, Vocabulary, coverage, vocabulary

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
    "described_sentences",
    "figures",
    "keyword_counts",
    "pair_balances",
    "vocabulary",
]
