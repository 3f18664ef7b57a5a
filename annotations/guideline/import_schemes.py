"""Schemes from the configurations of other programs: Label Studio (XML) and Potato (YAML or JSON).

What a scheme here cannot have is left out, with a sentence for each element. A document type is refused: without one,
XML has no entities, so nothing unfolds and nothing is read from elsewhere.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any
from xml.parsers import expat

from evenhand.annotations.guideline.scheme import (
    CODE,
    FIRST,
    KEYS,
    LARGEST_BYTES,
    LONGEST_ABOUT,
    LONGEST_NAME,
    MOST_POINTS,
    NO_SCHEME,
    RESERVED,
    SECOND,
    TIE,
    TOO_LARGE,
    OwnScheme,
    data_of_bytes,
    from_data,
)
from evenhand.annotations.guideline.versions import PREFERENCE
from evenhand.annotations.types import Choice
from evenhand.core.errors import N_, BadFile, Notice

CHINESE = re.compile(r"[\u3400-\u9fff]")
QUIET = {  # they arrange and show; a text needs none of them here
    "View", "Header", "Text", "HyperText", "Style", "Collapse", "Panel", "pure_display", "Choice", "Label", "Shortcut",
}  # fmt: skip
NOT_HERE = N_("{element}: this has no counterpart in a scheme and is left out.")
ONE_SET = N_("{element}: a scheme has one set of exclusive choices; this additional set is left out.")
ONE_TEXT = N_("{element}: a scheme asks for one text; this additional one is left out.")
NOT_A_SCALE = N_("{element}: a scale needs 2 to {most} whole-number points; this one is left out.")
DEPENDS = N_(
    "{element}: it applies to part of a text or under a condition, but the questions of a scheme apply to the"
    " whole text; it is left out."
)
NO_OPTIONS = N_("{element}: its options are in the data, not in the configuration, so it is left out.")
DEEP = N_("{element}: nested options are left out.")
KEY_TAKEN = N_("{element}: the key {key} cannot be used here; annotators click this entry.")
NOT_IN_PAIRS = N_("{element}: a comparison has two texts, so its scheme cannot have spans; it is left out.")
NO_CHOICES = N_("{file} has no set of exclusive choices, which a scheme requires.")
DOCUMENT_TYPE = N_("{file} contains a document type declaration (DOCTYPE); remove it.")


@dataclass(frozen=True, slots=True)
class OtherScheme:
    """A scheme made of another program's configuration, and what could not be had, a sentence each."""

    scheme: OwnScheme
    left_out: tuple[Notice, ...]


