"""How good the labels are, for the lead alone.

self_agreement: retest agreement, how far annotators agree with themselves. known_answers: items whose answer the lead
knows. report: both together.
"""
