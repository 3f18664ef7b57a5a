"""The method section of a release, written from its facts: what was done, how often, and how far people agreed.

The sentences are in templates/LANGUAGE/method.md.jinja.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotations.papers.blocks import Block
from annotations.papers.paper import paper_blocks
from core.language import Language

TEMPLATES = Path(__file__).parent / "templates"
MOST_CELLS = 200
MOST_RUNS = 10  # whose signatures are named
MOST_FILES = 20


def method(facts: Mapping[str, Any], guideline_text: str, language: Language) -> list[Block]:
    """The method section as blocks, in Chinese or English; `guideline_text` is that of the newest version."""
    mining, newest = facts["mining"], facts["guidelines"][-1]
    names = {code: f"{(zh if language == 'zh' else en) or code} ({code})" for code, zh, en in newest["choices"]}
    cells = [
        (pair, side, sides[side]) for pair, sides in mining.get("cells", {}).items() for side in ("male", "female")
    ]
    more = {
        "sentences": facts["project"]["kind"] == "sentences",
        "newest": newest,
        "names": {code: names.get(code, code) for code in facts["adjudication"]["decided"]},
        "mined_cells": cells[:MOST_CELLS],
        "mining_signatures": list(dict.fromkeys(run["signature"] for run in mining["runs"]))[:MOST_RUNS],
        "most_files": MOST_FILES,
        "most_cells": MOST_CELLS,
        "quotas": any(row["quota"] is not None for row in facts["funnel"]),
        "guideline_text": guideline_text,
    }
    return paper_blocks(TEMPLATES, "method", language, {**facts, **more})
