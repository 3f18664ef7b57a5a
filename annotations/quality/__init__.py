"""Quality of the labels, for the lead only.

retest_agreement: how far annotators agree with themselves. known_answers: items whose answer the lead knows. report:
both together.
"""
