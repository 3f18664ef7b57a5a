"""The keyword packs that ship, own tables, and the message of each mistake."""

import pytest

from evenhand.core.errors import BadFile
from evenhand.core.resources import DATA, keyword_pairs
from evenhand.core.sentence_bias.keyword_packs import FORMS, LANGUAGES, OTHER_FORMS, pack, read_words, words_of
from evenhand.core.text.pronouns import CASES, more_sets, sets

HEADER = "male\tfemale\tkind\n"


def test_the_chinese_pack_is_the_released_19():
    words = pack("zh").words
    assert tuple(word.pair for word in words) == keyword_pairs()
    # 它 next to 他 and 她; next to 男 of 男教师 it would be meaningless.
    assert {word.pair.name: word.others for word in words if word.others} == {"他/她": OTHER_FORMS}
    assert all(word.kind for word in words)


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_a_packaged_table_is_read_like_an_own_one(language):
    words = pack(language)
    read = read_words(DATA / f"words_{language}.tsv", language)
    assert {one.pair for one in read} == {word.pair for word in (*words.words, *words.forms)}
    assert all(word.contexts for word in words.words)
    assert {one.pair.language for one in read} == {language}


def test_english_pronouns_equal_the_table_of_sets():
    known = {**sets("own"), **more_sets()}
    entries = {word.kind: word for word in pack("en").words if word.kind in CASES}
    for number, case in enumerate(CASES):
        one = entries[case]
        assert (one.pair.male, one.pair.female) == (known["he"].forms[number], known["she"].forms[number])
        assert one.others == tuple(known[name].forms[number] for name in ("they", "xe", "ze", "ey", "fae", "it"))


@pytest.mark.parametrize("plural", [False, True])
def test_spanish_forms_have_both_numbers(plural):
    forms = [form for form in pack("es").forms if form.plural == plural]
    assert {FORMS[form.kind] for form in forms} == {"article", "adjective"}
    assert len([form for form in forms if FORMS[form.kind] == "adjective"]) > 100
    endings = {form.pair.female[-1] for form in forms if FORMS[form.kind] == "adjective"}
    assert endings == ({"s"} if plural else {"a"})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "contains no keyword pairs."),
        (HEADER, "contains no keyword pairs."),
        ("he\tshe\n", ", line 1: the first line must contain the column names male and female, separated by tabs."),
        (HEADER + "he\tshe\n", ", line 2: 2 columns, but the first line has 3. Separate columns by tabs."),
        (HEADER + "# mine\nking\tqueen\tperson\nhe\t\tnom\n", "line 4: the column female is empty"),
        (
            HEADER + "king\tqueen\troyal\n",
            ", line 2: royal is not a kind of word in this language; leave it empty or use one of",
        ),
        (HEADER + "king\tqueen\tperson\nking\tqueen\tperson\n", ", line 3: king and queen are already in line 2."),
        (HEADER + "king\tking\tperson\n", "line 2: both words are king"),
        (
            HEADER + "king2\tqueen\tperson\n",
            ", line 2: king2 contains characters other than letters, apostrophes, hyphens and spaces.",
        ),
        (HEADER + "a|\tb\t\n", "line 2: the column male is empty"),
        (
            HEADER + "<b>\tb\t\n",
            ", line 2: <b> contains characters other than letters, apostrophes, hyphens and spaces.",
        ),
        (
            "male\tfemale\tlanguage\nking\tqueen\tEnglish\n",
            ", line 2: english is not a language code such as en, es or eu.",
        ),
        (
            HEADER + "el\tla\tarticle\n",
            ", line 2: article is not a kind of word in this language; leave it empty or use one of",
        ),
        (HEADER + "x" * 41 + "\ty\t\n", ", line 2: the word has 41 characters; at most"),
        (HEADER + "he\u202e\tshe\t\n", "U+202E"),
    ],
)
def test_every_mistake_names_file_and_line(text, says):
    with pytest.raises(BadFile) as caught:
        words_of(text, "mine.tsv", "en")
    assert says in str(caught.value) and "mine.tsv" in str(caught.value)


def test_a_row_needs_a_language():
    with pytest.raises(
        BadFile,
        match=r"mine\.tsv, line 2: the language is unknown",
    ):
        words_of("male\tfemale\nking\tqueen\n", "mine.tsv")
    with pytest.raises(BadFile, match=r"他们 and 她 differ in"):
        words_of("male\tfemale\n他们\t她\n", "mine.tsv", "zh")
    with pytest.raises(BadFile, match="cannot be read"):
        read_words(DATA / "nothing.tsv", "en")


def test_own_words_come_first_and_replace_equal_pairs():
    own = words_of("male\tfemale\tkind\tother\nhe\tshe\tnom\tthon\nsir\tmadam\t\t\n", "mine.tsv", "en")
    words = pack("en", own).words
    assert [word.pair.name for word in words[:2]] == ["he/she", "sir/madam"]
    assert words[0].others == ("thon",)
    assert sum(word.pair.name == "he/she" for word in words) == 1
    assert words[1].contexts == ()
    assert pack("es", own) == pack("es")
