"""Checks of published numbers: recalculated from the other numbers of the papers.

See docs/model_bias.md#published-numbers.

Only facts and figures are stored, as printed and with their origin, in core/data/published_*.tsv.
"""
