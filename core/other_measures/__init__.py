"""Measures of others: WEAT, CrowS-Pairs, AUL, StereoSet, as published and by the name of each variant (SPEC 9.3,
9.4).

Associations of person words with professions by probability (BEC-Pro) are in core.association.
"""
