"""The two demo projects."""

# Who "labelled" the demo projects.
ANNOTATORS = ("小满（虚构 · made up）", "青禾（虚构 · made up）", "远山（虚构 · made up）")
