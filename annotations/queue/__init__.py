"""Who gets which item next. The only writer of `assignment`.

claim: leases items to a desk. handout: chooses them. order: which cell comes next, as a pure function.
repeats: retests, that is items that an annotator labels a second time. assignments:
the statements that change an assignment. set_aside: items that everybody skipped.
"""
