"""What the page Counterfactual texts asks for: language, words, names, and a text to try."""

from dataclasses import dataclass

import streamlit as st

from evenhand.core.files.bounded import run_bounded
from evenhand.core.swap.word_tables import Pair, Words, WordTable, word_pairs_in, word_table
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.text import _, caption, language
from evenhand.pages.ui.uploads import read_upload

MOST = 20_000  # characters of a text to try
EXAMPLES = {
    "zh": "他的父亲是医生，母亲是护士。\n一位女士走进男生宿舍，问其他人有没有见过她的儿子。\n"
    "那里的妇女都说他是个好丈夫。",
    "en": "He gave her his book, and she thanked him.\nMiss Bennet told his or her story to the actress.\n"
    "The man-made lake is where her brother met his wife.",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """A language and its words, with a visitor's own and names."""

    language: str
    words: Words
    own: tuple[Pair, ...]
    names: tuple[Pair, ...]

    def table(self) -> WordTable:
        """Which word becomes which. Raises BadFile for a name that is a word too."""
        return word_table(self.language, words=self.words, own=self.own, names=self.names)


def ask_words() -> Wish:
    """Draw the choice of language and words. Raises BadFile for a table that cannot be read."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        names = {"zh": _("Chinese"), "en": _("English")}
        code = choose(_("Language of the texts"), names, "swap-language", first=language(), address="texts")
    with right, st.popover(_("Words and names"), icon=":material/tune:", type="tertiary"):
        words: Words = "released"
        if code == "zh":
            kinds: dict[Words, str] = {"released": _("the 19 released pairs"), "wide": _("more pairs")}
            words = choose(_("Keyword pairs"), kinds, "swap-pairs", explained=_("More: 他们, 祖父, 新郎, 王子 …"))
        help = _("A tab-separated table with the columns male and female. It takes precedence over the built-in words.")
        own = _read(_("Your own pairs"), "swap-own", code, help)
        help = _("A table in the same format. Only names in this list are swapped.")
        given = _read(_("Names"), "swap-names", code, help)
    return Wish(code, words, own, given)


def _read(label: str, key: str, code: str, help: str) -> tuple[Pair, ...]:
    uploaded = read_upload(label, ["tsv", "txt"], key=key, help=help)
    if uploaded is None:
        return ()
    name, data = uploaded
    pairs = run_bounded(word_pairs_in, data, name, code, file=name)
    caption("{count} pairs read from {file}.", count=len(pairs), file=name)
    return pairs


def ask_text(code: str) -> list[str]:
    """The lines of the text to try, without empty ones."""
    text = st.text_area(
        _("Text to try, one text per line"),
        EXAMPLES[code],
        key=f"swap-text-{code}",
        height=130,
        max_chars=MOST,
    )
    return [line for line in text[:MOST].splitlines() if line.strip()]
