"""Guidelines in versions that never change.

versions: storing and reading. criteria: built-in guidelines and criteria from files. drafts: the next version while it
is written. free_tags: tags of a pilot, which become criteria. relabelling: labels of older versions go back to their
annotators.
"""
