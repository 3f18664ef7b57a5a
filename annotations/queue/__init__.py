"""The queue: which annotator gets which item next. The only writer of `assignment` and `retest`.

leases: lease items to a desk. handout: choose them. retests: items that an annotator labels a second time.
assignments: what changes an assignment, and items that everybody skipped.
"""
