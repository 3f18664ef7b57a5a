"""What the `datasets` library is told of the files of a release: the columns of each and their types."""

from annotations.text_policy import CANARY_KEY, needs_canary
from annotations.types import Project

TEXTS = ("id", "text", "pair", "side", "keyword", "counterpart")
NUMBERS = ("start", "end", "stem_start", "stem_end")
GENERATION = ("id", "context", "completion", "label", "model", "dataset", "pronouns", "setting", "index")


def data_features(project: Project) -> str:
    """The columns of the kept items, as the card's header has them."""
    if project.kind == "sentences":
        return "".join([*(_plain(name, "string") for name in TEXTS), *(_plain(name, "int64") for name in NUMBERS)])
    return "".join(_plain(name, "string") for name in (*GENERATION, *_canary(project, True)))


def hard_case_features(project: Project, *, with_text: bool) -> str:
    """The columns of the hard cases, the labels and the adjudication nested."""
    names = ["item", "pair"] + (["side", "keyword"] if project.kind == "sentences" else [])
    if with_text:
        names += ["text"] if project.kind == "sentences" else ["context", "text"]
    note = _plain("note", "string", 4) if with_text else ""
    why = _plain("why", "string", 4) if with_text else ""
    spans = "    - name: spans\n      list:\n" + "".join(
        _plain(name, kind, 6) for name, kind in (("start", "int64"), ("end", "int64"), ("kind", "string"))
    )
    reasons, flag = "    - name: reasons\n      list: string\n", _plain("extraneous", "bool", 4)
    label = f"{_plain('annotator', 'string', 4)}{_plain('choice', 'string', 4)}{reasons}{flag}{spans}{note}"
    label += _plain("form_shown", "string", 4) + _plain("guideline", "int64", 4)
    act = f"{_plain('action', 'string', 4)}{_plain('choice', 'string', 4)}{reasons}{flag}{why}"
    act += _plain("adjudicator", "string", 4) + _plain("created", "string", 4)
    return (
        "".join(_plain(name, "string") for name in (*names, "status", "gold", "why_here"))
        + f"  - name: labels\n    list:\n{label}  - name: settlement\n    struct:\n{act}"
        + "".join(_plain(name, "string") for name in _canary(project, with_text))
    )


def _canary(project: Project, with_text: bool) -> tuple[str, ...]:
    return (CANARY_KEY,) if with_text and needs_canary(project) else ()


def _plain(name: str, kind: str, indent: int = 2) -> str:
    space = " " * indent
    return f"{space}- name: {name}\n{space}  dtype: {kind}\n"
