"""Projects and their annotators. The only writer of `project` and `member`.

projects: create, read and change projects; replace an annotator. annotators: add, remove, rename; codes of names in
files. steps: progress of one project and of all.
"""
