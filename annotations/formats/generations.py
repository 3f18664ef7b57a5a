"""Rows to generations: what a model wrote after a context."""

import json
from typing import Any

from annotations.formats.layouts import GENERATION, GENERATION_KEYS, ORIGIN, Usable, bad, origin_of
from annotations.formats.readers import Row, Source
from annotations.items import NewItem
from core.errors import N_
from core.text import control_character

MAX_LENGTH = 20_000  # code points of a context or a completion
LINE_BREAKS = str.maketrans("", "", "\t\n\r")  # models write them; the desk shows them


def generation(source: Source, row: Row) -> Usable:
    """The item of *row*: its identity is context, completion, model, setting and index (DESIGN 9)."""
    values = row.values
    context = _text(values.get(GENERATION[0]) or "", "")
    completion = _text(values.get(GENERATION[1]), N_("There is no completion."))
    key = [context, completion, *(str(values.get(name, "")) for name in ("model", "setting", "index"))]
    origin = origin_of(source, row, GENERATION_KEYS, GENERATION)
    item = NewItem(
        text=completion,
        candidate=None,
        file=origin.file,
        line=origin.line,
        extra=origin.extra,
        uid=origin.uid,
        context=context,
        key=json.dumps(key, ensure_ascii=False),
        stratum=" / ".join(str(values[name]) for name in ORIGIN[:3] if values.get(name) not in (None, "")),
    )
    return Usable(item)


def _text(value: Any, missing: str) -> str:
    if not isinstance(value, str) or (missing and not value.strip()):
        bad("no_text", missing or N_("The context is not text."))
    if len(value) > MAX_LENGTH:
        bad(
            "too_long",
            N_("The text has {length} characters; {limit} are the most."),
            length=len(value),
            limit=MAX_LENGTH,
        )
    control = control_character(value.translate(LINE_BREAKS))
    if control is not None:
        bad("control_characters", N_("The text holds a control character: {character}."), character=control)
    return value
