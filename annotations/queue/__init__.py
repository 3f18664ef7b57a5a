"""The queue: which annotator gets which item next. The only writer of `assignment`.

leases: leases items to a desk. handout: chooses them. order: the next cell, as a pure function. retests: items that an
annotator labels a second time. assignments: the statements that change an assignment. set_aside: items that everybody
skipped.
"""
