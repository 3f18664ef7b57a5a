"""Items that Hypothesis draws: any sentence with one keyword, any column that came along, any name of a file."""

from hypothesis import strategies as st

from evenhand.annotations.files.detect import GENERATION, ITEM_KEYS, SLGUSET
from evenhand.annotations.items.batch import NewItem
from evenhand.core.resources import keyword_pairs
from evenhand.core.text.keywords import find

WORDS = [word for pair in keyword_pairs() for word in (pair.male, pair.female)]
NASTY = [
    '=HYPERLINK("http://example.org","x")',
    "+",
    "-",
    "@",
    "＝",
    "'",
    "''=",
    '"',
    ",",
    ";",
    "[1, 2]",
    "👩‍🚀",
    "e\u0301",
    "<b>",
]
AROUND = st.lists(st.sampled_from(NASTY) | st.text(alphabet="昨天来过，。 =a'\"", max_size=4), max_size=4).map("".join)
LEAVES = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(max_size=12) | st.sampled_from(["a\tb", "a\r\nb", "\x00", "=1", "'=1", *NASTY])
VALUES = st.recursive(
    LEAVES | TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
)
EXTRAS = st.dictionaries(TEXTS | st.sampled_from([*ITEM_KEYS, *SLGUSET, *GENERATION]), VALUES, max_size=4)


@st.composite
def sentences(draw: st.DrawFn) -> NewItem:
    text = draw(st.tuples(AROUND, st.sampled_from(WORDS), AROUND).map("".join).filter(find))  # not inside another word
    file, line = draw(st.text(min_size=1, max_size=9)), draw(st.integers(1, 1 << 40))
    return NewItem(text, find(text)[0], file, line, draw(EXTRAS))


CORPORA = st.lists(sentences(), max_size=5, unique_by=lambda new: new.text)
# Its file and its source are absolute paths, of which only the last parts are exported.
ROOTED = NewItem("他来了。", find("他来了。")[0], "/0", 1, {"source": "/srv/a/b", "remark": "/srv/a/b"})
