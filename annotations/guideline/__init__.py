"""Guidelines in versions that never change.

versions: stored and read. criteria: the built-in guidelines, and criteria from files. drafts: the next version while it
is written. free_tags: tags of a pilot, which become criteria. relabelling: labels of older versions that go back to
their annotators.
"""
