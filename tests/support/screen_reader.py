"""What a screen reader speaks of a desk: Chromium's accessibility tree in lines, each text with its language."""

from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from playwright.sync_api import CDPSession, Page

# Elements without a name of their own that a screen reader passes by.
SILENT = {
    "generic", "none", "GenericContainer", "LineBreak", "InlineTextBox", "StaticText", "ListMarker", "form",
    "RootWebArea", "strong", "emphasis", "mark", "Bdi", "LabelText", "DescriptionList", "paragraph", "Details", "term",
}  # fmt: skip
# Roles whose content is spoken as one line.
WHOLE = {
    "button", "heading", "link", "listitem", "image", "radio", "textbox", "searchbox", "DisclosureTriangle", "status",
    "definition", "progressbar",
}  # fmt: skip
NAMES = {"DisclosureTriangle": "disclosure", "searchbox": "search field", "textbox": "text field"}
STATES = ("pressed", "checked", "expanded", "disabled", "focused", "modal")
UNREAD = ("say", "tell", "saved", "pace")  # live regions, and what depends on how fast the server answers


@dataclass
class Node:
    """A node of the tree with its language and the part of the desk that it is."""

    raw: dict[str, Any]
    language: str
    part: str
    children: "list[Node]" = field(default_factory=list)

    @property
    def role(self) -> str:
        """Return its role, "" for a node that the tree leaves out."""
        return "" if self.raw["ignored"] else str(self.raw["role"]["value"])

    @property
    def name(self) -> str:
        """Return its accessible name."""
        return " ".join(str(self.raw.get("name", {}).get("value", "")).split())

    @property
    def states(self) -> list[str]:
        """Return its states in words, its value and its key."""
        values = {entry["name"]: entry["value"].get("value") for entry in self.raw.get("properties", [])}
        made = [
            state if values[state] in (True, "true") else f"not {state}"
            for state in STATES
            if state in values and (values[state] in (True, "true") or state in ("pressed", "checked", "expanded"))
        ]
        if self.role == "progressbar":
            made.append(f"{self.raw.get('value', {}).get('value', 0)} of {values.get('valuemax')}")
        elif self.raw.get("value", {}).get("value"):
            made.append(f"holds “{self.raw['value']['value']}”")
        if values.get("keyshortcuts"):
            made.append(f"key {values['keyshortcuts']}")
        return made

    def texts(self) -> list[tuple[str, str]]:
        """Return the texts below it with their languages."""
        if self.role == "StaticText":
            return [(self.name, self.language)] if self.name else []
        if self.role == "image":
            return [(self.name, self.language)]
        return [text for child in self.children for text in child.texts()]


class ScreenReader:
    """Reads the desk on a page."""

    def __init__(self, page: Page, language: str) -> None:
        self.page, self.language = page, language
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.session.send("Accessibility.enable")

    def read(self) -> tuple[list[str], list[str]]:
        """Return what the live regions hold, and the lines of the rest of the desk."""
        desk = self._desk()
        told = [self._spoken(node.texts()) for node in _all(desk) if node.part in ("say", "tell")]
        return [text for text in told if text], list(self._lines(desk))

    def _desk(self) -> Node:
        places = self._places()
        raw = self.session.send("Accessibility.getFullAXTree")["nodes"]
        nodes = {
            node["nodeId"]: Node(node, *places.get(node.get("backendDOMNodeId"), (self.language, ""))) for node in raw
        }
        for node in nodes.values():
            node.children = [nodes[child] for child in node.raw.get("childIds", []) if child in nodes]
        return next(node for node in nodes.values() if node.part == "desk" and node.role == "region")

    def _places(self) -> dict[int, tuple[str, str]]:
        """Return the language and the part of every node of the document, by its number."""
        found: dict[int, tuple[str, str]] = {}

        def walk(node: dict[str, Any], language: str) -> None:
            pairs = node.get("attributes", [])
            values = dict(zip(pairs[::2], pairs[1::2], strict=True))
            language = values.get("lang") or language
            part = "desk" if values.get("data-testid") == "desk" else values.get("data-part", "")
            found[node["backendNodeId"]] = (language, part)
            for child in [*node.get("children", []), *node.get("shadowRoots", [])]:
                walk(child, language)

        walk(self.session.send("DOM.getDocument", {"depth": -1, "pierce": True})["root"], self.language)
        return found

    def _lines(self, node: Node) -> list[str]:
        if node.part in UNREAD or node.role == "Legend":  # a legend is the name of its group
            return []
        if node.role == "StaticText":
            return self._line("", node) if node.name else []
        if node.role in WHOLE:
            return self._line(NAMES.get(node.role, node.role), node)
        below = [line for child in _merged(node, self) for line in child]
        if node.role in SILENT or not node.role:
            return below
        inside = [f"  {line}" for line in below]
        return [*self._line(NAMES.get(node.role, node.role), node, own=True), *inside] if node.name or inside else []

    def _line(self, role: str, node: Node, *, own: bool = False) -> list[str]:
        texts = node.texts()
        said = self._spoken(texts) if texts and not own and self._is_name(node, texts) else self._tagged(node)
        states = node.states
        return [", ".join([f"{role}: {said}" if role and said else said or role, *states])]

    @staticmethod
    def _is_name(node: Node, texts: list[tuple[str, str]]) -> bool:
        """Return whether the name of a node is its content: then each piece has its own language."""
        squeezed = "".join("".join(text for text, _language in texts).split())
        return not node.name or "".join(node.name.split()) == squeezed

    def _tagged(self, node: Node) -> str:
        return self._spoken([(node.name, node.language)]) if node.name else ""

    def _spoken(self, texts: list[tuple[str, str]]) -> str:
        made = []
        for language, group in groupby(texts, lambda piece: piece[1]):
            text = " ".join(text for text, _language in group)
            made.append(text if language[:2] == self.language else f"[{language}] {text}")
        return " ".join(made)


def _merged(node: Node, reader: ScreenReader) -> list[list[str]]:
    """Return the lines of each child; texts that follow each other are one line, as they are spoken."""
    made: list[list[str]] = []
    run: list[tuple[str, str]] = []
    for child in _flat(node.children):
        if child.role in ("StaticText", "image"):
            run += child.texts()
            continue
        if run:
            made.append([reader._spoken(run)])
            run = []
        made.append(reader._lines(child))
    return [*made, [reader._spoken(run)]] if run else made


def _flat(nodes: list[Node]) -> list[Node]:
    """Return nodes with the inline elements among them replaced by what is in them."""
    made: list[Node] = []
    for node in nodes:
        inline = node.role in ("strong", "emphasis", "mark", "Bdi", "superscript") or (
            node.role in ("generic", "none", "") and node.children and not node.part and _only_text(node)
        )
        made += _flat(node.children) if inline else [node]
    return made


def _only_text(node: Node) -> bool:
    return all(child.role in ("StaticText", "InlineTextBox") or _only_text(child) for child in node.children)


def _all(node: Node) -> list[Node]:
    return [node, *(below for child in node.children for below in _all(child))]
