"""The two demo projects."""

# Who "labelled" the demo projects.
ANNOTATORS = ("小满（虚构 · made up）", "青禾（虚构 · made up）", "远山（虚构 · made up）")
BEFORE_S = 86_400.0  # from the project and its guideline to now, when the last label was made
