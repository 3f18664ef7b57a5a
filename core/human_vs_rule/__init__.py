"""Judging generations: labels and their merging, intervals over contexts, people against the rule.

    schemes               the four stored labels, merged to three and two (SPEC 4.9)
    means_over_contexts   means with intervals over contexts, the published error beside them
    weighting             rates of a labelled sample weighted back to all generations
    mark_agreement        how far the marks of two annotators cover the same characters
    apply_rule            the rule of SPEC 4.3 on a generation, and on every one of a table
    why_they_differ       why a person and the rule differ, by heuristics that can be read
    compare               people against the rule: cells, confusion matrix, disagreements

A number without a value says why in its reason; every interval names its unit.
"""
