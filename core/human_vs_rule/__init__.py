"""Judging generations: labels and their merging, intervals over contexts, people against the rule.

    means_over_contexts   means and weighted rates with intervals over contexts, agreement on marks
    apply_rule            the rule of docs/human_vs_rule.md#the-rule on a generation, and on every one of a table; the
    four labels, merged
    sample                which generations people should judge
    compare               people against the rule: cells, confusion matrix, disagreements, why they differ

A number without a value says why in its reason; every interval names its unit.
"""