@dataclass(slots=True)
class _Collected:
    """What was found so far, in the form of a scheme's file."""

    parts: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {"choices": [], "flags": [], "spans": [], "questions": []}
    )
    left_out: list[Notice] = field(default_factory=list)
    codes: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    compares: bool = False

    def leave(self, message: str, element: str, **values: Any) -> None:
        self.left_out.append(Notice(message, {"element": element[:80], **values}))

    def add(
        self, part: str, name: str, element: str, *, code: str = "", key: str = "", about: str = "", **more: Any
    ) -> None:
        """Add an option or question with a code of its own, and its key if that is free."""
        row: dict[str, Any] = {"code": self._code(code or name, part)}
        row |= _names(name if name.strip() else row["code"])
        if key:
            if len(key) == 1 and key.isascii() and key.isalnum() and key.upper() not in {*KEYS, *self.keys}:
                row["key"] = key
                self.keys.add(key.upper())
            else:
                self.leave(KEY_TAKEN, f"{element} {name}", key=key[:10])
        row |= {"about": text} if (text := _line(about, LONGEST_ABOUT)) else {}
        self.parts[part].append(row | more)

    def _code(self, wanted: str, part: str) -> str:
        bare = re.sub(r"[^A-Za-z0-9_-]+", "_", wanted).strip("_-")[:40].strip("_-")
        usable = CODE.fullmatch(bare) is not None and bare.lower() not in RESERVED
        stem = bare if usable else part.removesuffix("s")
        numbered = (f"{stem[:36]}_{n}" for n in count(2 if usable else 1))
        code = next(text for text in chain([stem] if usable else [], numbered) if text not in self.codes)
        self.codes.add(code)
        return code

    def scale(self, element: str, name: str, low: int | None, high: int | None, **more: Any) -> None:
        """Add a question with a scale, or a sentence why there is none."""
        if low is None or high is None or not 0 <= low < high <= 100 or high - low >= MOST_POINTS:
            self.leave(NOT_A_SCALE, element, most=MOST_POINTS)
            return
        self.add("questions", name, element, scale=[low, high], **more)

    def text(self, element: str, name: str, **more: Any) -> None:
        """Add the question that asks for a text."""
        if any(row.get("text") for row in self.parts["questions"]):
            self.leave(ONE_TEXT, element)
        else:
            self.add("questions", name, element, text=True, **more)

    def as_scheme(self, file: str) -> OtherScheme:
        """Return all parts as a scheme. Raises BadFile without choices, Refused as `check_scheme`."""
        if not self.parts["choices"]:
            raise BadFile(NO_CHOICES, file=file)
        for row in self.parts["spans"] if self.compares else ():
            self.leave(NOT_IN_PAIRS, str(row["code"]))
        kept = {name: rows for name, rows in self.parts.items() if rows and not (self.compares and name == "spans")}
        return OtherScheme(from_data(kept | {"comparison": self.compares}, file), tuple(self.left_out))

    def pair(self, element: str, names: Sequence[str], tie: str | None) -> None:
        """Add the choices of a comparison: the names of its two texts, and the name of a tie, if there is one."""
        if self.parts["choices"]:
            self.leave(ONE_SET, element)
            return
        self.compares = True
        built_in = {choice.code: choice for choice in PREFERENCE.choices}
        for code, name in zip((FIRST, SECOND), names, strict=True):
            self._add_built_in(built_in[code], name, element)
        if tie is not None:
            self._add_built_in(built_in[TIE], tie, element)

    def _add_built_in(self, choice: Choice, name: str, element: str) -> None:
        self.add("choices", name or f"{choice.zh} / {choice.en}", element, code=choice.code, key=choice.key)


def _names(text: str) -> dict[str, str]:
    """Return a name in the language in which it is written; in both for "中文 / English"."""
    line = _line(text, LONGEST_NAME)
    first, _, second = line.partition(" / ")
    if second and CHINESE.search(first) and not CHINESE.search(second):
        return {"zh": first, "en": second}
    return {"zh": line} if CHINESE.search(line) else {"en": line}


def _line(text: object, longest: int) -> str:
    return "".join(name if name.isprintable() else " " for name in str(text or "")).strip()[:longest].strip()


@dataclass(slots=True)
class _Element:
    tag: str
    attributes: dict[str, str]
    children: list["_Element"] = field(default_factory=list)

    @property
    def element(self) -> str:
        """The name of the element in messages."""
        return " ".join(filter(None, (f"<{self.tag}>", self.attributes.get("name", ""))))


def _elements(data: bytes, file: str) -> _Element:
    """Return the tree of a document. Raises BadFile for a document type and for invalid XML."""
    root = _Element("", {})
    open_ones = [root]

    def begin(tag: str, attributes: dict[str, str]) -> None:
        one = _Element(tag, attributes)
        open_ones[-1].children.append(one)
        open_ones.append(one)
        if len(open_ones) > 100:
            raise BadFile(NO_SCHEME, file=file, why="XML")

    def refuse(*_: object) -> None:
        raise BadFile(DOCUMENT_TYPE, file=file)

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, lambda _tag: open_ones.pop()
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = lambda *_: 0
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise BadFile(NO_SCHEME, file=file, why=str(error)[:200]) from error
    return root


def _depends(element: _Element) -> bool:
    values = element.attributes
    return values.get("perRegion") == "true" or values.get("perItem") == "true" or "visibleWhen" in values


def _each(element: _Element) -> Iterator[_Element]:
    """Yield all elements below in the order of the document, controls and others.

    Options stay with their control, and elements shown under a condition stay with the condition.
    """
    for child in element.children:
        yield child
        if child.tag not in ("Choices", "Labels", "HyperTextLabels") and not _depends(child):
            yield from _each(child)


