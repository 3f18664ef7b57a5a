"""Curate gender-neutral sentences, label what language models write, and measure how models lean.

    import evenhand

    evenhand.mine("corpus/")                              # candidates of folders, files or a column of texts
    evenhand.score(sentences, "demo-zh")                  # Bias_c of each sentence; positive leans to the male word
    evenhand.agreement(labels)                            # kappa, alpha, AC1 with 95 % intervals
    evenhand.rule(generations)                            # the first-pronoun rule on generations
    evenhand.release(sentences, labels, "out", ...)       # a released folder with data sheet and method section
    evenhand.describe(sentences)                          # statistics of a data set

Each verb takes and returns pandas DataFrames and calls what the page and the command of the same name call. The verbs
are in `evenhand.verbs`, which is imported at the first use of one: pandas is not needed to start the app.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.verbs import agreement, describe, mine, release, rule, score

__all__ = ["agreement", "describe", "mine", "release", "rule", "score"]

if sys.platform == "win32":  # files are locked with flock, which Windows lacks
    raise SystemExit("Evenhand runs on Linux and macOS. On Windows, install and start it within WSL (`wsl --install`).")

_HERE = Path(__file__).resolve().parent
if not (_HERE / "core").is_dir():
    # In a checkout, core, annotations, pages and commands are next to this folder, not inside it.
    __path__.append(str(_HERE.parent))


def __getattr__(name: str) -> Any:
    """Return a verb of `evenhand.verbs`."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from evenhand import verbs

    return getattr(verbs, name)
