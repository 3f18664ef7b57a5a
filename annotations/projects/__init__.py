"""Projects and their annotators. The only writer of `project` and `member`.

projects: create, read and change projects; replace an annotator. annotators: add, remove, rename. pseudonyms: codes of
names in files. pipeline_counts: progress of all projects.
"""
