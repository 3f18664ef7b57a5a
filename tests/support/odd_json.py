"""JSON that a program did not expect: any document, and valid documents with one part replaced."""

import copy
from typing import Any

from hypothesis import strategies as st

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(
    ["", "\ud800", "\0", "a" * 300, 10**400, -1]
)  # fmt: skip
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to each part of a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inner for place in places(part, (*path, key)))]


@st.composite
def changed(draw: st.DrawFn, document: Any, most: int = 2) -> Any:
    """Return *document* with some parts replaced by others, taken away or renamed."""
    result = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, most))):
        path = draw(st.sampled_from(places(result)))
        new = draw(ANY_JSON)
        if not path:
            return new
        holder = result
        for key in path[:-1]:
            holder = holder[key]
        kind = draw(st.sampled_from(["replace", "remove", "rename"]))
        if kind == "replace":
            holder[path[-1]] = new
        elif kind == "remove" or isinstance(holder, list):
            del holder[path[-1]]
        else:
            holder[draw(st.text(max_size=4))] = holder.pop(path[-1])
    return result
