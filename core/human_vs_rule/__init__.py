"""Judging generations: labels and their merging, intervals over contexts, people against the rule.

    schemes     the four stored labels, merged to three and two (SPEC 4.9)
    clustered   means with intervals over contexts, the published error beside them
    weighting   rates of a labelled sample weighted back to all generations
    marks       how far the marks of two annotators cover the same characters
    ruling      the rule of SPEC 4.3 on every generation, and what people said of the same
    bins        why a person and the rule differ, by heuristics that can be read
    comparing   people against the rule: cells, confusion matrix, disagreements

A number without a value says why in its reason; every interval names its unit.
"""