def from_label_studio(data: bytes, file: str) -> OtherScheme:
    """Convert a labelling configuration to a scheme: Choices, Pairwise, Labels, Rating, Number, TextArea.

    Raises BadFile, Refused.
    """
    collected, tree = _Collected(), _elements(data, file)
    for element in _each(tree):
        values = element.attributes
        name, required = values.get("name", element.tag), values.get("required") == "true"
        if _depends(element):
            collected.leave(DEPENDS, element.element)
        elif element.tag in QUIET:
            continue
        elif element.tag == "Pairwise":
            collected.pair(element.element, ("", ""), None)
        elif element.tag == "Choices":
            _label_studio_choices(element, collected)
        elif element.tag in ("Labels", "HyperTextLabels"):
            _label_studio_options(element, "Label", "spans", collected)
        elif element.tag == "Rating":
            collected.scale(element.element, name, 1, _number(values.get("maxRating", "5")), required=required)
        elif element.tag == "Number":
            high = _number(values.get("max", "")) if values.get("step", "1") == "1" else None
            collected.scale(element.element, name, _number(values.get("min", "")), high, required=required)
        elif element.tag == "TextArea":
            collected.text(element.element, values.get("placeholder") or name, code=name, required=required)
        else:
            collected.leave(NOT_HERE, element.element)
    # What this app writes of comparisons: their choices, and a text of that name.
    texts = {element.attributes.get("name") for element in _each(tree) if element.tag == "Text"}
    codes = {row["code"] for row in collected.parts["choices"]}
    collected.compares = collected.compares or (SECOND in texts and {FIRST, SECOND} <= codes <= {FIRST, SECOND, TIE})
    return collected.as_scheme(file)


def _label_studio_choices(element: _Element, collected: _Collected) -> None:
    if element.attributes.get("choice", "single") == "multiple":
        _label_studio_options(element, "Choice", "flags", collected)
    elif collected.parts["choices"]:
        collected.leave(ONE_SET, element.element)
    else:
        _label_studio_options(element, "Choice", "choices", collected)


def _label_studio_options(element: _Element, tag: str, part: str, collected: _Collected) -> None:
    options = [child for child in element.children if child.tag == tag]
    if not options:
        collected.leave(NO_OPTIONS, element.element)
    for option in options:
        values = option.attributes
        value, hint = values.get("value", ""), values.get("hint", "")
        # What this app writes: the code as the value, both names as the hint.
        both = " / " in hint and CODE.fullmatch(value) is not None
        name, about = (hint, "") if both else (value, hint)
        collected.add(
            part, name.removeprefix(" / ").removesuffix(" / "), element.element, code=values.get("alias") or value,
            key=values.get("hotkey", ""), about=about,
        )  # fmt: skip
        if any(child.tag == tag for child in option.children):
            collected.leave(DEEP, f"{element.element} {value}")


def _number(text: object) -> int | None:
    return int(str(text)) if re.fullmatch(r"\d{1,4}", str(text)) else None


def from_potato(data: Mapping[str, Any], file: str) -> OtherScheme:
    """Convert `annotation_schemes` of a Potato configuration to a scheme.

    It reads radio, select, multiselect, span, likert, slider, multirate, text, and pairwise of two. Raises BadFile,
    Refused.
    """
    listed = data.get("annotation_schemes")
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise BadFile(NO_SCHEME, file=file, why="annotation_schemes")
    collected = _Collected()
    for entry in listed:
        _potato_scheme({str(key): value for key, value in entry.items()}, collected)
    return collected.as_scheme(file)


