"""The page Counterfactual texts: language, words and names, both texts with their differences, reasons, and files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from markupsafe import Markup

from evenhand.core.files.sandbox import run_bounded
from evenhand.core.swap.files import MODES, Mode, swap_file
from evenhand.core.swap.swapping import Swapped, Why
from evenhand.core.swap.word_tables import Pair, Words, WordTable, word_pairs_in, word_table
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import size
from evenhand.pages.ui.sentences import with_marks
from evenhand.pages.ui.tables import show_html, span, table
from evenhand.pages.ui.text import _, caption, clauses, language, named, plain
from evenhand.pages.ui.uploads import choose_upload, read_upload
from evenhand.pages.ui.visitor import errors_shown

MOST = 20_000  # characters of a text to try
EXAMPLES = {
    "zh": "他的父亲是医生，母亲是护士。\n一位女士走进男生宿舍，问其他人有没有见过她的儿子。\n"
    "那里的妇女都说他是个好丈夫。",
    "en": "He gave her his book, and she thanked him.\nMiss Bennet told his or her story to the actress.\n"
    "The man-made lake is where her brother met his wife.",
}


@dataclass(frozen=True, slots=True)
class FormState:
    """A language and its words, with a visitor's own and names."""

    language: str
    words: Words
    own: tuple[Pair, ...]
    names: tuple[Pair, ...]

    def table(self) -> WordTable:
        """Return which word becomes which. Raises BadFile for a name that is a word too."""
        return word_table(self.language, words=self.words, own=self.own, names=self.names)


def ask_words() -> FormState:
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
    return FormState(code, words, own, given)


def _read(label: str, key: str, code: str, help: str) -> tuple[Pair, ...]:
    uploaded = read_upload(label, ["tsv", "txt"], key=key, help=help)
    if uploaded is None:
        return ()
    name, data = uploaded
    pairs = run_bounded(word_pairs_in, data, name, code, file=name)
    caption("{count} pairs read from {file}.", count=len(pairs), file=name)
    return pairs


def ask_text(code: str) -> list[str]:
    """Ask for the lines of the text to try, without empty ones."""
    text = st.text_area(
        _("Sample text, one per line"),
        EXAMPLES[code],
        key=f"swap-text-{code}",
        height=130,
        max_chars=MOST,
    )
    return [line for line in text[:MOST].splitlines() if line.strip()]


LEFT = "left-alone"
Mark = tuple[int, int, str]  # start, end, class
MOST_BYTES = 8 << 20  # of a file that this page swaps; 25 MB of English take most of a minute


def why_name(why: Why) -> str:
    """Return in words why a place was left alone."""
    return {
        "other_word": _("part of another word"),
        "idiom": _("not a person"),
        "pair": _("names both genders"),
        "none": _("no reversible counterpart"),
        "unclear": _("may be a verb"),
    }[why]


def show_difference(found: Sequence[Swapped], words: WordTable) -> None:
    """Show each text above its counterfactual, with what was swapped and what was left alone."""
    rows = [(_source(swapped, words), _counterfactual(swapped, words), _outcome(swapped)) for swapped in found]
    show_html(table([_("Text"), _("Counterfactual"), _("Words not swapped")], rows, kind="text concordance"))
    numbers = Counter(swapped.outcome for swapped in found)
    text = _("Swapped: {swapped}; no word to swap: {left}; refused: {refused}.")
    st.caption(text.format(**{name: numbers[name] for name in ("swapped", "left", "refused")}))


def _source(counterfactual: Swapped, words: WordTable) -> Markup:
    marks: list[Mark] = [(change.start, change.end, words.side(change.word)) for change in counterfactual.changes]
    marks += [(place.start, place.end, LEFT) for place in counterfactual.left]
    return with_marks(counterfactual.source, sorted(marks))  # of two reasons for one word, the first


def _counterfactual(counterfactual: Swapped, words: WordTable) -> Markup | str:
    if counterfactual.outcome != "swapped":
        return span(_("unchanged"), "soft")
    marks: list[Mark] = []
    shift = 0
    for change in counterfactual.changes:
        start = change.start + shift
        marks.append((start, start + len(change.counterpart), words.side(change.counterpart)))
        shift += len(change.counterpart) - len(change.word)
    return with_marks(counterfactual.text, marks)


