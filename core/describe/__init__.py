"""Statistics of a set of sentences: characters, lengths, vocabulary, repeats, words, balance, sources.

See docs/methods.md#released-file.

Pure: texts in, numbers out. annotations.describe brings the texts of a project or a file.
"""