def _potato_scheme(one: dict[str, Any], collected: _Collected) -> None:
    kind, name = str(one.get("annotation_type", "")), str(one.get("name", ""))
    element = " ".join(filter(None, (kind, name)))
    wanted = one.get("label_requirement")
    required = isinstance(wanted, dict) and wanted.get("required") is True
    text = _line(re.sub(r"[*#_`]", "", str(one.get("description") or "")), LONGEST_NAME) or name
    if kind in QUIET:
        return
    if "display_logic" in one:
        collected.leave(DEPENDS, element)
    elif kind in ("radio", "select"):
        if collected.parts["choices"]:
            collected.leave(ONE_SET, element)
        else:
            _potato_options(one, "choices", element, collected)
    elif kind in ("multiselect", "span", "highlight"):
        _potato_options(one, "flags" if kind == "multiselect" else "spans", element, collected)
    elif kind == "pairwise" and one.get("mode", "binary") == "binary":
        _potato_pairwise(one, element, collected)
    elif kind == "likert":
        words = _ends(one.get("min_label"), one.get("max_label"))
        collected.scale(element, text, 1, _number(one.get("size", 5)), code=name, required=required, **words)
    elif kind == "slider":
        low, high = _number(one.get("min_value", "")), _number(one.get("max_value", ""))
        collected.scale(element, text, low, high, code=name, required=required)
    elif kind == "multirate":
        _potato_multirate(one, element, collected, required=required)
    elif kind == "text":
        collected.text(element, text, code=name, required=required)
    else:
        collected.leave(NOT_HERE, element)


def _potato_options(one: Mapping[str, Any], part: str, element: str, collected: _Collected) -> None:
    labels = one.get("labels")
    if not isinstance(labels, list) or not labels:
        collected.leave(NO_OPTIONS, element)
        return
    in_turn = one.get("sequential_key_binding") is True and part != "spans"
    for number, label in enumerate(labels, 1):
        told = label if isinstance(label, dict) else {"name": label}
        key = str(told.get("key_value") or (number if in_turn and number < 10 else ""))
        name = _word(told.get("name"))
        about = str(told.get("tooltip") or "")
        collected.add(part, _word(told.get("text")) or name, element, code=name, key=key, about=about)


def _potato_pairwise(one: Mapping[str, Any], element: str, collected: _Collected) -> None:
    """Collect a comparison of Potato. Potato's defaults apply: the texts are named A and B, without a tie."""
    labels = one.get("labels")
    names = [_word(label) for label in labels] if isinstance(labels, list) and len(labels) == 2 else ["A", "B"]
    tie = _word(one.get("tie_label")) or "No preference"
    collected.pair(element, names, tie if one.get("allow_tie") is True else None)


def _potato_multirate(one: Mapping[str, Any], element: str, collected: _Collected, *, required: bool) -> None:
    """Add a scale for each option of an element, from the first of its labels to the last."""
    options, labels = one.get("options"), one.get("labels")
    if not isinstance(options, list) or not isinstance(labels, list) or not labels:
        collected.leave(NO_OPTIONS, element)
        return
    for option in map(_word, options):
        ends = _ends(labels[0], labels[-1])
        collected.scale(f"{element} {option}", option, 1, len(labels), required=required, **ends)


def _ends(low: Any, high: Any) -> dict[str, str]:
    words = {"low": _line(_word(low), LONGEST_NAME), "high": _line(_word(high), LONGEST_NAME)}
    return {f"{end}_{'zh' if CHINESE.search(word) else 'en'}": word for end, word in words.items() if word}


def _word(value: Any) -> str:
    """Return a word of a YAML file, which takes yes and no without quotation marks for true and false."""
    return "" if value is None else ("no", "yes")[value] if isinstance(value, bool) else str(value)


def scheme_from_bytes(data: bytes, file: str) -> OtherScheme:
    """Read a scheme from a file of any known kind: its own (JSON, TOML, YAML), Label Studio's, Potato's.

    Raises BadFile for other files, Refused as `check_scheme`.
    """
    if len(data) > LARGEST_BYTES:
        raise BadFile(TOO_LARGE, file=file)
    if Path(file).suffix.lower() == ".xml":
        return from_label_studio(data, file)
    read = data_of_bytes(data, file)
    if isinstance(read, dict) and "annotation_schemes" in read:
        return from_potato(read, file)
    return OtherScheme(from_data(read, file), ())


def read_any_scheme(path: Path) -> OtherScheme:
    """Read a scheme of another program from a path. Raises BadFile if it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadFile(N_("{file} cannot be read ({why})."), file=path.name, why=error.strerror or "") from error
    return scheme_from_bytes(data, path.name)
