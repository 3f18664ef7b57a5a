"""Associations of person words with professions (BEC-Pro): corpus, probes, measures.

WEAT and SEAT, associations of word vectors, are in core.other_measures.
"""
