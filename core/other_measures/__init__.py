"""Measures of others: WEAT, CrowS-Pairs, AUL, StereoSet; each variant has a name of its own (docs/other_measures.md).

Associations of person words with professions by probability (BEC-Pro) are in core.association.
"""
