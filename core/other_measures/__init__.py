"""Measures of others: WEAT, CrowS-Pairs, AUL, StereoSet, as published and by the name of each variant (SPEC 9.3,
9.4)."""
