"""Guidelines in versions that never change.

versions: storing and reading, built-in guidelines, keys, comparisons. scheme, other_schemes: schemes of one's own.
drafts: the next version while it is written. free_tags: tags of a pilot, which become criteria. relabelling: labels of
older versions go back to their annotators.
"""