def _outcome(counterfactual: Swapped) -> str:
    said = [named(counterfactual.source[place.start : place.end], why_name(place.why)) for place in counterfactual.left]
    if counterfactual.back is not None:
        said.insert(0, _("refused; swapped twice, it becomes “{text}”", text=counterfactual.back))
    return clauses(dict.fromkeys(said))


def show_reasons(found: Sequence[Swapped]) -> None:
    """Show the meaning of each reason."""
    if not any(swapped.left or swapped.back for swapped in found):
        return
    with st.expander(_("What is not swapped")):
        st.markdown(
            _(
                "- Part of another word: 他 in 其他, 女 in 子女; decided by the word lists and the segmenter of the"
                " Mine page.\n- Not a person: man-made, mother tongue.\n- Names both genders: his or her.\n- No"
                " reversible counterpart: a gendered word without a counterpart, such as Miss or 妇女. Such a"
                " word may reveal the gender; add a pair of your own for it.\n- May be a verb: count, host.\n-"
                " Names are unchanged unless they are in your list of names."
            )
        )


def offer_files(wish: FormState) -> None:
    """Offer a file of texts, swapped or mixed for training, to download with its counts."""
    st.header(_("A whole file"), anchor=False)
    caption(
        "Plain text, one text per line. For larger files: `python cli.py swap`, which reads and writes as a stream"
        " and can use a Ray cluster."
    )
    with errors_shown():
        path = choose_upload(_("Text file"), ["txt", "gz"], key="swap-file", heading=False, megabytes=MOST_BYTES >> 20)
        modes: dict[Mode, str] = {
            "swap": _("swapped"),
            "cda": _("text and counterfactual: CDA"),
            "cds": _("one of the two at random: CDS"),
        }
        mode = choose(
            _("Output"), {one: modes[one] for one in MODES}, "swap-mode",
            explained=_(
                "CDA adds the counterfactual of each text; CDS replaces each text by its counterfactual with"
                " probability 1/2."
            ),
        )  # fmt: skip
        seed = int(st.number_input(_("Random seed for CDS"), 0, 2**31, 0, key="swap-seed")) if mode == "cds" else 0
        if path is None:
            return
        if path.stat().st_size > MOST_BYTES:
            text = _("{file} has {size}; this page swaps up to {most}. Use the command swap.")
            st.warning(plain(text.format(file=path.name, size=size(path.stat().st_size), most=size(MOST_BYTES))))
            return
        _show_file(path, wish.table(), mode, seed)


@st.cache_data(max_entries=4, show_spinner=False, hash_funcs={WordTable: lambda one: sorted(one.counterparts.items())})
def _file(path: str, changed: float, words: WordTable, mode: Mode, seed: int) -> tuple[str, dict[str, object]]:
    """Return the texts, and the counts for JSON; `changed` tells a file of the same name."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "texts.txt"
        counts = run_bounded(swap_file, Path(path), out, words, mode=mode, seed=seed, file=Path(path).name)
        return out.read_text(encoding="utf-8"), counts.as_json()


def _show_file(path: Path, words: WordTable, mode: Mode, seed: int) -> None:
    with st.spinner(_("Swapping …"), show_time=True):
        text, counts = _file(str(path), path.stat().st_mtime, words, mode, seed)
    said = _("Texts: {texts}; swapped: {swapped}, no word to swap: {left}, refused: {refused}; written: {written}.")
    names = ("texts", "swapped", "left", "refused", "written")
    st.markdown(said.format(**{name: f"{counts[name]:,}" for name in names}))
    words_swapped = counts["words"]
    assert isinstance(words_swapped, dict)
    rows = [(word, f"{number:,}") for word, number in list(words_swapped.items())[:30]]
    with st.expander(_("Counts")):
        show_html(table([_("Word"), _("Times")], rows))
    download(_("Texts"), text, f"{path.stem}.{mode}.txt", key="swap-download", type="secondary")
