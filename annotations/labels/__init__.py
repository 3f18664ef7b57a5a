"""Labels: appended and read, never changed. The only writer of `label`.

append: stores the operations of a desk. operations: their form, and the columns of a label. marks: marked words in a
generation. read: an annotator's own decisions and progress, and labels as rows. blind: blind labels as arrays of
numbers. generation_labels: labels of generations as tables. repeated: the second labels of retests.
"""
