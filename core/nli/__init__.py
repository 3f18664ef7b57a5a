"""Inference with occupation words: does a classifier take a trade for a gender? (Anantaprayoon et al. 2024, NLI-CoAL)

A *probe* is a premise with an occupation word and a hypothesis with a gender word in its place; nothing follows, so
the right label is always neutral. PS: a stereotyped occupation and the gender of the stereotype. AS: the same
premises and the other gender. NS: neutral occupations and both genders. Nothing in this package imports torch.
"""
