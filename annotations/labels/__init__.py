"""Labels: appended and read, never changed. The only writer of `label`, `skip`, `retest_label` and `left_text`.

operations: store the operations of a desk. checks: whether a label fits the guideline. own: what annotators see of
their own labels. read: labels as rows. blind_labels: blind labels as arrays of numbers. generation_labels: labels of
generations as tables.
"""
