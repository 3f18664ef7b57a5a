"""Associations of person words with professions (BEC-Pro): corpus, probes, measures.

WEAT and SEAT, associations of word vectors, are in core.other_measures.
"""

from evenhand.core.association.builtin import LANGUAGES, Choices, Files, association_set
from evenhand.core.association.corpus import Sentence, sentences, write_corpus
from evenhand.core.association.sets import AssociationSet, Person, Profession, Template

__all__ = [
    "LANGUAGES",
    "AssociationSet",
    "Choices",
    "Files",
    "Person",
    "Profession",
    "Sentence",
    "Template",
    "association_set",
    "sentences",
    "write_corpus",
]
