"""Write a document that is made from the code, or check it."""

import sys
from pathlib import Path


def write_or_check(file: Path, text: str, source: str) -> None:
    """Write *text* to *file*; with --check write nothing, and end with 1 where the file is not *text*.

    *source*: what the document is made from.
    """
    if "--check" not in sys.argv[1:]:
        file.write_text(text, encoding="utf-8")
    elif not file.is_file() or file.read_text(encoding="utf-8") != text:
        sys.exit(f"docs/{file.name} is not what {source}: run `make docs` and commit it.")
