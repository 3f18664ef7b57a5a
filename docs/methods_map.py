"""docs/methods_map.md, made from core/data/methods_map.tsv: `python -m docs.methods_map [--check]`."""

from pathlib import Path

from docs.generated import write_or_check
from evenhand.core.other_measures.methods_map import FAMILIES, KINDS, Method, of

FILE = Path(__file__).with_name("methods_map.md")
HEAD = """# The map of methods

What the survey of the thesis (chapter 3) names, by kind of model, as a measure or as a mitigation: formula, source,
what is known against it, and where the app does it, or why not. Made from `core/data/methods_map.tsv` by `make docs`;
do not edit by hand. In the app: page **Other measures**, *Map of methods*.
"""


def document() -> str:
    """Return the whole of docs/methods_map.md."""
    parts = [HEAD]
    for family, title in FAMILIES.items():
        parts.append(f"\n## {title}\n")
        for kind, name in KINDS.items():
            lines = [f"\n| {name} | formula | source | known against it | here |", "|---|---|---|---|---|"]
            lines += [_line(method) for method in of(family, kind)]
            parts.append("\n".join(lines) + "\n")
    return "".join(parts)


def _line(method: Method) -> str:
    here = f"`/{_address(method)}`, [{method.doc}]({method.doc})" if method.page else f"no: {method.why['en']}"
    cells = (method.name["en"], method.formula["en"], method.source, method.against["en"], here)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _address(method: Method) -> str:
    query = "&".join(f"{key}={value}" for key, value in method.parameters.items())
    folder = method.page.partition("/")[0].replace("_", "-")
    return f"{folder}?{query}" if query else folder


if __name__ == "__main__":
    write_or_check(FILE, document(), "the table says")
