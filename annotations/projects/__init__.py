"""Projects and their annotators. The only writer of `project` and `member`.

projects: made, read, changed. annotators: join, leave, are renamed. replace_annotator: one takes the place of another.
pseudonyms: the codes that stand for names in files. pipeline_counts: how far all projects are.
"""
